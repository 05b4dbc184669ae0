// A relation for every arc of a tree, each by itself: the features of the arc, of its grandparent, of the
// sibling inside and of the dependent's own outermost dependents, once for each relation.
#include "duilian/tree/parser.hpp"

namespace duilian {

/// visit(row) for every feature of the arc into m; a row is where its weights for all relations begin.
template <class Visit>
void TreeParser::visit_relation_rows(const Heads& heads, const TreeShape& shape, std::int32_t m,
                                     const ParseWork& work, const Visit& visit) const {
  const auto shift = static_cast<std::uint32_t>(32 - shape_.relation_bits);
  const auto start = static_cast<std::uint32_t>(shape_.tree_weights());
  const auto row = [&](std::uint32_t key, std::uint32_t place) { visit(start + ((key >> shift) ^ place)); };
  const auto other_row = [&](std::uint32_t key, std::uint32_t place) { row(key ^ 0x9E3779B9U, place); };
  const PartKeys& keys = work.keys;
  const auto node = [&](std::int32_t word) {
    return word == kNobody ? keys.nobody() : static_cast<std::size_t>(word);
  };
  const std::int32_t h = heads[m];
  keys.arc(h, m, node(h), node(m), row);
  keys.sibling(node(h), node(shape.inner[m]), node(m), place_of(h, m), row);
  const std::int32_t g = h == 0 ? kNobody : heads[h];
  keys.grandparent(node(g), node(h), node(m), (h < m ? 2 : 0) + (g < h ? 1 : 0), row);
  keys.grandparent(node(shape.last[0][m]), node(m), node(shape.last[1][m]), h < m ? 1 : 0, other_row);
}

void TreeParser::score_relations(std::span<const float> weights, const Heads& heads, const TreeShape& shape,
                                 std::int32_t m, ParseWork& work) const {
  const auto count = static_cast<std::size_t>(shape_.relations);
  work.relation_score.assign(count, 0.0F);
  float* out = work.relation_score.data();
  visit_relation_rows(heads, shape, m, work, [&](std::uint32_t row) {
    const float* from = weights.data() + row;
    for (std::size_t k = 0; k < count; ++k) out[k] += from[k];
  });
}

namespace {

[[nodiscard]] std::int32_t largest(const std::vector<float>& scores) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < scores.size(); ++k) {
    if (scores[k] > scores[best]) best = k;
  }
  return static_cast<std::int32_t>(best);
}

}  // namespace

std::vector<std::int32_t> TreeParser::label(std::span<const float> weights, const Heads& heads,
                                            ParseWork& work) const {
  std::vector<std::int32_t> found(heads.size(), kUnknown);
  if (shape_.relations == 0) return found;
  const TreeShape shape(heads);
  for (std::int32_t m = 1; m < static_cast<std::int32_t>(heads.size()); ++m) {
    score_relations(weights, heads, shape, m, work);
    found[m] = largest(work.relation_score);
  }
  return found;
}

std::int32_t TreeParser::list_relation_changes(std::span<const float> weights, const Heads& heads,
                                               std::span<const std::int32_t> gold, ParseWork& work,
                                               std::vector<Delta>& changes) const {
  if (shape_.relations == 0) return 0;
  std::int32_t wrong = 0;
  const TreeShape shape(heads);
  for (std::int32_t m = 1; m < static_cast<std::int32_t>(heads.size()); ++m) {
    if (gold[m - 1] == kUnknown) continue;
    score_relations(weights, heads, shape, m, work);
    const std::int32_t guess = largest(work.relation_score);
    if (guess == gold[m - 1]) continue;
    ++wrong;
    visit_relation_rows(heads, shape, m, work, [&](std::uint32_t row) {
      changes.push_back({row + static_cast<std::uint32_t>(gold[m - 1]), 1.0F});
      changes.push_back({row + static_cast<std::uint32_t>(guess), -1.0F});
    });
  }
  return wrong;
}

}  // namespace duilian
