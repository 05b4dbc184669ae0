// The weights used for pruning, as coarse scores (chain/coarse.hpp): a single probe finds a record with
// everything that a feature says about the labels of all sides.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/chain/kernels.hpp"
#include "duilian/coupled/rest_table.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

class CoarseTable {
 public:
  /// The labels of one side: they begin at `first` in a table of weights, and have lanes in a row of `stride`
  /// coarse scores.
  struct Block {
    std::int32_t first;
    std::span<const std::uint16_t> lanes;
    std::size_t stride;
  };

  static constexpr std::size_t kMaxSides = 16;  // one bit each

  using Rest = RestTable::Begins;  // a feature's weights that do not prune

  /// `rest` has one element per feature, in the order of the table's entries.
  CoarseTable(const WeightTable& table, std::span<const Block> blocks, double scale,
              std::span<const Rest> rest);

  /// The length of a unit's row of scores: the padded rows of all sides, one after another.
  [[nodiscard]] std::size_t stride() const { return blank_.size(); }
  [[nodiscard]] std::size_t offset(std::size_t side) const { return rows_[side].at; }

  void prefetch(std::uint64_t key) const { table_.prefetch(key); }
  /// The record of a feature, or kNoEntry.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const { return table_.find(key); }

  /// What the same records gave to earlier units.
  struct Memory {
    std::vector<std::uint32_t> record;  // [kRemembered][recurring]
    std::vector<CoarseScore> score;     // [kRemembered][stride]
  };
  /// The scores of units [T][stride] from the records of their features, and what remains of these features,
  /// unit by unit, where there is anything. `recurring` are places of features in each unit, ascending, whose
  /// records together are often the same; their sums are remembered. The same table and places must always
  /// come with `memory`.
  void score(std::span<const std::int64_t> first, std::span<const std::uint32_t> record,
             std::span<const std::size_t> recurring, Memory& memory, std::vector<CoarseScore>& state,
             std::vector<Rest>& rest, std::vector<std::size_t>& rest_first) const;

 private:
  // A record consists of which sides have a row; the number of pairs, with a bit that says whether `rest`
  // follows (two numbers each); pairs of an index into the unit's row and a weight; and the rows. A second
  // bit, in the slots, says that what precedes the rows reaches into another cache line.
  static constexpr std::size_t kHead = 2;
  static constexpr std::size_t kRest = sizeof(Rest) / sizeof(CoarseScore);
  static constexpr std::uint16_t kHasRest = 0x8000;
  static constexpr std::uint32_t kIsLong = 0x80000000U;
  struct Row {
    std::size_t at;
    std::size_t size;
  };

  static constexpr std::size_t kRemembered = 64;
  class Adder;
  /// Writes the scores of a unit without its features, except for the recurring ones.
  void begin_unit(std::span<const std::size_t> recurring, const std::uint32_t* record, Adder& adder,
                  Memory& memory, CoarseScore* to) const;

  static constexpr std::size_t kAfter = 64;  // prefetches reach beyond the last record
  using Pairs = std::vector<std::pair<std::size_t, CoarseScore>>;

  /// Adds a record and returns its place for the slots.
  [[nodiscard]] std::uint32_t add_record(const WeightTable& from, std::size_t begin, std::size_t end,
                                         std::span<const Block> blocks, double scale, Rest rest,
                                         Pairs& pairs);

  WeightTable table_;  // its slots refer to records
  std::vector<Row> rows_;
  std::vector<CoarseScore> blank_;  // the scores of a unit without features
  std::vector<CoarseScore> code_;
};

}  // namespace duilian
