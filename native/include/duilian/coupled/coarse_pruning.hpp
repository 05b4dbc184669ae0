// Fast pruning: coarse scores list the labels of each side (chain/coarse.hpp), probabilities among these
// select the candidates, and only the candidates are scored exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "duilian/chain/coarse.hpp"
#include "duilian/coupled/coarse_table.hpp"
#include "duilian/coupled/rest_table.hpp"
#include "duilian/coupled/search.hpp"
#include "duilian/coupled/weights.hpp"
#include "duilian/features/finder.hpp"
#include "duilian/score/predictor.hpp"

namespace duilian {

/// The units [begin, end) of a sentence.
struct UnitRange {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

class CoarsePruner {
 public:
  /// Null if the weights need more than 16 bits. The shape, weights and transitions must have been checked
  /// and must outlive it.
  [[nodiscard]] static std::unique_ptr<CoarsePruner> make(const CoupledShape& shape,
                                                          const CoupledWeights& weights,
                                                          const CoupledTransitions& prune_between,
                                                          Pruning pruning, const TemplateSet& templates);

  struct Work {
    FeatureFinder<CoarseTable>::Work features;
    CoarseTable::Memory memory;
    std::vector<CoarseScore> coarse;             // [T][stride of the table]
    std::vector<RestTable::Begins> rest;         // the remaining weights of the features of all units
    std::vector<std::size_t> rest_first;         // [T + 1]
    std::vector<std::uint32_t> side_entry;       // at units that still have a choice
    std::vector<std::size_t> side_entry_first;   // [T + 1]
    std::vector<std::uint32_t> joint_entry;      // likewise
    std::vector<std::size_t> joint_first;        // [T + 1]
    std::vector<std::span<const TagId>> wanted;  // [pruned sides]  candidates of one unit
    std::vector<float> row;                      // their scores
    std::vector<CoarseScore> set_aside;          // scores of one unit
    std::vector<std::int32_t> path;
    CoarseWorkspace pruning;
    Shortlist list;
  };

  /// Finds the coarse scores of a sentence.
  void score(const Sentences& sentences, std::int64_t sentence, std::span<const Constraints> constraints,
             Work& work, SearchWork& search) const;
  /// Writes the candidates of one side and their probabilities to `search`; returns false if coarse scores
  /// cannot decide.
  [[nodiscard]] bool prune_side(std::size_t side, UnitRange units, Work& work, SearchWork& search) const;
  /// The same for every side, after score().
  [[nodiscard]] bool prune(UnitRange units, Work& work, SearchWork& search) const;

  /// Scores of candidates by all weights, found for each unit when needed.
  class Source final : public JointSource {
   public:
    Source(const CoarsePruner& pruner, const CoupledTransitions& between,
           std::span<const Constraints> constraints, UnitRange units, Work& work, SearchWork& search);
    void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
             double* sum) const override;
    void score_sides(std::int32_t t) const override;

   private:
    [[nodiscard]] double* state(std::size_t side, std::size_t unit) const;
    void add_edges(std::size_t unit) const;

    const CoarsePruner& pruner_;
    const CoupledTransitions& between_;
    std::span<const Constraints> constraints_;
    UnitRange units_;
    Work& work_;
    SearchWork& search_;
  };

 private:
  CoarsePruner(const CoupledShape& shape, const CoupledWeights& weights, Pruning pruning, double scale,
               std::vector<CoarseChain> pruner, const CoupledTransitions& prune_between,
               const TemplateSet& templates);

  [[nodiscard]] bool has_pruner(std::size_t side) const { return has_pruner_[side] != 0; }
  [[nodiscard]] CoarseScore* row(std::size_t side, std::size_t unit, Work& work) const {
    return work.coarse.data() + unit * table_.stride() + table_.offset(side);
  }
  void apply_constraints(std::span<const Constraints> constraints, UnitRange units, Work& work) const;
  /// Collects the entries of features at units that still have a choice, early enough to prefetch them.
  void gather_rest(const SearchWork& search, Work& work) const;

  const CoupledShape& shape_;
  std::span<const std::int32_t> pruned_;
  std::vector<std::uint8_t> has_pruner_;  // [sides]
  Pruning pruning_;
  double scale_;
  std::vector<CoarseChain> pruner_;          // [sides]
  std::vector<std::vector<float>> between_;  // [sides]  e^transition, [L + 1][L + 1]
  RestTable rest_;
  CoarseTable table_;
  FeatureFinder<CoarseTable> finder_;
  std::vector<std::size_t> recurring_;  // templates with few values
};

}  // namespace duilian
