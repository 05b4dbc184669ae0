// Exact k-best trees at order 1: every span keeps its k best derivations, each a split point and a rank in
// either part. A tree has exactly one derivation, so no tree is listed twice.
#include <queue>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/tree/eisner.hpp"

namespace duilian {

namespace {

struct Derivation {
  double score;
  std::int32_t split;
  std::int32_t first, second;  // ranks
};

/// Orders a heap: higher score first; ties by split point and ranks, so that answers are deterministic.
struct IsWorse {
  bool operator()(const Derivation& a, const Derivation& b) const {
    if (a.score != b.score) return a.score < b.score;
    if (a.split != b.split) return a.split > b.split;
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  }
};

using List = std::vector<Derivation>;  // best first

class KBest {
 public:
  KBest(const ArcScores& scores, std::int32_t k) : scores_(scores), n_(scores.words), k_(k) {
    for (auto* table : {&between_, &right_, &left_}) table->resize(scores.value.size());
    const Derivation empty{0.0, 0, 0, 0};
    for (std::int32_t i = 1; i <= n_; ++i) {
      right_[at(i, i)] = {empty};
      left_[at(i, i)] = {empty};
    }
    for (std::int32_t width = 1; width < n_; ++width) {
      for (std::int32_t i = 1; i + width <= n_; ++i) fill(i, i + width);
    }
  }

  [[nodiscard]] std::vector<ScoredTree> trees() {
    const List roots = merge(
        1, n_, [&](std::int32_t r) -> const List& { return left_[at(1, r)]; },
        [&](std::int32_t r) -> const List& { return right_[at(r, n_)]; },
        [&](std::int32_t r) { return scores_.at(0, r); });
    std::vector<ScoredTree> found;
    for (const Derivation& each : roots) {
      heads_.assign(static_cast<std::size_t>(n_) + 1, -1);
      heads_[each.split] = 0;
      walk_left(1, each.split, each.first);
      walk_right(each.split, n_, each.second);
      found.push_back({each.score, heads_});
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t at(std::int32_t i, std::int32_t j) const { return scores_.place(i, j); }

  /// The k best pairs over the split points from … to.
  template <class First, class Second, class Extra>
  [[nodiscard]] List merge(std::int32_t from, std::int32_t to, const First& first, const Second& second,
                           const Extra& extra) const {
    std::priority_queue<Derivation, List, IsWorse> heap;
    const auto push = [&](std::int32_t r, std::int32_t a, std::int32_t b) {
      const List& x = first(r);
      const List& y = second(r);
      if (a >= static_cast<std::int32_t>(x.size()) || b >= static_cast<std::int32_t>(y.size())) return;
      const double score = x[a].score + y[b].score + extra(r);
      if (score != kNoTree) heap.push({score, r, a, b});
    };
    for (std::int32_t r = from; r <= to; ++r) push(r, 0, 0);
    List best;
    while (!heap.empty() && static_cast<std::int32_t>(best.size()) < k_) {
      best.push_back(heap.top());
      heap.pop();
      const Derivation last = best.back();
      push(last.split, last.first, last.second + 1);
      if (last.second == 0) push(last.split, last.first + 1, 0);
    }
    return best;
  }

  void fill(std::int32_t i, std::int32_t j) {
    between_[at(i, j)] = merge(
        i, j - 1, [&](std::int32_t r) -> const List& { return right_[at(i, r)]; },
        [&](std::int32_t r) -> const List& { return left_[at(r + 1, j)]; }, [](std::int32_t) { return 0.0; });
    right_[at(i, j)] = merge(
        i + 1, j, [&](std::int32_t r) -> const List& { return between_[at(i, r)]; },
        [&](std::int32_t r) -> const List& { return right_[at(r, j)]; },
        [&](std::int32_t r) { return scores_.at(i, r); });
    left_[at(i, j)] = merge(
        i, j - 1, [&](std::int32_t r) -> const List& { return left_[at(i, r)]; },
        [&](std::int32_t r) -> const List& { return between_[at(r, j)]; },
        [&](std::int32_t r) { return scores_.at(j, r); });
  }

  void walk_between(std::int32_t i, std::int32_t j, std::int32_t rank) {
    const Derivation& each = between_[at(i, j)][rank];
    walk_right(i, each.split, each.first);
    walk_left(each.split + 1, j, each.second);
  }
  void walk_right(std::int32_t i, std::int32_t j, std::int32_t rank) {
    if (i == j) return;
    const Derivation& each = right_[at(i, j)][rank];
    heads_[each.split] = i;
    walk_between(i, each.split, each.first);
    walk_right(each.split, j, each.second);
  }
  void walk_left(std::int32_t i, std::int32_t j, std::int32_t rank) {
    if (i == j) return;
    const Derivation& each = left_[at(i, j)][rank];
    heads_[each.split] = j;
    walk_left(i, each.split, each.first);
    walk_between(each.split, j, each.second);
  }

  const ArcScores& scores_;
  std::int32_t n_, k_;
  // [n + 1][n + 1]  between_: what is under an arc, without the arc.
  std::vector<List> between_, right_, left_;
  Heads heads_;
};

}  // namespace

std::vector<ScoredTree> k_best_trees(const ArcScores& scores, std::int32_t k) {
  if (k < 1) throw std::invalid_argument(concat("k must be at least 1, got ", k));
  return KBest(scores, k).trees();
}

}  // namespace duilian
