// Forward-backward and Viterbi over the core and the diagonals of an unpruned side (see uniform.hpp).
#include "duilian/chain/uniform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace duilian {

namespace {

constexpr double kTiny = 1e-140;  // as in chain.cpp
constexpr double kMaxSpread = 600.0;

///   y[j] = Σ_i x[i] m[i][j] over the rows with x[i] >= threshold
void times_core(const double* x, const std::vector<double>& m, std::size_t rows, std::size_t stride,
                double threshold, std::vector<std::uint32_t>& row, double* y) {
  if (threshold <= 0.0) return kernels().times_matrix(x, m.data(), rows, stride, y);
  row.resize(rows);
  const std::size_t count = kernels().at_least(x, rows, threshold, row.data());
  kernels().times_rows(x, row.data(), count, m.data(), stride, y);
}

///   y[j] = Σ_i x[i] E[i][j] over legal pairs
void step_forward(const LabelTransitions& m, const double* x, double threshold,
                  std::vector<std::uint32_t>& row, double* y) {
  const TransitionShape& s = m.shape;
  if (s.cols < s.labels) std::fill_n(y, s.stride(), 0.0);  // outside the core
  times_core(x + s.row0, m.exp_core, s.rows, padded(s.cols), threshold, row, y + s.col0);
  for (const Diagonal& d : s.diagonals) {
    kernels().add_products(x + d.i0, m.exp_arc.data() + d.at, d.size, y + d.j0);
  }
}

///   x[i] = Σ_j E[i][j] y[j] over legal pairs
void step_backward(const LabelTransitions& m, const double* y, double threshold,
                   std::vector<std::uint32_t>& row, double* x) {
  const TransitionShape& s = m.shape;
  if (s.rows < s.labels) std::fill_n(x, s.stride(), 0.0);
  times_core(y + s.col0, m.exp_core_turned, s.cols, padded(s.rows), threshold, row, x + s.row0);
  for (const Diagonal& d : s.diagonals) {
    kernels().add_products(y + d.j0, m.exp_arc.data() + d.at, d.size, x + d.i0);
  }
}

/// The smallest value at position t among labels that the rules can reach.
[[nodiscard]] double smallest_reachable(const UniformChain& chain, std::int32_t t, const double* alpha) {
  const auto& reachable = chain.between.shape.reachable;
  const auto& flags = reachable[std::min<std::size_t>(static_cast<std::size_t>(t), reachable.size() - 1)];
  const double* state = chain.state + static_cast<std::size_t>(t) * chain.between.shape.stride();
  double smallest = 1.0;
  for (std::size_t l = 0; l < flags.size(); ++l) {
    if (flags[l] != 0 && state[l] != kForbidden) smallest = std::min(smallest, alpha[l]);
  }
  return smallest;
}

/// As in chain.cpp; returns false if a number is too small to trust.
[[nodiscard]] bool forward(const UniformChain& chain, UniformWorkspace& work, double negligible_share,
                           double& log_z) {
  const LabelTransitions& m = chain.between;
  const std::size_t labels = m.shape.labels;
  const std::size_t stride = m.shape.stride();
  const auto T = static_cast<std::size_t>(chain.positions);
  if (m.spread > kMaxSpread) return false;
  work.emission.resize(T * stride);
  work.alpha.resize(T * stride);
  work.scale.resize(T);
  log_z = 0.0;
  for (std::size_t t = 0; t < T; ++t) {
    const double* state = chain.state + t * stride;
    double* emission = work.emission.data() + t * stride;
    double* alpha = work.alpha.data() + t * stride;
    const double peak = kernels().peak(state, labels);
    if (peak == kForbidden) return false;
    kernels().exponentials(state, peak, labels, emission);
    std::fill(emission + labels, emission + stride, 0.0);
    log_z += peak;
    if (t == 0) {
      std::fill_n(alpha, stride, 1.0);
    } else {
      step_forward(m, alpha - stride, negligible_share, work.row, alpha);
      std::fill(alpha + labels, alpha + stride, 0.0);
      log_z += m.peak;
    }
    double smallest = 0.0;
    const double scale = kernels().multiply(emission, labels, stride, alpha, &smallest);
    if (!(scale > kTiny)) return false;
    if (negligible_share == 0.0 && smallest < kTiny * scale &&
        smallest_reachable(chain, static_cast<std::int32_t>(t), alpha) < kTiny * scale) {
      return false;
    }
    const double inverse = 1.0 / scale;
    for (std::size_t l = 0; l < stride; ++l) alpha[l] *= inverse;
    work.scale[t] = scale;
    log_z += std::log(scale);
  }
  return true;
}

void backward(const UniformChain& chain, UniformWorkspace& work, double negligible_share) {
  const std::size_t stride = chain.between.shape.stride();
  const auto T = static_cast<std::size_t>(chain.positions);
  work.beta.resize(T * stride);
  work.message.resize(T * stride);
  for (std::size_t t = T; t-- > 0;) {
    double* beta = work.beta.data() + t * stride;
    double* message = work.message.data() + t * stride;
    const double* emission = work.emission.data() + t * stride;
    if (t + 1 == T) std::fill_n(beta, stride, 1.0);
    const double inverse = 1.0 / work.scale[t];
    for (std::size_t l = 0; l < stride; ++l) message[l] = emission[l] * beta[l] * inverse;
    const double threshold =
        negligible_share > 0.0 ? negligible_share * kernels().peak(message, chain.between.shape.labels) : 0.0;
    if (t > 0) step_backward(chain.between, message, threshold, work.row, beta - stride);
  }
}

void sum_pairs(const UniformChain& chain, const UniformWorkspace& work, UniformMarginals& out) {
  const LabelTransitions& m = chain.between;
  const TransitionShape& s = m.shape;
  const std::size_t stride = s.stride();
  out.core.assign(m.exp_core.size(), 0.0);
  out.arc.assign(s.arcs, 0.0);
  const auto T = static_cast<std::size_t>(chain.positions);
  if (T < 2) return;
  kernels().add_outer(work.alpha.data() + s.row0, stride, work.message.data() + stride + s.col0, stride,
                      T - 1, s.rows, padded(s.cols), out.core.data());
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t t = 0; t + 1 < T; ++t) {
      kernels().add_products(work.alpha.data() + t * stride + d.i0,
                             work.message.data() + (t + 1) * stride + d.j0, d.size, out.arc.data() + d.at);
    }
  }
  for (std::size_t k = 0; k < out.core.size(); ++k) out.core[k] *= m.exp_core[k];
  for (std::size_t k = 0; k < out.arc.size(); ++k) out.arc[k] *= m.exp_arc[k];
}

/// Calls visit(index in core or arc, i, j, is_core) for every legal pair.
template <class Visit>
void for_each_pair(const TransitionShape& s, const Visit& visit) {
  for (std::size_t i = 0; i < s.rows; ++i) {
    for (std::size_t j = 0; j < s.cols; ++j) visit(i * padded(s.cols) + j, s.row0 + i, s.col0 + j, true);
  }
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) visit(d.at + k, d.i0 + k, d.j0 + k, false);
  }
}

void general_marginals(const UniformChain& chain, UniformWorkspace& work, UniformMarginals& out) {
  const TransitionShape& s = chain.between.shape;
  const OwnedChain spelled = spell_out(chain);
  check(spelled.view());
  Marginals found;
  marginals(spelled.view(), work.general, found);
  out.log_partition = found.log_partition;
  out.unit.assign(static_cast<std::size_t>(chain.positions) * s.stride(), 0.0);
  for (std::int32_t t = 0; t < chain.positions; ++t) {
    for (std::int32_t k = spelled.lattice.first[t]; k < spelled.lattice.first[t + 1]; ++k) {
      out.unit[static_cast<std::size_t>(t) * s.stride() + spelled.lattice.tag[k]] = found.unit[k];
    }
  }
  std::vector<double> pair(s.labels * s.labels, 0.0);
  for (const Block& block : spelled.between.blocks) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      const std::int32_t from = spelled.lattice.tag[spelled.lattice.first[block.position] + i];
      for (std::size_t j = 0; j < block.cols; ++j) {
        const std::int32_t to = spelled.lattice.tag[spelled.lattice.first[block.position + 1] + j];
        pair[from * s.labels + to] += found.pair[block.offset + i * block.stride + j];
      }
    }
  }
  out.core.assign(chain.between.core.size(), 0.0);
  out.arc.assign(s.arcs, 0.0);
  for_each_pair(s, [&](std::size_t at, std::size_t i, std::size_t j, bool is_core) {
    (is_core ? out.core : out.arc)[at] = pair[i * s.labels + j];
  });
}

}  // namespace

double log_partition(const UniformChain& chain, UniformWorkspace& work) {
  double log_z = 0.0;
  if (forward(chain, work, 0.0, log_z)) return log_z;
  const OwnedChain spelled = spell_out(chain);
  check(spelled.view());
  return log_partition(spelled.view(), work.general);
}

namespace {

/// p = α β at every position, normalised again because the sums leave out negligible labels.
void normalised_units(const UniformChain& chain, const UniformWorkspace& work, std::vector<double>& unit) {
  const TransitionShape& shape = chain.between.shape;
  const std::size_t stride = shape.stride();
  unit = work.beta;
  for (std::size_t at = 0; at < unit.size(); at += stride) {
    double smallest = 0.0;
    const double sum =
        kernels().multiply(work.alpha.data() + at, shape.labels, stride, unit.data() + at, &smallest);
    const double inverse = 1.0 / std::max(sum, kTiny);
    for (std::size_t l = 0; l < stride; ++l) unit[at + l] *= inverse;
  }
}

/// Works in the probability domain; returns false if a number is too small to trust.
[[nodiscard]] bool try_unit_marginals(const UniformChain& chain, UniformWorkspace& work,
                                      double negligible_share, UniformMarginals& out) {
  if (!forward(chain, work, negligible_share, out.log_partition)) return false;
  backward(chain, work, negligible_share);
  if (negligible_share > 0.0) {
    normalised_units(chain, work, out.unit);
    return true;
  }
  out.unit.resize(work.alpha.size());
  for (std::size_t k = 0; k < work.alpha.size(); ++k) out.unit[k] = work.alpha[k] * work.beta[k];
  return true;
}

}  // namespace

void unit_marginals(const UniformChain& chain, UniformWorkspace& work, UniformMarginals& out,
                    double negligible_share) {
  if (negligible_share > 0.0 && try_unit_marginals(chain, work, negligible_share, out)) return;
  if (!try_unit_marginals(chain, work, 0.0, out)) general_marginals(chain, work, out);
}

void marginals(const UniformChain& chain, UniformWorkspace& work, UniformMarginals& out) {
  if (!try_unit_marginals(chain, work, 0.0, out)) return general_marginals(chain, work, out);
  sum_pairs(chain, work, out);
}

void best_step(const LabelTransitions& between, const double* before, double* after) {
  const TransitionShape& s = between.shape;
  if (s.cols < s.labels) std::fill_n(after, s.stride(), kForbidden);  // outside the core
  kernels().max_plus(before + s.row0, between.core.data(), s.rows, padded(s.cols), after + s.col0);
  for (const Diagonal& d : s.diagonals) {
    kernels().raise_sums(before + d.i0, between.arc.data() + d.at, d.size, after + d.j0);
  }
}

std::size_t best_before(const LabelTransitions& between, const double* before, std::size_t j) {
  const TransitionShape& s = between.shape;
  double highest = kForbidden;
  std::size_t from = 0;
  const auto offer = [&](std::size_t i, double sum) {
    if (sum > highest || (sum == highest && sum != kForbidden && i < from)) {
      highest = sum;
      from = i;
    }
  };
  if (j >= s.col0 && j < s.col0 + s.cols) {
    if (between.core_turned.empty()) {
      for (std::size_t i = 0; i < s.rows; ++i)
        offer(s.row0 + i, before[s.row0 + i] + between.core[i * padded(s.cols) + j - s.col0]);
    } else if (s.rows > 0) {
      const double* column = between.core_turned.data() + (j - s.col0) * padded(s.rows);
      from = s.row0 + kernels().peak_sum_place(before + s.row0, column, s.rows, &highest);
    }
  }
  for (const Diagonal& d : s.diagonals) {
    if (j >= d.j0 && j < d.j0 + d.size) {
      offer(d.i0 + j - d.j0, before[d.i0 + j - d.j0] + between.arc[d.at + j - d.j0]);
    }
  }
  return from;
}

namespace {

constexpr std::size_t kFewLabels = 4;

/// The best path if there are only a few labels: then loops over all pairs take less time than kernels.
[[nodiscard]] bool try_best_of_few(const UniformChain& chain, UniformWorkspace& work,
                                   std::span<std::int32_t> labels) {
  const std::size_t count = chain.between.shape.labels, stride = chain.between.shape.stride();
  const auto T = static_cast<std::size_t>(chain.positions);
  double score[kFewLabels][kFewLabels];  // [after][before]
  for (std::size_t j = 0; j < kFewLabels; ++j) {
    for (std::size_t i = 0; i < kFewLabels; ++i)
      score[j][i] = i < count && j < count ? chain.between.score(i, j) : kForbidden;
  }
  work.alpha.resize(std::max(work.alpha.size(), T * kFewLabels));
  double delta[kFewLabels];
  for (std::size_t j = 0; j < kFewLabels; ++j) delta[j] = j < count ? chain.state[j] : kForbidden;
  std::copy_n(delta, kFewLabels, work.alpha.data());
  for (std::size_t t = 1; t < T; ++t) {
    const double* state = chain.state + t * stride;
    double* to = work.alpha.data() + t * kFewLabels;
    for (std::size_t j = 0; j < count; ++j) {
      double best = delta[0] + score[j][0];
      for (std::size_t i = 1; i < kFewLabels; ++i) best = std::max(best, delta[i] + score[j][i]);
      to[j] = best + state[j];
    }
    for (std::size_t j = count; j < kFewLabels; ++j) to[j] = kForbidden;
    std::copy_n(to, kFewLabels, delta);
  }
  std::size_t best = static_cast<std::size_t>(std::max_element(delta, delta + count) - delta);
  if (delta[best] == kForbidden) return false;
  labels[T - 1] = static_cast<std::int32_t>(best);
  for (std::size_t t = T - 1; t > 0; --t) {
    const double* before = work.alpha.data() + (t - 1) * kFewLabels;
    const double* into = score[best];
    best = 0;
    for (std::size_t i = 1; i < kFewLabels; ++i)
      best = before[i] + into[i] > before[best] + into[best] ? i : best;
    labels[t - 1] = static_cast<std::int32_t>(best);
  }
  return true;
}

}  // namespace

bool try_best_labels(const UniformChain& chain, UniformWorkspace& work, std::span<std::int32_t> labels) {
  const TransitionShape& s = chain.between.shape;
  if (s.labels <= kFewLabels && chain.positions > 0) return try_best_of_few(chain, work, labels);
  const std::size_t stride = s.stride();
  const auto T = static_cast<std::size_t>(chain.positions);
  work.alpha.resize(T * stride);
  // δ[t][j] = state[t][j] + max_i (δ[t-1][i] + between[i][j])
  for (std::size_t t = 0; t < T; ++t) {
    double* delta = work.alpha.data() + t * stride;
    const double* state = chain.state + t * stride;
    if (t == 0) {
      std::copy_n(state, s.labels, delta);
      continue;
    }
    best_step(chain.between, delta - stride, delta);
    for (std::size_t l = 0; l < s.labels; ++l) delta[l] += state[l];
  }
  if (T == 0) return true;
  const double* last = work.alpha.data() + (T - 1) * stride;
  std::size_t best = static_cast<std::size_t>(std::max_element(last, last + s.labels) - last);
  if (last[best] == kForbidden) return false;
  labels[T - 1] = static_cast<std::int32_t>(best);
  for (std::size_t t = T - 1; t > 0; --t) {
    // The i of the maximum is recomputed, for the one j that matters.
    best = best_before(chain.between, work.alpha.data() + (t - 1) * stride, best);
    labels[t - 1] = static_cast<std::int32_t>(best);
  }
  return true;
}

OwnedChain spell_out(const UniformChain& chain) {
  const TransitionShape& s = chain.between.shape;
  OwnedChain out;
  Lattice whole;
  for (std::int32_t t = 0; t < chain.positions; ++t) {
    for (std::size_t l = 0; l < s.labels; ++l) {
      if (chain.state[static_cast<std::size_t>(t) * s.stride() + l] != kForbidden) {
        whole.tag.push_back(static_cast<TagId>(l));
      }
    }
    whole.first.push_back(static_cast<std::int32_t>(whole.tag.size()));
  }
  Succession inside = chain.rules;  // the state scores already include start and stop
  out.lattice = trim(whole, {&inside, 1});
  for (std::int32_t t = 0; t < chain.positions; ++t) {
    for (std::int32_t k = out.lattice.first[t]; k < out.lattice.first[t + 1]; ++k) {
      out.state.push_back(chain.state[static_cast<std::size_t>(t) * s.stride() + out.lattice.tag[k]]);
    }
  }
  std::vector<double> score(s.labels * s.labels, kForbidden);
  for_each_pair(s, [&](std::size_t at, std::size_t i, std::size_t j, bool is_core) {
    score[i * s.labels + j] = is_core ? chain.between.core[at] : chain.between.arc[at];
  });
  out.between = make_transitions(out.lattice, [&](std::int32_t i, std::int32_t j) {
    return score[out.lattice.tag[i] * s.labels + out.lattice.tag[j]];
  });
  return out;
}

}  // namespace duilian
