// The graph-based parser on one sentence: keys, pruning, search and relations (see parser.hpp).
#include "duilian/tree/parser.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/tree/kernels.hpp"
#include "duilian/tree/weighed_parts.hpp"

namespace duilian {

namespace {

[[nodiscard]] std::size_t count_of(const ParseWork& work) { return work.nodes.size(); }

[[nodiscard]] std::int32_t words_of(const ParseWork& work) {
  return static_cast<std::int32_t>(count_of(work)) - 1;
}

}  // namespace

namespace {

[[nodiscard]] Heads guide_heads_of(const TreeData& data, std::int64_t sentence) {
  Heads heads(1, -1);
  heads.insert(heads.end(), data.guide_head.begin() + data.sentences.begin_of(sentence),
               data.guide_head.begin() + data.sentences.end_of(sentence));
  return heads;
}

/// Reads the guide tree of a sentence, and passes it on to its words.
void set_guide(const TreeData& data, std::int64_t sentence, ParseWork& work) {
  std::vector<std::int32_t> relations(1, kUnknown);
  relations.insert(relations.end(), data.guide_relation.begin() + data.sentences.begin_of(sentence),
                   data.guide_relation.begin() + data.sentences.end_of(sentence));
  work.guide.reset(guide_heads_of(data, sentence), relations);
  for (std::size_t word = 0; word < work.nodes.size(); ++word) {
    work.nodes[word].guide = relations[word];
    work.nodes[word].guide_below = work.guide.below(word);
  }
}

}  // namespace

void check(const TreeData& data, std::int32_t tags, std::int32_t relations) {
  const auto units = static_cast<std::size_t>(data.sentences.units());
  if (data.tag.size() != units || data.head.size() != units || data.relation.size() != units)
    throw std::invalid_argument("every word needs a tag, a head and a relation");
  for (std::int64_t k = 0; k < data.sentences.size(); ++k) {
    const std::int64_t begin = data.sentences.begin_of(k);
    const std::int64_t n = data.sentences.end_of(k) - begin;
    if (n > 30000) throw std::invalid_argument(concat("a sentence of ", n, " words is too long to parse"));
    for (std::int64_t m = 0; m < n; ++m) {
      const auto at = static_cast<std::size_t>(begin + m);
      if (data.tag[at] < 0 || data.tag[at] > tags)
        throw std::invalid_argument(concat("tag ", data.tag[at], " does not exist"));
      if (data.relation[at] < kUnknown || data.relation[at] >= std::max(relations, 1))
        throw std::invalid_argument(concat("relation ", data.relation[at], " does not exist"));
      if (data.head[at] < kUnknown || data.head[at] > n || data.head[at] == m + 1)
        throw std::invalid_argument(
            concat("word ", m + 1, " of ", n, " cannot have the head ", data.head[at]));
    }
  }
}

void check_guide(const TreeData& data, std::int32_t wanted_tags) {
  const std::size_t units = data.tag.size();
  if (data.guide_head.size() != units || data.guide_relation.size() != units ||
      data.wanted_tag.size() != units)
    throw std::invalid_argument(
        "every word needs a head and a relation in the guide tree, and a tag to learn");
  for (std::size_t k = 0; k < units; ++k) {
    if (data.wanted_tag[k] < kUnknown || data.wanted_tag[k] >= std::max(wanted_tags, 1))
      throw std::invalid_argument(concat("tag ", data.wanted_tag[k], " to learn does not exist"));
  }
  for (std::int64_t k = 0; k < data.sentences.size(); ++k) {
    if (!is_tree(guide_heads_of(data, k)))
      throw std::invalid_argument(concat("the guide heads of sentence ", k + 1, " are not a tree"));
  }
}

void check(const ParserShape& shape) {
  if (shape.order < 1 || shape.order > 3)
    throw std::invalid_argument(concat("order must be 1, 2 or 3, got ", shape.order));
  for (const std::int32_t bits : {shape.bits, shape.relation_bits, shape.pruning_bits, shape.tag_bits}) {
    if (bits < 4 || bits > 28)
      throw std::invalid_argument(concat("a table of weights must have 4 to 28 bits, got ", bits));
  }
  if (shape.relations < 0 || shape.relations > 10000)
    throw std::invalid_argument("there must be 0 to 10,000 relations");
  if (shape.tags < 0 || shape.tags > 10000) throw std::invalid_argument("there must be 0 to 10,000 tags");
  if (!shape.of_roots.empty() && shape.of_roots.size() != static_cast<std::size_t>(shape.relations))
    throw std::invalid_argument("root flags must be given for all relations or for none");
  for (const std::uint8_t each : shape.tag_class) {
    if (each > kMark) throw std::invalid_argument("the class of a tag must be 0 to 3");
  }
}

void TreeParser::prepare(const TreeData& data, std::int64_t sentence, ParseWork& work) const {
  const std::int64_t begin = data.sentences.begin_of(sentence);
  const std::int64_t n = data.sentences.end_of(sentence) - begin;
  const TextColumn& text = data.sentences.text();
  work.nodes.assign(static_cast<std::size_t>(n) + 1, {});
  work.context.assign(static_cast<std::size_t>(n) + 1, kRootTag);
  work.nodes[0] = {2, 2, kRootTag, kEdgeTag, kEdgeTag, 0, 0, kRootTag};
  work.has_hints = data.has_hints();
  for (std::int64_t m = 1; m <= n; ++m) {
    const std::int64_t unit = begin + m - 1;
    const std::u32string_view form = text.at(unit);
    const auto tag = [&](std::int64_t p) {
      return p < 1 || p > n ? kEdgeTag : data.tag[static_cast<std::size_t>(begin + p - 1)];
    };
    work.nodes[m] = {text.hash[unit], mix(3, form.back()), tag(m), tag(m - 1), tag(m + 1)};
    if (work.has_hints) work.nodes[m].hint = data.hint[static_cast<std::size_t>(unit)];
    work.context[m] = tag(m);
  }
  work.head_cost = 0.0;
  if (data.has_guide()) set_guide(data, sentence, work);
  work.keys.reset(work.nodes, {true, shape_.order, shape_.relations > 0 || shape_.tags > 0, work.has_hints},
                  data.has_guide() ? &work.guide : nullptr);
  work.keys.set_context(work.context, shape_.tag_class);
}

void TreeParser::score_arcs(std::span<const float> weights, ParseWork& work) const {
  const std::int32_t n = words_of(work);
  const CostAugmentedParts parts(work, weights, shape_.bits);
  work.scores.reset(n);
  for (std::int32_t h = 0; h <= n; ++h) {
    for (std::int32_t m = 1; m <= n; ++m) {
      if (m != h) work.scores.at(h, m) = parts.arc(h, m);
    }
  }
}

void TreeParser::score_pruning_arcs(std::span<const float> pruning, ParseWork& work) const {
  const std::int32_t n = words_of(work);
  const ArcTable table{pruning.data(), shift_of(shape_.pruning_bits)};
  work.scores.reset(n);
  if (work.keys.has_guide()) return score_guided_arcs(table, work);
  for (std::int32_t i = 0; i < n; ++i) {
    for (const bool to_right : {true, false}) {
      if (i == 0 && !to_right) continue;  // the root has no head
      work.row.score.assign(static_cast<std::size_t>(n - i) + kArcLanes, 0.0F);
      work.keys.add_pruning_arcs(i, to_right, table, work.row);
      for (std::int32_t j = i + 1; j <= n; ++j)
        (to_right ? work.scores.at(i, j) : work.scores.at(j, i)) = work.row.score[j - i - 1];
    }
  }
}

void TreeParser::score_guided_arcs(const ArcTable& table, ParseWork& work) const {
  const std::int32_t n = words_of(work);
  for (std::int32_t h = 0; h <= n; ++h) {
    for (std::int32_t m = 1; m <= n; ++m) {
      if (m == h) continue;
      float total = 0.0F;
      work.keys.pruning_arc(h, m, static_cast<std::size_t>(h), static_cast<std::size_t>(m),
                            [&](std::uint32_t key, std::uint32_t place) {
                              total += table.weights[(key >> table.shift) ^ place];
                            });
      work.scores.at(h, m) = static_cast<double>(total);
    }
  }
}

void TreeParser::prune(std::span<const float> pruning, const Heads& heads, double min_share,
                       ParseWork& work) const {
  const std::int32_t n = words_of(work);
  const auto side = static_cast<std::size_t>(n) + 1;
  work.allowed.assign(side * side, 1);
  keep_given(heads, work.allowed);
  if (min_share <= 0.0) return;
  score_pruning_arcs(pruning, work);
  for (std::size_t k = 0; k < work.allowed.size(); ++k) {
    if (work.allowed[k] == 0) work.scores.value[k] = kNoTree;
  }
  if (arc_marginals(work.scores, work.eisner, work.marginal) == kNoTree) return;
  for (std::int32_t m = 1; m <= n; ++m) {
    double top = 0.0;
    for (std::size_t h = 0; h < side; ++h)
      top = std::max(top, work.marginal[h * side + static_cast<std::size_t>(m)]);
    for (std::size_t h = 0; h < side; ++h) {
      const std::size_t at = h * side + static_cast<std::size_t>(m);
      work.allowed[at] = work.marginal[at] > 0.0 && work.marginal[at] >= min_share * top ? 1 : 0;
    }
  }
  // Heads that are each likely may not form a tree; adding those of the likeliest tree ensures that there is
  // one.
  const ScoredTree likely = best_tree(work.scores, work.eisner);
  for (std::int32_t m = 1; m <= n && likely.score != kNoTree; ++m)
    work.allowed[static_cast<std::size_t>(likely.heads[m]) * side + static_cast<std::size_t>(m)] = 1;
}

template <class Weights>
ScoredTree TreeParser::search_by(Weights weights, std::int32_t order, ParseWork& work) const {
  const std::int32_t n = words_of(work);
  CostAugmentedParts parts(work, weights, shape_.bits);
  if (order == 1) {
    work.scores.reset(n);
    for (std::int32_t h = 0; h <= n; ++h) {
      for (std::int32_t m = 1; m <= n; ++m) {
        if (m != h && work.allowed[work.scores.place(h, m)] != 0) work.scores.at(h, m) = parts.arc(h, m);
      }
    }
    return best_tree(work.scores, work.eisner);
  }
  work.arcs.reset(n, work.allowed);
  return order == 2 ? best_grand_tree<false>(parts, work.arcs, work.grand)
                    : best_grand_tree<true>(parts, work.arcs, work.grand);
}

ScoredTree TreeParser::search(std::span<const float> weights, std::int32_t order, ParseWork& work) const {
  return search_by(weights, order, work);
}

ScoredTree TreeParser::search(const CodedWeights& weights, std::int32_t order, ParseWork& work) const {
  return search_by(weights.trees(), order, work);
}

double TreeParser::tree_score(std::span<const float> weights, const Heads& heads, std::int32_t order,
                              ParseWork& work) const {
  double total = 0.0;
  const std::uint32_t shift = shift_of(shape_.bits);
  for_each_part(heads, TreeShape(heads), order, NumberedParts(work.keys),
                [&](std::uint32_t key, std::uint32_t place) {
                  total += static_cast<double>(weights[(key >> shift) ^ place]);
                });
  return total;
}

void TreeParser::list_changes(const Heads& gold, const Heads& guess, ParseWork& work,
                              std::vector<Delta>& changes) const {
  const TreeShape gold_shape(gold);
  const TreeShape guess_shape(guess);
  const NumberedParts parts(work.keys);
  const std::uint32_t shift = shift_of(shape_.bits);
  const auto is_same = [](std::int32_t) { return true; };
  for_each_difference(
      gold, gold_shape, guess, guess_shape, shape_.order, parts, is_same,
      [&](std::uint32_t key, std::uint32_t place) { changes.push_back({(key >> shift) ^ place, 1.0F}); });
  for_each_difference(
      guess, guess_shape, gold, gold_shape, shape_.order, parts, is_same,
      [&](std::uint32_t key, std::uint32_t place) { changes.push_back({(key >> shift) ^ place, -1.0F}); });
}

std::vector<std::int32_t> TreeParser::label(std::span<const float> weights, const Heads& heads,
                                            ParseWork& work) const {
  return relations_.label(weights, RelationTask(heads, work.keys, work.nodes, shape_.tag_class),
                          work.relations);
}

std::vector<std::int32_t> TreeParser::label(const CodedWeights& weights, const Heads& heads,
                                            ParseWork& work) const {
  return coded_relations_.label(weights.relations(),
                                RelationTask(heads, work.keys, work.nodes, shape_.tag_class), work.relations);
}

std::vector<std::int32_t> TreeParser::tag(std::span<const float> weights, const Heads& heads,
                                          std::span<const std::int32_t> relations, ParseWork& work) const {
  return tags_.label(weights, RelationTask(heads, work.keys, work.nodes, shape_.tag_class), relations);
}

std::int32_t TreeParser::list_tag_changes(std::span<const float> weights, const Heads& heads,
                                          std::span<const std::int32_t> relations,
                                          std::span<const std::int32_t> known, ParseWork& work,
                                          std::vector<Delta>& changes) const {
  const RelationTask task(heads, work.keys, work.nodes, shape_.tag_class);
  const auto cost = static_cast<float>(work.relations.relation_cost);
  return tags_.list_changes(weights, task, relations, known, cost, changes);
}

double TreeParser::relation_score(std::span<const float> weights, const TreeData& data, std::int64_t sentence,
                                  std::int32_t head, ParseWork& work) const {
  const Heads heads = heads_of(data, sentence);
  const std::vector<std::int32_t> relations = relations_of(data, sentence);
  const bool is_known = std::find(relations.begin() + 1, relations.end(), kUnknown) == relations.end();
  if (!is_tree(heads) || !is_known || head < 0 || static_cast<std::size_t>(head) >= heads.size())
    throw std::invalid_argument(
        "the score of relations needs a complete tree with all relations, and one of its words");
  return relations_.chain_score(weights, RelationTask(heads, work.keys, work.nodes, shape_.tag_class), head,
                                relations);
}

std::int32_t TreeParser::list_relation_changes(std::span<const float> weights, const Heads& heads,
                                               std::span<const std::int32_t> known, ParseWork& work,
                                               std::vector<Delta>& changes) const {
  const RelationTask task(heads, work.keys, work.nodes, shape_.tag_class);
  return relations_.list_changes(weights, task, known, work.relations, changes);
}

}  // namespace duilian
