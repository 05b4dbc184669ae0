// Scores, compares and updates two taggers coupled by a loose mapping (see training.hpp).
#include "duilian/multitask/training.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "duilian/parallel.hpp"

namespace duilian {

MultitaskTraining::MultitaskTraining(std::array<TaggerLayout, kSides> layout,
                                     std::array<LabelMap, kSides> map, Expansion expansion,
                                     MultitaskData data)
    : layout_(std::move(layout)), map_(std::move(map)), expansion_(expansion), data_(std::move(data)) {
  for (std::size_t side = 0; side < kSides; ++side) {
    check(map_[side], layout_[side].labels, layout_[1 - side].labels);
    layout_[side].shape = shape_of(layout_[side].labels, layout_[side].rules);
    const LabelMap none{std::vector<std::int32_t>(map_[side].first.size(), 0), {}};
    pairs_.emplace_back(expansion == Expansion::best ? map_[side] : none, layout_[1 - side].labels);
  }
  if (layout_[0].first.size() != layout_[1].first.size())
    throw std::invalid_argument("the two sides must have the same features");
  if (weights() > 0xFFFFFFFFLL) throw std::invalid_argument("the model would have more than 2^32 weights");
  check(data_.features);
  const auto units = static_cast<std::int64_t>(data_.label.size());
  if (data_.first.empty() || data_.first.back() != units || data_.side.size() + 1 != data_.first.size() ||
      static_cast<std::int64_t>(data_.features.first.size()) != units + 1)
    throw std::invalid_argument("sentences, features and labels are inconsistent");
  for (std::size_t k = 0; k < data_.side.size(); ++k) {
    if (data_.side[k] < 0 || data_.side[k] >= static_cast<std::int32_t>(kSides))
      throw std::invalid_argument("a sentence must belong to side 0 or 1");
    const std::int32_t labels = layout_[static_cast<std::size_t>(data_.side[k])].labels;
    for (std::int64_t u = data_.first[k]; u < data_.first[k + 1]; ++u) {
      if (data_.label[u] < 0 || data_.label[u] >= labels)
        throw std::invalid_argument("a label is out of range");
    }
  }
  const auto rows = static_cast<std::int64_t>(layout_[0].first.size()) - 1;
  if (std::any_of(data_.features.value.begin(), data_.features.value.end(),
                  [&](std::uint32_t row) { return row >= rows; }))
    throw std::invalid_argument("a feature row is out of range");
}

SideTransitions MultitaskTraining::transitions(std::span<const float> weights, std::size_t side) const {
  return {layout_[side].labels, layout_[side].rules,
          weights.subspan(static_cast<std::size_t>(transition_offset(side)),
                          static_cast<std::size_t>(layout_[side].transitions()))};
}

MultitaskTraining::Between MultitaskTraining::between(std::span<const float> weights, std::size_t side,
                                                      bool has_exponentials) const {
  Between out;
  const SideTransitions own = transitions(weights, side);
  out.table = expansion_ == Expansion::best
                  ? std::vector<float>(own.weight.begin(), own.weight.end())
                  : expand_transitions(map_[side], own, transitions(weights, 1 - side));
  out.chain.emplace(layout_[side].shape, layout_[side].rules, out.table, has_exponentials);
  if (!has_exponentials) out.steps.emplace(pairs_[side], *out.chain, transitions(weights, 1 - side));
  return out;
}

void MultitaskTraining::score(std::span<const float> weights, std::size_t side, const FeatureRows& features,
                              std::int64_t begin, std::int64_t end, Work& work) const {
  const TaggerLayout& other = layout_[1 - side];
  const std::size_t stride = layout_[side].shape.stride();
  score_state_parts(layout_[side], states(weights, side), features, begin, end, work.state);
  if (map_[side].to.empty()) {
    work.other.assign(static_cast<std::size_t>(end - begin) * other.shape.stride(), 0.0);
  } else {
    score_state_parts(other, states(weights, 1 - side), features, begin, end, work.other);
  }
  if (expansion_ == Expansion::all)
    expand_states(map_[side], work.other, other.shape.stride(), stride, work.state);
}

PairScores MultitaskTraining::pair_scores(std::size_t side, const Between& scores, const Work& work) const {
  const TaggerLayout& own = layout_[side];
  return {pairs_[side], *scores.steps, *scores.chain,      {own.labels, own.rules, scores.table},
          work.state,   work.other,    own.shape.stride(), layout_[1 - side].shape.stride()};
}

bool MultitaskTraining::decode(std::span<const float> weights, std::size_t side, const Between& scores,
                               const FeatureRows& features, std::int64_t begin, std::int64_t end,
                               Work& work) const {
  const TaggerLayout& own = layout_[side];
  score(weights, side, features, begin, end, work);
  add_edges(own.labels, own.rules, {scores.table}, own.shape.stride(), work.state);
  if (expansion_ == Expansion::best) return work.best.try_best(pair_scores(side, scores, work), work.guess);
  work.guess.label.resize(static_cast<std::size_t>(end - begin));
  return try_best_labels(
      UniformChain{static_cast<std::int32_t>(end - begin), work.state.data(), *scores.chain, own.rules},
      work.chain, work.guess.label);
}

template <class Take>
void MultitaskTraining::for_each_expanded(std::size_t side, std::int32_t label, std::int32_t partner,
                                          const Take& take) const {
  if (expansion_ == Expansion::all || label == layout_[side].labels)
    return for_each_mapped(map_[side], label, layout_[1 - side].labels, take);
  if (partner != LabelPairs::kAlone) take(partner);
}

void MultitaskTraining::add_states(std::size_t side, std::int64_t unit, std::int32_t label, float sign,
                                   std::vector<Delta>& difference) const {
  const std::int64_t at = state_offset(side);
  for (std::int64_t f = data_.features.first[unit]; f < data_.features.first[unit + 1]; ++f) {
    const std::int64_t weight = layout_[side].find(data_.features.value[f], label);
    if (weight >= 0) difference.push_back({static_cast<std::uint32_t>(at + weight), sign});
  }
}

void MultitaskTraining::add_transition(std::size_t side, std::int32_t before, std::int32_t after, float sign,
                                       std::vector<Delta>& difference) const {
  if (!layout_[side].rules(before, after)) return;
  const std::int64_t at = transition_offset(side);
  const std::int64_t weight = static_cast<std::int64_t>(before) * (layout_[side].labels + 1) + after;
  difference.push_back({static_cast<std::uint32_t>(at + weight), sign});
}

/// Adds the features of a path where it differs from the other.
void MultitaskTraining::add_path(std::size_t side, std::int64_t begin, const ExpandedPath& path,
                                 const ExpandedPath& rival, float sign,
                                 std::vector<Delta>& difference) const {
  struct Pair {
    std::int32_t label, partner;
    bool is_same;
  };
  const std::size_t T = path.label.size();
  const auto pair_at = [&](std::size_t t) {
    return Pair{path.label[t], path.partner[t],
                path.label[t] == rival.label[t] && path.partner[t] == rival.partner[t]};
  };
  const Pair edge{layout_[side].labels, LabelPairs::kAlone, true};
  Pair before = edge;
  for (std::size_t t = 0; t <= T; ++t) {
    const Pair after = t == T ? edge : pair_at(t);
    const Pair last = std::exchange(before, after);
    if (last.is_same && after.is_same) continue;
    add_transition(side, last.label, after.label, sign, difference);
    const float step = sign * map_[side].share(last.label) * map_[side].share(after.label);
    for_each_expanded(side, last.label, last.partner, [&](std::int32_t left) {
      for_each_expanded(side, after.label, after.partner,
                        [&](std::int32_t right) { add_transition(1 - side, left, right, step, difference); });
    });
    if (after.is_same) continue;
    const std::int64_t unit = begin + static_cast<std::int64_t>(t);
    add_states(side, unit, after.label, sign, difference);
    const float part = sign * map_[side].share(after.label);
    for_each_expanded(side, after.label, after.partner,
                      [&](std::int32_t z) { add_states(1 - side, unit, z, part, difference); });
  }
}

double MultitaskTraining::respond(WeightView weights, std::int64_t sentence, std::size_t, Work& work,
                                  std::vector<Delta>& difference) const {
  assert(weights.scale == 1.0F);  // as the passive-aggressive learner keeps them
  const auto side = static_cast<std::size_t>(data_.side[sentence]);
  const TaggerLayout& own = layout_[side];
  const std::int64_t begin = data_.first[sentence];
  const std::int64_t end = data_.first[sentence + 1];
  const Between scores = between(weights.value, side, false);
  score(weights.value, side, data_.features, begin, end, work);
  add_edges(own.labels, own.rules, {scores.table}, own.shape.stride(), work.state);
  const std::span gold(data_.label.data() + begin, static_cast<std::size_t>(end - begin));
  if (!work.best.try_wrong(pair_scores(side, scores, work), gold, work.guess, work.gold)) return 0.0;
  add_path(side, begin, work.gold, work.guess, 1.0F, difference);
  add_path(side, begin, work.guess, work.gold, -1.0F, difference);
  return 1.0;
}

std::vector<std::int32_t> MultitaskTraining::tag(WeightView weights, std::size_t side,
                                                 const FeatureRows& features,
                                                 std::span<const std::int64_t> first,
                                                 std::size_t threads) const {
  if (side >= kSides || weights.value.size() != static_cast<std::size_t>(this->weights()))
    throw std::invalid_argument("the weights or the side do not match the model");
  const Between scores = between(weights.value, side, false);
  std::vector<std::int32_t> out(static_cast<std::size_t>(first.back()));
  Team team(threads, first.size() - 1);
  std::vector<Work> work(team.size());
  team.for_each(first.size() - 1, [&](std::size_t thread, std::size_t k) {
    if (!decode(weights.value, side, scores, features, first[k], first[k + 1], work[thread]))
      throw std::invalid_argument("no path through the lattice is legal");
    const auto& found = work[thread].guess.label;
    std::copy(found.begin(), found.end(), out.begin() + first[k]);
  });
  return out;
}

CompiledWeights MultitaskTraining::compile(std::span<const float> weights, std::size_t side,
                                           std::span<const std::uint64_t> keys, float min_weight) const {
  const SideTransitions own = transitions(weights, side);
  const bool is_all = expansion_ == Expansion::all;
  // The weight of a feature for y and those for φ(y) become one.
  CompiledTable out(is_all ? expand_transitions(map_[side], own, transitions(weights, 1 - side))
                           : std::vector<float>(own.weight.begin(), own.weight.end()));
  const LabelMap turned = turn(map_[side], layout_[1 - side].labels);
  std::vector<float> sum(static_cast<std::size_t>(layout_[side].labels));
  for (std::size_t row = 0; row < keys.size(); ++row) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    layout_[side].for_each(row, states(weights, side).value,
                           [&](std::int32_t y, float w) { sum[static_cast<std::size_t>(y)] += w; });
    if (is_all) {
      layout_[1 - side].for_each(row, states(weights, 1 - side).value, [&](std::int32_t z, float w) {
        for (const std::int32_t y : turned.of(z)) sum[static_cast<std::size_t>(y)] += map_[side].share(y) * w;
      });
    }
    for (std::size_t y = 0; y < sum.size(); ++y) out.add(static_cast<std::uint16_t>(y), sum[y], min_weight);
    out.end_feature(keys[row]);
  }
  return std::move(out).finish();
}

MultitaskObjective::MultitaskObjective(const MultitaskTraining& training) : training_(training) {
  if (training.expansion() != Expansion::all)
    throw std::invalid_argument("a conditional random field needs all labels expanded");
}

MultitaskObjective::Prepared MultitaskObjective::prepare(WeightView weights) const {
  return {training_.between(weights.value, 0, true), training_.between(weights.value, 1, true)};
}

double MultitaskObjective::compute(const Prepared& between, WeightView weights, std::int64_t sentence,
                                   Work& work, Gradient& out) const {
  assert(weights.scale == 1.0F);
  const MultitaskData& data = training_.data();
  const auto side = static_cast<std::size_t>(data.side[sentence]);
  const TaggerLayout& layout = training_.layout(side);
  const std::size_t stride = layout.shape.stride();
  const std::int64_t begin = data.first[sentence];
  const std::int64_t end = data.first[sentence + 1];
  if (begin == end) return 0.0;
  const std::span gold(data.label.data() + begin, static_cast<std::size_t>(end - begin));
  const LabelTransitions& chain = *between[side].chain;
  training_.score(weights.value, side, data.features, begin, end, work.plain);
  std::vector<double>& state = work.plain.state;
  add_edges(layout.labels, layout.rules, {between[side].table}, stride, state);
  marginals(UniformChain{static_cast<std::int32_t>(gold.size()), state.data(), chain, layout.rules},
            work.plain.chain, work.found);
  work.pairs.assign(static_cast<std::size_t>(layout.transitions()), 0.0);
  add_transition_counts(layout, work.found, end - begin, -1.0, work.pairs);
  add_gold_transitions(layout, gold, work.pairs);
  double log_correct = 0.0;
  for (double& p : work.found.unit) p = -p;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    const auto label = static_cast<std::size_t>(gold[t]);
    log_correct += state[t * stride + label];
    if (t > 0) log_correct += chain.score(static_cast<std::size_t>(gold[t - 1]), label);
    work.found.unit[t * stride + label] += 1.0;
  }
  note_changes(layout.labels, work.found.unit, stride, out);
  add_pairs(side, work, out.dense);
  return work.found.log_partition - log_correct;
}

bool MultitaskObjective::map_changes(std::size_t side, std::span<const float> own,
                                     std::vector<float>& mapped) const {
  const LabelMap& map = training_.map(side);
  if (map.to.empty()) return false;
  std::fill(mapped.begin(), mapped.end(), 0.0F);
  for (std::size_t y = 0; y < own.size(); ++y) {
    if (own[y] == 0.0F) continue;
    const float share = map.share(static_cast<std::int32_t>(y));
    for (const std::int32_t z : map.of(static_cast<std::int32_t>(y)))
      mapped[static_cast<std::size_t>(z)] += share * own[y];
  }
  return true;
}

/// Updates the side's own transitions, and those that they map to.
void MultitaskObjective::add_pairs(std::size_t side, Work& work, std::vector<double>& dense) const {
  const TaggerLayout& own = training_.layout(side);
  const TaggerLayout& other = training_.layout(1 - side);
  const LabelMap& map = training_.map(side);
  const auto edge = static_cast<std::size_t>(own.labels) + 1;
  const auto other_edge = static_cast<std::size_t>(other.labels) + 1;
  double* to = dense.data() + training_.transition_offset(side);
  for (std::size_t k = 0; k < work.pairs.size(); ++k) to[k] += work.pairs[k];
  if (map.to.empty()) return;
  double* mapped = dense.data() + training_.transition_offset(1 - side);
  for (std::int32_t before = 0; before <= own.labels; ++before) {
    const double* row = work.pairs.data() + static_cast<std::size_t>(before) * edge;
    work.sum.assign(other_edge, 0.0);
    bool is_any = false;
    for (std::int32_t after = 0; after <= own.labels; ++after) {
      if (std::abs(row[after]) < kNegligible) continue;
      is_any = true;
      const double share = static_cast<double>(map.share(before) * map.share(after));
      for_each_mapped(map, after, other.labels,
                      [&](std::int32_t z) { work.sum[static_cast<std::size_t>(z)] += share * row[after]; });
    }
    if (!is_any) continue;
    for_each_mapped(map, before, other.labels, [&](std::int32_t left) {
      double* out = mapped + static_cast<std::size_t>(left) * other_edge;
      for (std::int32_t right = 0; right <= other.labels; ++right) {
        if (other.rules(left, right)) out[right] += work.sum[static_cast<std::size_t>(right)];
      }
    });
  }
}

}  // namespace duilian
