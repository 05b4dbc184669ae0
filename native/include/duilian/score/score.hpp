// From weights to a scored lattice, and from marginals back to weights: the two directions of a linear model.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/chain/chain.hpp"
#include "duilian/score/model.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// Scratch of one thread.
struct alignas(kApart) ScoreWorkspace {
  Workspace chain;
  std::vector<double> per_label;     // [labels]  zero between calls
  std::vector<std::int32_t> bundle;  // [S]  the joint label of each state, -1 unknown
  std::vector<std::int32_t> slot;    // [bundles]  state of a bundle at the position at hand, -1 none
};

/// A lattice with its scores under some weights.
struct ScoredLattice {
  std::vector<double> state;  // [S]
  Transitions between;
};

[[nodiscard]] ScoredLattice score_lattice(const Model& model, WeightView weights, const FeatureRows& features,
                                          std::int64_t first_unit, const Lattice& lattice,
                                          ScoreWorkspace& work);

/// Learning from examples that the corpora leave ambiguous (Eq. 9-12): the loss is log Z(possible) -
/// log Z(correct), the direction expected counts under `correct` less those under `possible`.
class CoupledObjective {
 public:
  struct Prepared {};
  using Work = ScoreWorkspace;

  CoupledObjective(const Model& model, const FeatureRows& features, std::vector<Example> examples)
      : model_(model), features_(features), examples_(std::move(examples)) {}

  [[nodiscard]] std::int64_t weights() const { return model_.weights; }
  [[nodiscard]] std::int64_t dense() const { return model_.dense; }
  [[nodiscard]] Prepared prepare(WeightView) const { return {}; }
  double compute(const Prepared&, WeightView weights, std::int64_t i, Work& work, Gradient& out) const;
  /// Weights of one cache line belong to one share.
  template <ChangeRule R>
  void apply(std::int64_t, const Gradient& gradient, Share share, R& rule) const {
    for (const Delta& delta : gradient.sparse) {
      if (share.has(delta.weight / 16)) rule.change(delta.weight, delta.value);
    }
  }

 private:
  const Model& model_;
  const FeatureRows& features_;
  std::vector<Example> examples_;
};

/// The best tag of every side at every position, [T][sides]: the best path, or each side's most probable tag.
[[nodiscard]] std::vector<TagId> decode_path(const ScoredLattice& scored, const Lattice& lattice,
                                             ScoreWorkspace& work);
[[nodiscard]] std::vector<TagId> decode_marginals(const Model& model, const ScoredLattice& scored,
                                                  const Lattice& lattice, ScoreWorkspace& work);

}  // namespace duilian
