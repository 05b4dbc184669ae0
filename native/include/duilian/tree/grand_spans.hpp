// What the charts over siblings and grandparents need: scores of parts, and tables of spans.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace duilian {

/// Stands for the missing sibling before the first dependent on a side, and after the last.
inline constexpr std::int32_t kNobody = -1;

/// Scores of the parts of a tree. s is the dependent of h next to m on the inner side. For the root (h = 0),
/// only arc and sibling are called.
template <class P>
concept TreeParts = requires(P& parts, std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) {
  { parts.arc(h, m) } -> std::convertible_to<double>;
  { parts.sibling(h, s, m) } -> std::convertible_to<double>;  // s or m may be kNobody
  { parts.grandparent(g, h, m) } -> std::convertible_to<double>;
  { parts.grand_sibling(g, h, s, m) } -> std::convertible_to<double>;  // order 3; s or m may be kNobody
};

/// Tables of spans, reused from sentence to sentence. `whole` has a row per arc g → i and a column per word
/// j; the others are indexed by arc and rank of a dependent, so that all dependents of a word are adjacent.
struct GrandWork {
  std::vector<double> whole;     // complete: i … j (or j … i), with all of i's dependents on that side
  std::vector<double> whole_at;  // the same, indexed by i's head, then j, then i's rank
  std::vector<double> open;      // g → i, j: incomplete, j is i's outermost dependent and has no outer ones
  std::vector<double> closed;    // the same if i has no further dependent on that side
  std::vector<double> pair;  // g → i, s: from s to i, which are adjacent dependents of g; s is the inner one
  std::vector<double> arc_score;  // [arcs]
  /// The nearest possible dependents of a word: before it (0: none) and after it (n + 1: none).
  struct Reach {
    std::int32_t after, before;
  };
  std::vector<Reach> reach;          // [words + 1]
  std::vector<std::uint64_t> heads;  // [words + 1]  bit g % 64 is set if g is a possible head, not the root
  std::vector<std::int32_t> open_from;  // for open: the previous dependent; kNobody if j is the first
  // [arcs]  where the row of an arc begins in open and closed; in pair.
  std::vector<std::size_t> row, pair_row;
  std::vector<std::size_t> block;  // [words + 1]  where the block of a head begins in whole_at
};

}  // namespace duilian
