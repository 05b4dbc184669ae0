// Trees scored by arcs, adjacent siblings, grandparents and, at order 3, grandparent-siblings: Algorithm 3 of
// the paper with one tag a word, which is Koo and Collins (2010). Every span includes the head of its head,
// so it belongs to an arc g → i. Only arcs of an ArcSet are tried; if it has all arcs, the search is exact.
//
// A score is requested once, when the search first needs it, and `Parts` computes it then.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "duilian/tree/arcs.hpp"

namespace duilian {

/// Stands for the sibling before the first dependent on a side, and for the one after the last.
inline constexpr std::int32_t kNobody = -1;

/// Scores of the parts of a tree. s is the dependent of h next to m on the inner side. For the root (h = 0)
/// only arc and sibling are called.
template <class P>
concept TreeParts = requires(P& parts, std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) {
  { parts.arc(h, m) } -> std::convertible_to<double>;
  { parts.sibling(h, s, m) } -> std::convertible_to<double>;  // s or m may be kNobody
  { parts.grandparent(g, h, m) } -> std::convertible_to<double>;
  { parts.grand_sibling(g, h, s, m) } -> std::convertible_to<double>;  // order 3; s or m may be kNobody
};

/// Tables of spans, kept from sentence to sentence. A row per arc g → i, a column per word j.
struct GrandWork {
  std::vector<double> whole;      // complete: i … j (or j … i), with all of i's dependents on that side
  std::vector<double> open;       // incomplete: j is i's outermost dependent so far, and has no outer ones
  std::vector<double> closed;     // the same when no further dependent of i follows on that side
  std::vector<double> pair;       // row g → i, column s: from s to i, adjacent dependents of g, s the inner
  std::vector<double> arc_score;  // [arcs]
  std::vector<std::int32_t> whole_from, open_from, pair_from;  // split points; kNobody: first dependent
};

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
  [[nodiscard]] std::size_t at(std::int32_t arc, std::int32_t j) const {
    return static_cast<std::size_t>(arc) * static_cast<std::size_t>(n_ + 1) + static_cast<std::size_t>(j);
  }

  void prepare() {
    const auto cells = static_cast<std::size_t>(arcs_.size()) * static_cast<std::size_t>(n_ + 1);
    for (auto* table : {&w_.whole, &w_.open, &w_.closed, &w_.pair}) table->assign(cells, kNoTree);
    for (auto* table : {&w_.whole_from, &w_.open_from, &w_.pair_from}) table->assign(cells, kNobody);
    w_.arc_score.assign(static_cast<std::size_t>(arcs_.size()), 0.0);
    for (std::int32_t i = 1; i <= n_; ++i) {
      for (std::int32_t arc = arcs_.first_into(i); arc < arcs_.end_into(i); ++arc) {
        w_.arc_score[arc] = parts_.arc(arcs_.head(arc), i);
        w_.whole[at(arc, i)] = 0.0;
      }
    }
  }

  void fill(std::int32_t i, std::int32_t j) {
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
    extend_all(i, j);
    extend_all(j, i);
  }

  /// pair[g → m, s] = max_q whole[left one, … q] + whole[right one, q + 1 …] + sibling(g, s, m)
  void join_siblings(std::int32_t g, std::int32_t inner, std::int32_t s, std::int32_t outer, std::int32_t m) {
    const std::int32_t left = s < m ? inner : outer;
    const std::int32_t right = s < m ? outer : inner;
    const std::int32_t from = std::min(s, m);
    const std::int32_t count = std::max(s, m) - from;
    const double* a = &w_.whole[at(left, from)];
    const double* b = &w_.whole[at(right, from + 1)];
    double top = kNoTree;
    std::int32_t best = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      if (a[k] + b[k] > top) top = a[k] + b[k], best = k;
    }
    if (top == kNoTree) return;
    w_.pair[at(outer, s)] = top + parts_.sibling(g, s, m);
    w_.pair_from[at(outer, s)] = from + best;
  }

  /// Spans of i towards j, for every head g of i outside them.
  void extend_all(std::int32_t i, std::int32_t j) {
    const std::int32_t down = arcs_.number(i, j);
    const Siblings between = down == ArcSet::kNone ? Siblings{} : siblings(i, j, down);
    for (std::int32_t arc = arcs_.first_into(i); arc < arcs_.end_into(i); ++arc) {
      const std::int32_t g = arcs_.head(arc);
      if (g >= std::min(i, j) && g <= std::max(i, j)) continue;
      if (down != ArcSet::kNone) take_dependent(arc, g, i, j, down, between);
      complete(arc, i, j);
    }
  }

  /// What does not depend on g: the score of i → j as a first dependent.
  struct Siblings {
    double as_first = kNoTree;
  };
  [[nodiscard]] Siblings siblings(std::int32_t i, std::int32_t j, std::int32_t down) {
    const double inner = w_.whole[at(down, i < j ? i + 1 : i - 1)];
    return {inner == kNoTree ? kNoTree : inner + parts_.sibling(i, kNobody, j)};
  }

  /// open[g → i, j] = max( first dependent, max_s open[g → i, s] + pair[i → j, s] + grand_sibling )
  ///                  + arc(i, j) + grandparent(g, i, j)
  void take_dependent(std::int32_t arc, std::int32_t g, std::int32_t i, std::int32_t j, std::int32_t down,
                      const Siblings& between) {
    double top = between.as_first;
    if constexpr (kHasGrandSiblings) {
      if (top != kNoTree) top += parts_.grand_sibling(g, i, kNobody, j);
    }
    std::int32_t best = kNobody;
    for (const std::int32_t s : arcs_.dependents(i)) {
      if (i < j ? (s <= i || s >= j) : (s <= j || s >= i)) continue;
      double sum = w_.open[at(arc, s)] + w_.pair[at(down, s)];
      if (sum == kNoTree) continue;
      if constexpr (kHasGrandSiblings) sum += parts_.grand_sibling(g, i, s, j);
      if (sum > top) top = sum, best = s;
    }
    if (top == kNoTree) return;
    top += w_.arc_score[down] + parts_.grandparent(g, i, j);
    w_.open[at(arc, j)] = top;
    w_.open_from[at(arc, j)] = best;
    double last = parts_.sibling(i, j, kNobody);
    if constexpr (kHasGrandSiblings) last += parts_.grand_sibling(g, i, j, kNobody);
    w_.closed[at(arc, j)] = top + last;
  }

  /// whole[g → i, j] = max_s closed[g → i, s] + whole[i → s, j], s the last dependent
  void complete(std::int32_t arc, std::int32_t i, std::int32_t j) {
    double top = kNoTree;
    std::int32_t best = kNobody;
    for (const std::int32_t s : arcs_.dependents(i)) {
      if (i < j ? (s <= i || s > j) : (s < j || s >= i)) continue;
      const double sum = w_.closed[at(arc, s)] + w_.whole[at(arcs_.number(i, s), j)];
      if (sum > top) top = sum, best = s;
    }
    w_.whole[at(arc, j)] = top;
    w_.whole_from[at(arc, j)] = best;
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

  void walk_whole(std::int32_t arc, std::int32_t i, std::int32_t j, Heads& heads) const {
    if (i == j) return;
    std::int32_t s = w_.whole_from[at(arc, j)];
    walk_whole(arcs_.number(i, s), s, j, heads);
    while (s != kNobody) {
      heads[s] = i;
      const std::int32_t down = arcs_.number(i, s);
      const std::int32_t inner = w_.open_from[at(arc, s)];
      if (inner == kNobody) {
        walk_whole(down, s, i < s ? i + 1 : i - 1, heads);
      } else {
        const std::int32_t q = w_.pair_from[at(down, inner)];
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
