// Layout, scores, loss and gradient of a plain tagger (see tagging.hpp).
#include "duilian/score/tagging.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"
#include "duilian/score/pairs.hpp"

namespace duilian {

void add_transition_counts(const TaggerLayout& layout, const UniformMarginals& found, std::int64_t positions,
                           double sign, std::vector<double>& dense) {
  const TransitionShape& s = layout.shape;
  const std::size_t edge = s.labels + 1;
  for (std::size_t i = 0; i < s.rows; ++i) {
    const double* row = found.core.data() + i * padded(s.cols);
    double* out = dense.data() + (s.row0 + i) * edge + s.col0;
    for (std::size_t j = 0; j < s.cols; ++j) out[j] += sign * row[j];
  }
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k)
      dense[(d.i0 + k) * edge + d.j0 + k] += sign * found.arc[d.at + k];
  }
  const double* last = found.unit.data() + static_cast<std::size_t>(positions - 1) * s.stride();
  for (std::size_t l = 0; l < s.labels; ++l) {
    dense[s.labels * edge + l] += sign * found.unit[l];
    dense[l * edge + s.labels] += sign * last[l];
  }
}

void add_gold_transitions(const TaggerLayout& layout, std::span<const std::int32_t> gold,
                          std::vector<double>& dense) {
  const std::size_t edge = layout.shape.labels + 1;
  std::size_t before = layout.shape.labels;
  for (const std::int32_t label : gold) {
    dense[before * edge + label] += 1.0;
    before = static_cast<std::size_t>(label);
  }
  dense[before * edge + layout.shape.labels] += 1.0;
}

namespace {

/// Prefetches the weights of a row, and its labels if they will be read.
void prefetch_row(const TaggerLayout& layout, const float* value, std::uint32_t row) {
  constexpr std::int64_t kLine = 16;  // floats in a cache line
  const std::int64_t begin = layout.first[row];
  const std::int64_t end = layout.first[row + 1];
  for (std::int64_t k = begin; k < end; k += kLine) __builtin_prefetch(value + k);
  if (!layout.is_full(row)) __builtin_prefetch(layout.listed(row).data());
}

}  // namespace

void check(const TaggingData& data) {
  check(data.features);
  const auto units = static_cast<std::int64_t>(data.label.size());
  if (data.first.empty() || data.first.front() != 0 || data.first.back() != units ||
      !std::is_sorted(data.first.begin(), data.first.end()) ||
      static_cast<std::int64_t>(data.features.first.size()) != units + 1 ||
      (data.sets.positions() != 0 && data.sets.positions() != units)) {
    throw std::invalid_argument("sentences, features and labels are inconsistent");
  }
}

namespace {

/// Finds the rows that have a weight for every label.
[[nodiscard]] std::vector<std::uint8_t> find_full_rows(const FeatureRows& features, std::int64_t rows,
                                                       std::int64_t full_from) {
  std::vector<std::int64_t> seen(static_cast<std::size_t>(rows), 0);
  for (const std::uint32_t row : features.value) {
    if (row >= rows) throw std::invalid_argument("a feature row is out of range");
    ++seen[row];
  }
  std::vector<std::uint8_t> is_full(seen.size());
  std::transform(seen.begin(), seen.end(), is_full.begin(),
                 [&](std::int64_t n) { return n >= full_from ? 1 : 0; });
  return is_full;
}

/// Collects the labels that the other rows occur with.
void collect_pairs(const TaggingData& data, const std::vector<std::uint8_t>& is_full, PairSet& pairs) {
  for (std::size_t unit = 0; unit < data.label.size(); ++unit) {
    const auto t = static_cast<std::int32_t>(unit);
    const bool has_set = data.label[unit] < 0 && data.sets.positions() > t;
    const std::span<const TagId> known = data.label[unit] >= 0
                                             ? std::span(data.label).subspan(unit, 1)
                                             : (has_set ? data.sets.at(t) : std::span<const TagId>());
    for (std::int64_t f = data.features.first[unit]; f < data.features.first[unit + 1]; ++f) {
      if (is_full[data.features.value[f]] != 0) continue;
      for (const TagId label : known) pairs.add(data.features.value[f], label);
    }
  }
}

/// `is_left_out` is empty, or says which rows have no weights.
void write_rows(const std::vector<std::uint8_t>& is_full, const std::vector<std::uint8_t>& is_left_out,
                PairSet& pairs, TaggerLayout& layout) {
  std::vector<std::int64_t> first;
  std::vector<std::uint16_t> label;
  pairs.write_to(static_cast<std::int64_t>(is_full.size()), first, label);
  std::vector<std::uint16_t> every(static_cast<std::size_t>(layout.labels));
  std::iota(every.begin(), every.end(), std::uint16_t{0});
  layout.label.reserve(label.size());
  layout.first.reserve(is_full.size() + 1);
  layout.full_before.reserve(is_full.size() + 1);
  for (std::size_t row = 0; row < is_full.size(); ++row) {
    const auto own = std::span<const std::uint16_t>(label).subspan(
        static_cast<std::size_t>(first[row]), static_cast<std::size_t>(first[row + 1] - first[row]));
    if (!is_left_out.empty() && is_left_out[row] != 0)
      layout.add_row({});
    else
      layout.add_row(is_full[row] != 0 ? std::span<const std::uint16_t>(every) : own);
  }
}

/// Finds the rows that occur in none of these sentences; nothing if there are no sentences.
[[nodiscard]] std::vector<std::uint8_t> find_left_out(const TaggingData& data, std::int64_t rows,
                                                      std::span<const std::int64_t> sentences) {
  if (sentences.empty()) return {};
  std::vector<std::uint8_t> out(static_cast<std::size_t>(rows), 1);
  for (const std::int64_t s : sentences) {
    if (s < 0 || s + 1 >= static_cast<std::int64_t>(data.first.size()))
      throw std::invalid_argument("a sentence does not exist");
    const std::int64_t begin = data.features.first[data.first[s]];
    const std::int64_t end = data.features.first[data.first[s + 1]];
    for (std::int64_t f = begin; f < end; ++f) out[data.features.value[f]] = 0;
  }
  return out;
}

}  // namespace

TaggerLayout lay_out_tagger(std::int32_t labels, Succession rules, std::int64_t rows, const TaggingData& data,
                            std::int64_t full_from, std::span<const std::int64_t> sentences) {
  if (labels > 0x8000)
    throw std::invalid_argument(concat(labels, " labels, but at most 32,768 are supported"));
  if (std::any_of(data.label.begin(), data.label.end(), [&](std::int32_t l) { return l >= labels; }) ||
      std::any_of(data.sets.tag.begin(), data.sets.tag.end(), [&](TagId l) { return l >= labels; })) {
    throw std::invalid_argument("a label is out of range");
  }
  TaggerLayout layout;
  layout.labels = labels;
  layout.rules = std::move(rules);
  layout.shape = shape_of(labels, layout.rules);
  const std::vector<std::uint8_t> is_full = find_full_rows(data.features, rows, full_from);
  PairSet pairs;
  collect_pairs(data, is_full, pairs);
  write_rows(is_full, find_left_out(data, rows, sentences), pairs, layout);
  if (layout.weights() > 0xFFFFFFFFLL)
    throw std::invalid_argument("the model would have more than 2^32 weights");
  return layout;
}

std::vector<std::uint16_t> TaggerLayout::all_labels() const {
  std::vector<std::uint16_t> out;
  out.reserve(static_cast<std::size_t>(first.back()));
  for (std::size_t row = 0; row + 1 < first.size(); ++row)
    for_each_place(row, [&](std::int32_t l, std::int64_t) { out.push_back(static_cast<std::uint16_t>(l)); });
  return out;
}

void copy_weights(const TaggerLayout& from, std::span<const float> weights, float share,
                  const TaggerLayout& to, std::span<float> out) {
  if (from.labels != to.labels || from.first.size() != to.first.size() ||
      weights.size() != static_cast<std::size_t>(from.weights()) ||
      out.size() != static_cast<std::size_t>(to.weights()))
    throw std::invalid_argument("the weights do not match the layouts");
  const auto transitions = static_cast<std::size_t>(from.transitions());
  for (std::size_t k = 0; k < transitions; ++k) out[k] = share * weights[k];
  for (std::size_t row = 0; row + 1 < from.first.size(); ++row) {
    from.for_each(row, weights, [&](std::int32_t label, float weight) {
      const std::int64_t at = to.find(static_cast<std::uint32_t>(row), label);
      if (at < 0) throw std::invalid_argument("the weights do not match the layouts");
      if (weight != 0.0F) out[static_cast<std::size_t>(at)] = share * weight;
    });
  }
}

void add_edges(std::int32_t labels, const Succession& rules, WeightView transition, std::size_t stride,
               std::vector<double>& state) {
  if (state.empty()) return;
  const auto L = static_cast<std::size_t>(labels);
  double* last = state.data() + state.size() - stride;
  for (std::size_t l = 0; l < L; ++l) {
    const auto label = static_cast<TagId>(l);
    state[l] += rules(labels, label) ? transition[static_cast<std::int64_t>(L * (L + 1) + l)] : kForbidden;
    last[l] += rules(label, labels) ? transition[static_cast<std::int64_t>(l * (L + 1) + L)] : kForbidden;
  }
}

void score_state_parts(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                       std::int64_t begin, std::int64_t end, std::vector<double>& state) {
  const std::size_t stride = layout.shape.stride();
  const auto L = static_cast<std::size_t>(layout.labels);
  state.assign(static_cast<std::size_t>(end - begin) * stride, 0.0);
  const float* value = weights.value.data() + layout.transitions();
  constexpr std::int64_t kAhead = 8;  // feature rows between prefetching weights and reading them
  const std::int64_t last = features.first[end];
  for (std::int64_t unit = begin; unit < end; ++unit) {
    double* score = state.data() + static_cast<std::size_t>(unit - begin) * stride;
    for (std::int64_t f = features.first[unit]; f < features.first[unit + 1]; ++f) {
      if (f + kAhead < last) prefetch_row(layout, value, features.value[f + kAhead]);
      const std::uint32_t row = features.value[f];
      const double strength = features.strength_of(f);
      const std::int64_t at = layout.first[row];
      if (layout.is_full(row)) {
        for (std::size_t l = 0; l < L; ++l) score[l] += strength * value[at + static_cast<std::int64_t>(l)];
        continue;
      }
      const float* own = value + at;
      for (const std::uint16_t label : layout.listed(row)) score[label] += strength * *own++;
    }
    if (weights.scale != 1.0F) {
      for (std::size_t l = 0; l < L; ++l) score[l] *= weights.scale;
    }
  }
}

void score_units(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                 std::int64_t begin, std::int64_t end, std::vector<double>& state) {
  score_state_parts(layout, weights, features, begin, end, state);
  add_edges(layout.labels, layout.rules, weights, layout.shape.stride(), state);
}

LabelTransitions score_transitions(const TaggerLayout& layout, WeightView weights) {
  std::vector<float> table(static_cast<std::size_t>(layout.transitions()));
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = weights[static_cast<std::int64_t>(k)];
  return {layout.shape, layout.rules, table};
}

std::vector<std::int32_t> tag_units(const TaggerLayout& layout, WeightView weights,
                                    const FeatureRows& features, std::span<const std::int64_t> first,
                                    std::size_t threads) {
  struct Work {
    std::vector<double> state;
    UniformWorkspace chain;
  };
  const LabelTransitions between = score_transitions(layout, weights);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(first.back()));
  Team team(threads, first.size() - 1);
  std::vector<Work> work(team.size());
  team.for_each(first.size() - 1, [&](std::size_t thread, std::size_t k) {
    score_units(layout, weights, features, first[k], first[k + 1], work[thread].state);
    const auto length = static_cast<std::size_t>(first[k + 1] - first[k]);
    if (!try_best_labels(
            UniformChain{static_cast<std::int32_t>(length), work[thread].state.data(), between, layout.rules},
            work[thread].chain, std::span(labels).subspan(static_cast<std::size_t>(first[k]), length))) {
      throw std::invalid_argument("no path through the lattice is legal");
    }
  });
  return labels;
}

void note_changes(std::int32_t labels, std::span<const double> change, std::size_t stride, Gradient& out) {
  const auto matters = [](double p) { return std::abs(p) >= kNegligible; };
  for (std::size_t t = 0; t * stride < change.size(); ++t) {
    const double* unit = change.data() + t * stride;
    if (std::none_of(unit, unit + labels, matters)) continue;
    out.active.push_back(static_cast<std::int32_t>(t));
    for (std::int32_t l = 0; l < labels; ++l) {
      out.change.push_back(matters(unit[l]) ? static_cast<float>(unit[l]) : 0.0F);
    }
  }
}

TaggingObjective::TaggingObjective(const TaggerLayout& layout, const TaggingData& data)
    : layout_(layout), data_(data) {
  const FeatureRows& all = data.features;
  for (FeatureRows& half : halves_) {
    half.first.reserve(all.first.size());
    half.value.reserve(all.value.size() / kHalves);
  }
  for (std::size_t unit = 0; unit + 1 < all.first.size(); ++unit) {
    for (std::int64_t f = all.first[unit]; f < all.first[unit + 1]; ++f) {
      FeatureRows& half = halves_[block_of(all.value[f]) % kHalves];
      half.value.push_back(all.value[f]);
      if (!all.strength.empty()) half.strength.push_back(all.strength[f]);
    }
    for (FeatureRows& half : halves_) half.first.push_back(static_cast<std::int64_t>(half.value.size()));
  }
}

LabelTransitions TaggingObjective::prepare(WeightView weights) const {
  return score_transitions(layout_, weights);
}

bool TaggingObjective::is_complete(std::int64_t begin, std::int64_t end) const {
  return std::all_of(data_.label.begin() + begin, data_.label.begin() + end,
                     [](std::int32_t l) { return l >= 0; });
}

double TaggingObjective::gold_score(const Prepared& between, std::int64_t begin, std::int64_t end,
                                    const Work& work) const {
  const TransitionShape& s = layout_.shape;
  double total = 0.0;
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const auto label = static_cast<std::size_t>(data_.label[unit]);
    total += work.state[static_cast<std::size_t>(unit - begin) * s.stride() + label];
    if (unit == begin) continue;
    const auto before = static_cast<std::size_t>(data_.label[unit - 1]);
    total += between.score(before, label);
  }
  return total;
}

void TaggingObjective::restrict_states(std::int64_t begin, std::int64_t end, Work& work) const {
  const TransitionShape& s = layout_.shape;
  work.allowed = work.state;
  std::vector<std::uint8_t> keep(s.labels);
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const auto t = static_cast<std::int32_t>(unit);
    const bool has_set = data_.label[unit] < 0 && data_.sets.positions() > t && !data_.sets.at(t).empty();
    std::fill(keep.begin(), keep.end(), data_.label[unit] < 0 && !has_set ? 1 : 0);
    if (data_.label[unit] >= 0) keep[data_.label[unit]] = 1;
    if (has_set) {
      for (const TagId label : data_.sets.at(t)) keep[label] = 1;
    }
    double* state = work.allowed.data() + static_cast<std::size_t>(unit - begin) * s.stride();
    for (std::size_t l = 0; l < s.labels; ++l) state[l] = keep[l] != 0 ? state[l] : kForbidden;
  }
}

void TaggingObjective::score_half(WeightView weights, std::int64_t sentence, std::size_t half,
                                  std::vector<double>& score) const {
  score_state_parts(layout_, weights, halves_[half], data_.first[sentence], data_.first[sentence + 1], score);
}

double TaggingObjective::compute(const Prepared& between, WeightView weights, std::int64_t sentence,
                                 Work& work, Gradient& out) const {
  for (std::size_t half = 0; half < kHalves; ++half) score_half(weights, sentence, half, work.score[half]);
  return compute_scored(between, weights, sentence, work.score, work, out);
}

double TaggingObjective::compute_scored(const Prepared& between, WeightView weights, std::int64_t sentence,
                                        const HalfScores& score, Work& work, Gradient& out) const {
  const std::int64_t begin = data_.first[sentence];
  const std::int64_t end = data_.first[sentence + 1];
  if (begin == end) return 0.0;
  const auto positions = static_cast<std::int32_t>(end - begin);
  const std::size_t stride = layout_.shape.stride();
  work.state = score[0];
  for (std::size_t half = 1; half < kHalves; ++half) {
    for (std::size_t k = 0; k < work.state.size(); ++k) work.state[k] += score[half][k];
  }
  add_edges(layout_.labels, layout_.rules, weights, stride, work.state);
  marginals(UniformChain{positions, work.state.data(), between, layout_.rules}, work.chain, work.possible);
  add_transition_counts(layout_, work.possible, positions, -1.0, out.dense);
  for (double& p : work.possible.unit) p = -p;  // from here on: correct minus possible
  double log_correct = 0.0;
  if (is_complete(begin, end)) {
    const std::span gold(data_.label.data() + begin, static_cast<std::size_t>(positions));
    log_correct = gold_score(between, begin, end, work);
    add_gold_transitions(layout_, gold, out.dense);
    for (std::size_t t = 0; t < gold.size(); ++t) work.possible.unit[t * stride + gold[t]] += 1.0;
  } else {
    restrict_states(begin, end, work);
    marginals(UniformChain{positions, work.allowed.data(), between, layout_.rules}, work.chain, work.correct);
    log_correct = work.correct.log_partition;
    add_transition_counts(layout_, work.correct, positions, 1.0, out.dense);
    for (std::size_t k = 0; k < work.correct.unit.size(); ++k) work.possible.unit[k] += work.correct.unit[k];
  }
  note_changes(layout_.labels, work.possible.unit, stride, out);
  return work.possible.log_partition - log_correct;
}

}  // namespace duilian
