// Algorithm 1 of Zhao et al. (2012) with our refinements, and the search with a beam (see search.hpp).
#include "duilian/dynamic/search.hpp"

#include <algorithm>
#include <cmath>

#include "duilian/chain/kernels.hpp"

namespace duilian {

namespace {

using Leader = DynamicWorkspace::Leader;
using Path = DynamicWorkspace::Path;

[[nodiscard]] bool leads(const Leader& a, const Leader& b) {
  if (a.label < 0 || b.label < 0) return b.label < 0;
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

/// The leader that labels of a kind follow: that of the kind, or the best of all.
[[nodiscard]] Leader& followed_leader(std::array<Leader, kKinds>& leader, Kind kind, double kind_gap) {
  Leader& own = leader[kind];
  Leader& rival = leader[1 - kind];
  if (own.label < 0) return rival;
  return leads(own, rival) || rival.score - own.score <= kind_gap ? own : rival;
}

/// Whether steps of the core begin words and steps of diagonals continue them, as under boundary rules. If
/// not, steps do not reveal the kind of a path.
[[nodiscard]] bool is_cut_by_kind(const TransitionShape& s, const LabelWords& words) {
  const auto all = [](std::size_t from, std::size_t count, const auto& holds) {
    for (std::size_t l = from; l < from + count; ++l) {
      if (!holds(l)) return false;
    }
    return true;
  };
  return all(s.col0, s.cols, [&](std::size_t l) { return words.kind_of(l) == kBetween; }) &&
         all(s.row0, s.rows, [&](std::size_t l) { return words.kind_after(l) == kBetween; }) &&
         std::all_of(s.diagonals.begin(), s.diagonals.end(), [&](const Diagonal& d) {
           return all(d.j0, d.size, [&](std::size_t l) { return words.kind_of(l) == kInside; }) &&
                  all(d.i0, d.size, [&](std::size_t l) { return words.kind_after(l) == kInside; });
         });
}

/// The words of a leader's path up to t. It is traced back to a leader whose words are known, usually a
/// single step.
void follow(const UniformChain& chain, const LabelWords& words, std::int32_t t, Leader& leader,
            DynamicWorkspace& work) {
  const std::size_t stride = chain.between.shape.stride();
  work.trace.assign(1, leader.label);
  History now;
  for (std::int32_t s = t; s > 0; --s) {
    const double* before = work.delta.data() + static_cast<std::size_t>(s - 1) * stride;
    const auto from = static_cast<std::int32_t>(
        best_before(chain.between, before, static_cast<std::size_t>(work.trace.back())));
    if (s == t) leader.from = from;
    const Leader& known =
        work.leader[static_cast<std::size_t>(s - 1)][words.kind_after(static_cast<std::size_t>(from))];
    if (known.label == from && known.is_followed) {
      now = known.history;
      break;
    }
    work.trace.push_back(from);
  }
  for (std::size_t k = work.trace.size(); k > 0; --k) {
    now.extend(words, t + 1 - static_cast<std::int32_t>(k), work.trace[k - 1]);
  }
  leader.history = now;
  leader.is_followed = true;
}

/// The best label of each kind; returns false if there are none.
[[nodiscard]] bool find_leaders(const LabelWords& words, const double* delta,
                                std::array<Leader, kKinds>& leader) {
  leader = {};
  for (const LabelWords::Run& run : words.runs_after) {
    const std::size_t first = run.begin + kernels().peak_place(delta + run.begin, run.end - run.begin);
    Leader& best = leader[run.kind];
    if (delta[first] > best.score) best = {static_cast<std::int32_t>(first), -1, false, delta[first], {}};
  }
  return leader[kBetween].label >= 0 || leader[kInside].label >= 0;
}

/// Algorithm 1 for one sentence.
class Search {
 public:
  Search(const UniformChain& chain, const LabelWords& words, WordScorer& scorer, DynamicOptions options,
         DynamicWorkspace& work)
      : chain_(chain),
        words_(words),
        scorer_(scorer),
        options_(options),
        work_(work),
        shape_(chain.between.shape) {}

  /// Returns false if no path is left.
  [[nodiscard]] bool run(std::span<std::int32_t> labels) {
    const std::size_t T = labels.size();
    work_.delta.resize(T * shape_.stride());
    work_.leader.resize(T);
    work_.followed.resize(T);
    for (std::size_t t = 0; t < T; ++t) {
      step(t);
      if (!find_leaders(words_, delta(t), work_.leader[t])) return false;
    }
    trace_back(labels);
    return true;
  }

 private:
  [[nodiscard]] double* delta(std::size_t t) { return work_.delta.data() + t * shape_.stride(); }

  // δ[t][j] = state[t][j] + words[t][j] + max_i (δ[t-1][i] + between[i][j])
  void step(std::size_t t) {
    const double* state = chain_.state + t * shape_.stride();
    const auto place = static_cast<std::int32_t>(t);
    FollowedHistories& followed = work_.followed[t];
    followed = {};
    const KindSet kinds = t > 0 ? follow_leaders(t, followed) : kEveryKind;
    scorer_.expect(followed, place, kinds);
    if (t == 0) {
      std::copy_n(state, shape_.labels, delta(0));
    } else {
      best_step(chain_.between, delta(t - 1), delta(t));
      for (std::size_t l = 0; l < shape_.labels; ++l) delta(t)[l] += state[l];
    }
    scorer_.add(followed, place, kinds, delta(t));
  }

  /// Finds the words that labels of unit t follow; returns the kinds that follow any.
  [[nodiscard]] KindSet follow_leaders(std::size_t t, FollowedHistories& followed) {
    const double top = std::max(work_.leader[t - 1][kBetween].score, work_.leader[t - 1][kInside].score);
    KindSet kinds = 0;
    for (const Kind kind : {kBetween, kInside}) {
      Leader& leader = followed_leader(work_.leader[t - 1], kind, options_.kind_gap);
      if (top - leader.score > options_.path_gap) continue;
      kinds |= set_of(kind);
      if (!leader.is_followed) follow(chain_, words_, static_cast<std::int32_t>(t) - 1, leader, work_);
      followed[kind] = leader.history;
    }
    return kinds;
  }

  void trace_back(std::span<std::int32_t> labels) {
    std::size_t t = labels.size() - 1;
    std::int32_t best = followed_leader(work_.leader[t], kBetween, -1.0).label;
    for (; t > 0; --t) {
      labels[t] = best;
      const auto label = static_cast<std::size_t>(best);
      const Leader& known = work_.leader[t][words_.kind_after(label)];
      best = known.label == best && known.is_followed
                 ? known.from
                 : static_cast<std::int32_t>(best_before(chain_.between, delta(t - 1), label));
    }
    labels[0] = best;
  }

  const UniformChain& chain_;
  const LabelWords& words_;
  WordScorer& scorer_;
  DynamicOptions options_;
  DynamicWorkspace& work_;
  const TransitionShape& shape_;
};

/// Ties go to the smaller label, then to the path that was better before.
[[nodiscard]] bool is_better(const Path& a, const Path& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.label != b.label ? a.label < b.label : a.from < b.from;
}

void offer(std::vector<Path>& kept, std::size_t max_count, const Path& path) {
  if (path.score == kForbidden) return;
  if (kept.size() == max_count && !is_better(path, kept.back())) return;
  if (kept.size() == max_count) kept.pop_back();
  kept.insert(std::upper_bound(kept.begin(), kept.end(), path, is_better), path);
}

/// Merges the columns of all labels into one list, best first, with their words.
void gather(const LabelWords& words, std::size_t t, DynamicWorkspace& work) {
  std::vector<Path>& out = work.paths[t];
  out.clear();
  for (auto& kept : work.column) {
    out.insert(out.end(), kept.begin(), kept.end());
    kept.clear();
  }
  std::sort(out.begin(), out.end(), is_better);
  for (Path& path : out) {
    if (path.from >= 0) path.history = work.paths[t - 1][static_cast<std::size_t>(path.from)].history;
    path.history.extend(words, static_cast<std::int32_t>(t), path.label);
  }
}

/// The best path of each kind, given sorted paths.
[[nodiscard]] std::array<std::size_t, kKinds> heads(std::span<const Path> paths, double kind_gap) {
  std::array<std::size_t, kKinds> head{0, 0};
  const std::size_t kind = paths[0].history.is_open ? kInside : kBetween;
  for (std::size_t p = 1; p < paths.size(); ++p) {
    if ((paths[p].history.is_open ? kInside : kBetween) == kind) continue;
    if (paths[0].score - paths[p].score <= kind_gap) head[1 - kind] = p;
    break;
  }
  return head;
}

/// Whether any column of the core may still keep a path with this score.
[[nodiscard]] bool may_enter(const UniformChain& chain, double score, const double* state, std::size_t beam,
                             const DynamicWorkspace& work) {
  const TransitionShape& s = chain.between.shape;
  for (std::size_t j = s.col0; j < s.col0 + s.cols; ++j) {
    if (state[j] == kForbidden) continue;
    const std::vector<Path>& kept = work.column[j];
    if (kept.size() < beam || score + chain.between.peak + state[j] >= kept.back().score) return true;
  }
  return false;
}

void step_beam(const UniformChain& chain, const LabelWords& words, WordScorer& scorer, DynamicOptions options,
               std::size_t t, DynamicWorkspace& work) {
  const TransitionShape& s = chain.between.shape;
  const std::size_t stride = s.stride();
  const std::vector<Path>& before = work.paths[t - 1];
  const auto head = heads(before, options.kind_gap);
  const bool is_cut = is_cut_by_kind(s, words);
  const bool is_own = is_cut && std::isinf(options.kind_gap) && options.kind_gap > 0.0;
  bool is_core_open = true;  // whether steps of the core may still lead to a kept path
  std::vector<std::ptrdiff_t> at(before.size(), -1);  // where the scores of each leader are
  work.state.clear();
  const auto state_of = [&](std::size_t leader) -> const double* {
    if (before[0].score - before[leader].score > options.path_gap) return chain.state + t * stride;
    if (at[leader] < 0) {
      at[leader] = static_cast<std::ptrdiff_t>(work.state.size());
      work.state.resize(work.state.size() + stride);
      double* state = work.state.data() + at[leader];
      std::copy_n(chain.state + t * stride, s.labels, state);
      const History& history = before[leader].history;
      const KindSet kinds = is_own ? set_of(history.is_open ? kInside : kBetween) : kEveryKind;
      scorer.expect({history, history}, static_cast<std::int32_t>(t), kinds);
      scorer.add({history, history}, static_cast<std::int32_t>(t), kinds, state);
    }
    return work.state.data() + at[leader];
  };
  for (std::size_t p = 0; p < before.size(); ++p) {
    const Kind kind = before[p].history.is_open ? kInside : kBetween;
    const double* state = state_of(p < options.beam ? p : head[kind]);
    const auto i = static_cast<std::size_t>(before[p].label);
    const auto go = [&](std::size_t j, double between) {
      const double score = before[p].score + between + state[j];
      offer(work.column[j], options.beam,
            {score, static_cast<std::int32_t>(j), static_cast<std::int32_t>(p), {}});
    };
    if (is_core_open && i >= s.row0 && i < s.row0 + s.rows) {
      const double* row = chain.between.core.data() + (i - s.row0) * padded(s.cols);
      for (std::size_t j = 0; j < s.cols; ++j) go(s.col0 + j, row[j]);
      // The remaining paths are worse and have the same words.
      is_core_open =
          !is_cut || p < options.beam || may_enter(chain, before[p].score, state, options.beam, work);
    }
    for (const Diagonal& d : s.diagonals) {
      if (i >= d.i0 && i < d.i0 + d.size) go(d.j0 + i - d.i0, chain.between.arc[d.at + i - d.i0]);
    }
  }
  gather(words, t, work);
}

[[nodiscard]] bool search_beam(const UniformChain& chain, const LabelWords& words, WordScorer& scorer,
                               DynamicOptions options, DynamicWorkspace& work,
                               std::span<std::int32_t> labels) {
  const TransitionShape& s = chain.between.shape;
  const std::size_t T = labels.size();
  work.paths.resize(std::max(work.paths.size(), T));
  work.column.resize(s.labels);
  work.state.assign(s.stride(), 0.0);
  std::copy_n(chain.state, s.labels, work.state.data());
  scorer.expect({}, 0, kEveryKind);
  scorer.add({}, 0, kEveryKind, work.state.data());
  for (std::size_t l = 0; l < s.labels; ++l) {
    offer(work.column[l], options.beam, {work.state[l], static_cast<std::int32_t>(l), -1, {}});
  }
  gather(words, 0, work);
  for (std::size_t t = 1; t < T; ++t) {
    if (work.paths[t - 1].empty()) return false;
    step_beam(chain, words, scorer, options, t, work);
  }
  if (work.paths[T - 1].empty()) return false;
  std::size_t at = 0;
  for (std::size_t t = T; t-- > 0;) {
    labels[t] = work.paths[t][at].label;
    at = static_cast<std::size_t>(std::max(work.paths[t][at].from, 0));
  }
  return true;
}

}  // namespace

bool try_dynamic_labels(const UniformChain& chain, const LabelWords& words, WordScorer& scorer,
                        DynamicOptions options, DynamicWorkspace& work, std::span<std::int32_t> labels) {
  if (labels.empty()) return true;
  return options.beam == 1 ? Search(chain, words, scorer, options, work).run(labels)
                           : search_beam(chain, words, scorer, options, work, labels);
}

}  // namespace duilian
