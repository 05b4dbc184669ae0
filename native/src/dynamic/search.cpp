#include "duilian/dynamic/search.hpp"

#include <algorithm>

namespace duilian {

namespace {

using Leader = DynamicWorkspace::Leader;
using Path = DynamicWorkspace::Path;

[[nodiscard]] Kind kind_after(const LabelWords& words, std::int32_t label) {
  return words.ends[label] != 0 ? kBetween : kInside;
}

/// The leader that paths of a kind hear: their own, or the best of all.
[[nodiscard]] const Leader& voice_of(const std::array<Leader, kKinds>& leader, Kind kind, double margin) {
  const Leader& own = leader[kind];
  const Leader& rival = leader[1 - kind];
  if (own.label < 0) return rival;
  const bool leads =
      rival.label < 0 || own.score > rival.score || (own.score == rival.score && own.label < rival.label);
  return leads || rival.score - own.score <= margin ? own : rival;
}

/// The words of a leader's path up to t. It is followed back to where it meets a leader whose words are
/// known, mostly one step.
void follow(const UniformChain& chain, const LabelWords& words, std::int32_t t, Leader& leader,
            DynamicWorkspace& work) {
  const std::size_t stride = chain.between.shape.stride();
  work.trace.assign(1, leader.label);
  History now;
  for (std::int32_t s = t; s > 0; --s) {
    const double* before = work.delta.data() + static_cast<std::size_t>(s - 1) * stride;
    const auto from = static_cast<std::int32_t>(
        best_before(chain.between, before, static_cast<std::size_t>(work.trace.back())));
    const Leader& known = work.leader[static_cast<std::size_t>(s - 1)][kind_after(words, from)];
    if (known.label == from) {
      now = known.history;
      break;
    }
    work.trace.push_back(from);
  }
  for (std::size_t k = work.trace.size(); k > 0; --k) {
    now.extend(words, t + 1 - static_cast<std::int32_t>(k), work.trace[k - 1]);
  }
  leader.history = now;
}

/// The best label of each kind; false if there is none at all.
[[nodiscard]] bool find_leaders(const LabelWords& words, const double* delta,
                                std::array<Leader, kKinds>& leader) {
  leader = {};
  for (std::size_t l = 0; l < words.ends.size(); ++l) {
    if (delta[l] == kForbidden) continue;
    const auto label = static_cast<std::int32_t>(l);
    Leader& best = leader[kind_after(words, label)];
    if (best.label < 0 || delta[l] > best.score) best = {label, delta[l], {}};
  }
  return leader[kBetween].label >= 0 || leader[kInside].label >= 0;
}

/// Scores of unit t for labels that begin words and for those that go on, each with the words they hear.
void score_words(const UniformChain& chain, const LabelWords& words, WordScorer& scorer, std::size_t t,
                 DynamicWorkspace& work) {
  const TransitionShape& s = chain.between.shape;
  const std::size_t stride = s.stride();
  const auto& heard = work.heard[t];
  const bool is_split = !(heard[kBetween] == heard[kInside]);
  work.state.resize(kKinds * stride);
  double* state = work.state.data();
  std::copy_n(chain.state + t * stride, s.labels, state);
  scorer.add(heard[kBetween], static_cast<std::int32_t>(t), state);
  if (!is_split) return;
  double* other = state + stride;
  std::copy_n(chain.state + t * stride, s.labels, other);
  scorer.add(heard[kInside], static_cast<std::int32_t>(t), other);
  for (std::size_t l = 0; l < s.labels; ++l) {
    if (words.starts[l] == 0) state[l] = other[l];
  }
}

[[nodiscard]] bool search_alone(const UniformChain& chain, const LabelWords& words, WordScorer& scorer,
                                double margin, DynamicWorkspace& work, std::span<std::int32_t> labels) {
  const TransitionShape& s = chain.between.shape;
  const std::size_t stride = s.stride();
  const std::size_t T = labels.size();
  work.delta.resize(T * stride);
  work.leader.resize(T);
  work.heard.resize(T);
  // δ[t][j] = state[t][j] + words[t][j] + max_i (δ[t-1][i] + between[i][j])
  for (std::size_t t = 0; t < T; ++t) {
    double* delta = work.delta.data() + t * stride;
    work.heard[t] = {};
    if (t > 0) {
      for (const Kind kind : {kBetween, kInside})
        work.heard[t][kind] = voice_of(work.leader[t - 1], kind, margin).history;
    }
    score_words(chain, words, scorer, t, work);
    if (t == 0) {
      std::copy_n(work.state.data(), s.labels, delta);
    } else {
      best_step(chain.between, delta - stride, delta);
      for (std::size_t l = 0; l < s.labels; ++l) delta[l] += work.state[l];
    }
    if (!find_leaders(words, delta, work.leader[t])) return false;
    for (Leader& leader : work.leader[t]) {
      if (leader.label >= 0 && t + 1 < T) follow(chain, words, static_cast<std::int32_t>(t), leader, work);
    }
  }
  std::size_t best = static_cast<std::size_t>(voice_of(work.leader[T - 1], kBetween, -1.0).label);
  labels[T - 1] = static_cast<std::int32_t>(best);
  for (std::size_t t = T - 1; t > 0; --t) {
    best = best_before(chain.between, work.delta.data() + (t - 1) * stride, best);
    labels[t - 1] = static_cast<std::int32_t>(best);
  }
  return true;
}

/// Ties go to the smaller label, then to the path that was the better one before.
[[nodiscard]] bool is_better(const Path& a, const Path& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.label != b.label ? a.label < b.label : a.from < b.from;
}

void offer(std::vector<Path>& kept, std::size_t most, const Path& path) {
  if (path.score == kForbidden) return;
  if (kept.size() == most && !is_better(path, kept.back())) return;
  if (kept.size() == most) kept.pop_back();
  kept.insert(std::upper_bound(kept.begin(), kept.end(), path, is_better), path);
}

/// All labels' columns into one list, best first, with their words.
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

/// The best path of each kind, of paths that are sorted.
[[nodiscard]] std::array<std::size_t, kKinds> heads(std::span<const Path> paths, double margin) {
  std::array<std::size_t, kKinds> head{0, 0};
  const std::size_t kind = paths[0].history.is_open ? kInside : kBetween;
  for (std::size_t p = 1; p < paths.size(); ++p) {
    if ((paths[p].history.is_open ? kInside : kBetween) == kind) continue;
    if (paths[0].score - paths[p].score <= margin) head[1 - kind] = p;
    break;
  }
  return head;
}

void step_beam(const UniformChain& chain, const LabelWords& words, WordScorer& scorer, DynamicOptions options,
               std::size_t t, DynamicWorkspace& work) {
  const TransitionShape& s = chain.between.shape;
  const std::size_t stride = s.stride();
  const std::vector<Path>& before = work.paths[t - 1];
  const auto head = heads(before, options.margin);
  std::vector<std::ptrdiff_t> at(before.size(), -1);  // where a voice's scores lie
  work.state.clear();
  const auto state_of = [&](std::size_t voice) {
    if (at[voice] < 0) {
      at[voice] = static_cast<std::ptrdiff_t>(work.state.size());
      work.state.resize(work.state.size() + stride);
      double* state = work.state.data() + at[voice];
      std::copy_n(chain.state + t * stride, s.labels, state);
      scorer.add(before[voice].history, static_cast<std::int32_t>(t), state);
    }
    return work.state.data() + at[voice];
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
    if (i >= s.row0 && i < s.row0 + s.rows) {
      const double* row = chain.between.core.data() + (i - s.row0) * padded(s.cols);
      for (std::size_t j = 0; j < s.cols; ++j) go(s.col0 + j, row[j]);
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
  scorer.add(History{}, 0, work.state.data());
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
  return options.beam == 1 ? search_alone(chain, words, scorer, options.margin, work, labels)
                           : search_beam(chain, words, scorer, options, work, labels);
}

}  // namespace duilian
