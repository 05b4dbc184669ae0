// Eisner's algorithm over any semiring: inside, outside, and the best tree (see eisner.hpp).
#include "duilian/tree/eisner.hpp"

#include <algorithm>
#include <cmath>

#include "duilian/chain/kernels.hpp"
#include "duilian/tree/kernels.hpp"

namespace duilian {

namespace {

// A semiring has zero (no tree), one (the empty span), times, and plus, the latter also for the products of
// many pairs of spans at once.

struct Max {
  static constexpr double kZero = kNoTree;
  static constexpr double kOne = 0.0;
  static double times(double a, double b) { return a + b; }
  static void add(double& total, double value) { total = std::max(total, value); }
  static void add_products(const RowProducts& row) { tree_kernels().raise_to_sums(row); }
};

/// Plain sums without logarithms: fast as long as they stay within the range of a double.
struct Sum {
  static constexpr double kZero = 0.0;
  static constexpr double kOne = 1.0;
  static double times(double a, double b) { return a * b; }
  static void add(double& total, double value) { total += value; }
  static void add_products(const RowProducts& row) { tree_kernels().add_products(row); }
};

struct LogSum {
  static constexpr double kZero = kNoTree;
  static constexpr double kOne = 0.0;
  static double times(double a, double b) { return a + b; }
  static void add(double& total, double value) {
    const double top = std::max(total, value);
    if (top != kNoTree) total = top + std::log1p(std::exp(std::min(total, value) - top));
  }
  static void add_products(const RowProducts& row) {
    for (std::size_t x = 0; x < row.size; ++x) {
      const std::size_t count = row.count_at(x);
      const double *a = row.a + x, *b = row.b + x;
      for (std::size_t k = 0; k < count; ++k, a += row.a_step, b += row.b_step) add(row.out[x], *a + *b);
    }
  }
};

/// Where spans are in the tables: a row for each width, a column for each first word. Around them are zeros,
/// at most `kMargin` of which are read.
class Spans {
 public:
  explicit Spans(std::int32_t words) : n_(words), stride_(words + 2 * kMargin + 2) {}
  [[nodiscard]] std::size_t operator()(std::int32_t width, std::int32_t i) const {
    return static_cast<std::size_t>(std::ptrdiff_t{width} * stride_ + kMargin + i);
  }
  [[nodiscard]] std::size_t cells() const { return static_cast<std::size_t>(std::ptrdiff_t{n_} * stride_); }
  /// From a span to one that is a word wider and begins at the same word, an earlier one, or that is narrower
  /// and begins at the next word.
  [[nodiscard]] std::ptrdiff_t wider() const { return stride_; }
  [[nodiscard]] std::ptrdiff_t wider_before() const { return stride_ - 1; }
  [[nodiscard]] std::ptrdiff_t narrower_after() const { return 1 - stride_; }

 private:
  static constexpr std::ptrdiff_t kMargin = kSpanLanes;
  std::int32_t n_;
  std::ptrdiff_t stride_;
};

/// All spans over the words 1 … n, those of one width at a time; r is the split point.
///   arc i … j      = ⊕_{i ≤ r < j} to_right[i, r] + to_left[r + 1, j] + score of the arc
///   to_right[i, j] = ⊕_{i < r ≤ j} arc_right[i, r] + to_right[r, j]
///   to_left[i, j]  = ⊕_{i ≤ r < j} to_left[i, r] + arc_left[r, j]
template <class K>
void inside(std::int32_t n, EisnerWork& w) {
  const Spans at(n);
  for (auto* table : {&w.to_right, &w.to_left, &w.arc_right, &w.arc_left})
    table->assign(at.cells(), K::kZero);
  for (std::int32_t i = 1; i <= n; ++i) w.to_right[at(0, i)] = w.to_left[at(0, i)] = K::kOne;
  for (std::int32_t width = 1; width < n; ++width) {
    const auto size = static_cast<std::size_t>(n - width), count = static_cast<std::size_t>(width);
    const auto add = [&](const std::vector<double>& a, std::size_t a_from, const std::vector<double>& b,
                         std::size_t b_from, std::vector<double>& out) {
      K::add_products({&a[a_from], at.wider(), &b[b_from], at.narrower_after(), count, size, Taper::kNone,
                       &out[at(width, 1)]});
    };
    add(w.to_right, at(0, 1), w.to_left, at(width - 1, 2), w.arc_right);
    for (std::size_t k = at(width, 1); k < at(width, 1) + size; ++k) {
      const double between = w.arc_right[k];
      w.arc_right[k] = K::times(between, w.score_right[k]);
      w.arc_left[k] = K::times(between, w.score_left[k]);
    }
    add(w.arc_right, at(1, 1), w.to_right, at(width - 1, 2), w.to_right);
    add(w.to_left, at(0, 1), w.arc_left, at(width, 1), w.to_left);
  }
}

/// The score of all trees whose root has the dependent r.
template <class K>
[[nodiscard]] double rooted(const ArcScores& scores, const EisnerWork& w, std::int32_t r) {
  const Spans at(scores.words);
  return K::times(scores.at(0, r), K::times(w.to_left[at(r - 1, 1)], w.to_right[at(scores.words - r, r)]));
}

/// Arranges the scores of arcs between words like spans.
void arrange(const ArcScores& scores, double zero, EisnerWork& w) {
  const std::int32_t n = scores.words;
  const Spans at(n);
  w.score_right.assign(at.cells(), zero), w.score_left.assign(at.cells(), zero);
  for (std::int32_t i = 1; i <= n; ++i) {
    const double* row = &scores.value[scores.place(i, 0)];
    for (std::int32_t j = i + 1; j <= n; ++j) w.score_right[at(j - i, i)] = row[j];
    for (std::int32_t j = 1; j < i; ++j) w.score_left[at(i - j, j)] = row[j];
  }
}

/// Follows the best spans down. Split points are not stored but found again, by the sum that was best.
class Backtrack {
 public:
  Backtrack(const EisnerWork& work, Heads& heads)
      : at_(static_cast<std::int32_t>(heads.size()) - 1), work_(work), heads_(heads) {}

  void right(std::int32_t i, std::int32_t j) {
    while (i < j) {
      const std::int32_t r =
          i + 1 + best_cut(&work_.arc_right[at_(1, i)], &work_.to_right[at_(j - i - 1, i + 1)], j - i);
      heads_[r] = i;
      below(i, r);
      i = r;
    }
  }
  void left(std::int32_t i, std::int32_t j) {
    while (i < j) {
      const std::int32_t r = i + best_cut(&work_.to_left[at_(0, i)], &work_.arc_left[at_(j - i, i)], j - i);
      heads_[r] = j;
      below(r, j);
      j = r;
    }
  }

 private:
  /// The first index with the largest sum.
  [[nodiscard]] std::int32_t best_cut(const double* a, const double* b, std::int32_t count) const {
    std::int32_t best = 0;
    double top = kNoTree;
    for (std::int32_t k = 0; k < count; ++k, a += at_.wider(), b += at_.narrower_after()) {
      if (*a + *b > top) top = *a + *b, best = k;
    }
    return best;
  }
  void below(std::int32_t i, std::int32_t j) {
    const std::int32_t r =
        i + best_cut(&work_.to_right[at_(0, i)], &work_.to_left[at_(j - i - 1, i + 1)], j - i);
    right(i, r);
    left(r + 1, j);
  }

  Spans at_;
  const EisnerWork& work_;
  Heads& heads_;
};

}  // namespace

ScoredTree best_tree(const ArcScores& scores, EisnerWork& work) {
  const std::int32_t n = scores.words;
  arrange(scores, Max::kZero, work);
  inside<Max>(n, work);
  ScoredTree best;
  std::int32_t root = 0;
  for (std::int32_t r = 1; r <= n; ++r) {
    const double score = rooted<Max>(scores, work, r);
    if (score > best.score) best.score = score, root = r;
  }
  if (root == 0) return best;
  best.heads.assign(static_cast<std::size_t>(n) + 1, -1);
  best.heads[root] = 0;
  Backtrack back(work, best.heads);
  back.left(1, root);
  back.right(root, n);
  return best;
}

namespace {

/// Outside scores, widest spans first: that of a span is the sum over all larger ones it is part of.
template <class K>
void outside(const ArcScores& scores, EisnerWork& w) {
  const std::int32_t n = scores.words;
  const Spans at(n);
  for (auto* table : {&w.outer_right, &w.outer_left, &w.outer_arc_right, &w.outer_arc_left, &w.outer_between})
    table->assign(at.cells(), K::kZero);
  for (std::int32_t r = 1; r <= n; ++r) {
    const std::size_t left = at(r - 1, 1), right = at(n - r, r);
    K::add(w.outer_left[left], K::times(scores.at(0, r), w.to_right[right]));
    K::add(w.outer_right[right], K::times(scores.at(0, r), w.to_left[left]));
  }
  for (std::int32_t width = n - 1; width > 0; --width) {
    const auto size = static_cast<std::size_t>(n - width);
    const std::size_t here = at(width, 1);
    // A larger span that begins at the same word, and its other part.
    const auto add_right = [&](const double* whole, const double* part, std::size_t count, double* out) {
      K::add_products({whole, at.wider(), part, at.wider(), count, size, Taper::kFalling, out});
    };
    // A larger span that ends at the same word, and its other part.
    const auto add_left = [&](const double* whole, const double* part, std::size_t count, double* out) {
      K::add_products({whole, at.wider_before(), part, at.wider_before(), count, size, Taper::kRising, out});
    };
    if (width < n - 1) {
      add_left(&w.outer_right[at(width + 1, 0)], &w.arc_right[at(1, 0)], size - 1, &w.outer_right[here]);
      add_right(&w.outer_between[at(width + 1, 1)], &w.to_left[at(0, width + 2)], size - 1,
                &w.outer_right[here]);
      add_right(&w.outer_left[at(width + 1, 1)], &w.arc_left[at(1, width + 1)], size - 1,
                &w.outer_left[here]);
      add_left(&w.outer_between[at(width + 1, 0)], &w.to_right[at(0, 0)], size - 1, &w.outer_left[here]);
    }
    add_right(&w.outer_right[here], &w.to_right[at(0, width + 1)], size, &w.outer_arc_right[here]);
    add_left(&w.outer_left[here], &w.to_left[at(0, 1)], size, &w.outer_arc_left[here]);
    for (std::size_t k = here; k < here + size; ++k) {
      double between = K::times(w.outer_arc_right[k], w.score_right[k]);
      K::add(between, K::times(w.outer_arc_left[k], w.score_left[k]));
      w.outer_between[k] = between;
    }
  }
}

/// Returns the partition function; `share` receives the part of it that every arc has, as semiring values.
template <class K>
double partition(const ArcScores& scores, EisnerWork& w, std::vector<double>& share) {
  const std::int32_t n = scores.words;
  arrange(scores, K::kZero, w);
  inside<K>(n, w);
  double z = K::kZero;
  for (std::int32_t r = 1; r <= n; ++r) K::add(z, rooted<K>(scores, w, r));
  share.assign(scores.value.size(), K::kZero);
  if (z == K::kZero) return z;
  outside<K>(scores, w);
  const Spans at(n);
  for (std::int32_t i = 1; i <= n; ++i) {
    share[scores.place(0, i)] = rooted<K>(scores, w, i);
    double* row = &share[scores.place(i, 0)];
    for (std::int32_t j = i + 1; j <= n; ++j)
      row[j] = K::times(w.outer_arc_right[at(j - i, i)], w.arc_right[at(j - i, i)]);
    for (std::int32_t j = 1; j < i; ++j)
      row[j] = K::times(w.outer_arc_left[at(i - j, j)], w.arc_left[at(i - j, j)]);
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
