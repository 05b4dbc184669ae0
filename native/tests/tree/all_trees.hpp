// All projective trees of a few words, with which every search for trees must agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "duilian/tree/eisner.hpp"

namespace testing {

/// Whether there is one root, everything is below it, and no arc covers a word that is not below its head.
[[nodiscard]] inline bool is_projective_tree(const duilian::Heads& heads) {
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  std::int32_t roots = 0;
  const auto is_below = [&](std::int32_t word, std::int32_t head) {
    for (std::int32_t steps = 0; word != head && word > 0 && steps <= n; ++steps) word = heads[word];
    return word == head;
  };
  for (std::int32_t m = 1; m <= n; ++m) {
    roots += heads[m] == 0 ? 1 : 0;
    if (heads[m] == m || !is_below(m, 0)) return false;
    for (std::int32_t b = std::min(m, heads[m]) + 1; b < std::max(m, heads[m]); ++b) {
      if (!is_below(b, heads[m])) return false;
    }
  }
  return roots == 1;
}

/// Calls visit(heads) for every projective tree of n words.
inline void for_each_tree(std::int32_t n, const std::function<void(const duilian::Heads&)>& visit) {
  duilian::Heads heads(static_cast<std::size_t>(n) + 1, 0);
  heads[0] = -1;
  for (;;) {
    if (is_projective_tree(heads)) visit(heads);
    std::int32_t m = 1;
    while (m <= n && heads[m] == n) heads[m++] = 0;
    if (m > n) return;
    ++heads[m];
  }
}

/// Calls visit(heads) for every such tree over some arcs; `allowed` is [n + 1][n + 1], head and dependent.
inline void for_each_tree(std::int32_t n, const std::vector<std::uint8_t>& allowed,
                          const std::function<void(const duilian::Heads&)>& visit) {
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  for_each_tree(n, [&](const duilian::Heads& heads) {
    for (std::size_t m = 1; m < side; ++m) {
      if (allowed[static_cast<std::size_t>(heads[m]) * side + m] == 0) return;
    }
    visit(heads);
  });
}

}  // namespace testing
