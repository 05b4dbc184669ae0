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
  std::int32_t most = 8;  // r
  double mass = 0.98;     // λ; 1 means no limit
  double faint = 0.0;     // of unit_marginals()

  [[nodiscard]] bool keeps_all(std::int32_t labels) const { return most >= labels && mass >= 1.0; }
};

struct PruningWorkspace {
  UniformWorkspace chain;
  UniformMarginals found;
  std::vector<std::pair<double, TagId>> left;
  std::vector<std::uint32_t> likely;
  std::vector<std::int32_t> path;
};

/// The labels kept of `p` [labels], ascending, behind those already in `out`. Ties keep the lower label.
void choose_labels(std::span<const double> p, Pruning pruning, PruningWorkspace& work,
                   std::vector<TagId>& out);

/// The candidates of one side for a sentence. `keep` [T] has labels that must stay (-1: none), or is empty.
/// Under rules, candidates that stand on no legal path are left out; if none is left, the side's best path
/// is added first. `p`, if not null, gets the candidates' probabilities.
void choose_candidates(const UniformChain& chain, Pruning pruning, std::span<const std::int32_t> keep,
                       PruningWorkspace& work, TagSets& out, std::vector<double>* p = nullptr);

/// Leaves out what stands on no legal path; false if nothing is left.
[[nodiscard]] bool trim_candidates(const Succession& rules, TagSets& sets);

/// Adds one label at each position (-1: none).
void add_labels(std::span<const std::int32_t> labels, TagSets& sets);

}  // namespace duilian
