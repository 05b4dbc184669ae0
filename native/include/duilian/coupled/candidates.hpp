// Pruning by context (Li et al. 2016, section 3): at each unit a side keeps its r most probable labels, or
// fewer if those have more than the share λ of the probability.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/chain/uniform.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

struct Pruning {
  std::int32_t max_candidates = 8;  // r
  double candidate_mass = 0.98;     // λ; 1 means no limit
  double negligible_share = 0.0;    // of unit_marginals()
  double coarse_window = 0.0;       // more than 0: of a first look by coarse scores (chain/coarse.hpp)

  [[nodiscard]] bool keeps_all(std::int32_t labels) const {
    return max_candidates >= labels && candidate_mass >= 1.0;
  }
};

/// Throws std::invalid_argument unless a label is always left.
void check(const Pruning& pruning);

struct PruningWorkspace {
  UniformWorkspace chain;
  UniformMarginals found;
  std::vector<std::pair<double, TagId>> left;
  std::vector<std::uint32_t> likely;
  std::vector<std::int32_t> path;
  std::vector<std::uint8_t> keep;
  std::vector<float> alpha, beta;  // as the labels of a list
  std::vector<double> p;           // of one unit
};

/// The labels kept of `p` [labels], ascending, behind those already in `out`. Ties keep the lower label.
void choose_labels(std::span<const double> p, Pruning pruning, PruningWorkspace& work,
                   std::vector<TagId>& out);

/// The candidates of one side for a sentence. `keep` [T] has labels that must stay (-1: none), or is empty.
/// Under rules, candidates that stand on no legal path are left out; if none is left, the side's best path
/// is added first. `p`, if not null, gets the candidates' probabilities.
void choose_candidates(const UniformChain& chain, Pruning pruning, std::span<const std::int32_t> keep,
                       PruningWorkspace& work, TagSets& out, std::vector<double>* p = nullptr);

/// Labels that a first look has left.
struct Shortlist {
  TagSets labels;
  std::vector<float> strength;  // [labels]  e^score, up to a factor for each unit
};

/// The candidates among a list, before rules have their say; `between` has e^score of all pairs of labels,
/// [labels + 1][labels + 1], 0 where rules forbid. False if the list has no probability worth the name.
[[nodiscard]] bool choose_from(const Shortlist& list, std::int32_t labels, std::span<const float> between,
                               Pruning pruning, PruningWorkspace& work, TagSets& out, std::vector<double>& p);

/// Leaves out what stands on no legal path, and its `p` if there is one; false, and
/// nothing changes, if that would leave a unit without any.
[[nodiscard]] bool trim_candidates(const Succession& rules, std::vector<std::uint8_t>& keep, TagSets& sets,
                                   std::vector<double>* p = nullptr);

/// Adds one label at each position (-1: none), with a probability of 0.
void add_labels(std::span<const std::int32_t> labels, TagSets& sets, std::vector<double>* p = nullptr);

}  // namespace duilian
