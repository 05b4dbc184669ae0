// Exact k-best paths: every state keeps its k best histories. They come from the sorted lists of its
// predecessors, merged lazily with a heap, so a state costs n + k log n instead of nk.
#include <algorithm>
#include <queue>
#include <stdexcept>

#include "duilian/chain/chain.hpp"
#include "duilian/concat.hpp"

namespace duilian {

namespace {

struct History {
  double score;
  std::int32_t before;  // index of the state within the previous position
  std::int32_t rank;    // index among its histories
};

using Histories = std::vector<std::vector<History>>;  // [width(t)] lists, each best first

/// Orders a heap: higher score first; ties by state, then rank, so that answers are deterministic.
struct IsWorse {
  bool operator()(const History& a, const History& b) const {
    if (a.score != b.score) return a.score < b.score;
    return a.before != b.before ? a.before > b.before : a.rank > b.rank;
  }
};

using Heap = std::priority_queue<History, std::vector<History>, IsWorse>;

/// Pops the k best from lists whose first elements are in the heap; next(entry) refills it.
template <class Next>
[[nodiscard]] std::vector<History> take(Heap heap, std::int32_t k, const Next& next) {
  std::vector<History> taken;
  while (!heap.empty() && static_cast<std::int32_t>(taken.size()) < k) {
    taken.push_back(heap.top());
    heap.pop();
    next(taken.back(), heap);
  }
  return taken;
}

[[nodiscard]] std::vector<History> merge_into(const Histories& before, double state_score, std::int32_t k,
                                              const std::vector<double>& column) {
  const auto entry = [&](std::int32_t i, std::int32_t rank) {
    return History{before[i][rank].score + column[i] + state_score, i, rank};
  };
  Heap heap;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(before.size()); ++i) {
    if (!before[i].empty() && column[i] != kForbidden) heap.push(entry(i, 0));
  }
  return take(std::move(heap), k, [&](const History& last, Heap& rest) {
    if (last.rank + 1 < static_cast<std::int32_t>(before[last.before].size())) {
      rest.push(entry(last.before, last.rank + 1));
    }
  });
}

}  // namespace

std::vector<Path> k_best(const Chain& chain, std::int32_t k) {
  if (k < 1) throw std::invalid_argument(concat("k must be at least 1, got ", k));
  const Lattice& x = chain.lattice;
  const std::int32_t T = x.positions();
  if (T == 0) return {Path{}};
  std::vector<Histories> all(static_cast<std::size_t>(T));
  std::vector<double> column;
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t j = 0; j < x.width(t); ++j) {
      const double score = chain.state[x.first[t] + j];
      if (t == 0) {
        all[t].push_back({{score, -1, 0}});
        continue;
      }
      const Block& block = chain.between.between(t - 1);
      column.resize(block.rows);
      for (std::size_t i = 0; i < block.rows; ++i) column[i] = chain.between.row(block, i)[j];
      all[t].push_back(merge_into(all[t - 1], score, k, column));
    }
  }
  const std::vector<double> free(all.back().size(), 0.0);
  std::vector<Path> paths;
  for (const History& last : merge_into(all.back(), 0.0, k, free)) {
    Path path{last.score, std::vector<std::int32_t>(static_cast<std::size_t>(T))};
    History at = last;
    for (std::int32_t t = T - 1; t >= 0; --t) {
      path.states[t] = x.first[t] + at.before;
      at = all[t][at.before][at.rank];
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace duilian
