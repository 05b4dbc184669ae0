// The search for two sides with one joint part, by far the most common model. It uses flat arrays instead of
// a lattice, because only a few bundles are left at a unit, often just one, and anything else would be
// overhead. Its answers are those of build() and decode() (search.hpp), which handle the general case and are
// the reference in tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/space.hpp"

namespace duilian {

/// A bundle of one unit.
struct PairState {
  std::int32_t place[2];  // index into the candidates of each side
  TagId tag[2];
  std::int32_t label;  // joint label, -1 if unknown
};

struct PairWorkspace {
  std::vector<PairState> state;
  std::vector<std::int32_t> first;     // [T + 1]  states before each unit
  std::vector<double> emission;        // [S]  scores, later e^score; 1 for the only state of a unit
  std::vector<double> between;         // blocks [width(t)][width(t + 1)], none between single states
  std::vector<std::size_t> block;      // [T]  where the block after unit t begins
  std::vector<double> alpha, beta;     // [S]  alpha · beta is the marginal
  std::vector<double> scale;           // [T]
  std::vector<double> joint, promise;  // of the bundles of one unit
  std::vector<PendingScore> pending;
};

/// The input of the search: candidates of both sides, their scores and probabilities.
struct PairInput {
  const std::vector<TagSets>& candidates;
  const SideScores& scores;
  const std::vector<std::vector<double>>& prior;  // if empty, no bundle is pruned
  double bundle_gap;
  std::int64_t max_pairs;  // of bundles of neighbours
  // [T]  units where any bundle will do, or empty. Beside others, they have a single bundle anyway.
  std::span<const std::uint8_t> is_moot;
};

[[nodiscard]] bool has_pair_shape(const CoupledShape& shape);

/// The probability of each candidate, [sides], laid out as the candidates. Returns false if numbers are too
/// far apart, no legal path is left, or there are too many pairs; then the general search must be used.
[[nodiscard]] bool search_pairs(const CoupledShape& shape, const CoupledTransitions& between,
                                const JointSource& source, const PairInput& input, SpaceWorkspace& joint,
                                PairWorkspace& work, std::vector<std::vector<double>>& side);

}  // namespace duilian
