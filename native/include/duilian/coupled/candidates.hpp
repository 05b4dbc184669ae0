// Pruning by context (Li et al. 2016, section 3): at each unit, a side keeps its r most probable labels, or
// as many of them as it takes to exceed the share λ of the probability.
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
  double negligible_share = 0.0;    // see unit_marginals()
  double coarse_window = 0.0;       // if above 0, the window of coarse pruning (chain/coarse.hpp)

  [[nodiscard]] bool keeps_all(std::int32_t labels) const {
    return max_candidates >= labels && candidate_mass >= 1.0;
  }
};

/// Throws std::invalid_argument if the settings could leave a unit without labels.
void check(const Pruning& pruning);

struct PruningWorkspace {
  UniformWorkspace chain;
  UniformMarginals found;
  std::vector<std::pair<double, TagId>> left;
  std::vector<std::uint32_t> likely;
  std::vector<std::int32_t> path;
  std::vector<std::uint8_t> keep;
  std::vector<float> alpha, beta;  // laid out as the labels of a list
  std::vector<double> p;           // [labels]  at one unit
};

/// Appends the labels to keep, given their probabilities `p` [labels], to `out`, ascending. The lower label
/// wins a tie.
void choose_labels(std::span<const double> p, Pruning pruning, PruningWorkspace& work,
                   std::vector<TagId>& out);

/// The candidates of one side for a sentence. `keep` [T] holds labels that must stay (or -1), or is empty.
/// Under rules, candidates on no legal path are dropped; if a unit would have none left, the best path of the
/// side is added first. `p`, if not null, receives the probabilities of the candidates.
void choose_candidates(const UniformChain& chain, Pruning pruning, std::span<const std::int32_t> keep,
                       PruningWorkspace& work, TagSets& out, std::vector<double>* p = nullptr);

/// The labels left by coarse pruning.
struct Shortlist {
  TagSets labels;
  std::vector<float> strength;  // [labels]  e^score, up to a factor per unit
  std::vector<float> share;     // [T]  of probability that the list has
};

/// Chooses candidates from a list, before rules apply; `between` holds e^score of all pairs of labels,
/// [labels + 1][labels + 1], 0 where the rules forbid a pair. The list must have a legal path, as
/// coarse pruning sees to. Returns false if the list has almost no probability.
[[nodiscard]] bool choose_from(const Shortlist& list, std::int32_t labels, std::span<const float> between,
                               Pruning pruning, PruningWorkspace& work, TagSets& out, std::vector<double>& p);

/// Drops candidates on no legal path, and their `p` if given. Returns false and changes nothing if a unit
/// would have no candidates left.
[[nodiscard]] bool trim_candidates(const Succession& rules, std::vector<std::uint8_t>& keep, TagSets& sets,
                                   std::vector<double>* p = nullptr);

/// Adds one label (or none, if -1) with probability 0 at each position.
void add_labels(std::span<const std::int32_t> labels, TagSets& sets, std::vector<double>* p = nullptr);

}  // namespace duilian
