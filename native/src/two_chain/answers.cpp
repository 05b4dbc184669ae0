// The k best paths and the marginals of two chains, by the same two recurrences as the best path.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "duilian/chain/kernels.hpp"
#include "duilian/concat.hpp"
#include "duilian/two_chain/search.hpp"

namespace duilian {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Both chains: the scores of the two steps, s' → s under t' and then t' → t under s, times a scale.
struct Both {
  const TwoChains& x;
  double scale = 1.0;
  [[nodiscard]] std::size_t tags() const { return x.shape.tags(); }
  [[nodiscard]] double start(std::size_t s, std::size_t t) const {
    const std::size_t W = x.shape.width();
    return scale * (static_cast<double>(x.cliques.start[s]) + x.scores(0, Clique::letter)[s] +
                    x.scores(0, Clique::tag)[t] + x.scores(0, Clique::letter_tag)[s * W + t] +
                    x.cliques.start_tag[s * W + t]);
  }
  [[nodiscard]] double letter_step(std::size_t i, std::size_t s1, std::size_t s, std::size_t t1) const {
    const std::size_t S = x.shape.letters(), W = x.shape.width();
    return scale *
           (static_cast<double>(x.cliques.letters[s1 * S + s]) + x.scores(i, Clique::letters)[s1 * S + s] +
            x.scores(i, Clique::letter)[s] + x.cliques.c1[(s1 * S + s) * W + t1]);
  }
  [[nodiscard]] double tag_step(std::size_t i, std::size_t s, std::size_t t1, std::size_t t) const {
    return x.shape.keeps_tag(s) && t1 != t ? kNever : free_tag_step(i, s, t1, t);
  }
  [[nodiscard]] double free_tag_step(std::size_t i, std::size_t s, std::size_t t1, std::size_t t) const {
    const std::size_t T = x.shape.tags(), W = x.shape.width();
    return scale *
           (static_cast<double>(x.cliques.c2[(s * T + t1) * W + t]) + x.scores(i, Clique::tags)[t1 * W + t] +
            x.scores(i, Clique::tag)[t] + x.scores(i, Clique::letter_tag)[s * W + t]);
  }
};

/// The chain of letters alone, as two chains with a single, meaningless tag.
struct LettersAlone {
  const TwoChains& x;
  [[nodiscard]] static std::size_t tags() { return 1; }
  [[nodiscard]] double start(std::size_t s, std::size_t) const {
    return static_cast<double>(x.cliques.start[s]) + x.scores(0, Clique::letter)[s];
  }
  [[nodiscard]] double letter_step(std::size_t i, std::size_t s1, std::size_t s, std::size_t) const {
    const std::size_t S = x.shape.letters();
    return static_cast<double>(x.cliques.letters[s1 * S + s]) + x.scores(i, Clique::letters)[s1 * S + s] +
           x.scores(i, Clique::letter)[s];
  }
  [[nodiscard]] static double tag_step(std::size_t, std::size_t, std::size_t, std::size_t) { return 0.0; }
};

/// One of the best partial paths that end in a state, and the partial path that it extends.
struct Partial {
  double score;
  std::size_t state, rank;
};
using Partials = std::vector<Partial>;

void keep_best(Partials& found, std::size_t k) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Partial& a, const Partial& b) { return a.score > b.score; });
  if (found.size() > k) found.resize(k);
}

void extend(Partials& out, const Partials& from, std::size_t state, double step) {
  if (step == kNever) return;
  for (std::size_t rank = 0; rank < from.size(); ++rank)
    out.push_back({from[rank].score + step, state, rank});
}

template <class Scores>
std::vector<TwoChainPath> k_best(const TwoChains& x, const Scores& scores, std::size_t k) {
  if (k < 1) throw std::invalid_argument(concat("k must be at least 1, got ", k));
  if (x.length == 0) return {TwoChainPath{}};
  const std::size_t S = x.shape.letters(), T = scores.tags(), L = x.length;
  // [L][S · T]; a state of δ is s · T + t', one of η is s · T + t
  std::vector<std::vector<Partials>> delta(L, std::vector<Partials>(S * T)), eta = delta;
  for (std::size_t state = 0; state < S * T; ++state) {
    const double score = scores.start(state / T, state % T);
    if (score != kNever) eta[0][state].push_back({score, 0, 0});
  }
  for (std::size_t i = 1; i < L; ++i) {
    for (std::size_t state = 0; state < S * T; ++state) {
      const std::size_t s = state / T, t1 = state % T;
      for (std::size_t s1 = 0; s1 < S; ++s1) {
        extend(delta[i][state], eta[i - 1][s1 * T + t1], s1 * T + t1, scores.letter_step(i, s1, s, t1));
      }
      keep_best(delta[i][state], k);
    }
    for (std::size_t state = 0; state < S * T; ++state) {
      const std::size_t s = state / T, t = state % T;
      for (std::size_t t1 = 0; t1 < T; ++t1) {
        extend(eta[i][state], delta[i][s * T + t1], s * T + t1, scores.tag_step(i, s, t1, t));
      }
      keep_best(eta[i][state], k);
    }
  }
  Partials ends;
  for (std::size_t state = 0; state < S * T; ++state) {
    if (x.shape.may_end(state / T)) extend(ends, eta[L - 1][state], state, 0.0);
  }
  keep_best(ends, k);
  std::vector<TwoChainPath> out;
  for (const Partial& end : ends) {
    TwoChainPath path{end.score, std::vector<std::int32_t>(L), std::vector<std::int32_t>(L)};
    std::size_t state = end.state, rank = end.rank;
    for (std::size_t i = L; i-- > 0;) {
      path.letter[i] = static_cast<std::int32_t>(state / T);
      path.tag[i] = static_cast<std::int32_t>(state % T);
      if (i == 0) break;
      const Partial& half = eta[i][state][rank];
      const Partial& whole = delta[i][half.state][half.rank];
      state = whole.state, rank = whole.rank;
    }
    out.push_back(std::move(path));
  }
  return out;
}

/// Adds e^x in the log domain, for all columns of a table at once.
class ColumnSums {
 public:
  /// out[j] = log Σ_i e^value(i, j)
  template <class Value>
  void sum(std::size_t rows, std::size_t columns, const Value& value, double* out) {
    table_.resize(rows * columns);
    peak_.assign(columns, std::numeric_limits<double>::lowest());
    for (std::size_t i = 0; i < rows; ++i) {
      double* row = table_.data() + i * columns;
      for (std::size_t j = 0; j < columns; ++j) row[j] = value(i, j);
      for (std::size_t j = 0; j < columns; ++j) peak_[j] = std::max(peak_[j], row[j]);
    }
    std::fill_n(out, columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      double* row = table_.data() + i * columns;
      for (std::size_t j = 0; j < columns; ++j) row[j] -= peak_[j];
      kernels().exponentials(row, 0.0, columns, row);
      for (std::size_t j = 0; j < columns; ++j) out[j] += row[j];
    }
    for (std::size_t j = 0; j < columns; ++j) out[j] = peak_[j] + std::log(out[j]);
  }

 private:
  std::vector<double> table_, peak_;
};

}  // namespace

std::vector<TwoChainPath> k_best_paths(const TwoChains& x, std::size_t k) { return k_best(x, Both{x}, k); }

std::vector<TwoChainPath> k_best_letters(const TwoChains& x, std::size_t k) {
  return k_best(x, LettersAlone{x}, k);
}

// α_i(s, t) sums over the paths to (s, t), β_i(s, t) over those from it, each in two steps like δ and η:
//   α_i(s, t) = log Σ_t' e^(tag step) Σ_s' e^(letter step + α_{i-1}(s', t'))
TwoChainMarginals marginals(const TwoChains& x, double scale) {
  const Both scores{x, scale};
  const std::size_t S = x.shape.letters(), T = x.shape.tags(), N = S * T, L = x.length;
  TwoChainMarginals out;
  if (L == 0) return out;
  std::vector<double> alpha(L * N), beta(L * N), half(N);
  ColumnSums sums;
  for (std::size_t n = 0; n < N; ++n) alpha[n] = scores.start(n / T, n % T);
  for (std::size_t i = 1; i < L; ++i) {
    const double* from = alpha.data() + (i - 1) * N;
    for (std::size_t s = 0; s < S; ++s) {
      double* before = half.data() + s * T;
      double* to = alpha.data() + i * N + s * T;
      sums.sum(
          S, T,
          [&](std::size_t s1, std::size_t t1) {
            return from[s1 * T + t1] + scores.letter_step(i, s1, s, t1);
          },
          before);
      for (std::size_t t = 0; x.shape.keeps_tag(s) && t < T; ++t)
        to[t] = before[t] + scores.tag_step(i, s, t, t);
      if (x.shape.keeps_tag(s)) continue;
      sums.sum(
          T, T, [&](std::size_t t1, std::size_t t) { return before[t1] + scores.free_tag_step(i, s, t1, t); },
          to);
    }
  }
  double* ends = beta.data() + (L - 1) * N;
  for (std::size_t n = 0; n < N; ++n) ends[n] = x.shape.may_end(n / T) ? 0.0 : kNever;
  const double* last = alpha.data() + (L - 1) * N;
  sums.sum(N, 1, [&](std::size_t n, std::size_t) { return last[n] + ends[n]; }, &out.log_partition);
  for (std::size_t i = L - 1; i > 0; --i) {
    for (std::size_t s = 0; s < S; ++s) {
      const double* to = beta.data() + i * N + s * T;
      double* before = half.data() + s * T;
      for (std::size_t t = 0; x.shape.keeps_tag(s) && t < T; ++t)
        before[t] = to[t] + scores.tag_step(i, s, t, t);
      if (x.shape.keeps_tag(s)) continue;
      sums.sum(
          T, T, [&](std::size_t t, std::size_t t1) { return to[t] + scores.free_tag_step(i, s, t1, t); },
          before);
    }
    for (std::size_t s1 = 0; s1 < S; ++s1) {
      sums.sum(
          S, T,
          [&](std::size_t s, std::size_t t1) { return half[s * T + t1] + scores.letter_step(i, s1, s, t1); },
          beta.data() + (i - 1) * N + s1 * T);
    }
  }
  out.unit.resize(L * N);
  for (std::size_t k = 0; k < L * N; ++k) out.unit[k] = std::exp(alpha[k] + beta[k] - out.log_partition);
  return out;
}

}  // namespace duilian
