// Searches trees over full arrays of scores, after checking their sizes (see dense_parts.hpp).
#include "duilian/tree/dense_parts.hpp"

#include <algorithm>
#include <stdexcept>

namespace duilian {

namespace {

[[noreturn]] void refuse() { throw std::invalid_argument("the scores of parts are inconsistent"); }

void check(const DenseParts& parts) {
  const std::size_t n = parts.n;
  const bool fits =
      n >= 2 && parts.arcs.size() == n * n && parts.siblings.size() == n * (n + 1) * (n + 1) &&
      parts.grandparents.size() == n * n * n &&
      (parts.grand_siblings.empty() || parts.grand_siblings.size() == n * parts.siblings.size());
  if (!fits) refuse();
}

}  // namespace

ArcScores arc_scores(std::span<const double> scores, std::size_t side) {
  if (side < 2 || scores.size() != side * side)
    throw std::invalid_argument("the scores of arcs must be a square matrix of at least 2 × 2");
  ArcScores built(static_cast<std::int32_t>(side) - 1);
  std::copy(scores.begin(), scores.end(), built.value.begin());
  for (std::int32_t k = 0; k <= built.words; ++k) built.at(k, k) = built.at(k, 0) = kNoTree;
  return built;
}

ScoredTree best_dense_tree(const DenseParts& parts, std::span<const std::uint8_t> allowed) {
  check(parts);
  if (allowed.size() != parts.arcs.size()) refuse();
  ArcSet arcs;
  arcs.reset(static_cast<std::int32_t>(parts.n) - 1, allowed);
  GrandWork work;
  return parts.grand_siblings.empty() ? best_grand_tree<false>(parts, arcs, work)
                                      : best_grand_tree<true>(parts, arcs, work);
}

TaggedTree best_dense_tagged_tree(const DenseTaggedParts& parts, std::int32_t order,
                                  std::span<const std::int32_t> tags, std::span<const std::uint8_t> allowed) {
  check(parts);
  NodeSet nodes;
  nodes.reset();
  for (const std::int32_t count : tags) {
    if (count < 1) throw std::invalid_argument("a word has no candidate tag");
    nodes.add_word(count);
  }
  const std::size_t words = tags.size() + 1;
  if (parts.tags.size() != parts.n || parts.pairs.size() != parts.arcs.size() ||
      static_cast<std::size_t>(nodes.size()) != parts.n || allowed.size() != words * words)
    refuse();
  ArcSet arcs;
  allow_nodes(nodes, allowed, {}, arcs);
  JointWork work;
  if (order == 1) return best_tagged_tree<1>(parts, nodes, arcs, work);
  if (order == 2) return best_tagged_tree<2>(parts, nodes, arcs, work);
  return best_tagged_tree<3>(parts, nodes, arcs, work);
}

}  // namespace duilian
