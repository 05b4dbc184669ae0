// Charts over scores of parts given as full arrays. A parser computes scores only when a chart asks for them;
// this is for scores from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "duilian/tree/eisner.hpp"
#include "duilian/tree/grand_chart.hpp"
#include "duilian/tree/joint_chart.hpp"

namespace duilian {

/// Scores of parts by words or nodes, n in all including the root; index n stands for kNobody.
struct DenseParts {
  std::span<const double> arcs;            // [n][n]
  std::span<const double> siblings;        // [n][n + 1][n + 1]  head, inner sibling, dependent
  std::span<const double> grandparents;    // [n][n][n]
  std::span<const double> grand_siblings;  // [n][n][n + 1][n + 1]  or empty at order 2
  std::size_t n;

  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const { return arcs[place(h) * n + place(m)]; }
  [[nodiscard]] double sibling(std::int32_t h, std::int32_t s, std::int32_t m) const {
    return siblings[(place(h) * (n + 1) + place(s)) * (n + 1) + place(m)];
  }
  [[nodiscard]] double grandparent(std::int32_t g, std::int32_t h, std::int32_t m) const {
    return grandparents[(place(g) * n + place(h)) * n + place(m)];
  }
  [[nodiscard]] double grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) const {
    return grand_siblings[((place(g) * n + place(h)) * (n + 1) + place(s)) * (n + 1) + place(m)];
  }

 protected:
  [[nodiscard]] std::size_t place(std::int32_t word) const {
    return word == kNobody ? n : static_cast<std::size_t>(word);
  }
};

/// Scores of the parts of tagged trees, by nodes.
struct DenseTaggedParts : DenseParts {
  std::span<const double> tags;   // [n]
  std::span<const double> pairs;  // [n][n]  neighbouring tags

  [[nodiscard]] double tag(std::int32_t b) const { return tags[place(b)]; }
  [[nodiscard]] double tag_pair(std::int32_t a, std::int32_t b) const {
    return pairs[place(a) * n + place(b)];
  }
};

/// Arc scores from a square of heads and dependents for `side` words including the root. Throws
/// std::invalid_argument if the size is different.
[[nodiscard]] ArcScores arc_scores(std::span<const double> scores, std::size_t side);

/// The best tree at order 2, or at order 3 if grandparent-siblings have scores. `allowed` is [n][n].
[[nodiscard]] ScoredTree best_dense_tree(const DenseParts& parts, std::span<const std::uint8_t> allowed);

/// The best tagged tree; tags[k] is the number of tags of word k + 1, and `allowed` is by words.
[[nodiscard]] TaggedTree best_dense_tagged_tree(const DenseTaggedParts& parts, std::int32_t order,
                                                std::span<const std::int32_t> tags,
                                                std::span<const std::uint8_t> allowed);

}  // namespace duilian
