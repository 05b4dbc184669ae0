// Finds tags and tree in one search: Algorithms 2 and 3 of Li et al. (2014; JO1, JO2, JO3). A node is a word
// with one of its tags; node 0 is the root. Spans are kept for each node at their ends and for each node of
// the head's head, so a span belongs to an arc between nodes g → i and extends to a node j.
//
// The score of two neighbouring tags is counted where two spans meet. So that a split costs no more than
// without tags, `next` holds a span to the right together with the tag that follows it:
//   next[g → i, b] = max_a whole[g → i, a] + tag_pair(a, b),   a of word j, b of word j + 1
// and the tags of the words 1 … n form one row, along which the split point moves.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/joint_spans.hpp"

namespace duilian {

/// Scores of the parts of a tagged tree, by nodes. For the root (h = 0), only arc and sibling are called.
template <class P>
concept JointParts = TreeParts<P> && requires(P& parts, std::int32_t a, std::int32_t b) {
  { parts.tag(b) } -> std::convertible_to<double>;
  { parts.tag_pair(a, b) } -> std::convertible_to<double>;  // neighbours; a is the root before word 1
};

template <JointParts Parts, int kOrder>
class JointChart : private JointSpans {
 public:
  /// `arcs` are arcs between nodes.
  JointChart(Parts& parts, const NodeSet& nodes, const ArcSet& arcs, JointWork& work)
      : JointSpans(nodes, arcs, work), parts_(parts) {}

  [[nodiscard]] TaggedTree best() {
    prepare();
    for (std::int32_t width = 1; width < n_; ++width) {
      for (std::int32_t i = 1; i + width <= n_; ++i) fill(i, i + width);
    }
    return finish();
  }

 private:
  void prepare() {
    const auto cells = static_cast<std::size_t>(arcs_.size()) * static_cast<std::size_t>(nodes_.size());
    for (auto* table : {&s_.whole, &s_.open, &s_.closed, &s_.pair, &w_.next}) table->assign(cells, kNoTree);
    // Where a span was cut is read only if there is one, and then it has been written.
    for (auto* table : {&s_.whole_from, &s_.open_from, &s_.pair_from, &w_.next_from})
      table->resize(std::max(table->size(), cells));
    w_.heads.assign(static_cast<std::size_t>(n_) + 1, 0);
    s_.arc_score.assign(static_cast<std::size_t>(arcs_.size()), 0.0);
    w_.first_from.assign(static_cast<std::size_t>(arcs_.size()), kNobody);
    score_pairs();
    for (std::int32_t x = 1; x < nodes_.size(); ++x) {
      const double tag = parts_.tag(x);
      for (std::int32_t arc = arcs_.first_into(x); arc < arcs_.end_into(x); ++arc) {
        const std::int32_t g = arcs_.head(arc);
        if (g != 0) w_.heads[nodes_.word[x]] |= std::uint64_t{1} << (static_cast<std::size_t>(g) % 64);
        s_.arc_score[arc] = parts_.arc(g, x) + tag;
        s_.whole[at(arc, x)] = 0.0;
        look_ahead(arc, nodes_.word[x]);
      }
    }
  }

  void score_pairs() {
    max_tags_ = 1;
    for (std::int32_t i = 0; i <= n_; ++i) max_tags_ = std::max(max_tags_, end_of(i) - begin_of(i));
    w_.pair_score.assign(static_cast<std::size_t>(nodes_.size()) * static_cast<std::size_t>(max_tags_), 0.0);
    for (std::int32_t i = 0; i < n_; ++i) {
      for (std::int32_t a = begin_of(i); a < end_of(i); ++a) {
        double* row = &w_.pair_score[static_cast<std::size_t>(a) * static_cast<std::size_t>(max_tags_)];
        for (std::int32_t b = begin_of(i + 1); b < end_of(i + 1); ++b) *row++ = parts_.tag_pair(a, b);
      }
    }
  }

  /// next[g → i, b] for the nodes b after word j.
  void look_ahead(std::int32_t arc, std::int32_t j) {
    if (j == n_) return;
    for (std::int32_t b = begin_of(j + 1); b < end_of(j + 1); ++b) {
      for (std::int32_t a = begin_of(j); a < end_of(j); ++a) {
        const double sum = s_.whole[at(arc, a)] + pair_score(a, b);
        if (sum > w_.next[at(arc, b)]) w_.next[at(arc, b)] = sum, w_.next_from[at(arc, b)] = a;
      }
    }
  }

  void fill(std::int32_t i, std::int32_t j) {
    const bool can_be_siblings = (w_.heads[i] & w_.heads[j]) != 0;
    for (std::int32_t x = begin_of(i); x < end_of(i) && can_be_siblings; ++x) join_siblings(x, i, j);
    for (std::int32_t x = begin_of(i); x < end_of(i); ++x) {
      for (std::int32_t y = begin_of(j); y < end_of(j); ++y) {
        take_dependents(x, y, first_to_right(x, y, i), i, j);
        take_dependents(y, x, first_to_left(x, y), i, j);
      }
    }
    for (std::int32_t x = begin_of(i); x < end_of(i); ++x) complete_all(x, i, j, j);
    for (std::int32_t y = begin_of(j); y < end_of(j); ++y) complete_all(y, i, j, i);
  }

  /// pair[g → m, s] = max_b next[left one, b] + whole[right one, b] + sibling(g, s, m), for x of word i as
  /// one of s, m
  void join_siblings(std::int32_t x, std::int32_t i, std::int32_t j) {
    for (std::int32_t left = arcs_.first_into(x); left < arcs_.end_into(x); ++left) {
      const std::int32_t g = arcs_.head(left);
      if (g == 0 || !is_outside(g, i, j)) continue;
      for (std::int32_t y = begin_of(j); y < end_of(j); ++y) {
        const std::int32_t right = arcs_.number(g, y);
        if (right != ArcSet::kNone) join(g, left, x, right, y, i);
      }
    }
  }

  void join(std::int32_t g, std::int32_t left, std::int32_t x, std::int32_t right, std::int32_t y,
            std::int32_t i) {
    const std::int32_t from = begin_of(i + 1);
    const std::int32_t count = end_of(nodes_.word[y]) - from;
    const double* a = &w_.next[at(left, from)];
    const double* b = &s_.whole[at(right, from)];
    double top = kNoTree;
    std::int32_t best = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      if (a[k] + b[k] > top) top = a[k] + b[k], best = k;
    }
    if (top == kNoTree) return;
    const bool is_right = nodes_.word[g] < i;
    const std::size_t cell = is_right ? at(right, x) : at(left, y);
    if constexpr (kOrder > 1) top += is_right ? parts_.sibling(g, x, y) : parts_.sibling(g, y, x);
    s_.pair[cell] = top;
    s_.pair_from[cell] = from + best;
  }

  /// The score inside y as the first dependent of x, plus the score of being first; x is left of y.
  [[nodiscard]] double first_to_right(std::int32_t x, std::int32_t y, std::int32_t i) {
    const std::int32_t down = arcs_.number(x, y);
    if (down == ArcSet::kNone) return kNoTree;
    double top = kNoTree;
    for (std::int32_t b = begin_of(i + 1); b < end_of(i + 1); ++b) {
      const double sum = pair_score(x, b) + s_.whole[at(down, b)];
      if (sum > top) top = sum, w_.first_from[down] = b;
    }
    return with_first_sibling(top, x, y);
  }
  /// Likewise for x as the first dependent of y.
  [[nodiscard]] double first_to_left(std::int32_t x, std::int32_t y) {
    const std::int32_t down = arcs_.number(y, x);
    if (down == ArcSet::kNone) return kNoTree;
    w_.first_from[down] = w_.next_from[at(down, y)];
    return with_first_sibling(w_.next[at(down, y)], y, x);
  }
  [[nodiscard]] double with_first_sibling(double inside, std::int32_t head, std::int32_t dependent) {
    if constexpr (kOrder > 1) {
      if (inside != kNoTree) inside += parts_.sibling(head, kNobody, dependent);
    }
    return inside;
  }

  /// open[g → h, m] = max( first dependent, max_s open[g → h, s] + pair[h → m, s] + grand_sibling )
  ///                  + arc(h, m) + tag(m) + grandparent(g, h, m), for every g outside i … j
  void take_dependents(std::int32_t h, std::int32_t m, double as_first, std::int32_t i, std::int32_t j) {
    const std::int32_t down = arcs_.number(h, m);
    if (down == ArcSet::kNone) return;
    const std::span<const std::int32_t> between = inside(h, m);
    double last = 0.0;
    if constexpr (kOrder > 1) last = parts_.sibling(h, m, kNobody);
    for (std::int32_t arc = arcs_.first_into(h); arc < arcs_.end_into(h); ++arc) {
      if (is_outside(arcs_.head(arc), i, j)) take_dependent(arc, h, m, down, as_first, last, between);
    }
  }

  void take_dependent(std::int32_t arc, std::int32_t h, std::int32_t m, std::int32_t down, double as_first,
                      double last, std::span<const std::int32_t> between) {
    [[maybe_unused]] const std::int32_t g = arcs_.head(arc);
    double top = as_first;
    if constexpr (kOrder > 2) {
      if (top != kNoTree) top += parts_.grand_sibling(g, h, kNobody, m);
    }
    std::int32_t best = kNobody;
    for (const std::int32_t s : between) {
      double sum = s_.open[at(arc, s)] + s_.pair[at(down, s)];
      if (sum == kNoTree) continue;
      if constexpr (kOrder > 2) sum += parts_.grand_sibling(g, h, s, m);
      if (sum > top) top = sum, best = s;
    }
    if (top == kNoTree) return;
    top += s_.arc_score[down];
    if constexpr (kOrder > 1) top += parts_.grandparent(g, h, m);
    s_.open[at(arc, m)] = top;
    s_.open_from[at(arc, m)] = best;
    if constexpr (kOrder > 2) last += parts_.grand_sibling(g, h, m, kNobody);
    s_.closed[at(arc, m)] = top + last;
  }

  /// whole[g → h, y] = max_s closed[g → h, s] + whole[h → s, y], s the last dependent, for the nodes y of
  /// `to`.
  void complete_all(std::int32_t h, std::int32_t i, std::int32_t j, std::int32_t to) {
    const bool is_right = to == j;
    const auto last =
        dependents_within(h, is_right ? end_of(i) : begin_of(i), is_right ? end_of(j) : begin_of(j));
    if (last.empty()) return;
    for (std::int32_t arc = arcs_.first_into(h); arc < arcs_.end_into(h); ++arc) {
      if (!is_outside(arcs_.head(arc), i, j)) continue;
      for (const std::int32_t s : last) {
        const double closed = s_.closed[at(arc, s)];
        if (closed == kNoTree) continue;
        const double* below = &s_.whole[at(arcs_.number(h, s), 0)];
        for (std::int32_t y = begin_of(to); y < end_of(to); ++y) {
          if (closed + below[y] > s_.whole[at(arc, y)])
            s_.whole[at(arc, y)] = closed + below[y], s_.whole_from[at(arc, y)] = s;
        }
      }
      if (is_right) look_ahead(arc, to);
    }
  }

  [[nodiscard]] TaggedTree finish() {
    TaggedTree found;
    std::int32_t root = 0, left = 0, right = 0;
    for (const std::int32_t r : arcs_.dependents(0)) {
      const std::int32_t arc = arcs_.number(0, r);
      const std::int32_t a = best_end(arc, 1, true);
      const std::int32_t b = best_end(arc, n_, false);
      double sum = s_.whole[at(arc, a)] + pair_score(0, a) + s_.whole[at(arc, b)];
      if (sum == kNoTree) continue;
      sum += s_.arc_score[arc];
      if constexpr (kOrder > 1) sum += parts_.sibling(0, kNobody, r) + parts_.sibling(0, r, kNobody);
      if (sum > found.score) found.score = sum, root = r, left = a, right = b;
    }
    if (root == 0) return found;
    found.heads.assign(static_cast<std::size_t>(n_) + 1, -1);
    found.nodes.assign(static_cast<std::size_t>(n_) + 1, 0);
    attach(root, 0, found);
    walk(arcs_.number(0, root), root, left, found);
    walk(arcs_.number(0, root), root, right, found);
    return found;
  }

  Parts& parts_;
};

/// The best tagged tree over the allowed arcs; kNoTree and no heads if there is none.
template <int kOrder, JointParts Parts>
[[nodiscard]] TaggedTree best_tagged_tree(Parts& parts, const NodeSet& nodes, const ArcSet& arcs,
                                          JointWork& work) {
  return JointChart<Parts, kOrder>(parts, nodes, arcs, work).best();
}

}  // namespace duilian
