// Takes steps of exponentiated gradient, one sentence at a time (see exponentiated.hpp).
#include "duilian/learn/exponentiated.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"

namespace duilian {

namespace {

constexpr double kGoldStart = 12.0;  // initial θ of gold parts: α begins near the gold sequence, w near 0
constexpr double kGrowth = 1.05;     // growth of η after a step that raised the dual
constexpr int kMaxHalvings = 20;

}  // namespace

ExponentiatedGradient::ExponentiatedGradient(const TaggerLayout& layout, const TaggingData& data,
                                             double penalty)
    : layout_(layout),
      data_(data),
      penalty_(penalty),
      weights_(static_cast<std::size_t>(layout.weights())),
      shown_(weights_.size()),
      point_(data.first.size() - 1),
      entropy_(point_.size()),
      scratch_(weights_.size()) {
  if (!(penalty > 0.0)) throw std::invalid_argument(concat("the penalty must be above 0, got ", penalty));
  if (std::any_of(data.label.begin(), data.label.end(), [](std::int32_t label) { return label < 0; })) {
    throw std::invalid_argument("exponentiated gradient needs fully annotated sentences");
  }
  const std::size_t stride = layout.shape.stride();
  for (std::size_t i = 0; i < point_.size(); ++i) {
    const auto sentence = static_cast<std::int64_t>(i);
    const auto length = static_cast<std::size_t>(data.first[i + 1] - data.first[i]);
    point_[i].state.assign(length * stride, 0.0);
    point_[i].transition.assign(static_cast<std::size_t>(layout.transitions()), 0.0F);
    for (std::size_t t = 0; t < length; ++t) {
      point_[i].state[t * stride + data.label[data.first[i] + static_cast<std::int64_t>(t)]] = kGoldStart;
    }
    if (length == 0) continue;
    const Expectation now = expect(sentence, point_[i]);
    entropy_[i] = now.entropy;
    add(changes(sentence, now, gold(sentence)));
  }
}

double ExponentiatedGradient::dual() const {
  const double norm = std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), 0.0);
  return std::accumulate(entropy_.begin(), entropy_.end(), 0.0) - 0.5 * penalty_ * norm;
}

ExponentiatedGradient::Expectation ExponentiatedGradient::expect(std::int64_t sentence, const Point& point) {
  const auto length = static_cast<std::int32_t>(data_.first[sentence + 1] - data_.first[sentence]);
  const TransitionShape& s = layout_.shape;
  std::vector<double> state = point.state;
  add_edges(layout_.labels, layout_.rules, {point.transition}, s.stride(), state);
  const LabelTransitions between(s, layout_.rules, point.transition);
  Expectation out;
  marginals(UniformChain{length, state.data(), between, layout_.rules}, work_, out.found);
  out.transition.assign(point.transition.size(), 0.0);
  add_transition_counts(layout_, out.found, length, 1.0, out.transition);
  // H(α) = log Z - E[score]
  out.entropy = out.found.log_partition;
  for (std::size_t k = 0; k < point.state.size(); ++k) out.entropy -= out.found.unit[k] * point.state[k];
  for (std::size_t k = 0; k < point.transition.size(); ++k)
    out.entropy -= out.transition[k] * point.transition[k];
  return out;
}

ExponentiatedGradient::Expectation ExponentiatedGradient::gold(std::int64_t sentence) const {
  const std::int64_t begin = data_.first[sentence];
  const auto length = static_cast<std::size_t>(data_.first[sentence + 1] - begin);
  const std::span labels(data_.label.data() + begin, length);
  Expectation out;
  out.found.unit.assign(length * layout_.shape.stride(), 0.0);
  for (std::size_t t = 0; t < length; ++t) out.found.unit[t * layout_.shape.stride() + labels[t]] = 1.0;
  out.transition.assign(static_cast<std::size_t>(layout_.transitions()), 0.0);
  add_gold_transitions(layout_, labels, out.transition);
  return out;
}

ExponentiatedGradient::Point ExponentiatedGradient::move(std::int64_t sentence, const Point& point,
                                                         double rate) {
  std::vector<double> score;
  score_state_parts(layout_, {shown_}, data_.features, data_.first[sentence], data_.first[sentence + 1],
                    score);
  Point next = point;
  for (std::size_t k = 0; k < next.state.size(); ++k) next.state[k] += rate * (score[k] - next.state[k]);
  for (std::size_t k = 0; k < next.transition.size(); ++k) {
    next.transition[k] += static_cast<float>(rate * (shown_[k] - next.transition[k]));
  }
  return next;
}

ExponentiatedGradient::Changes ExponentiatedGradient::changes(std::int64_t sentence, const Expectation& from,
                                                              const Expectation& to) {
  std::vector<std::int64_t> touched;
  const auto note = [&](std::int64_t weight, double change) {
    if (change == 0.0) return;
    if (scratch_[weight] == 0.0) touched.push_back(weight);
    scratch_[weight] += change / penalty_;
  };
  for (std::size_t k = 0; k < from.transition.size(); ++k) {
    note(static_cast<std::int64_t>(k), to.transition[k] - from.transition[k]);
  }
  const std::size_t stride = layout_.shape.stride();
  const std::int64_t begin = data_.first[sentence];
  for (std::int64_t unit = begin; unit < data_.first[sentence + 1]; ++unit) {
    const std::size_t at = static_cast<std::size_t>(unit - begin) * stride;
    for (std::int64_t f = data_.features.first[unit]; f < data_.features.first[unit + 1]; ++f) {
      const std::uint32_t row = data_.features.value[f];
      layout_.for_each_place(row, [&](std::int32_t l, std::int64_t k) {
        const std::size_t label = at + static_cast<std::size_t>(l);
        note(layout_.transitions() + k,
             data_.features.strength_of(f) * (to.found.unit[label] - from.found.unit[label]));
      });
    }
  }
  Changes out;
  for (const std::int64_t weight : touched) {
    if (scratch_[weight] != 0.0) out.emplace_back(weight, scratch_[weight]);
    scratch_[weight] = 0.0;
  }
  return out;
}

void ExponentiatedGradient::add(const Changes& changes) {
  for (const auto& [weight, change] : changes) {
    weights_[weight] += change;
    shown_[weight] = static_cast<float>(weights_[weight]);
  }
}

void ExponentiatedGradient::step(std::int64_t sentence) {
  Point& point = point_[sentence];
  if (point.state.empty()) return;
  const Expectation now = expect(sentence, point);
  for (int halvings = 0; halvings < kMaxHalvings; ++halvings) {
    Point next = move(sentence, point, point.rate);
    const Expectation then = expect(sentence, next);
    // w changes by 1/C (E_now - E_then): it loses expected counts of what α gave up.
    const Changes moved = changes(sentence, then, now);
    double norm_change = 0.0;
    for (const auto& [weight, change] : moved) norm_change += change * (2.0 * weights_[weight] + change);
    if (then.entropy - now.entropy - 0.5 * penalty_ * norm_change >= -1e-12) {
      next.rate = std::min(1.0, point.rate * kGrowth);
      point = std::move(next);
      entropy_[sentence] = then.entropy;
      return add(moved);
    }
    point.rate *= 0.5;
  }
}

void ExponentiatedGradient::pass(std::span<const std::int64_t> order) {
  for (const std::int64_t sentence : order) step(sentence);
}

}  // namespace duilian
