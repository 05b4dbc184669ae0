// The bundles that are left for one sentence after pruning, with their scores: where a coupled model
// searches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/chain.hpp"
#include "duilian/coupled/candidates.hpp"
#include "duilian/coupled/shape.hpp"

namespace duilian {

/// The scores of a sentence's separate features, start and stop included. Pruning may use other scores than
/// the model's own.
struct SideScores {
  std::vector<std::vector<double>> state;  // [sides]  [T][stride]
  std::vector<std::vector<double>> prune;  // [sides]  [T][stride]; empty: as `state`

  [[nodiscard]] bool has_pruner(std::size_t side) const {
    return side < prune.size() && !prune[side].empty();
  }
  [[nodiscard]] const std::vector<double>& pruning(std::size_t side) const {
    return has_pruner(side) ? prune[side] : state[side];
  }
};

/// The joint features of a sentence, wherever their weights are stored.
class JointSource {
 public:
  JointSource() = default;
  JointSource(const JointSource&) = delete;
  JointSource& operator=(const JointSource&) = delete;
  /// For every label l in `wanted` adds the weights of unit t's features with l to sum[slot[l]]; weights of
  /// other labels may go to sum[0].
  virtual void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                   double* sum) const = 0;

 protected:
  ~JointSource() = default;
};

struct BundleSpace {
  Lattice lattice;
  std::vector<double> state;  // [S]
  std::vector<double> joint;  // [S]  the joint features' part of it
  Transitions between;
  std::vector<std::int32_t> place;  // [S][sides]  which of its side's candidates a state has
  std::vector<std::int32_t> label;  // [S][parts]  its joint label, -1 if unknown

  [[nodiscard]] Chain chain() const { return {lattice, state, between}; }
};

/// A joint transition whose weight is being prefetched.
struct PendingScore {
  double* score;
  const float* weight;
};

struct SpaceWorkspace {
  std::vector<std::int32_t> slot;  // [joint labels]  0 between calls
  std::vector<std::int32_t> used;
  std::vector<double> sum;
  std::vector<double> promise;     // [S]
  std::vector<std::uint8_t> keep;  // [S]
  std::vector<PendingScore> pending;
};

/// Every bundle of the sides' candidates that the mappings allow (all, if without_mappings). Returns false if
/// that leaves a position without bundles, or no legal path.
[[nodiscard]] bool build_space(const CoupledShape& shape, std::span<const TagSets> candidates,
                               bool without_mappings, BundleSpace& out);

/// Joint labels and scores of the states. If a position has a single bundle, its score affects no
/// probability, and joint features are not looked up.
void score_states(const CoupledShape& shape, const SideScores& scores, const JointSource& source,
                  SpaceWorkspace& work, BundleSpace& space);

/// Drops bundles that are hopeless at their unit: their score, from the sides' candidates and, if the space
/// has been scored, from the joint features, lies more than `bundle_gap` below the best. `p` holds the
/// candidates' probabilities. The states in `correct` (ascending, or none) are compared with the best of
/// them, so that some of them stay. Under rules, the result may have dead ends, or no legal path.
void prune_bundles(std::span<const TagSets> candidates, std::span<const std::vector<double>> p,
                   double bundle_gap, std::span<const std::int32_t> correct, SpaceWorkspace& work,
                   BundleSpace& space);

/// Scores between the states, and of start and stop; after score_states. Unreachable states get the score
/// kForbidden. Returns false if no legal path is left.
[[nodiscard]] bool score_between(const CoupledShape& shape, const CoupledTransitions& between,
                                 SpaceWorkspace& work, BundleSpace& space);

/// The states in `kept` (ascending, some at every position) with their scores.
void take_part(const BundleSpace& space, std::span<const std::int32_t> kept, BundleSpace& out);

/// How the sides' labels are found.
enum class Decoding : std::uint8_t {
  marginals,  // each side's most probable labels; under rules the legal ones with the highest summed
              // probability
  path        // the best path of bundles
};

/// p of a side's candidates at each position, laid out as the candidates.
void side_marginals(const BundleSpace& space, std::span<const double> unit, std::size_t side,
                    const TagSets& candidates, std::vector<double>& out);

/// For one side the candidates with the highest summed probability, [T], as places among the candidates.
void best_places(const Succession& rules, const TagSets& candidates, std::span<const double> p,
                 std::vector<std::int32_t>& out);

}  // namespace duilian
