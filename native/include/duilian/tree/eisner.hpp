// Trees whose score is a sum over arcs: Eisner's algorithm (2000), which is Algorithm 1 of Li et al. (2014).
// One recursion serves two semirings: max yields the best tree, sum the partition function and the marginals
// of arcs. The k best trees are here, too.
//
// Words are 1 … n; the root is 0 and has exactly one dependent: the recursion runs over the words, and the
// root is attached last. A forbidden arc scores kNoTree.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace duilian {

inline constexpr double kNoTree = -std::numeric_limits<double>::infinity();

/// Scores of the arcs of a sentence.
struct ArcScores {
  std::int32_t words = 0;
  std::vector<double> value;  // [words + 1][words + 1]  head, dependent

  ArcScores() = default;
  explicit ArcScores(std::int32_t n) { reset(n); }
  void reset(std::int32_t n) {
    words = n;
    value.assign(static_cast<std::size_t>(n + 1) * static_cast<std::size_t>(n + 1), kNoTree);
  }
  [[nodiscard]] double& at(std::int32_t h, std::int32_t m) { return value[place(h, m)]; }
  [[nodiscard]] double at(std::int32_t h, std::int32_t m) const { return value[place(h, m)]; }
  [[nodiscard]] std::size_t place(std::int32_t h, std::int32_t m) const {
    return static_cast<std::size_t>(h) * static_cast<std::size_t>(words + 1) + static_cast<std::size_t>(m);
  }
};

/// The head of each word: heads[m] for m = 1 … n; heads[0] is -1.
using Heads = std::vector<std::int32_t>;

struct ScoredTree {
  double score = kNoTree;
  Heads heads;
};

/// Removes the element of the root.
[[nodiscard]] inline std::vector<std::int32_t> without_root(std::vector<std::int32_t> of_words) {
  if (!of_words.empty()) of_words.erase(of_words.begin());
  return of_words;
}

/// Tables of spans i … j, reused from sentence to sentence, by width j - i and then by i: so spans of one
/// width, which do not depend on each other, are contiguous, and so are the spans that each consists of.
struct EisnerWork {
  std::vector<double> to_right, to_left;        // complete, headed by i; by j
  std::vector<double> arc_right, arc_left;      // incomplete: i → j; j → i
  std::vector<double> score_right, score_left;  // of these arcs
  std::vector<double> outer_right, outer_left, outer_arc_right, outer_arc_left;  // outside scores
  std::vector<double> outer_between;  // of the spans of an arc without its score
  ArcScores factor;
  std::vector<double> top;  // [n + 1]  the largest score among the heads of a word
};

/// The best tree; if the arcs allow none, its score is kNoTree and it has no heads.
[[nodiscard]] ScoredTree best_tree(const ArcScores& scores, EisnerWork& work);

/// log Σ exp(score) over all trees; `marginal` receives the probability of every arc, [n + 1][n + 1].
double arc_marginals(const ArcScores& scores, EisnerWork& work, std::vector<double>& marginal);

/// The k best trees, best first; fewer if there are fewer.
[[nodiscard]] std::vector<ScoredTree> k_best_trees(const ArcScores& scores, std::int32_t k);

}  // namespace duilian
