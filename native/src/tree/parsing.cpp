// Parses whole corpora, and measures how much pruning leaves of them.
#include "duilian/tree/parsing.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace duilian {

std::int32_t order_for(const ParserShape& shape, std::size_t words, ParseOptions options) {
  return static_cast<std::int64_t>(words) > options.longest ? 1 : shape.order;
}

std::int32_t order_within(std::int32_t order, std::span<const std::uint8_t> allowed, std::size_t words,
                          ParseOptions options) {
  const auto arcs = allowed.size() - static_cast<std::size_t>(std::count(allowed.begin(), allowed.end(), 0));
  return std::cmp_greater(arcs * (words + 1), options.most_cells) ? 1 : order;
}

Heads heads_of(const TreeData& data, std::int64_t sentence) {
  Heads heads(1, -1);
  heads.insert(heads.end(), data.head.begin() + data.sentences.begin_of(sentence),
               data.head.begin() + data.sentences.end_of(sentence));
  return heads;
}

std::vector<std::int32_t> relations_of(const TreeData& data, std::int64_t sentence) {
  std::vector<std::int32_t> relations(1, kUnknown);
  relations.insert(relations.end(), data.relation.begin() + data.sentences.begin_of(sentence),
                   data.relation.begin() + data.sentences.end_of(sentence));
  return relations;
}

bool is_whole(const Heads& heads) {
  return std::find(heads.begin() + 1, heads.end(), kUnknown) == heads.end();
}

bool is_tree(const Heads& heads) {
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  std::vector<std::int32_t> seen(heads.size(), 0);  // the word whose path upwards first came here
  for (std::int32_t start = 1; start <= n; ++start) {
    std::int32_t m = start;
    while (m != 0 && seen[m] == 0) {
      seen[m] = start;
      if (heads[m] < 0 || heads[m] > n) return false;
      m = heads[m];
    }
    if (m != 0 && seen[m] == start) return false;
  }
  return true;
}

namespace {

/// The best tree with its relations.
template <class Weights>
[[nodiscard]] ParsedSentence parse_sentence(const TreeParser& parser, const Weights& weights,
                                            std::span<const float> pruning, const Heads& given,
                                            ParseOptions options, ParseWork& work) {
  std::int32_t order = order_for(parser.shape(), given.size() - 1, options);
  const Heads kept = options.keeps_heads ? given : free_heads(given.size());
  parser.prune(pruning, kept, share_for(order, options), work);
  order = order_within(order, work.allowed, given.size() - 1, options);
  const ScoredTree best = parser.search(weights, order, work);
  ParsedSentence found{best.score, best.heads, {}, order != parser.shape().order};
  work.relations.keeps_pairs = true;
  if (!best.heads.empty()) found.relations = parser.label(weights, best.heads, work);
  return found;
}

}  // namespace

Parsed parse(const TreeParser& parser, std::span<const float> weights, std::span<const float> pruning,
             const TreeData& data, ParseOptions options, std::size_t threads) {
  const auto parse_one = [&](std::int64_t sentence, const Heads& given, ParseWork& work) {
    parser.prepare(data, sentence, work);
    ParsedSentence found = parse_sentence(parser, weights, pruning, given, options, work);
    if (parser.shape().tags > 0 && !found.heads.empty())
      found.tags = parser.tag(weights, found.heads, found.relations, work);
    return found;
  };
  return parse_all<ParseWork>(data, threads, parse_one);
}

Parsed parse(const TreeParser& parser, const CodedWeights& weights, std::span<const float> pruning,
             const TreeData& data, ParseOptions options, std::size_t threads) {
  if (parser.shape().tags > 0) throw std::invalid_argument("a converter needs weights as floats");
  if (weights.size() != static_cast<std::size_t>(parser.shape().weights()))
    throw std::invalid_argument("the weights do not match the parser");
  return parse_all<ParseWork>(data, threads, [&](std::int64_t sentence, const Heads& given, ParseWork& work) {
    parser.prepare(data, sentence, work);
    return parse_sentence(parser, weights, pruning, given, options, work);
  });
}

void keep_given(const Heads& given, std::span<std::uint8_t> allowed) {
  const std::size_t side = given.size();
  for (std::size_t m = 1; m < side; ++m) {
    if (given[m] == kUnknown) continue;
    for (std::size_t h = 0; h < side; ++h) {
      if (h != static_cast<std::size_t>(given[m])) allowed[h * side + m] = 0;
    }
    allowed[static_cast<std::size_t>(given[m]) * side + m] = 1;
  }
}

std::vector<std::size_t> arcs_before(const TreeData& data) {
  std::vector<std::size_t> first(1, 0);
  for (std::int64_t k = 0; k < data.sentences.size(); ++k) {
    const auto side = static_cast<std::size_t>(data.sentences.end_of(k) - data.sentences.begin_of(k)) + 1;
    first.push_back(first.back() + side * side);
  }
  return first;
}

std::vector<std::uint8_t> allowed_arcs(const TreeParser& parser, std::span<const float> pruning,
                                       const TreeData& data, double min_share, std::size_t threads) {
  const std::vector<std::size_t> first = arcs_before(data);
  std::vector<std::uint8_t> allowed(first.back(), 0);
  Team team(threads, first.size() - 1);
  std::vector<ParseWork> work(threads);
  team.for_each(first.size() - 1, [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const Heads heads = heads_of(data, sentence);
    if (heads.size() < 2) return;
    parser.prepare(data, sentence, work[thread]);
    parser.prune(pruning, free_heads(heads.size()), min_share, work[thread]);
    std::copy(work[thread].allowed.begin(), work[thread].allowed.end(),
              allowed.begin() + static_cast<std::ptrdiff_t>(first[k]));
  });
  return allowed;
}

std::vector<double> head_probabilities(const TreeParser& parser, std::span<const float> pruning,
                                       const TreeData& data, std::size_t threads) {
  const auto count = static_cast<std::size_t>(data.sentences.size());
  std::vector<double> found(data.head.size(), 0.0);
  Team team(threads, count);
  std::vector<ParseWork> works(threads);
  team.for_each(count, [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const Heads heads = heads_of(data, sentence);
    if (heads.size() < 2) return;
    ParseWork& work = works[thread];
    parser.prepare(data, sentence, work);
    parser.score_pruning_arcs(pruning, work);
    arc_marginals(work.scores, work.eisner, work.marginal);
    const auto begin = static_cast<std::size_t>(data.sentences.begin_of(sentence));
    for (std::size_t m = 1; m < heads.size(); ++m) {
      if (heads[m] != kUnknown)
        found[begin + m - 1] = work.marginal[static_cast<std::size_t>(heads[m]) * heads.size() + m];
    }
  });
  return found;
}

PruningCounts count_allowed(const TreeData& data, std::span<const std::uint8_t> allowed) {
  const std::vector<std::size_t> first = arcs_before(data);
  if (allowed.size() != first.back())
    throw std::invalid_argument("the allowed arcs do not match the sentences");
  PruningCounts counts;
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    const Heads gold = heads_of(data, static_cast<std::int64_t>(k));
    const auto arcs = allowed.subspan(first[k], first[k + 1] - first[k]);
    for (std::size_t m = 1; m < gold.size(); ++m) {
      ++counts.words;
      for (std::size_t h = 0; h < gold.size(); ++h)
        counts.kept += h != m && arcs[h * gold.size() + m] != 0 ? 1 : 0;
      if (gold[m] != kUnknown && arcs[static_cast<std::size_t>(gold[m]) * gold.size() + m] != 0)
        ++counts.gold;
    }
  }
  return counts;
}

double tree_score(const TreeParser& parser, std::span<const float> weights, const TreeData& data,
                  std::int64_t sentence) {
  ParseWork work;
  parser.prepare(data, sentence, work);
  return parser.tree_score(weights, heads_of(data, sentence), parser.shape().order, work);
}

double relation_score(const TreeParser& parser, std::span<const float> weights, const TreeData& data,
                      std::int64_t sentence, std::int32_t head) {
  ParseWork work;
  parser.prepare(data, sentence, work);
  return parser.relation_score(weights, data, sentence, head, work);
}

ArcScores arc_scores(const TreeParser& parser, std::span<const float> weights, const TreeData& data,
                     std::int64_t sentence) {
  ParseWork work;
  parser.prepare(data, sentence, work);
  parser.score_arcs(weights, work);
  return std::move(work.scores);
}

}  // namespace duilian
