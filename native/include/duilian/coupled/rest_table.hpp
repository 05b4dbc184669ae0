// The weights of a coupled tagger that do not prune. They are read after pruning, when only a few labels of a
// unit matter, so a feature with many labels has a bit for each, and a count of those before: the weights of
// other labels are not touched.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/coupled/weights.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

class RestTable {
 public:
  RestTable(const CoupledShape& shape, const CoupledWeights& weights);

  /// Where the weights of a feature begin, or kNoEntry: of the sides that have a pruner, and of joint labels.
  struct Begins {
    std::uint32_t sides;
    std::uint32_t joint;
  };
  /// Those of each feature, in the order of the table of weights; can be taken once.
  [[nodiscard]] std::vector<Begins> take_begins() { return std::exchange(begins_, {}); }

  void prefetch(std::uint32_t entry) const { __builtin_prefetch(cells_.data() + entry); }

  /// Adds the weights from this entry on to `row` for the wanted labels of each side with a pruner; the
  /// labels of these sides lie one after another, and the values of those that are not wanted are
  /// unspecified.
  void add_sides(std::uint32_t entry, std::span<const std::span<const TagId>> wanted, float* row) const {
    const std::uint32_t* at = cells_.data() + entry;
    for (;;) {
      const std::uint32_t head = *at++;
      const std::size_t block = (head & kBlock) >> kBlockShift;
      float* to = row + block_at_[block];
      const std::uint32_t* end = at + size_of(head, block);
      if ((head & kRanked) != 0) {
        for (const TagId label : wanted[block])
          if_there(at, block, label, [&](float weight) { to[label] += weight; });
      } else {
        for (const std::uint32_t* k = at; k != end; k += 2) to[k[0]] += std::bit_cast<float>(k[1]);
      }
      if ((head & kLast) != 0) return;
      at = end;
    }
  }

  /// Adds the joint weights from this entry on: those of labels in `wanted` to sum[slot[label]].
  void add_joint(std::uint32_t entry, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                 double* sum) const {
    const std::uint32_t* at = cells_.data() + entry;
    const std::uint32_t head = *at++;
    const std::size_t block = block_at_.size() - 1;
    if ((head & kRanked) != 0) {
      for (const std::int32_t label : wanted)
        if_there(at, block, label, [&](float weight) { sum[slot[label]] += static_cast<double>(weight); });
      return;
    }
    for (const std::uint32_t* end = at + size_of(head, block); at != end; at += 2)
      sum[slot[at[0]]] += static_cast<double>(std::bit_cast<float>(at[1]));
  }

 private:
  // The labels of a feature in one block (a side with a pruner, or the joint labels) have a head: how many
  // there are, the block, how they are stored, and whether they are the feature's last of the sides.
  // Few are pairs of a label and a weight. Many have four cells for each 64 labels of the block (a bit for
  // each label, how many labels come before, and an empty one), and then the weights.
  static constexpr std::uint32_t kCount = 0xFFFF;
  static constexpr std::uint32_t kBlockShift = 16;
  static constexpr std::uint32_t kBlock = 0xFFU << kBlockShift;
  static constexpr std::uint32_t kRanked = 1U << 30U;
  static constexpr std::uint32_t kLast = 1U << 31U;

  [[nodiscard]] std::size_t size_of(std::uint32_t head, std::size_t block) const {
    const std::size_t count = head & kCount;
    return (head & kRanked) != 0 ? 4 * words_[block] + count : 2 * count;
  }
  /// Calls found(weight) if there is one for this label of a block.
  template <class Found>
  void if_there(const std::uint32_t* ranks, std::size_t block, std::int32_t label, const Found& found) const {
    const auto own = static_cast<std::uint32_t>(label);
    const std::uint32_t* word = ranks + 4 * static_cast<std::size_t>(own / 64);
    const std::uint64_t bits = (std::uint64_t{word[1]} << 32U) | word[0];
    const std::uint64_t bit = std::uint64_t{1} << (own % 64);
    if ((bits & bit) == 0) return;
    const std::size_t before = word[2] + static_cast<std::size_t>(std::popcount(bits & (bit - 1)));
    found(std::bit_cast<float>(ranks[4 * words_[block] + before]));
  }

  struct Entry {
    std::uint32_t label;  // counted from the first of its block
    float weight;
  };
  void add_group(std::size_t block, std::span<const Entry> entries);

  std::vector<std::uint32_t> block_at_;  // [blocks]  first label of each, the joint labels' last
  std::vector<std::size_t> words_;       // [blocks]  for a bit per label
  std::vector<std::uint32_t> cells_;
  std::vector<Begins> begins_;
};

}  // namespace duilian
