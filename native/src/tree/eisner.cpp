// Eisner's algorithm over any semiring: inside, outside, and the best tree (see eisner.hpp).
#include "duilian/tree/eisner.hpp"

#include <algorithm>
#include <cmath>

#include "duilian/chain/kernels.hpp"
#include "duilian/tree/kernels.hpp"

namespace duilian {

namespace {

// A semiring has zero (no tree), one (the empty span), times, plus, the inner product of two runs (of at
// least one value each), and the addition of a multiple of one run to another.

struct Max {
  static constexpr double kZero = kNoTree;
  static constexpr double kOne = 0.0;
  static double times(double a, double b) { return a + b; }
  static double product(const double* a, const double* b, std::int32_t count) {
    return tree_kernels().largest_sum(a, b, static_cast<std::size_t>(count));
  }
};

struct LogSum {
  static constexpr double kZero = kNoTree;
  static constexpr double kOne = 0.0;
  static double times(double a, double b) { return a + b; }
  static void add(double& total, double value) {
    const double top = std::max(total, value);
    if (top != kNoTree) total = top + std::log1p(std::exp(std::min(total, value) - top));
  }
  static double product(const double* a, const double* b, std::int32_t count) {
    const double top = Max::product(a, b, count);
    if (top == kNoTree) return kNoTree;
    double total = 0.0;
    for (std::int32_t k = 0; k < count; ++k) total += std::exp(a[k] + b[k] - top);
    return top + std::log(total);
  }
  static void add_multiple(double factor, const double* run, std::int32_t count, double* to) {
    for (std::int32_t k = 0; k < count; ++k) add(to[k], factor + run[k]);
  }
};

/// Plain sums without logarithms: fast as long as they stay within the range of a double.
struct Sum {
  static constexpr double kZero = 0.0;
  static constexpr double kOne = 1.0;
  static double times(double a, double b) { return a * b; }
  static void add(double& total, double value) { total += value; }
  static double product(const double* a, const double* b, std::int32_t count) {
    return tree_kernels().inner_product(a, b, static_cast<std::size_t>(count));
  }
  static void add_multiple(double factor, const double* run, std::int32_t count, double* to) {
    tree_kernels().add_scaled(factor, run, static_cast<std::size_t>(count), to);
  }
};

void prepare(EisnerWork& work, std::int32_t n, double zero) {
  const auto cells = static_cast<std::size_t>(n + 1) * static_cast<std::size_t>(n + 1);
  for (auto* table : {&work.to_right, &work.to_right_at, &work.to_left, &work.to_left_at, &work.arc_right,
                      &work.arc_left_at}) {
    table->assign(cells, zero);
  }
}

/// All spans over the words 1 … n; r is the split point.
///   arc i … j      = ⊕_{i ≤ r < j} to_right[i, r] + to_left[r + 1, j] + score of the arc
///   to_right[i, j] = ⊕_{i < r ≤ j} arc_right[i, r] + to_right[r, j]
///   to_left[i, j]  = ⊕_{i ≤ r < j} to_left[i, r] + arc_left[r, j]
template <class K>
void inside(const ArcScores& scores, EisnerWork& w) {
  const std::int32_t n = scores.words;
  prepare(w, n, K::kZero);
  for (std::int32_t i = 1; i <= n; ++i) {
    const std::size_t at = scores.place(i, i);
    w.to_right[at] = w.to_right_at[at] = w.to_left[at] = w.to_left_at[at] = K::kOne;
  }
  for (std::int32_t width = 1; width < n; ++width) {
    for (std::int32_t i = 1; i + width <= n; ++i) {
      const std::int32_t j = i + width;
      const std::size_t ij = scores.place(i, j);
      const std::size_t ji = scores.place(j, i);
      const double between =
          K::product(&w.to_right[scores.place(i, i)], &w.to_left_at[scores.place(j, i + 1)], width);
      w.arc_right[ij] = K::times(between, scores.value[ij]);
      w.arc_left_at[ji] = K::times(between, scores.value[ji]);
      w.to_right[ij] = w.to_right_at[ji] =
          K::product(&w.arc_right[scores.place(i, i + 1)], &w.to_right_at[scores.place(j, i + 1)], width);
      w.to_left[ij] = w.to_left_at[ji] =
          K::product(&w.to_left[scores.place(i, i)], &w.arc_left_at[scores.place(j, i)], width);
    }
  }
}

/// The score of all trees whose root has the dependent r.
template <class K>
[[nodiscard]] double rooted(const ArcScores& scores, const EisnerWork& w, std::int32_t r) {
  const std::int32_t n = scores.words;
  return K::times(scores.at(0, r), K::times(w.to_left[scores.place(1, r)], w.to_right[scores.place(r, n)]));
}

/// Follows the best spans down. Split points are not stored but found again, by the sum that was best.
class Backtrack {
 public:
  Backtrack(const ArcScores& scores, const EisnerWork& work, Heads& heads)
      : scores_(scores), work_(work), heads_(heads) {}

  void right(std::int32_t i, std::int32_t j) {
    while (i < j) {
      const std::int32_t r =
          i + 1 + best_cut(&work_.arc_right[at(i, i + 1)], &work_.to_right_at[at(j, i + 1)], j - i);
      heads_[r] = i;
      below(i, r);
      i = r;
    }
  }
  void left(std::int32_t i, std::int32_t j) {
    while (i < j) {
      const std::int32_t r = i + best_cut(&work_.to_left[at(i, i)], &work_.arc_left_at[at(j, i)], j - i);
      heads_[r] = j;
      below(r, j);
      j = r;
    }
  }

 private:
  [[nodiscard]] std::size_t at(std::int32_t i, std::int32_t j) const { return scores_.place(i, j); }
  /// The first index with the largest sum.
  [[nodiscard]] static std::int32_t best_cut(const double* a, const double* b, std::int32_t count) {
    std::int32_t best = 0;
    for (std::int32_t k = 1; k < count; ++k) {
      if (a[k] + b[k] > a[best] + b[best]) best = k;
    }
    return best;
  }
  void below(std::int32_t i, std::int32_t j) {
    const std::int32_t r = i + best_cut(&work_.to_right[at(i, i)], &work_.to_left_at[at(j, i + 1)], j - i);
    right(i, r);
    left(r + 1, j);
  }

  const ArcScores& scores_;
  const EisnerWork& work_;
  Heads& heads_;
};

}  // namespace

ScoredTree best_tree(const ArcScores& scores, EisnerWork& work) {
  const std::int32_t n = scores.words;
  inside<Max>(scores, work);
  ScoredTree best;
  std::int32_t root = 0;
  for (std::int32_t r = 1; r <= n; ++r) {
    const double score = rooted<Max>(scores, work, r);
    if (score > best.score) best.score = score, root = r;
  }
  if (root == 0) return best;
  best.heads.assign(static_cast<std::size_t>(n) + 1, -1);
  best.heads[root] = 0;
  Backtrack back(scores, work, best.heads);
  back.left(1, root);
  back.right(root, n);
  return best;
}

namespace {

/// Outside scores, widest spans first: each use of a span in a larger one adds to its outside score. That of
/// a complete span is the sum of two tables, for uses at the left and at the right end of the larger span, so
/// that both are contiguous in memory.
template <class K>
void outside(const ArcScores& scores, EisnerWork& w) {
  const std::int32_t n = scores.words;
  for (auto* table : {&w.outer_right, &w.outer_right_at, &w.outer_left, &w.outer_left_at, &w.outer_arc_right,
                      &w.outer_arc_left}) {
    table->assign(scores.value.size(), K::kZero);
  }
  for (std::int32_t r = 1; r <= n; ++r) {
    const std::size_t left = scores.place(1, r);
    const std::size_t right = scores.place(r, n);
    K::add(w.outer_left[left], K::times(scores.at(0, r), w.to_right[right]));
    K::add(w.outer_right[right], K::times(scores.at(0, r), w.to_left[left]));
  }
  for (std::int32_t width = n - 1; width > 0; --width) {
    for (std::int32_t i = 1; i + width <= n; ++i) {
      const std::int32_t j = i + width;
      const auto at = [&](std::int32_t row, std::int32_t column) { return scores.place(row, column); };
      double right = w.outer_right[at(i, j)];
      K::add(right, w.outer_right_at[at(j, i)]);
      if (right != K::kZero) {
        K::add_multiple(right, &w.to_right_at[at(j, i + 1)], width, &w.outer_arc_right[at(i, i + 1)]);
        K::add_multiple(right, &w.arc_right[at(i, i + 1)], width, &w.outer_right_at[at(j, i + 1)]);
      }
      double left = w.outer_left[at(i, j)];
      K::add(left, w.outer_left_at[at(j, i)]);
      if (left != K::kZero) {
        K::add_multiple(left, &w.to_left[at(i, i)], width, &w.outer_arc_left[at(j, i)]);
        K::add_multiple(left, &w.arc_left_at[at(j, i)], width, &w.outer_left[at(i, i)]);
      }
      double around = K::times(w.outer_arc_right[at(i, j)], scores.at(i, j));
      K::add(around, K::times(w.outer_arc_left[at(j, i)], scores.at(j, i)));
      if (around != K::kZero) {
        K::add_multiple(around, &w.to_left_at[at(j, i + 1)], width, &w.outer_right[at(i, i)]);
        K::add_multiple(around, &w.to_right[at(i, i)], width, &w.outer_left_at[at(j, i + 1)]);
      }
    }
  }
}

/// Returns the partition function; `share` receives the part of it that every arc has, as semiring values.
template <class K>
double partition(const ArcScores& scores, EisnerWork& w, std::vector<double>& share) {
  const std::int32_t n = scores.words;
  inside<K>(scores, w);
  double z = K::kZero;
  for (std::int32_t r = 1; r <= n; ++r) K::add(z, rooted<K>(scores, w, r));
  share.assign(scores.value.size(), K::kZero);
  if (z == K::kZero) return z;
  outside<K>(scores, w);
  for (std::int32_t r = 1; r <= n; ++r) share[scores.place(0, r)] = rooted<K>(scores, w, r);
  for (std::int32_t i = 1; i <= n; ++i) {
    for (std::int32_t j = i + 1; j <= n; ++j) {
      const std::size_t ij = scores.place(i, j);
      const std::size_t ji = scores.place(j, i);
      share[ij] = K::times(w.outer_arc_right[ij], w.arc_right[ij]);
      share[ji] = K::times(w.outer_arc_left[ji], w.arc_left_at[ji]);
    }
  }
  return z;
}

/// Factors of arcs, scaled so that the largest of each word is 1; returns the log of the scale, or kNoTree if
/// a word has no head.
double to_factors(const ArcScores& scores, EisnerWork& work) {
  const std::int32_t n = scores.words;
  work.factor.reset(n);
  double taken = 0.0;
  const auto side = static_cast<std::size_t>(n) + 1;
  std::vector<double>& top = work.top;  // [n + 1]  the largest score among the heads of each word
  top.assign(side, kNoTree);
  for (std::size_t k = 0; k < scores.value.size(); k += side) {
    for (std::size_t m = 1; m < side; ++m)
      top[m] = std::max(top[m], k == m * side ? kNoTree : scores.value[k + m]);
  }
  for (std::size_t m = 1; m < side; ++m) taken += top[m];
  if (taken == kNoTree) return kNoTree;
  for (std::size_t k = 0; k < scores.value.size(); k += side) {
    double* row = &work.factor.value[k];
    for (std::size_t m = 1; m < side; ++m) row[m] = scores.value[k + m] - top[m];
    kernels().exponentials(row + 1, 0.0, side - 1, row + 1);
    row[0] = row[k / side] = 0.0;
  }
  return taken;
}

}  // namespace

double arc_marginals(const ArcScores& scores, EisnerWork& work, std::vector<double>& marginal) {
  // A share is a product of two spans: below this limit, one of them may have lost precision.
  constexpr double kSafe = 1e-140;
  const double taken = to_factors(scores, work);
  if (taken == kNoTree) {
    marginal.assign(scores.value.size(), 0.0);
    return kNoTree;
  }
  const double z = partition<Sum>(work.factor, work, marginal);
  if (z > kSafe && std::isfinite(z)) {
    for (double& share : marginal) share /= z;
    return taken + std::log(z);
  }
  const double log_z = partition<LogSum>(scores, work, marginal);
  for (double& share : marginal) share = log_z == kNoTree ? 0.0 : std::exp(share - log_z);
  return log_z;
}

}  // namespace duilian
