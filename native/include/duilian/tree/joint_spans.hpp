// The tables of the joint search, and how to read a tagged tree from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/arcs.hpp"
#include "duilian/tree/grand_chart.hpp"

namespace duilian {

/// The nodes of a sentence, word by word; word 0 is the root and has only node 0.
struct NodeSet {
  std::vector<std::int32_t> first;  // [n + 2]  the nodes of word i are first[i] … first[i + 1] - 1
  std::vector<std::int32_t> word;   // [nodes]

  void reset() {
    first.assign({0, 1});
    word.assign({0});
  }
  void add_word(std::int32_t tags) {
    const auto next = static_cast<std::int32_t>(first.size()) - 1;
    word.insert(word.end(), static_cast<std::size_t>(tags), next);
    first.push_back(static_cast<std::int32_t>(word.size()));
  }
  [[nodiscard]] std::int32_t words() const { return static_cast<std::int32_t>(first.size()) - 2; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(word.size()); }
};

/// Derives the arcs between nodes from those between words, `allowed[h * (n + 1) + m]`. Unless `usable` is
/// empty, only nodes marked 1 there have arcs.
inline void allow_nodes(const NodeSet& nodes, std::span<const std::uint8_t> allowed,
                        std::span<const std::uint8_t> usable, ArcSet& arcs) {
  const auto side = static_cast<std::size_t>(nodes.words()) + 1;
  const auto count = static_cast<std::size_t>(nodes.size());
  const auto is_usable = [&](std::size_t node) { return usable.empty() || usable[node] != 0; };
  const auto first = [&](std::size_t word) { return static_cast<std::size_t>(nodes.first[word]); };
  std::vector<std::uint8_t> between(count * count);
  for (std::size_t from = 0; from < side; ++from) {
    for (std::size_t to = 1; to < side; ++to) {
      if (from == to || allowed[from * side + to] == 0) continue;
      for (std::size_t h = first(from); h < first(from + 1); ++h) {
        for (std::size_t m = first(to); m < first(to + 1); ++m)
          between[h * count + m] = is_usable(h) && is_usable(m) ? 1 : 0;
      }
    }
  }
  arcs.reset(nodes.size() - 1, between);
}

/// Tables of spans by arcs between nodes: a row per arc g → i, a column per node j.
struct NodeSpans {
  std::vector<double> whole;   // complete: i … j (or j … i), with all of i's dependents on that side
  std::vector<double> open;    // incomplete: j is i's outermost dependent so far, and has no outer ones
  std::vector<double> closed;  // the same if i has no further dependent on that side
  // Row g → i, column s: from s to i, which are adjacent dependents of g; s is the inner one.
  std::vector<double> pair;
  std::vector<double> arc_score;                               // [arcs]
  std::vector<std::int32_t> whole_from, open_from, pair_from;  // split points; kNobody: first dependent
};

/// All tables of the search, reused from sentence to sentence; rows and columns as above.
struct JointWork {
  NodeSpans spans;
  std::vector<double> next;             // see joint_chart.hpp
  std::vector<std::int32_t> next_from;  // the a that attains the maximum
  // [arcs]  the node next to the head where the span of a first dependent ends.
  std::vector<std::int32_t> first_from;
  std::vector<std::uint64_t>
      heads;  // [words + 1]  bit g % 64 is set if node g is a possible head, not the root
  std::vector<double> pair_score;  // [nodes][max tags of a word]  tag_pair(a, b)
};

struct TaggedTree {
  double score = kNoTree;
  Heads heads;                      // [n + 1] words
  std::vector<std::int32_t> nodes;  // [n + 1] the node of each word
};

/// The spans of one sentence, by arcs between nodes.
class JointSpans {
 public:
  JointSpans(const NodeSet& nodes, const ArcSet& arcs, JointWork& work)
      : nodes_(nodes), arcs_(arcs), w_(work), s_(work.spans), n_(nodes.words()) {}

 protected:
  [[nodiscard]] std::size_t at(std::int32_t arc, std::int32_t node) const {
    return static_cast<std::size_t>(arc) * static_cast<std::size_t>(nodes_.size()) +
           static_cast<std::size_t>(node);
  }
  [[nodiscard]] std::int32_t begin_of(std::int32_t word) const { return nodes_.first[word]; }
  [[nodiscard]] std::int32_t end_of(std::int32_t word) const { return nodes_.first[word + 1]; }
  [[nodiscard]] double pair_score(std::int32_t a, std::int32_t b) const {
    const std::int32_t which = b - begin_of(nodes_.word[b]);
    return w_.pair_score[static_cast<std::size_t>(a) * static_cast<std::size_t>(max_tags_) +
                         static_cast<std::size_t>(which)];
  }

  [[nodiscard]] bool is_outside(std::int32_t g, std::int32_t i, std::int32_t j) const {
    const std::int32_t word = nodes_.word[g];
    return word < i || word > j;
  }

  /// The possible dependents of h strictly between the words of h and m.
  [[nodiscard]] std::span<const std::int32_t> inside(std::int32_t h, std::int32_t m) const {
    const bool is_right = h < m;
    return dependents_within(h, end_of(nodes_.word[is_right ? h : m]),
                             begin_of(nodes_.word[is_right ? m : h]));
  }
  /// Those from node `begin` to node `end` - 1.
  [[nodiscard]] std::span<const std::int32_t> dependents_within(std::int32_t h, std::int32_t begin,
                                                                std::int32_t end) const {
    const auto before = [&](std::int32_t node) {
      return node < nodes_.size() ? arcs_.rank(h, node) : arcs_.count_dependents(h);
    };
    const std::int32_t from = before(begin);
    return {arcs_.dependents(h).data() + from, static_cast<std::size_t>(before(end) - from)};
  }

  [[nodiscard]] std::int32_t best_end(std::int32_t arc, std::int32_t word, bool is_start) const {
    std::int32_t best = begin_of(word);
    double top = kNoTree;
    for (std::int32_t y = begin_of(word); y < end_of(word); ++y) {
      const double sum = s_.whole[at(arc, y)] + (is_start ? pair_score(0, y) : 0.0);
      if (sum > top) top = sum, best = y;
    }
    return best;
  }

  void attach(std::int32_t m, std::int32_t h, TaggedTree& found) const {
    found.heads[nodes_.word[m]] = nodes_.word[h];
    found.nodes[nodes_.word[m]] = m;
  }

  /// Reads the tree of the span from h to y.
  void walk(std::int32_t arc, std::int32_t h, std::int32_t y, TaggedTree& found) const {
    if (h == y) return;
    std::int32_t m = s_.whole_from[at(arc, y)];
    walk(arcs_.number(h, m), m, y, found);
    while (m != kNobody) {
      attach(m, h, found);
      const std::int32_t down = arcs_.number(h, m);
      const std::int32_t inner = s_.open_from[at(arc, m)];
      if (inner == kNobody) {
        walk(down, m, w_.first_from[down], found);
      } else {
        walk_pair(arcs_.number(h, inner), inner, down, m, s_.pair_from[at(down, inner)], found);
      }
      m = inner;
    }
  }

  void walk_pair(std::int32_t up_inner, std::int32_t inner, std::int32_t up_outer, std::int32_t outer,
                 std::int32_t b, TaggedTree& found) const {
    const std::int32_t a = w_.next_from[at(inner < outer ? up_inner : up_outer, b)];
    walk(up_inner, inner, inner < outer ? a : b, found);
    walk(up_outer, outer, inner < outer ? b : a, found);
  }

  const NodeSet& nodes_;
  const ArcSet& arcs_;
  JointWork& w_;
  NodeSpans& s_;
  std::int32_t n_;
  std::int32_t max_tags_ = 1;
};

}  // namespace duilian
