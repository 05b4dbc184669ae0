// Answers the questions to a chain in the probability domain, with the log domain as fallback (see
// chain.hpp).
#include "duilian/chain/chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/chain/log_domain.hpp"
#include "duilian/concat.hpp"

namespace duilian {

namespace {

// A forward probability or scale below kTiny sends the sentence to the log domain: above it, no product of
// two of them and no quotient leaves the range of a double.
constexpr double kTiny = 1e-140;
constexpr double kMaxSpread = 600.0;  // largest range of scores in a block: e^-600 is still a normal number

void lay_out(const Chain& chain, Workspace& work) {
  const std::int32_t T = chain.lattice.positions();
  work.at.assign(1, 0);
  for (std::int32_t t = 0; t < T; ++t) {
    work.at.push_back(work.at.back() + padded(static_cast<std::size_t>(chain.lattice.width(t))));
  }
  work.emission.resize(work.at.back());
  work.alpha.resize(work.at.back());
  work.scale.resize(static_cast<std::size_t>(T));
}

/// Clears the padding of a vector, which might hold an old NaN.
void clear_padding(double* values, std::size_t width) {
  for (std::size_t j = width; j < padded(width); ++j) values[j] = 0.0;
}

/// e^(transition - peak) of every block; returns false if the scores of a block are too far apart.
[[nodiscard]] bool exponentiate_transitions(const Chain& chain, Workspace& work) {
  work.exp_score.resize(chain.between.score.size());
  for (const Block& block : chain.between.blocks) {
    if (block.peak == kForbidden || block.peak - block.floor > kMaxSpread) return false;
    if (block.rows == 1 && block.cols == 1) {  // most blocks of a pruned lattice
      double* own = work.exp_score.data() + block.offset;
      std::fill_n(own + 1, block.stride - 1, 0.0);
      own[0] = 1.0;
      continue;
    }
    kernels().exponentials(chain.between.score.data() + block.offset, block.peak, block.rows * block.stride,
                           work.exp_score.data() + block.offset);
  }
  return true;
}

/// The smallest value of a state that is not itself forbidden.
[[nodiscard]] double smallest_allowed(const double* score, const double* alpha, std::size_t width) {
  double smallest = 1.0;
  for (std::size_t j = 0; j < width; ++j) {
    if (score[j] != kForbidden) smallest = std::min(smallest, alpha[j]);
  }
  return smallest;
}

/// Whether this and the previous position have only one state, so there is nothing to sum.
[[nodiscard]] bool is_certain(const Lattice& lattice, std::int32_t t) {
  return lattice.width(t) == 1 && (t == 0 || lattice.width(t - 1) == 1);
}

///   α[0] = e[0] / Σ,   α[t][j] = e[t][j] Σ_i α[t-1][i] E[i][j] / scale[t]
/// Writes log Z to `log_z`; returns false if a number is too small to trust.
[[nodiscard]] bool forward(const Chain& chain, Workspace& work, double& log_z) {
  lay_out(chain, work);
  if (!exponentiate_transitions(chain, work)) return false;
  log_z = 0.0;
  for (std::int32_t t = 0; t < chain.lattice.positions(); ++t) {
    const auto width = static_cast<std::size_t>(chain.lattice.width(t));
    const double* score = chain.state.data() + chain.lattice.first[t];
    double* emission = work.emission.data() + work.at[t];
    double* alpha = work.alpha.data() + work.at[t];
    if (is_certain(chain.lattice, t) && score[0] != kForbidden) {
      log_z += score[0] + (t == 0 ? 0.0 : chain.between.between(t - 1).peak);
      emission[0] = alpha[0] = work.scale[t] = 1.0;
      clear_padding(emission, 1);
      clear_padding(alpha, 1);
      continue;
    }
    const double peak = kernels().peak(score, width);
    kernels().exponentials(score, peak, width, emission);
    clear_padding(emission, width);
    log_z += peak;
    if (t == 0) {
      std::fill_n(alpha, padded(width), 1.0);
    } else {
      const Block& block = chain.between.between(t - 1);
      kernels().times_matrix(work.alpha.data() + work.at[t - 1], work.exp_score.data() + block.offset,
                             block.rows, block.stride, alpha);
      log_z += block.peak;
    }
    double smallest = 0.0;
    const double scale = kernels().multiply(emission, width, padded(width), alpha, &smallest);
    if (!(scale > kTiny)) return false;
    if (smallest < kTiny * scale && smallest_allowed(score, alpha, width) < kTiny * scale) return false;
    const double inverse = 1.0 / scale;
    for (std::size_t j = 0; j < padded(width); ++j) alpha[j] *= inverse;
    work.scale[t] = scale;
    log_z += std::log(scale);
  }
  return true;
}

void turn_blocks(const Chain& chain, Workspace& work) {
  work.turned_at.clear();
  std::size_t size = 0;
  for (const Block& block : chain.between.blocks) {
    work.turned_at.push_back(size);
    size += block.cols * padded(block.rows);
  }
  work.exp_turned.assign(size, 0.0);
  for (std::size_t b = 0; b < chain.between.blocks.size(); ++b) {
    const Block& block = chain.between.blocks[b];
    double* turned = work.exp_turned.data() + work.turned_at[b];
    for (std::size_t i = 0; i < block.rows; ++i) {
      const double* row = work.exp_score.data() + block.offset + i * block.stride;
      for (std::size_t j = 0; j < block.cols; ++j) turned[j * padded(block.rows) + i] = row[j];
    }
  }
}

///   message[t][j] = e[t][j] β[t][j] / scale[t],   β[t-1][i] = Σ_j E[i][j] message[t][j]
void backward(const Chain& chain, Workspace& work) {
  turn_blocks(chain, work);
  work.beta.resize(work.at.back());
  work.message.resize(work.at.back());
  for (std::int32_t t = chain.lattice.positions() - 1; t >= 0; --t) {
    const auto width = static_cast<std::size_t>(chain.lattice.width(t));
    double* beta = work.beta.data() + work.at[t];
    double* message = work.message.data() + work.at[t];
    if (t + 1 == chain.lattice.positions()) std::fill_n(beta, padded(width), 1.0);
    const double inverse = 1.0 / work.scale[t];
    // The padding of emission is 0 and that of beta finite, so the padding of message becomes 0.
    for (std::size_t j = 0; j < padded(width); ++j)
      message[j] = work.emission[work.at[t] + j] * beta[j] * inverse;
    if (t == 0) return;
    if (is_certain(chain.lattice, t)) {
      double* before = work.beta.data() + work.at[t - 1];
      before[0] = message[0];  // times e^0
      clear_padding(before, 1);
      continue;
    }
    const auto b = static_cast<std::size_t>(chain.between.block_of[t - 1]);
    const Block& block = chain.between.blocks[b];
    kernels().times_matrix(message, work.exp_turned.data() + work.turned_at[b], block.cols,
                           padded(block.rows), work.beta.data() + work.at[t - 1]);
  }
}

///   pair[i][j] = E[i][j] Σ_t α[t][i] message[t+1][j] over the positions of the block
void sum_pairs(const Chain& chain, const Workspace& work, std::vector<double>& pair) {
  pair.assign(chain.between.score.size(), 0.0);
  const auto& block_of = chain.between.block_of;
  for (std::size_t t = 0; t < block_of.size();) {
    std::size_t end = t + 1;
    const Block& block = chain.between.blocks[block_of[t]];
    // Consecutive positions that share a block also share its shape, so their vectors are equally spaced.
    while (end < block_of.size() && block_of[end] == block_of[t]) ++end;
    kernels().add_outer(work.alpha.data() + work.at[t], padded(block.rows),
                        work.message.data() + work.at[t + 1], block.stride, end - t, block.rows, block.stride,
                        pair.data() + block.offset);
    t = end;
  }
  for (std::size_t k = 0; k < pair.size(); ++k) pair[k] *= work.exp_score[k];
}

[[nodiscard]] double log_domain(const Chain& chain, Workspace& work) {
  const double log_z = log_domain::forward<log_domain::LogPlus>(chain, work.log_alpha);
  if (log_z == kForbidden) throw std::invalid_argument("no path through the lattice is legal");
  log_domain::backward(chain, work.log_beta);
  return log_z;
}

void log_domain_marginals(const Chain& chain, Workspace& work, Marginals& out) {
  const Lattice& x = chain.lattice;
  out.log_partition = log_domain(chain, work);
  out.unit.resize(chain.state.size());
  out.pair.assign(chain.between.score.size(), 0.0);
  std::vector<double> pairs;
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    log_domain::unit_block(chain, work.log_alpha, work.log_beta, t,
                           {out.unit.data() + x.first[t], static_cast<std::size_t>(x.width(t))});
    if (t + 1 == x.positions()) break;
    const Block& block = chain.between.between(t);
    pairs.resize(block.rows * block.cols);
    log_domain::pair_block(chain, work.log_alpha, work.log_beta, t, pairs);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      out.pair[block.offset + k / block.cols * block.stride + k % block.cols] += pairs[k];
    }
  }
}

/// Calls visit(t, p) with the pair marginals [width(t)][width(t + 1)] of each t in turn.
template <class Visit>
void for_each_pair_block(const Chain& chain, Workspace& work, Visit visit) {
  double log_z = 0.0;
  const bool is_scaled = forward(chain, work, log_z);
  if (is_scaled) {
    backward(chain, work);
  } else {
    log_z = log_domain(chain, work);
  }
  std::vector<double> pairs;
  for (std::int32_t t = 0; t + 1 < chain.lattice.positions(); ++t) {
    const Block& block = chain.between.between(t);
    pairs.resize(block.rows * block.cols);
    if (!is_scaled) log_domain::pair_block(chain, work.log_alpha, work.log_beta, t, pairs);
    for (std::size_t i = 0; is_scaled && i < block.rows; ++i) {
      const double* row = work.exp_score.data() + block.offset + i * block.stride;
      const double* message = work.message.data() + work.at[t + 1];
      const double alpha = work.alpha[work.at[t] + i];
      for (std::size_t j = 0; j < block.cols; ++j) pairs[i * block.cols + j] = alpha * message[j] * row[j];
    }
    visit(t, std::span<const double>(pairs));
  }
}

[[nodiscard]] double minus_p_log_p(double p) { return p > 0.0 ? -p * std::log(p) : 0.0; }

}  // namespace

void check(const Chain& chain) {
  const Lattice& x = chain.lattice;
  if (chain.state.size() != static_cast<std::size_t>(x.states())) {
    throw std::invalid_argument(concat("expected one score per state, got ", chain.state.size(),
                                       " state scores for ", x.states(), " states"));
  }
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    if (x.width(t) == 0)
      throw std::invalid_argument(concat("position ", t, " of the lattice has no state left"));
  }
  for (const double score : chain.state) {
    if (!std::isfinite(score)) throw std::invalid_argument("a state score is not finite");
  }
}

double log_partition(const Chain& chain, Workspace& work) {
  double log_z = 0.0;
  if (forward(chain, work, log_z)) return log_z;
  return log_domain::forward<log_domain::LogPlus>(chain, work.log_alpha);
}

namespace {

/// Works in the probability domain; returns false if a number is too small to trust.
[[nodiscard]] bool try_unit_marginals(const Chain& chain, Workspace& work, Marginals& out) {
  if (!forward(chain, work, out.log_partition)) return false;
  backward(chain, work);
  out.unit.resize(chain.state.size());
  for (std::int32_t t = 0; t < chain.lattice.positions(); ++t) {
    const std::size_t at = work.at[t];
    double* unit = out.unit.data() + chain.lattice.first[t];
    const auto width = static_cast<std::size_t>(chain.lattice.width(t));
    for (std::size_t j = 0; j < width; ++j) unit[j] = work.alpha[at + j] * work.beta[at + j];
  }
  return true;
}

}  // namespace

void unit_marginals(const Chain& chain, Workspace& work, Marginals& out) {
  if (!try_unit_marginals(chain, work, out)) log_domain_marginals(chain, work, out);
}

void marginals(const Chain& chain, Workspace& work, Marginals& out) {
  if (!try_unit_marginals(chain, work, out)) return log_domain_marginals(chain, work, out);
  sum_pairs(chain, work, out.pair);
}

std::vector<double> pair_marginals(const Chain& chain, Workspace& work) {
  std::vector<double> out;
  for_each_pair_block(chain, work, [&](std::int32_t, auto p) { out.insert(out.end(), p.begin(), p.end()); });
  return out;
}

double entropy(const Chain& chain, Workspace& work) {
  // H = Σ_t Σ_ij -p(i, j) log p(i, j) - Σ over inner t of Σ_j -p(j) log p(j), which avoids differences of
  // large scores.
  const std::int32_t T = chain.lattice.positions();
  if (T == 0) return 0.0;
  Marginals found;
  marginals(chain, work, found);
  double total = 0.0;
  for_each_pair_block(chain, work, [&](std::int32_t, auto pairs) {
    for (const double p : pairs) total += minus_p_log_p(p);
  });
  const std::int32_t last_inner = T == 1 ? 0 : T - 1;
  for (std::int32_t s = chain.lattice.first[T == 1 ? 0 : 1]; s < chain.lattice.first[last_inner]; ++s) {
    total -= minus_p_log_p(found.unit[s]);
  }
  if (T == 1) {
    for (const double p : found.unit) total += minus_p_log_p(p);
  }
  return std::max(total, 0.0);
}

Path best_path(const Chain& chain, Workspace& work) {
  Path path = try_best_path(chain, work);
  if (path.states.empty() && chain.lattice.positions() > 0)
    throw std::invalid_argument("no path through the lattice is legal");
  return path;
}

Path try_best_path(const Chain& chain, Workspace& work) {
  const Lattice& x = chain.lattice;
  const std::int32_t T = x.positions();
  lay_out(chain, work);
  // δ[t][j] = state[t][j] + max_i (δ[t-1][i] + between[i][j]), kept in work.alpha
  for (std::int32_t t = 0; t < T; ++t) {
    double* delta = work.alpha.data() + work.at[t];
    if (t == 0) {
      std::fill_n(delta, x.width(t), 0.0);
    } else {
      const Block& block = chain.between.between(t - 1);
      kernels().max_plus(work.alpha.data() + work.at[t - 1], chain.between.row(block, 0), block.rows,
                         block.stride, delta);
    }
    const double* score = chain.state.data() + x.first[t];
    for (std::int32_t j = 0; j < x.width(t); ++j) delta[j] += score[j];
  }
  Path path;
  path.states.resize(static_cast<std::size_t>(T));
  std::size_t best = 0;
  for (std::int32_t t = T - 1; t >= 0; --t) {
    const double* delta = work.alpha.data() + work.at[t];
    const std::size_t after = best;
    double highest = kForbidden;
    best = 0;
    // The i of the maximum is recomputed for this one j, which is cheaper than storing it for all.
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.width(t)); ++i) {
      const double score =
          delta[i] + (t + 1 < T ? chain.between.row(chain.between.between(t), i)[after] : 0.0);
      if (score > highest) {
        highest = score;
        best = i;
      }
    }
    if (t + 1 == T) path.score = highest;
    if (highest == kForbidden) return {};
    path.states[t] = x.first[t] + static_cast<std::int32_t>(best);
  }
  return path;
}

double path_score(const Chain& chain, std::span<const std::int32_t> states) {
  const Lattice& x = chain.lattice;
  if (states.size() != static_cast<std::size_t>(x.positions())) {
    throw std::invalid_argument(
        concat("the path has ", states.size(), " states, but there are ", x.positions(), " positions"));
  }
  double total = 0.0;
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    if (states[t] < x.first[t] || states[t] >= x.first[t + 1]) {
      throw std::invalid_argument(concat("state ", states[t], " is not at position ", t));
    }
    total += chain.state[states[t]];
    if (t == 0) continue;
    const Block& block = chain.between.between(t - 1);
    total += chain.between.row(
        block, static_cast<std::size_t>(states[t - 1] - x.first[t - 1]))[states[t] - x.first[t]];
  }
  return total;
}

}  // namespace duilian
