// From weights to a scored lattice, and from marginals back to weights: the two directions of a linear model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/chain.hpp"
#include "duilian/score/model.hpp"

namespace duilian {

/// A change of one weight.
struct Delta {
  std::int64_t weight;
  double value;
};

/// Scratch of one thread.
struct ScoreWorkspace {
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

[[nodiscard]] ScoredLattice score_lattice(const Model& model, std::span<const float> weights,
                                          const FeatureRows& features, std::int64_t first_unit,
                                          const Lattice& lattice, ScoreWorkspace& work);

/// The loss log Z(possible) - log Z(correct) of one example (Eq. 9-12), and its downhill direction: expected
/// counts under `correct` less those under `possible`, appended to `out` (a weight may come several times).
double add_gradient(const Model& model, std::span<const float> weights, const FeatureRows& features,
                    const Example& example, ScoreWorkspace& work, std::vector<Delta>& out);

/// The best tag of every side at every position, [T][sides]: the best path, or each side's most probable tag.
[[nodiscard]] std::vector<TagId> decode_path(const ScoredLattice& scored, const Lattice& lattice,
                                             ScoreWorkspace& work);
[[nodiscard]] std::vector<TagId> decode_marginals(const Model& model, const ScoredLattice& scored,
                                                  const Lattice& lattice, ScoreWorkspace& work);

}  // namespace duilian
