// The weights of a coupled tagger, laid out for tagging. If a feature has weights for nearly all labels of a
// side, they form a row that is added at once; so do the joint weights of features that have many.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/lattice/lattice.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

class EntryTable {
 public:
  /// `blocks` has the number of labels of each side, in table order; `joint` labels follow. Rows of the
  /// blocks in `deferred` are not added with the others. The table must have been checked.
  EntryTable(const WeightTable& table, std::vector<std::int32_t> blocks,
             std::span<const std::int32_t> deferred, std::int32_t joint);

  /// Where the entries of each key begin, or kNoEntry.
  void find_all(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& entry) const {
    table_.find_all(keys, entry);
  }
  void prefetch(std::uint32_t entry) const { __builtin_prefetch(entries_.data() + entry); }
  /// Prefetches the beginnings of a feature's rows, which are as far away as its entries. (Unless it is
  /// inlined, compilers drop a function that only prefetches.)
  [[gnu::always_inline]] void prefetch_rows(std::uint32_t entry) const {
    for (;; ++entry) {
      const std::uint16_t label = entries_[entry].label & static_cast<std::uint16_t>(~kLastEntry);
      if (label < kRow || label == kSpread) return;
      constexpr std::size_t kLine = 16;  // floats
      constexpr std::size_t kLines = 6;  // the hardware prefetches the rest
      const float* row = rows_.data() + index(entry);
      for (std::size_t k = 0; k < kLines && is_deferred_[label - kRow] == 0; ++k)
        __builtin_prefetch(row + k * kLine);
      if ((entries_[entry].label & kLastEntry) != 0) return;
    }
  }

  /// A row of a block in which only a few labels will matter after pruning.
  struct DeferredRow {
    std::int32_t block;
    std::uint32_t at;
  };

  /// Adds the side weights from this entry on to `row` [side labels], and deferred rows to `deferred`;
  /// returns the first joint entry, or kNoEntry.
  [[nodiscard]] std::uint32_t add_sides(std::uint32_t entry, float* row,
                                        std::vector<DeferredRow>& deferred) const {
    for (;; ++entry) {
      const Entry& at = entries_[entry];
      const std::uint16_t label = at.label & static_cast<std::uint16_t>(~kLastEntry);
      if (label < side_labels_) {
        row[label] += at.weight;
      } else if (label >= kRow && label < kSpread) {
        const std::int32_t block = label - kRow;
        if (is_deferred_[block] != 0)
          deferred.push_back({block, static_cast<std::uint32_t>(index(entry))});
        else
          add_row(block, entry, row);
      } else {
        return entry;
      }
      if ((at.label & kLastEntry) != 0) return kNoEntry;
    }
  }

  [[nodiscard]] const float* deferred_row(const DeferredRow& row) const { return rows_.data() + row.at; }

  /// Adds the joint weights from this entry on: those of labels in `wanted` to sum[slot[label]].
  void add_joint(std::uint32_t entry, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                 double* sum) const {
    if ((entries_[entry].label & ~kLastEntry) == kSpread) {
      const float* row = spread_.data() + index(entry);
      for (const std::int32_t label : wanted) sum[slot[label]] += row[label];
      return;
    }
    for (;; ++entry) {
      const std::uint16_t label = entries_[entry].label;
      sum[slot[(label & ~kLastEntry) - side_labels_]] += entries_[entry].weight;
      if ((label & kLastEntry) != 0) return;
    }
  }

 private:
  // Labels that mark where weights are: in a row of block k, or in a row of all joint labels.
  static constexpr std::int32_t kRow = 0x7F00;
  static constexpr std::int32_t kSpread = 0x7FFF;

  [[nodiscard]] std::size_t index(std::uint32_t entry) const {
    return std::bit_cast<std::uint32_t>(entries_[entry].weight);
  }
  void add_row(std::int32_t block, std::uint32_t entry, float* row) const {
    const float* from = rows_.data() + index(entry);
    float* to = row + block_at_[block];
    for (std::int32_t l = 0; l < blocks_[block]; ++l) to[l] += from[l];
  }
  void add_group(const WeightTable& from, std::size_t begin, std::size_t end);
  void add_block(const WeightTable& from, std::size_t begin, std::size_t end, std::int32_t first,
                 std::int32_t size, std::size_t min_entries, std::int32_t marker, std::vector<float>& rows);

  /// Label and weight together, so that reading a feature costs one cache line.
  struct Entry {
    float weight;
    std::uint16_t label;
  };

  void add(std::uint16_t label, float weight) { entries_.push_back({weight, label}); }

  WeightTable table_;  // only its slots; they refer to entries_
  std::vector<Entry> entries_;
  std::vector<std::int32_t> blocks_;
  std::vector<std::int32_t> block_at_;
  std::vector<std::uint8_t> is_deferred_;  // [blocks]
  std::int32_t side_labels_ = 0;
  std::int32_t joint_ = 0;
  std::vector<float> rows_;    // rows of the sides
  std::vector<float> spread_;  // [rows][joint labels]
};

}  // namespace duilian
