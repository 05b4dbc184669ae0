// Exact k-best trees at any order, from searches for single best trees (Lawler 1972). All trees but the best
// one fall into disjoint sets: those that first differ from it at word 1, at word 2, and so on. Each set is
// the same search over fewer arcs; the second best tree is the best of their bests, and its set is divided
// again.
#include <queue>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/tree/parser.hpp"

namespace duilian {

namespace {

/// Trees over `allowed` that agree with `best` before the word `first`; `best` is the best of them.
struct TreeSet {
  ScoredTree best;
  std::vector<std::uint8_t> allowed;  // [n + 1][n + 1]
  std::size_t first = 1;
};

/// Orders a heap: higher score first; ties by heads, so that answers are deterministic.
struct IsWorse {
  bool operator()(const TreeSet& a, const TreeSet& b) const {
    return a.best.score != b.best.score ? a.best.score < b.best.score : a.best.heads > b.best.heads;
  }
};

}  // namespace

std::vector<ScoredTree> k_best_trees(const TreeParser& parser, std::span<const float> weights,
                                     std::int32_t order, std::int32_t k, ParseWork& work) {
  if (k < 1) throw std::invalid_argument(concat("k must be at least 1, got ", k));
  std::priority_queue<TreeSet, std::vector<TreeSet>, IsWorse> waiting;
  const auto add = [&](std::vector<std::uint8_t> allowed, std::size_t first) {
    work.allowed = allowed;
    ScoredTree best = parser.search(weights, order, work);
    if (!best.heads.empty()) waiting.push({std::move(best), std::move(allowed), first});
  };
  add(std::vector<std::uint8_t>(work.allowed), 1);
  std::vector<ScoredTree> found;
  while (!waiting.empty()) {
    TreeSet top = waiting.top();
    waiting.pop();
    found.push_back(top.best);
    if (found.size() == static_cast<std::size_t>(k)) break;
    const std::size_t side = top.best.heads.size();
    for (std::size_t m = top.first; m < side; ++m) {
      const auto head = static_cast<std::size_t>(top.best.heads[m]);
      std::vector<std::uint8_t> others = top.allowed;
      others[head * side + m] = 0;
      add(std::move(others), m);
      for (std::size_t h = 0; h < side; ++h) top.allowed[h * side + m] = h == head ? 1 : 0;
    }
  }
  return found;
}

std::vector<ScoredTree> k_best_trees(const TreeParser& parser, std::span<const float> weights,
                                     std::span<const float> pruning, const TreeData& data,
                                     std::int64_t sentence, std::int32_t k, ParseOptions options) {
  ParseWork work;
  const Heads given = heads_of(data, sentence);
  std::int32_t order = order_for(parser.shape(), given.size() - 1, options);
  parser.prepare(data, sentence, work);
  const Heads kept = options.keeps_heads ? given : free_heads(given.size());
  parser.prune(pruning, kept, share_for(order, options), work);
  order = order_within(order, work.allowed, given.size() - 1, options);
  return k_best_trees(parser, weights, order, k, work);
}

}  // namespace duilian
