// Relations for the arcs of a tree. The dependents of a word, from left to right and with the word itself at
// its place, are a chain: each has the features of its arc, of its grandparent, of the sibling inside and of
// its own outermost dependents, once for each relation; neighbours in the chain have the pair of their
// relations, alone and with the tag of the head (McDonald et al. 2006). Distances are left out: they say much
// about heads and little about relations.
#include <algorithm>

#include "duilian/tree/parser.hpp"

namespace duilian {

namespace {

/// Links of a chain: dependents, and the head itself.
constexpr std::int32_t kItself = 0;

/// The dependents of every word in order; the head stands among them as kItself.
[[nodiscard]] std::vector<std::vector<std::int32_t>> chains_of(const Heads& heads) {
  std::vector<std::vector<std::int32_t>> chains(heads.size());
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  for (std::int32_t m = 1; m <= n; ++m) {
    auto& chain = chains[heads[m]];
    if (m > heads[m] && (chain.empty() || chain.back() < heads[m])) chain.push_back(kItself);
    chain.push_back(m);
  }
  for (auto& chain : chains) {
    if (!chain.empty() && std::find(chain.begin(), chain.end(), kItself) == chain.end())
      chain.push_back(kItself);
  }
  return chains;
}

}  // namespace

/// visit(row) for every feature of the arc into m; a row is where its weights for all relations begin.
template <class Visit>
void TreeParser::visit_relation_rows(const Heads& heads, const TreeShape& shape, std::int32_t m,
                                     const ParseWork& work, const Visit& visit) const {
  const auto shift = static_cast<std::uint32_t>(32 - shape_.relation_bits);
  const auto start = static_cast<std::uint32_t>(shape_.tree_weights());
  const auto row = [&](std::uint32_t key, std::uint32_t place) { visit(start + ((key >> shift) ^ place)); };
  const auto other_row = [&](std::uint32_t key, std::uint32_t place) { row(key ^ 0x9E3779B9U, place); };
  const auto nearby = [&](std::uint32_t key, std::uint32_t place) {
    if (place == without_distance(place)) row(key, place);
  };
  const PartKeys& keys = work.keys;
  const auto node = [&](std::int32_t word) {
    return word == kNobody ? keys.nobody() : static_cast<std::size_t>(word);
  };
  const std::int32_t h = heads[m];
  keys.arc(h, m, node(h), node(m), nearby);
  keys.sibling(node(h), node(shape.inner[m]), node(m), place_without_distance(h < m), row);
  const std::int32_t g = h == 0 ? kNobody : heads[h];
  keys.grandparent(node(g), node(h), node(m), (h < m ? 2 : 0) + (g < h ? 1 : 0), row);
  keys.grandparent(node(shape.last[0][m]), node(m), node(shape.last[1][m]), h < m ? 1 : 0, other_row);
}

void TreeParser::score_relations(std::span<const float> weights, const Heads& heads, const TreeShape& shape,
                                 ParseWork& work) const {
  const auto count = static_cast<std::size_t>(shape_.relations);
  work.relation_score.assign(count * heads.size(), 0.0F);
  for (std::int32_t m = 1; m < static_cast<std::int32_t>(heads.size()); ++m) {
    float* out = work.relation_score.data() + static_cast<std::size_t>(m) * count;
    visit_relation_rows(heads, shape, m, work, [&](std::uint32_t row) {
      const float* from = weights.data() + row;
      for (std::size_t k = 0; k < count; ++k) out[k] += from[k];
    });
  }
}

/// visit(row) for the pair that begins with `before`: a relation, or relations() for the start, or
/// relations() + 1 for the head itself. Behind the relations a row has weights of the head itself and the
/// end.
template <class Visit>
void TreeParser::visit_pair_rows(std::int32_t before, std::int32_t tag, const Visit& visit) const {
  const auto shift = static_cast<std::uint32_t>(32 - shape_.relation_bits);
  const auto start = static_cast<std::uint32_t>(shape_.tree_weights());
  const std::uint64_t key = mix(201, static_cast<std::uint64_t>(before) + 1);
  visit(start + static_cast<std::uint32_t>(mix(key, 1) >> 32U >> shift));
  visit(start +
        static_cast<std::uint32_t>(mix(key, static_cast<std::uint64_t>(tag + 16) + 2) >> 32U >> shift));
}

/// The best relations of one chain, into `found`.
///   best[t, l] = score of l + max_k best[t - 1, k] + pair(k, l)
void TreeParser::label_chain(std::span<const float> weights, std::span<const std::int32_t> chain,
                             std::int32_t tag, ParseWork& work, std::vector<std::int32_t>& found) const {
  const auto L = static_cast<std::size_t>(shape_.relations);
  const std::size_t width = L + 2;
  auto& pair = work.relation_pair;  // [before][behind]
  pair.assign(width * width, 0.0F);
  for (std::size_t before = 0; before < width; ++before) {
    visit_pair_rows(static_cast<std::int32_t>(before), tag, [&](std::uint32_t row) {
      for (std::size_t k = 0; k < width; ++k) pair[before * width + k] += weights[row + k];
    });
  }
  auto& best = work.relation_best;
  auto& from = work.relation_from;
  best.assign((chain.size() + 1) * width, -std::numeric_limits<float>::infinity());
  from.assign((chain.size() + 1) * width, 0);
  best[L] = 0.0F;  // the start
  for (std::size_t t = 0; t < chain.size(); ++t) {
    const float* now = best.data() + t * width;
    float* next = best.data() + (t + 1) * width;
    std::int32_t* back = from.data() + (t + 1) * width;
    const bool is_itself = chain[t] == kItself;
    for (std::size_t k = 0; k < width; ++k) {
      if (now[k] == -std::numeric_limits<float>::infinity()) continue;
      const float* row = pair.data() + k * width;
      if (is_itself) {
        if (now[k] + row[L] > next[L + 1])
          next[L + 1] = now[k] + row[L], back[L + 1] = static_cast<std::int32_t>(k);
        continue;
      }
      for (std::size_t l = 0; l < L; ++l) {
        if (now[k] + row[l] > next[l]) next[l] = now[k] + row[l], back[l] = static_cast<std::int32_t>(k);
      }
    }
    if (is_itself) continue;
    const float* own = work.relation_score.data() + static_cast<std::size_t>(chain[t]) * L;
    for (std::size_t l = 0; l < L; ++l) next[l] += own[l];
  }
  const float* last = best.data() + chain.size() * width;
  std::size_t top = 0;
  for (std::size_t k = 1; k < width; ++k) {
    if (last[k] + pair[k * width + L + 1] > last[top] + pair[top * width + L + 1]) top = k;
  }
  for (std::size_t t = chain.size(); t-- > 0;) {
    if (chain[t] != kItself) found[chain[t]] = static_cast<std::int32_t>(top);
    top = static_cast<std::size_t>(from[(t + 1) * width + top]);
  }
}

std::vector<std::int32_t> TreeParser::label(std::span<const float> weights, const Heads& heads,
                                            ParseWork& work) const {
  std::vector<std::int32_t> found(heads.size(), kUnknown);
  if (shape_.relations == 0) return found;
  score_relations(weights, heads, TreeShape(heads), work);
  const auto chains = chains_of(heads);
  for (std::size_t h = 0; h < chains.size(); ++h) {
    if (!chains[h].empty()) label_chain(weights, chains[h], work.context[h], work, found);
  }
  return found;
}

std::int32_t TreeParser::list_relation_changes(std::span<const float> weights, const Heads& heads,
                                               std::span<const std::int32_t> gold, ParseWork& work,
                                               std::vector<Delta>& changes) const {
  if (shape_.relations == 0) return 0;
  const TreeShape shape(heads);
  const auto L = static_cast<std::size_t>(shape_.relations);
  score_relations(weights, heads, shape, work);
  for (std::size_t m = 1; m < heads.size(); ++m) {
    for (std::size_t k = 0; k < L && gold[m - 1] != kUnknown; ++k) {
      if (k != static_cast<std::size_t>(gold[m - 1]))
        work.relation_score[m * L + k] += static_cast<float>(work.margin);
    }
  }
  std::vector<std::int32_t> guess(heads.size(), kUnknown);
  std::int32_t wrong = 0;
  const auto chains = chains_of(heads);
  for (std::size_t h = 0; h < chains.size(); ++h) {
    const auto is_known = [&](std::int32_t m) { return m == kItself || gold[m - 1] != kUnknown; };
    if (chains[h].empty() || !std::all_of(chains[h].begin(), chains[h].end(), is_known)) continue;
    label_chain(weights, chains[h], work.context[h], work, guess);
    wrong += list_chain_changes(heads, shape, chains[h], gold, guess, work, changes);
  }
  return wrong;
}

std::int32_t TreeParser::list_chain_changes(const Heads& heads, const TreeShape& shape,
                                            std::span<const std::int32_t> chain,
                                            std::span<const std::int32_t> gold,
                                            const std::vector<std::int32_t>& guess, const ParseWork& work,
                                            std::vector<Delta>& changes) const {
  std::int32_t wrong = 0;
  for (const std::int32_t m : chain) {
    if (m == kItself || gold[m - 1] == guess[m]) continue;
    ++wrong;
    visit_relation_rows(heads, shape, m, work, [&](std::uint32_t row) {
      changes.push_back({row + static_cast<std::uint32_t>(gold[m - 1]), 1.0F});
      changes.push_back({row + static_cast<std::uint32_t>(guess[m]), -1.0F});
    });
  }
  if (wrong == 0) return 0;
  const std::int32_t L = shape_.relations;
  const std::int32_t head = heads[chain.front() == kItself ? chain.back() : chain.front()];
  const auto list_pairs = [&](const auto& relation, float value) {
    std::int32_t before = L;
    for (std::size_t t = 0; t <= chain.size(); ++t) {
      const bool is_end = t == chain.size();
      const std::int32_t behind = is_end ? L + 1 : chain[t] == kItself ? L : relation(chain[t]);
      visit_pair_rows(before, work.context[head], [&](std::uint32_t row) {
        changes.push_back({row + static_cast<std::uint32_t>(behind), value});
      });
      before = is_end ? L : chain[t] == kItself ? L + 1 : relation(chain[t]);
    }
  };
  list_pairs([&](std::int32_t m) { return gold[m - 1]; }, 1.0F);
  list_pairs([&](std::int32_t m) { return guess[m]; }, -1.0F);
  return wrong;
}

}  // namespace duilian
