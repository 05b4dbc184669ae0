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

  /// The scores of units [T][stride] from the keys of their features, and the remaining weights of known
  /// features, unit by unit.
  void score(std::span<const std::int64_t> first, std::span<const std::uint64_t> keys,
             std::vector<std::uint32_t>& record, std::vector<CoarseScore>& state, std::vector<Rest>& rest,
             std::vector<std::size_t>& rest_first) const;

 private:
  // A record consists of `rest` (two numbers each); which sides have a row, and the number of pairs;
  // pairs of an index into the unit's row and a weight, which a prefetch reaches; and the rows.
  static constexpr std::size_t kHead = 6;
  struct Row {
    std::size_t at;
    std::size_t size;
  };

  static constexpr std::size_t kAfter = 64;  // prefetches reach beyond the last record
  using Pairs = std::vector<std::pair<std::size_t, CoarseScore>>;

  void add_record(const WeightTable& from, std::size_t begin, std::size_t end, std::span<const Block> blocks,
                  double scale, Rest rest, Pairs& pairs);

  WeightTable table_;  // its slots refer to records
  std::vector<Row> rows_;
  std::vector<CoarseScore> blank_;  // the scores of a unit without features
  std::vector<CoarseScore> code_;
};

}  // namespace duilian
