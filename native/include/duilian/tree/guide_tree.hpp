// Guide features for trees: another tree of the same words, and how it links two words. A converter between
// treebanks is a parser that sees the source's tree in this way (quasi-synchronous features, Li et al. 2012;
// Jiang et al. 2018).
//
// The link of h and m leads from m up to the lowest word above both, and down to h. Its *shape* is the number
// of steps up and down; its *path* also has the relations on the way, unless it is long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

/// The keys of a link; they are added to those of the words at its ends.
struct GuideLink {
  std::uint32_t shape = 0, path = 0;
};

/// The guide tree of one sentence, with the root as word 0; empty if there is none.
class GuideTree {
 public:
  /// Both are [n + 1], with heads[0] = -1; the heads must lead to the root.
  void reset(std::span<const std::int32_t> heads, std::span<const std::int32_t> relations);
  void clear() { side_ = 0; }
  [[nodiscard]] bool is_empty() const { return side_ == 0; }
  [[nodiscard]] const GuideLink& link(std::size_t h, std::size_t m) const { return links_[h * side_ + m]; }
  /// A number for the set of relations below a word.
  [[nodiscard]] std::uint64_t below(std::size_t word) const { return below_[word]; }
  [[nodiscard]] std::int32_t relation(std::size_t word) const { return relations_[word]; }

 private:
  [[nodiscard]] GuideLink find_link(std::int32_t h, std::int32_t m) const;

  std::size_t side_ = 0;
  std::vector<std::int32_t> heads_, relations_, depth_;  // [n + 1]
  std::vector<std::uint64_t> below_;                     // [n + 1]
  std::vector<GuideLink> links_;                         // [n + 1][n + 1]
};

}  // namespace duilian
