// Tags with a coupled model in training (see tagging.hpp).
#include "duilian/coupled/tagging.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

void RowSource::add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                    double* sum) const {
  const float* value = weights_.value.data() + layout_.joint_state_at;
  const std::int64_t unit = begin_ + t;
  std::vector<std::int32_t> ascending;  // made when needed
  for (std::int64_t f = features_.first[unit]; f < features_.first[unit + 1]; ++f) {
    const std::uint32_t row = features_.value[f];
    const double strength = static_cast<double>(features_.strength_of(f)) * weights_.scale;
    const std::int64_t begin = layout_.joint_first[row];
    const std::int64_t end = layout_.joint_first[row + 1];
    if (layout_.is_long(begin, end, wanted.size())) {
      if (ascending.empty()) {
        ascending.assign(wanted.begin(), wanted.end());
        std::sort(ascending.begin(), ascending.end());
      }
      layout_.for_each_of(
          ascending, begin, end, [](std::int32_t label) { return label; },
          [&](std::int32_t label, std::int64_t w) { sum[slot[label]] += strength * value[w]; });
      continue;
    }
    for (std::int64_t w = begin; w < end; ++w) sum[slot[layout_.joint_label[w]]] += strength * value[w];
  }
}

void score_sides(const CoupledLayout& layout, WeightView weights, const FeatureRows& features,
                 std::int64_t begin, std::int64_t end, SideScores& out) {
  out.state.resize(layout.separate.size());
  for (std::size_t k = 0; k < layout.separate.size(); ++k)
    score_units(layout.separate[k], layout.side(weights, k), features, begin, end, out.state[k]);
}

void slice(const TagSets& sets, std::int64_t begin, std::int64_t end, TagSets& out) {
  const std::int32_t from = sets.first[begin];
  out.first.clear();
  for (std::int64_t u = begin; u <= end; ++u) out.first.push_back(sets.first[u] - from);
  out.tag.assign(sets.tag.begin() + from, sets.tag.begin() + sets.first[end]);
}

CoupledAnswers tag_coupled(const CoupledLayout& layout, WeightView weights, const FeatureRows& features,
                           std::span<const std::int64_t> first, std::span<const TagSets> candidates,
                           std::span<const TagSets> allowed, SearchOptions options, bool with_candidates,
                           std::size_t threads) {
  if (weights.value.size() != static_cast<std::size_t>(layout.weights))
    throw std::invalid_argument(concat("the weights do not match the model: expected ", layout.weights,
                                       ", found ", weights.value.size()));
  if (!(options.bundle_gap >= 0.0)) throw std::invalid_argument("the bundle gap must be at least 0");
  check_sets(candidates, layout.shape, first.back(), Coverage::some_sides);
  check_sets(allowed, layout.shape, first.back(), Coverage::some_sides);
  const CoupledTransitions between = layout.transitions(weights);
  AnswerCollector answers(layout.shape.sides(), first, with_candidates);
  Team team(threads, first.size() - 1);
  std::vector<SearchWork> work(team.size());
  team.for_each(first.size() - 1, [&](std::size_t thread, std::size_t s) {
    if (first[s] == first[s + 1]) return;
    SearchWork& own = work[thread];
    score_sides(layout, weights, features, first[s], first[s + 1], own.scores);
    restrict_scores(layout.shape, allowed, first[s], first[s + 1], own.scores);
    if (candidates.empty()) {
      prune(layout.shape, between, options.pruning, static_cast<std::int32_t>(first[s + 1] - first[s]), {},
            std::isfinite(options.bundle_gap), own);
    } else {
      own.prior.clear();
      own.candidates.resize(candidates.size());
      for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (candidates[k].positions() != 0 && (allowed.empty() || allowed[k].positions() == 0)) {
          slice(candidates[k], first[s], first[s + 1], own.candidates[k]);
          continue;
        }
        // Either there are no candidates yet, or they were found without the given labels and may not include
        // them.
        const UniformChain chain{static_cast<std::int32_t>(first[s + 1] - first[s]),
                                 own.scores.state[k].data(), between.side[k], layout.shape.rules[k]};
        choose_candidates(chain, options.pruning, {}, own.pruning, own.candidates[k]);
      }
    }
    if (!build(layout.shape, between, RowSource(layout, weights, features, first[s]), options, own))
      throw std::logic_error("a search without limits is beyond them");
    decode(layout.shape, options.decoding, {0, layout.shape.sides()}, own);
    answers.add(s, own);
  });
  return answers.finish();
}

TagSets tag_candidates(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                       std::span<const std::int64_t> first, Pruning pruning, std::size_t threads) {
  struct Work {
    std::vector<double> state;
    PruningWorkspace pruning;
  };
  const LabelTransitions between = score_transitions(layout, weights);
  std::vector<TagSets> found(first.size() - 1);
  Team team(threads, found.size());
  std::vector<Work> work(team.size());
  team.for_each(found.size(), [&](std::size_t thread, std::size_t s) {
    if (first[s] == first[s + 1]) return;
    score_units(layout, weights, features, first[s], first[s + 1], work[thread].state);
    const UniformChain chain{static_cast<std::int32_t>(first[s + 1] - first[s]), work[thread].state.data(),
                             between, layout.rules};
    choose_candidates(chain, pruning, {}, work[thread].pruning, found[s]);
  });
  TagSets out;
  for (const TagSets& sets : found) {
    const auto before = static_cast<std::int32_t>(out.tag.size());
    out.tag.insert(out.tag.end(), sets.tag.begin(), sets.tag.end());
    for (std::int32_t t = 0; t < sets.positions(); ++t) out.first.push_back(before + sets.first[t + 1]);
  }
  return out;
}

}  // namespace duilian
