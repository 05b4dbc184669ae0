// Sums over the paths of a chain in the log domain, with one recursion for every semiring. It is the plain
// form that the fast one must equal, and the fallback where scores are too far apart for probabilities in a
// double.
#pragma once

#include "duilian/chain/chain.hpp"

namespace duilian::log_domain {

/// ⊕ is log Σ exp: sums over all paths.
struct LogPlus {
  static double sum(std::span<const double> terms);
};

/// ⊕ is max: the score of the best path.
struct MaxPlus {
  static double sum(std::span<const double> terms);
};

///   α[0][j] = state[0][j],   α[t][j] = state[t][j] ⊗ ⊕_i (α[t-1][i] ⊗ between[i][j])
/// The largest α of each position is subtracted and summed separately, so that long sentences lose no digits.
/// Returns ⊕ over all paths; -inf if none is legal.
template <class Semiring>
double forward(const Chain& chain, std::vector<double>& alpha);

///   β[T-1][i] = 0,   β[t][i] = ⊕_j (between[i][j] ⊗ state[t+1][j] ⊗ β[t+1][j]), up to a constant per
///   position
void backward(const Chain& chain, std::vector<double>& beta);

/// p(i, j) between t and t + 1 from α and β; `out` is [width(t)][width(t + 1)].
void pair_block(const Chain& chain, const std::vector<double>& alpha, const std::vector<double>& beta,
                std::int32_t t, std::span<double> out);

/// p(j) at position t from α and β.
void unit_block(const Chain& chain, const std::vector<double>& alpha, const std::vector<double>& beta,
                std::int32_t t, std::span<double> out);

}  // namespace duilian::log_domain
