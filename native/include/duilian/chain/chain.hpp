// A chain: a lattice with scores on its states and between neighbours. The score of a path is the sum of its
// state and transition scores; p(path) is proportional to e^score. Every question to a linear-chain model is
// a question to a chain:
//
//   log_partition   log Σ_paths e^score                           (Eq. 2 of Li et al. 2017)
//   marginals       p(state), and p(pair of neighbours) summed over the positions of a block   (Eq. 6)
//   best_path       the path with the highest score                 (Viterbi)
//   k_best          the k best paths, exactly, best first
//   entropy         -Σ_paths p log p
//
// Under a constraint, ask the restricted lattice. Start and stop scores are included in the state scores of
// the first and the last position.
//
// Sums run in the probability domain with one scale per position, because that is fast. If scores are so far
// apart that a double would underflow, the whole sentence is computed again in the log domain
// (log_domain.hpp), so results are correct for any finite scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/transitions.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

struct Chain {
  const Lattice& lattice;
  std::span<const double> state;  // [S]
  const Transitions& between;
};

struct Path {
  double score = 0.0;
  std::vector<std::int32_t> states;  // [T]  one state per position
};

struct Marginals {
  double log_partition = 0.0;
  std::vector<double> unit;  // [S]
  std::vector<double> pair;  // laid out as Transitions::score; summed over the positions that share a block
};

/// Scratch memory of one thread, reused from call to call.
struct Workspace {
  std::vector<std::size_t> at;              // [T + 1]  where position t begins in the padded arrays below
  std::vector<double> emission;             // e^(state - peak of its position)
  std::vector<double> alpha;                // forward probabilities, each position sums to 1
  std::vector<double> beta;                 // backward, scaled so that alpha · beta is the unit marginal
  std::vector<double> message;              // emission · beta / scale
  std::vector<double> scale;                // [T]
  std::vector<double> exp_score;            // e^(transition - peak of its block), as Transitions::score
  std::vector<double> exp_turned;           // the same matrices transposed
  std::vector<std::size_t> turned_at;       // [blocks]
  std::vector<double> log_alpha, log_beta;  // [S]  only where the log domain is needed
};

/// Throws std::invalid_argument if arrays are inconsistent, a position is empty or a score is not finite.
void check(const Chain& chain);

[[nodiscard]] double log_partition(const Chain& chain, Workspace& work);
void marginals(const Chain& chain, Workspace& work, Marginals& out);
/// Like marginals(), without the pairs: `pair` is unspecified afterwards.
void unit_marginals(const Chain& chain, Workspace& work, Marginals& out);

/// Pair marginals for each position: [T - 1] matrices [width(t)][width(t + 1)], without padding.
[[nodiscard]] std::vector<double> pair_marginals(const Chain& chain, Workspace& work);
[[nodiscard]] double entropy(const Chain& chain, Workspace& work);
[[nodiscard]] Path best_path(const Chain& chain, Workspace& work);
/// Like best_path(), but returns a path without states if none is legal. State scores may be kForbidden.
[[nodiscard]] Path try_best_path(const Chain& chain, Workspace& work);
[[nodiscard]] std::vector<Path> k_best(const Chain& chain, std::int32_t k);

[[nodiscard]] double path_score(const Chain& chain, std::span<const std::int32_t> states);

}  // namespace duilian
