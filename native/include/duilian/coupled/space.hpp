// The search space of a coupled model: the bundles of one sentence that are left after pruning, with scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/chain.hpp"
#include "duilian/coupled/candidates.hpp"
#include "duilian/coupled/shape.hpp"

namespace duilian {

/// The scores of a sentence's separate features, including start and stop. Pruning may use other scores.
struct SideScores {
  std::vector<std::vector<double>> state;  // [sides]  [T][stride]
  std::vector<std::vector<double>> prune;  // [sides]  [T][stride]; empty: same as `state`

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
  /// For every label l in `wanted`, adds the weights of unit t's features for l to sum[slot[l]]; weights of
  /// other labels may be added to sum[0].
  virtual void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                   double* sum) const = 0;
  /// Called before the scores of unit t's candidates are read, for sources that find these when needed.
  virtual void score_sides(std::int32_t /*t*/) const {}

 protected:
  ~JointSource() = default;
};

struct BundleSpace {
  Lattice lattice;
  std::vector<double> state;  // [S]
  std::vector<double> joint;  // [S]  the part of it from joint features
  Transitions between;
  std::vector<std::int32_t> place;  // [S][sides]  index into the candidates of the side
  std::vector<std::int32_t> label;  // [S][parts]  joint label, -1 if unknown

  [[nodiscard]] Chain chain() const { return {lattice, state, between}; }
};

/// A joint transition whose weight is being prefetched.
struct PendingScore {
  double* score;
  const float* weight;
};

struct SpaceWorkspace {
  std::vector<std::int32_t> slot;  // [joint labels]  all 0 between calls
  std::vector<std::int32_t> used;
  std::vector<double> sum;
  std::vector<double> promise;     // [S]
  std::vector<std::uint8_t> keep;  // [S]
  std::vector<PendingScore> pending;
};

/// The number of bundles of the sides' candidates; some number beyond 2^31 if there are more than that.
[[nodiscard]] std::int64_t count_bundles(std::span<const TagSets> candidates);

/// Builds every bundle of the sides' candidates that the mappings allow (or all, if without_mappings).
/// Returns false if a position has no bundles left, or there is no legal path.
/// Throws std::invalid_argument if there are 2^31 bundles or more.
[[nodiscard]] bool build_space(const CoupledShape& shape, std::span<const TagSets> candidates,
                               bool without_mappings, BundleSpace& out);

/// Finds the joint labels and scores of the states. The score of the only bundle at a position affects no
/// probability, so its joint features are not looked up.
void score_states(const CoupledShape& shape, const SideScores& scores, const JointSource& source,
                  SpaceWorkspace& work, BundleSpace& space);

/// Drops hopeless bundles: those that score more than `bundle_gap` below the best at their unit, by the
/// sides' candidates and, if the space has been scored, by joint features. `p` holds the probabilities of the
/// candidates. The states in `correct` (ascending, or none) are compared only with each other, so that some
/// of them stay. Under rules, the result may have dead ends or no legal path.
void prune_bundles(std::span<const TagSets> candidates, std::span<const std::vector<double>> p,
                   double bundle_gap, std::span<const std::int32_t> correct, SpaceWorkspace& work,
                   BundleSpace& space);

/// Scores transitions, start and stop; call it after score_states. Unreachable states become kForbidden.
/// Returns false if no legal path is left.
[[nodiscard]] bool score_between(const CoupledShape& shape, const CoupledTransitions& between,
                                 SpaceWorkspace& work, BundleSpace& space);

/// Copies the states in `kept` (ascending, some at every position) with their scores.
void take_part(const BundleSpace& space, std::span<const std::int32_t> kept, BundleSpace& out);

/// How the labels of the sides are chosen.
enum class Decoding : std::uint8_t {
  marginals,  // the most probable labels of each side; under rules, the legal ones with the largest sum of
              // probabilities
  path        // the best path of bundles
};

/// The probability of a side's candidates at each position, laid out as the candidates.
void side_marginals(const BundleSpace& space, std::span<const double> unit, std::size_t side,
                    const TagSets& candidates, std::vector<double>& out);

/// The candidates of one side with the largest sum of probabilities, [T], as indices into the candidates.
void best_places(const Succession& rules, const TagSets& candidates, std::span<const double> p,
                 std::vector<std::int32_t>& out);

}  // namespace duilian
