// Trees scored by arcs, adjacent siblings, grandparents and, at order 3, grandparent-siblings: Algorithm 3 of
// Li et al. (2014) with one tag per word, which is Koo and Collins (2010). Every span knows the head of its
// head, so it belongs to an arc g → i. Only arcs of an ArcSet are tried; if it has all arcs, the search is
// exact.
//
// `Parts` computes a score when the search first needs it, and only once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "duilian/tree/arcs.hpp"
#include "duilian/tree/grand_spans.hpp"

namespace duilian {

template <TreeParts Parts, bool kHasGrandSiblings>
class GrandChart {
 public:
  GrandChart(Parts& parts, const ArcSet& arcs, GrandWork& work)
      : parts_(parts), arcs_(arcs), w_(work), n_(arcs.words()) {}

  [[nodiscard]] ScoredTree best() {
    prepare();
    for (std::int32_t width = 1; width < n_; ++width) {
      for (std::int32_t i = 1; i + width <= n_; ++i) fill(i, i + width);
    }
    return finish();
  }

 private:
  using Size = std::size_t;

  [[nodiscard]] Size at(std::int32_t arc, std::int32_t j) const {
    return static_cast<Size>(arc) * static_cast<Size>(n_ + 1) + static_cast<Size>(j);
  }
  [[nodiscard]] Size dependents(std::int32_t i) const { return static_cast<Size>(arcs_.count_dependents(i)); }
  [[nodiscard]] Size rank(std::int32_t i, std::int32_t s) const {
    return static_cast<Size>(arcs_.rank(i, s));
  }
  /// The spans of all dependents of i that end at j, by rank.
  [[nodiscard]] double* whole_below(std::int32_t i, std::int32_t j) const {
    return w_.whole_at.data() + w_.block[static_cast<Size>(i)] + static_cast<Size>(j) * dependents(i);
  }

  /// A range of ranks among a word's dependents, and where it begins in the rows of its head.
  struct Ranks {
    Size begin, end;
  };
  /// Dependents of i between i and j.
  [[nodiscard]] Ranks between(std::int32_t i, std::int32_t j) const {
    return i < j ? Ranks{rank(i, i), rank(i, j)} : Ranks{rank(i, j + 1), rank(i, i)};
  }
  /// Dependents of i between i and j, including j.
  [[nodiscard]] Ranks towards(std::int32_t i, std::int32_t j) const {
    const auto after = [&] { return j < n_ ? rank(i, j + 1) : dependents(i); };
    return i < j ? Ranks{rank(i, i), after()} : Ranks{rank(i, j), rank(i, i)};
  }

  void prepare() {
    const auto arcs = static_cast<Size>(arcs_.size());
    const Size side = static_cast<Size>(n_) + 1;
    w_.row.resize(arcs), w_.pair_row.resize(arcs), w_.block.resize(side), w_.arc_score.resize(arcs);
    Size cells = 0, pairs = 0, spans = 0;
    for (std::int32_t i = 0; i <= n_; ++i) {
      w_.block[static_cast<Size>(i)] = spans;
      spans += side * dependents(i);
    }
    w_.whole.assign(arcs * side, kNoTree), w_.whole_at.assign(spans, kNoTree);
    w_.reach.assign(side, {n_ + 1, 0});
    w_.heads.assign(side, 0);
    for (std::int32_t i = 1; i <= n_; ++i) {
      for (const std::int32_t m : arcs_.dependents(i)) {
        if (m < i) w_.reach[static_cast<Size>(i)].before = m;
        if (m > i) w_.reach[static_cast<Size>(i)].after = std::min(w_.reach[static_cast<Size>(i)].after, m);
      }
      for (std::int32_t arc = arcs_.first_into(i); arc < arcs_.end_into(i); ++arc) {
        const std::int32_t g = arcs_.head(arc);
        if (g != 0) w_.heads[static_cast<Size>(i)] |= std::uint64_t{1} << (static_cast<Size>(g) % 64);
        w_.row[arc] = cells, w_.pair_row[arc] = pairs;
        cells += dependents(i), pairs += dependents(g);
        w_.arc_score[arc] = parts_.arc(g, i);
        set_whole(arc, g, i, i, 0.0);
      }
    }
    w_.open.assign(cells, kNoTree), w_.closed.assign(cells, kNoTree), w_.open_from.assign(cells, kNobody);
    w_.pair.assign(pairs, kNoTree);
  }

  void set_whole(std::int32_t arc, std::int32_t g, std::int32_t i, std::int32_t j, double score) {
    w_.whole[at(arc, j)] = score;
    whole_below(g, j)[rank(g, i)] = score;
  }

  void fill(std::int32_t i, std::int32_t j) {
    if ((w_.heads[static_cast<Size>(i)] & w_.heads[static_cast<Size>(j)]) != 0) join_all(i, j);
    if (w_.reach[static_cast<Size>(i)].after <= j) extend_all(i, j);
    if (w_.reach[static_cast<Size>(j)].before >= i) extend_all(j, i);
  }

  /// Joins the spans between i and j, for every head of both that is outside.
  void join_all(std::int32_t i, std::int32_t j) {
    for (std::int32_t arc = arcs_.first_into(i); arc < arcs_.end_into(i); ++arc) {
      const std::int32_t g = arcs_.head(arc);
      if (g >= i && g <= j) continue;
      const std::int32_t other = arcs_.number(g, j);
      if (other != ArcSet::kNone && g != 0) {
        if (g < i) {
          join_siblings(g, arc, i, other, j);
        } else {
          join_siblings(g, other, j, arc, i);
        }
      }
    }
  }

  /// Where the left one of two adjacent dependents can end: the spans to choose from.
  struct Cuts {
    const double *left, *right;
    std::int32_t from, count;
  };
  [[nodiscard]] Cuts cuts(std::int32_t inner, std::int32_t s, std::int32_t outer, std::int32_t m) const {
    const std::int32_t from = std::min(s, m);
    return {&w_.whole[at(s < m ? inner : outer, from)], &w_.whole[at(s < m ? outer : inner, from + 1)], from,
            std::max(s, m) - from};
  }

  /// pair[g → m, s] = max_q whole[left one, … q] + whole[right one, q + 1 …] + sibling(g, s, m)
  void join_siblings(std::int32_t g, std::int32_t inner, std::int32_t s, std::int32_t outer, std::int32_t m) {
    const Cuts all = cuts(inner, s, outer, m);
    const double top = largest_sum(all.left, all.right, static_cast<Size>(all.count));
    if (top == kNoTree) return;
    w_.pair[w_.pair_row[outer] + rank(g, s)] = top + parts_.sibling(g, s, m);
  }

  [[nodiscard]] static double largest_sum(const double* a, const double* b, Size count) {
    double top = kNoTree;
    for (Size k = 0; k < count; ++k) top = std::max(top, a[k] + b[k]);
    return top;
  }
  /// The first index with the largest sum.
  [[nodiscard]] static Size best_sum(const double* a, const double* b, Size count) {
    Size best = 0;
    for (Size k = 1; k < count; ++k) {
      if (a[k] + b[k] > a[best] + b[best]) best = k;
    }
    return best;
  }

  /// Extends the spans of i to j, for every head g of i outside them. Those without a dependent up to there
  /// stay impossible.
  void extend_all(std::int32_t i, std::int32_t j) {
    const std::int32_t down = arcs_.number(i, j);
    const Siblings beside = down == ArcSet::kNone ? Siblings{} : siblings(i, j, down);
    const Ranks inner = between(i, j), all = towards(i, j);
    const double* below = whole_below(i, j);
    for (std::int32_t arc = arcs_.first_into(i); arc < arcs_.end_into(i); ++arc) {
      const std::int32_t g = arcs_.head(arc);
      if (g >= std::min(i, j) && g <= std::max(i, j)) continue;
      if (beside.is_possible) take_dependent(arc, g, i, j, down, inner, beside);
      // whole[g → i, j] = max_s closed[g → i, s] + whole[i → s, j], s the last dependent
      const double* closed = w_.closed.data() + w_.row[arc];
      set_whole(arc, g, i, j, largest_sum(closed + all.begin, below + all.begin, all.end - all.begin));
    }
  }

  /// What does not depend on g: the score of i → j as the first dependent, and as the last.
  struct Siblings {
    double as_first = kNoTree, as_last = 0.0;
    bool is_possible = false;
  };
  [[nodiscard]] Siblings siblings(std::int32_t i, std::int32_t j, std::int32_t down) {
    const double inner = w_.whole[at(down, i < j ? i + 1 : i - 1)];
    return {inner == kNoTree ? kNoTree : inner + parts_.sibling(i, kNobody, j), parts_.sibling(i, j, kNobody),
            true};
  }

  /// open[g → i, j] = max( first dependent, max_s open[g → i, s] + pair[i → j, s] + grand_sibling )
  ///                  + arc(i, j) + grandparent(g, i, j)
  void take_dependent(std::int32_t arc, std::int32_t g, std::int32_t i, std::int32_t j, std::int32_t down,
                      Ranks inner, const Siblings& beside) {
    double top = beside.as_first;
    if constexpr (kHasGrandSiblings) {
      if (top != kNoTree) top += parts_.grand_sibling(g, i, kNobody, j);
    }
    std::int32_t best = kNobody;
    const double *open = w_.open.data() + w_.row[arc], *pair = w_.pair.data() + w_.pair_row[down];
    for (Size k = inner.begin; k < inner.end; ++k) {
      double sum = open[k] + pair[k];
      if (sum == kNoTree) continue;
      const std::int32_t s = arcs_.dependents(i)[k];
      if constexpr (kHasGrandSiblings) sum += parts_.grand_sibling(g, i, s, j);
      if (sum > top) top = sum, best = s;
    }
    if (top == kNoTree) return;
    top += w_.arc_score[down] + parts_.grandparent(g, i, j);
    const Size cell = w_.row[arc] + rank(i, j);
    w_.open[cell] = top;
    w_.open_from[cell] = best;
    double last = beside.as_last;
    if constexpr (kHasGrandSiblings) last += parts_.grand_sibling(g, i, j, kNobody);
    w_.closed[cell] = top + last;
  }

  [[nodiscard]] ScoredTree finish() {
    ScoredTree best;
    std::int32_t root = 0;
    for (const std::int32_t r : arcs_.dependents(0)) {
      const std::int32_t arc = arcs_.number(0, r);
      double sum = w_.whole[at(arc, 1)] + w_.whole[at(arc, n_)];
      if (sum == kNoTree) continue;
      sum += w_.arc_score[arc] + parts_.sibling(0, kNobody, r) + parts_.sibling(0, r, kNobody);
      if (sum > best.score) best.score = sum, root = r;
    }
    if (root == 0) return best;
    best.heads.assign(static_cast<std::size_t>(n_) + 1, -1);
    best.heads[root] = 0;
    walk_whole(arcs_.number(0, root), root, 1, best.heads);
    walk_whole(arcs_.number(0, root), root, n_, best.heads);
    return best;
  }

  /// Follows the best spans down. Split points are not stored but found again, by the sum that was best.
  void walk_whole(std::int32_t arc, std::int32_t i, std::int32_t j, Heads& heads) const {
    if (i == j) return;
    const Ranks all = towards(i, j);
    const double *closed = w_.closed.data() + w_.row[arc] + all.begin, *below = whole_below(i, j) + all.begin;
    std::int32_t s = arcs_.dependents(i)[all.begin + best_sum(closed, below, all.end - all.begin)];
    walk_whole(arcs_.number(i, s), s, j, heads);
    while (s != kNobody) {
      heads[s] = i;
      const std::int32_t down = arcs_.number(i, s);
      const std::int32_t inner = w_.open_from[w_.row[arc] + rank(i, s)];
      if (inner == kNobody) {
        walk_whole(down, s, i < s ? i + 1 : i - 1, heads);
      } else {
        const Cuts all_cuts = cuts(arcs_.number(i, inner), inner, down, s);
        const auto q = all_cuts.from + static_cast<std::int32_t>(best_sum(all_cuts.left, all_cuts.right,
                                                                          static_cast<Size>(all_cuts.count)));
        walk_whole(down, s, i < s ? q + 1 : q, heads);
        walk_whole(arcs_.number(i, inner), inner, i < s ? q : q + 1, heads);
      }
      s = inner;
    }
  }

  Parts& parts_;
  const ArcSet& arcs_;
  GrandWork& w_;
  std::int32_t n_;
};

/// The best tree over the allowed arcs; kNoTree and no heads if there is none.
template <bool kHasGrandSiblings, TreeParts Parts>
[[nodiscard]] ScoredTree best_grand_tree(Parts& parts, const ArcSet& arcs, GrandWork& work) {
  return GrandChart<Parts, kHasGrandSiblings>(parts, arcs, work).best();
}

}  // namespace duilian
