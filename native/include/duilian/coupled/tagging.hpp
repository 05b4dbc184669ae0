// Tags with the weights of a layout, during training: for dev sets, and to find candidates beforehand.
#pragma once

#include <cstdint>
#include <span>

#include "duilian/coupled/layout.hpp"
#include "duilian/coupled/search.hpp"

namespace duilian {

/// The scores that separate features give to the units [begin, end).
void score_sides(const CoupledLayout& layout, WeightView weights, const FeatureRows& features,
                 std::int64_t begin, std::int64_t end, SideScores& out);

/// The units [begin, end) of precomputed candidates.
void slice(const TagSets& sets, std::int64_t begin, std::int64_t end, TagSets& out);

/// Joint features whose weights are in the rows of a layout; unit `begin` is position 0.
class RowSource final : public JointSource {
 public:
  RowSource(const CoupledLayout& layout, WeightView weights, const FeatureRows& features, std::int64_t begin)
      : layout_(layout), weights_(weights), features_(features), begin_(begin) {}

  void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
           double* sum) const override;

 private:
  const CoupledLayout& layout_;
  WeightView weights_;
  const FeatureRows& features_;
  std::int64_t begin_;
};

/// The labels of many sentences by weights in training. `candidates` as in CoupledData, `allowed` as in
/// restrict_scores.
[[nodiscard]] CoupledAnswers tag_coupled(const CoupledLayout& layout, WeightView weights,
                                         const FeatureRows& features, std::span<const std::int64_t> first,
                                         std::span<const TagSets> candidates,
                                         std::span<const TagSets> allowed, SearchOptions options,
                                         bool with_candidates, std::size_t threads);

/// The candidates of a baseline tagger for every unit.
[[nodiscard]] TagSets tag_candidates(const TaggerLayout& layout, WeightView weights,
                                     const FeatureRows& features, std::span<const std::int64_t> first,
                                     Pruning pruning, std::size_t threads);

}  // namespace duilian
