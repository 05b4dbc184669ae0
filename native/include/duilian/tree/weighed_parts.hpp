// The parts of trees with their features: to visit, to score, and to compare between two trees. Parts consist
// of words, or of nodes where the tags of words are open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/parser.hpp"

namespace duilian {

[[nodiscard]] inline std::uint32_t shift_of(std::int32_t bits) {
  return static_cast<std::uint32_t>(32 - bits);
}

/// The directions of h → m and g → h as one number.
[[nodiscard]] inline std::int32_t turn_of(std::int32_t g, std::int32_t h, bool to_right) {
  return (to_right ? 2 : 0) + (g < h ? 1 : 0);
}

/// Visits the keys of parts whose elements are numbered from left to right: words that are their own nodes;
/// words with their nodes in `node_of`; or nodes with their words in `word_of`.
class NumberedParts {
 public:
  explicit NumberedParts(const PartKeys& keys, std::span<const std::int32_t> node_of = {},
                         std::span<const std::int32_t> word_of = {})
      : keys_(keys), node_of_(node_of), word_of_(word_of) {}

  template <class Visit>
  void arc(std::int32_t h, std::int32_t m, const Visit& visit) const {
    keys_.arc(word(h), word(m), node(h), node(m), visit);
  }
  template <class Visit>
  void sibling(std::int32_t h, std::int32_t s, std::int32_t m, const Visit& visit) const {
    const std::int32_t place = m == kNobody ? place_without_distance(h < s) : place_of(word(h), word(m));
    keys_.sibling(node(h), node(s), node(m), place, visit);
  }
  template <class Visit>
  void grandparent(std::int32_t g, std::int32_t h, std::int32_t m, const Visit& visit) const {
    keys_.grandparent(node(g), node(h), node(m), turn_of(g, h, h < m), visit);
  }
  template <class Visit>
  void grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m,
                     const Visit& visit) const {
    keys_.grand_sibling(node(g), node(h), node(s), node(m), turn_of(g, h, h < (m == kNobody ? s : m)), visit);
  }

  /// No part has more features.
  [[nodiscard]] std::size_t most_features() const { return keys_.most_features(); }

 private:
  [[nodiscard]] std::size_t node(std::int32_t number) const {
    if (number == kNobody) return keys_.nobody();
    return static_cast<std::size_t>(node_of_.empty() ? number : node_of_[static_cast<std::size_t>(number)]);
  }
  [[nodiscard]] std::int32_t word(std::int32_t number) const {
    return word_of_.empty() ? number : word_of_[static_cast<std::size_t>(number)];
  }
  const PartKeys& keys_;
  std::span<const std::int32_t> node_of_, word_of_;
};

/// Scores of parts, each the sum of its feature weights, which may be floats or coded.
template <class Weights = std::span<const float>>
class WeighedParts {
 public:
  WeighedParts(const NumberedParts& parts, Weights weights, std::int32_t bits)
      : parts_(parts), weights_(weights), shift_(shift_of(bits)), places_(parts.most_features()) {}

  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const {
    return sum([&](const auto& visit) { parts_.arc(h, m, visit); });
  }
  [[nodiscard]] double sibling(std::int32_t h, std::int32_t s, std::int32_t m) const {
    return sum([&](const auto& visit) { parts_.sibling(h, s, m, visit); });
  }
  [[nodiscard]] double grandparent(std::int32_t g, std::int32_t h, std::int32_t m) const {
    return sum([&](const auto& visit) { parts_.grandparent(g, h, m, visit); });
  }
  [[nodiscard]] double grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) const {
    return sum([&](const auto& visit) { parts_.grand_sibling(g, h, s, m, visit); });
  }

 private:
  /// First lists the places of all weights, which the compiler does in vectors, then adds the weights.
  template <class Part>
  [[nodiscard]] double sum(const Part& part) const {
    std::uint32_t* end = places_.data();
    part([&, shift = shift_](std::uint32_t key, std::uint32_t place) { *end++ = (key >> shift) ^ place; });
    float total = 0.0F;
    const std::uint32_t* at = places_.data();
    for (; end - at >= 4; at += 4) {
      total += weights_[at[0]];
      total += weights_[at[1]];
      total += weights_[at[2]];
      total += weights_[at[3]];
    }
    for (; at != end; ++at) total += weights_[*at];
    return static_cast<double>(total);
  }

  NumberedParts parts_;
  Weights weights_;
  std::uint32_t shift_;
  mutable std::vector<std::uint32_t> places_;  // of the features of one part
};

/// Likewise for the words of a sentence; in training, heads that are not gold score head_cost more.
template <class Weights = std::span<const float>>
class CostAugmentedParts : public WeighedParts<Weights> {
 public:
  CostAugmentedParts(const ParseWork& work, Weights weights, std::int32_t bits)
      : WeighedParts<Weights>(NumberedParts(work.keys), weights, bits), work_(work) {}

  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const {
    const double score = WeighedParts<Weights>::arc(h, m);
    return work_.head_cost != 0.0 && work_.gold[m] != h ? score + work_.head_cost : score;
  }

 private:
  const ParseWork& work_;
};

/// Visits every part of a tree up to an order.
template <class Visit>
void for_each_part(const Heads& heads, const TreeShape& shape, std::int32_t order, const NumberedParts& parts,
                   const Visit& visit) {
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  for (std::int32_t m = 1; m <= n; ++m) {
    const std::int32_t h = heads[m];
    parts.arc(h, m, visit);
    if (order < 2) continue;
    parts.sibling(h, shape.inner[m], m, visit);
    if (h != 0) parts.grandparent(heads[h], h, m, visit);
    if (order > 2 && h != 0) parts.grand_sibling(heads[h], h, shape.inner[m], m, visit);
  }
  for (std::int32_t h = 0; h <= n && order >= 2; ++h) {
    for (const auto& last : shape.last) {
      if (last[h] == kNobody) continue;
      parts.sibling(h, last[h], kNobody, visit);
      if (order > 2 && h != 0) parts.grand_sibling(heads[h], h, last[h], kNobody, visit);
    }
  }
}

/// Visits the parts of one tree that the other lacks; is_same(word) says whether both have the same node for
/// it.
template <class Same, class Visit>
void for_each_difference(const Heads& ours, const TreeShape& our, const Heads& theirs, const TreeShape& their,
                         std::int32_t order, const NumberedParts& parts, const Same& is_same,
                         const Visit& visit) {
  const auto agree = [&](std::int32_t ours_here, std::int32_t theirs_here) {
    return ours_here == theirs_here && (ours_here < 0 || is_same(ours_here));
  };
  const auto n = static_cast<std::int32_t>(ours.size()) - 1;
  for (std::int32_t m = 1; m <= n; ++m) {
    const std::int32_t h = ours[m];
    const bool has_arc = agree(h, theirs[m]) && is_same(m);
    const bool has_sibling = has_arc && agree(our.inner[m], their.inner[m]);
    const bool has_grandparent = has_arc && agree(ours[h], theirs[h]);
    if (!has_arc) parts.arc(h, m, visit);
    if (order < 2) continue;
    if (!has_sibling) parts.sibling(h, our.inner[m], m, visit);
    if (!has_grandparent && h != 0) parts.grandparent(ours[h], h, m, visit);
    if (order > 2 && h != 0 && !(has_sibling && has_grandparent))
      parts.grand_sibling(ours[h], h, our.inner[m], m, visit);
  }
  for (std::int32_t h = 0; h <= n && order >= 2; ++h) {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t last = our.last[side][h];
      if (last == kNobody) continue;
      const bool has_last = is_same(h) && agree(last, their.last[side][h]);
      if (!has_last) parts.sibling(h, last, kNobody, visit);
      if (order > 2 && h != 0 && !(has_last && agree(ours[h], theirs[h])))
        parts.grand_sibling(ours[h], h, last, kNobody, visit);
    }
  }
}

}  // namespace duilian
