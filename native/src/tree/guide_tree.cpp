// Computes how a guide tree links every pair of words (see guide_tree.hpp).
#include "duilian/tree/guide_tree.hpp"

#include <algorithm>

#include "duilian/features/sentences.hpp"

namespace duilian {

namespace {

constexpr std::int32_t kFarthest = 4;  // more steps count as this many, and a longer link has no path

[[nodiscard]] std::uint64_t value_of(std::int32_t relation) {
  return static_cast<std::uint64_t>(relation + 16);
}

[[nodiscard]] std::uint32_t top_half(std::uint64_t key) {
  return static_cast<std::uint32_t>(mix(key, 0x2545F4914F6CDD1DU) >> 32U);
}

}  // namespace

void GuideTree::reset(std::span<const std::int32_t> heads, std::span<const std::int32_t> relations) {
  side_ = heads.size();
  heads_.assign(heads.begin(), heads.end());
  relations_.assign(relations.begin(), relations.end());
  depth_.assign(side_, 0);
  below_.assign(side_, 0);
  for (std::size_t m = 1; m < side_; ++m) {
    for (std::int32_t at = heads_[m]; at >= 0; at = heads_[static_cast<std::size_t>(at)]) ++depth_[m];
    // A sum, so that the order of the words does not matter.
    below_[static_cast<std::size_t>(heads_[m])] += mix(301, value_of(relations_[m]));
  }
  links_.resize(side_ * side_);
  for (std::size_t h = 0; h < side_; ++h) {
    for (std::size_t m = 0; m < side_; ++m)
      links_[h * side_ + m] = find_link(static_cast<std::int32_t>(h), static_cast<std::int32_t>(m));
  }
}

GuideLink GuideTree::find_link(std::int32_t h, std::int32_t m) const {
  std::int32_t up = 0, down = 0;
  std::uint64_t rising = 302, falling = 303;
  while (h != m) {
    if (depth_[static_cast<std::size_t>(m)] >= depth_[static_cast<std::size_t>(h)]) {
      rising = mix(rising, value_of(relations_[static_cast<std::size_t>(m)]));
      m = heads_[static_cast<std::size_t>(m)];
      ++up;
    } else {
      falling = mix(falling, value_of(relations_[static_cast<std::size_t>(h)]));
      h = heads_[static_cast<std::size_t>(h)];
      ++down;
    }
  }
  const auto steps = static_cast<std::uint64_t>(std::min(up, kFarthest) * 8 + std::min(down, kFarthest));
  const std::uint64_t shape = mix(304, steps);
  const std::uint64_t path = up + down > kFarthest ? mix(305, shape) : mix(mix(shape, rising), falling);
  return {top_half(shape), top_half(path)};
}

}  // namespace duilian
