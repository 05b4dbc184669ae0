// The chain of an unpruned side: every position has all labels, and all positions share the same transitions.
// A plain CRF trains and tags with it, and it prunes the candidates of a coupled model. Its answers are those
// of a Chain on the complete lattice trimmed by the same rules, but neither is ever built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/chain.hpp"
#include "duilian/chain/label_transitions.hpp"
#include "duilian/chain/owned_chain.hpp"

namespace duilian {

struct UniformChain {
  std::int32_t positions = 0;
  const double* state = nullptr;  // [T][stride]  start and stop included; kForbidden where a label may not be
  const LabelTransitions& between;
  const Succession& rules;
};

struct UniformMarginals {
  double log_partition = 0.0;
  std::vector<double> unit;  // [T][stride]
  std::vector<double> core;  // [rows][padded(cols)]  pair marginals summed over positions
  std::vector<double> arc;   // [arcs]
};

struct UniformWorkspace {
  std::vector<double> emission, alpha, beta, message;  // [T][stride]
  std::vector<double> scale;                           // [T]
  std::vector<std::uint32_t> row;                      // rows of the core worth visiting
  Workspace general;
};

[[nodiscard]] double log_partition(const UniformChain& chain, UniformWorkspace& work);
void marginals(const UniformChain& chain, UniformWorkspace& work, UniformMarginals& out);
/// Like marginals(), for pruning: `core` and `arc` stay unchanged. Labels with less than `negligible_share`
/// of a position's sum are left out of the sums over the core; most labels of a position are hopeless, and
/// the others hardly change.
void unit_marginals(const UniformChain& chain, UniformWorkspace& work, UniformMarginals& out,
                    double negligible_share = 0.0);

/// One Viterbi step: after[j] = max_i (before[i] + between[i][j]), or kForbidden if nothing leads to j; both
/// are [stride].
void best_step(const LabelTransitions& between, const double* before, double* after);
/// The i that attains this maximum for j; the smallest of several.
[[nodiscard]] std::size_t best_before(const LabelTransitions& between, const double* before, std::size_t j);

/// The labels of the best path, [T]; returns false if no path is legal.
[[nodiscard]] bool try_best_labels(const UniformChain& chain, UniformWorkspace& work,
                                   std::span<std::int32_t> labels);

/// The same chain with an explicit lattice, for questions that are rarely asked: the labels whose state score
/// is not kForbidden, trimmed by the rules.
[[nodiscard]] OwnedChain spell_out(const UniformChain& chain);

}  // namespace duilian
