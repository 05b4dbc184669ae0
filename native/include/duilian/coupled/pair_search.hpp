// The search for two sides with one joint part, by far the commonest model, over flat arrays and without a
// lattice: few bundles are left at a unit, often one, and then everything else is overhead. The answers are
// those of build() and decode() (search.hpp), which remain the general way and what tests compare with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/space.hpp"

namespace duilian {

/// A bundle of one unit.
struct PairState {
  std::int32_t place[2];  // among the sides' candidates
  TagId tag[2];
  std::int32_t label;  // its joint label, -1 if unknown
};

struct PairWorkspace {
  std::vector<PairState> state;
  std::vector<std::int32_t> first;     // [T + 1]  states before each unit
  std::vector<double> emission;        // [S]  scores, later e^score; 1 for a lone state
  std::vector<double> between;         // blocks [width(t)][width(t + 1)], none between lone states
  std::vector<std::size_t> block;      // [T]  where the block after unit t begins
  std::vector<double> alpha, beta;     // [S]  their products are the marginals
  std::vector<double> scale;           // [T]
  std::vector<double> joint, promise;  // of one unit's bundles
  std::vector<PendingScore> pending;
};

/// What the search takes: the candidates of both sides, their scores and probabilities.
struct PairInput {
  const std::vector<TagSets>& candidates;
  const SideScores& scores;
  const std::vector<std::vector<double>>& prior;  // empty: no bundle is pruned
  double bundle_gap;
};

/// Whether the search is for models of this shape.
[[nodiscard]] bool has_pair_shape(const CoupledShape& shape);

/// The probability of each candidate, [sides], laid out as the candidates. Returns false if numbers are too
/// far apart, or no legal path is left: then the general way has to be taken.
[[nodiscard]] bool search_pairs(const CoupledShape& shape, const CoupledTransitions& between,
                                const JointSource& source, const PairInput& input, SpaceWorkspace& joint,
                                PairWorkspace& work, std::vector<std::vector<double>>& side);

}  // namespace duilian
