// The parser over whole corpora, and how much pruning leaves of them.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/parallel.hpp"
#include "duilian/tree/parser.hpp"

namespace duilian {

std::int32_t order_for(const ParserShape& shape, std::size_t words, ParseOptions options) {
  return static_cast<std::int64_t>(words) > options.longest ? 1 : shape.order;
}

Heads heads_of(const TreeData& data, std::int64_t sentence) {
  Heads heads(1, -1);
  heads.insert(heads.end(), data.head.begin() + data.sentences.begin_of(sentence),
               data.head.begin() + data.sentences.end_of(sentence));
  return heads;
}

bool is_whole(const Heads& heads) {
  return std::find(heads.begin() + 1, heads.end(), kUnknown) == heads.end();
}

Parsed parse(const TreeParser& parser, std::span<const float> weights, std::span<const float> pruning,
             const TreeData& data, ParseOptions options, std::size_t threads) {
  const auto count = static_cast<std::size_t>(data.sentences.size());
  Parsed out;
  out.head.assign(data.head.size(), kUnknown);
  out.relation.assign(data.head.size(), kUnknown);
  out.score.assign(count, kNoTree);
  std::vector<std::uint8_t> fate(count, 0);
  Team team(threads);
  std::vector<ParseWork> work(threads);
  team.for_each(count, [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const Heads given = heads_of(data, sentence);
    if (given.size() < 2) return;
    parser.prepare(data, sentence, work[thread]);
    const std::int32_t order = order_for(parser.shape(), given.size() - 1, options);
    // At order 1 pruning costs more than it saves, unless the sentence is long.
    const double threshold = parser.shape().order == 1 ? 0.0 : options.threshold;
    parser.prune(pruning, options.keeps_heads ? given : free_heads(given.size()), threshold, work[thread]);
    const ScoredTree best = parser.search(weights, order, work[thread]);
    fate[k] = best.heads.empty() ? 2 : order != parser.shape().order ? 1 : 0;
    if (best.heads.empty()) return;
    const auto relation = parser.label(weights, best.heads, work[thread]);
    const auto begin = data.sentences.begin_of(sentence);
    std::copy(best.heads.begin() + 1, best.heads.end(), out.head.begin() + begin);
    std::copy(relation.begin() + 1, relation.end(), out.relation.begin() + begin);
    out.score[k] = best.score;
  });
  for (std::size_t k = 0; k < count; ++k) {
    if (fate[k] == 1) out.simplified.push_back(static_cast<std::int64_t>(k));
    if (fate[k] == 2) out.impossible.push_back(static_cast<std::int64_t>(k));
  }
  return out;
}

PruningCounts count_pruned(const TreeParser& parser, std::span<const float> pruning, const TreeData& data,
                           double threshold, std::size_t threads) {
  Team team(threads);
  std::vector<ParseWork> work(threads);
  std::vector<PruningCounts> counts(threads);
  team.for_each(static_cast<std::size_t>(data.sentences.size()), [&](std::size_t thread, std::size_t k) {
    const Heads gold = heads_of(data, static_cast<std::int64_t>(k));
    if (gold.size() < 2) return;
    ParseWork& w = work[thread];
    parser.prepare(data, static_cast<std::int64_t>(k), w);
    parser.prune(pruning, free_heads(gold.size()), threshold, w);
    for (std::size_t m = 1; m < gold.size(); ++m) {
      ++counts[thread].words;
      for (std::size_t h = 0; h < gold.size(); ++h)
        counts[thread].kept += h != m && w.allowed[h * gold.size() + m] != 0;
      if (gold[m] != kUnknown)
        counts[thread].gold += w.allowed[static_cast<std::size_t>(gold[m]) * gold.size() + m] != 0;
    }
  });
  PruningCounts total;
  for (const PruningCounts& each : counts) {
    total.words += each.words;
    total.kept += each.kept;
    total.gold += each.gold;
  }
  return total;
}

}  // namespace duilian
