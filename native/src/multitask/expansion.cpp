// Expands scores by the loose mapping, and searches pairs of labels for the best expansion (see
// expansion.hpp).
#include "duilian/multitask/expansion.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/chain/chain.hpp"

namespace duilian {

void check(const LabelMap& map, std::int32_t labels, std::int32_t other_labels) {
  const bool is_sound =
      map.labels() == labels && map.first.front() == 0 &&
      std::is_sorted(map.first.begin(), map.first.end()) &&
      map.first.back() == static_cast<std::int32_t>(map.to.size()) &&
      std::all_of(map.to.begin(), map.to.end(), [&](std::int32_t z) { return z >= 0 && z < other_labels; });
  if (!is_sound) throw std::invalid_argument("the mapping does not match the labels of the two sides");
}

LabelMap turn(const LabelMap& map, std::int32_t other_labels) {
  std::vector<std::vector<std::int32_t>> from(static_cast<std::size_t>(other_labels));
  for (std::int32_t y = 0; y < map.labels(); ++y) {
    for (const std::int32_t z : map.of(y)) from[static_cast<std::size_t>(z)].push_back(y);
  }
  LabelMap out;
  out.is_mean = map.is_mean;
  for (const auto& labels : from) {
    out.to.insert(out.to.end(), labels.begin(), labels.end());
    out.first.push_back(static_cast<std::int32_t>(out.to.size()));
  }
  return out;
}

void expand_states(const LabelMap& map, std::span<const double> other, std::size_t other_stride,
                   std::size_t stride, std::vector<double>& own) {
  const std::size_t T = own.size() / stride;
  for (std::size_t t = 0; t < T; ++t) {
    const double* from = other.data() + t * other_stride;
    double* to = own.data() + t * stride;
    for (std::int32_t y = 0; y < map.labels(); ++y) {
      double sum = 0.0;
      for (const std::int32_t z : map.of(y)) sum += from[z];
      to[y] += static_cast<double>(map.share(y)) * sum;
    }
  }
}

namespace {

/// Adds a row of transitions, except those that the rules forbid.
void add_row(const SideTransitions& side, std::int32_t before, std::vector<float>& sum) {
  const std::size_t edge = sum.size();
  const float* weight = side.weight.data() + static_cast<std::size_t>(before) * edge;
  if (side.rules.is_free()) {
    for (std::size_t k = 0; k < edge; ++k) sum[k] += weight[k];
    return;
  }
  const std::uint8_t* allows = side.rules.allows.data() + static_cast<std::size_t>(before) * edge;
  for (std::size_t k = 0; k < edge; ++k) sum[k] += static_cast<float>(allows[k]) * weight[k];
}

}  // namespace

std::vector<float> expand_transitions(const LabelMap& map, const SideTransitions& own,
                                      const SideTransitions& other) {
  const auto edge = static_cast<std::size_t>(own.labels) + 1;
  const auto other_edge = static_cast<std::size_t>(other.labels) + 1;
  std::vector<float> out(own.weight.begin(), own.weight.begin() + static_cast<std::ptrdiff_t>(edge * edge));
  std::vector<float> sum(other_edge);  // Σ over z' ∈ φ(y'), for every z
  for (std::int32_t before = 0; before <= own.labels; ++before) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for_each_mapped(map, before, other.labels, [&](std::int32_t left) { add_row(other, left, sum); });
    float* row = out.data() + static_cast<std::size_t>(before) * edge;
    for (std::int32_t after = 0; after <= own.labels; ++after) {
      const float share = map.share(before) * map.share(after);
      for_each_mapped(map, after, other.labels,
                      [&](std::int32_t right) { row[after] += share * sum[right]; });
    }
  }
  return out;
}

LabelPairs::LabelPairs(const LabelMap& map, std::int32_t all_other_labels)
    : other_labels(map.to.empty() ? 0 : all_other_labels), first{0} {
  const auto add = [&](std::int32_t y, std::int32_t z) {
    label.push_back(y);
    partner.push_back(z);
    code.push_back(z == kAlone ? codes() - 1 : static_cast<std::size_t>(z));
  };
  for (std::int32_t y = 0; y < map.labels(); ++y) {
    for (const std::int32_t z : map.of(y)) add(y, z);
    if (map.of(y).empty()) add(y, kAlone);
    first.push_back(static_cast<std::int32_t>(label.size()));
  }
}

PairSteps::PairSteps(const LabelPairs& pairs, const LabelTransitions& own, const SideTransitions& other)
    : codes(pairs.codes()), mapped(codes * codes, 0.0F), mapped_peak(codes, 0.0F), core_peak(own.shape.rows) {
  for (std::int32_t a = 0; pairs.other_labels > 0 && a <= other.labels; ++a) {
    float* row = mapped.data() + static_cast<std::size_t>(a) * codes;
    for (std::int32_t b = 0; b <= other.labels; ++b) row[b] = other(a, b);
    mapped_peak[static_cast<std::size_t>(a)] = *std::max_element(row, row + codes);
  }
  for (std::size_t i = 0; i < core_peak.size(); ++i) {
    const double* row = own.core.data() + i * padded(own.shape.cols);
    core_peak[i] = *std::max_element(row, row + own.shape.cols);
  }
}

/// Adds the state scores of a unit, and start and stop of the other side.
void BestExpansion::add_states(const PairScores& x, std::size_t t) {
  const float* start = x.steps.from(x.pairs.edge());
  for (std::size_t p = 0; p < pairs_; ++p) {
    const auto label = static_cast<std::size_t>(x.pairs.label[p]);
    const std::size_t code = x.pairs.code[p];
    double score = x.state[t * x.stride + label];
    if (x.pairs.partner[p] != LabelPairs::kAlone) score += x.other[t * x.other_stride + code];
    if (t == 0) score += static_cast<double>(start[code]);
    if (t + 1 == length_) score += static_cast<double>(x.steps.from(code)[x.pairs.edge()]);
    at(t, false)[p] += score;
    at(t, true)[p] += score;
  }
}

/// Offers the core's steps from one label, once the best of its pairs is known for every partner after it.
void BestExpansion::offer_row(const PairScores& x, std::size_t t, std::size_t i) {
  const TransitionShape& s = x.between.shape;
  const double* before = at(t - 1, false);
  reach_.assign(x.steps.codes, kForbidden);
  x.pairs.for_each(s.row0 + i, [&](std::size_t p) {
    const float* mapped = x.steps.from(x.pairs.code[p]);
    for (std::size_t c = 0; c < reach_.size(); ++c)
      reach_[c] = std::max(reach_[c], before[p] + static_cast<double>(mapped[c]));
  });
  const double* own = x.between.core.data() + i * padded(s.cols);
  double* now = at(t, false);
  for (std::size_t k = 0; k < s.cols; ++k) {
    x.pairs.for_each(s.col0 + k,
                     [&](std::size_t p) { now[p] = std::max(now[p], own[k] + reach_[x.pairs.code[p]]); });
  }
}

// δ[t][(y, z)] = max_y' (own(y', y) + max_z' (δ[t-1][(y', z')] + other(z', z))), plus states later
// Rows of the core that cannot beat the most promising one anywhere are skipped.
void BestExpansion::step(const PairScores& x, std::size_t t) {
  const TransitionShape& s = x.between.shape;
  const double* before = at(t - 1, false);
  double* now = at(t, false);
  if (s.rows > 0 && s.cols > 0) {
    bound_.assign(s.rows, kForbidden);
    for (std::size_t i = 0; i < s.rows; ++i) {
      x.pairs.for_each(s.row0 + i, [&](std::size_t p) {
        const auto peak = static_cast<double>(x.steps.mapped_peak[x.pairs.code[p]]);
        bound_[i] = std::max(bound_[i], before[p] + x.steps.core_peak[i] + peak);
      });
    }
    const auto best =
        static_cast<std::size_t>(std::max_element(bound_.begin(), bound_.end()) - bound_.begin());
    offer_row(x, t, best);
    const double lowest =
        *std::min_element(now + x.pairs.first[s.col0], now + x.pairs.first[s.col0 + s.cols]);
    for (std::size_t i = 0; i < s.rows; ++i) {
      if (i != best && bound_[i] != kForbidden && bound_[i] >= lowest) offer_row(x, t, i);
    }
  }
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) {
      x.pairs.for_each(d.i0 + k, [&](std::size_t from) {
        const double sum = before[from] + x.between.arc[d.at + k];
        const float* mapped = x.steps.from(x.pairs.code[from]);
        x.pairs.for_each(d.j0 + k, [&](std::size_t p) {
          now[p] = std::max(now[p], sum + static_cast<double>(mapped[x.pairs.code[p]]));
        });
      });
    }
  }
}

/// Steps of the gold path so far: to its next label, or away from it.
void BestExpansion::leave(const PairScores& x, std::size_t t, std::span<const std::int32_t> gold) {
  const std::int32_t before = gold[t - 1];
  x.pairs.for_each(static_cast<std::size_t>(before), [&](std::size_t from) {
    const double sum = at(t - 1, true)[from];
    const float* mapped = x.steps.from(x.pairs.code[from]);
    for (std::size_t p = 0; p < pairs_; ++p) {
      const std::int32_t after = x.pairs.label[p];
      if (!x.own.rules(before, after)) continue;
      double& best = at(t, after == gold[t])[p];
      const double own = static_cast<double>(x.own(before, after));
      best = std::max(best, sum + own + static_cast<double>(mapped[x.pairs.code[p]]));
    }
  });
}

/// Without gold, all paths are unrestricted.
void BestExpansion::run(const PairScores& x, std::span<const std::int32_t> gold) {
  pairs_ = x.pairs.size();
  length_ = x.state.size() / x.stride;
  delta_.assign(length_ * 2 * pairs_, kForbidden);
  for (std::size_t t = 0; t < length_; ++t) {
    for (std::size_t p = 0; t == 0 && p < pairs_; ++p)
      at(0, !gold.empty() && x.pairs.label[p] == gold[0])[p] = 0.0;
    if (t > 0) step(x, t);
    if (t > 0 && !gold.empty()) leave(x, t, gold);
    add_states(x, t);
  }
}

/// Traces back from the best end: an unrestricted path either was so before or left gold there. Returns false
/// if there is no end.
bool BestExpansion::trace(const PairScores& x, bool is_right, std::span<const std::int32_t> gold,
                          ExpandedPath& out) const {
  out.label.resize(length_);
  out.partner.resize(length_);
  if (length_ == 0) return true;
  const double* last = at(length_ - 1, is_right);
  auto p = static_cast<std::size_t>(std::max_element(last, last + pairs_) - last);
  if (last[p] == kForbidden) return false;
  for (std::size_t t = length_;;) {
    --t;
    const std::int32_t label = out.label[t] = x.pairs.label[p];
    out.partner[t] = x.pairs.partner[p];
    if (t == 0) return true;
    const std::size_t code = x.pairs.code[p];
    const bool may_leave = is_right || (!gold.empty() && label != gold[t]);
    double best = kForbidden;
    bool was_right = is_right;
    for (const bool layer : {false, true}) {
      if (layer ? !may_leave : is_right) continue;
      for (std::size_t from = 0; from < pairs_; ++from) {
        if (!x.own.rules(x.pairs.label[from], label)) continue;
        const double own = static_cast<double>(x.own(x.pairs.label[from], label));
        const double mapped = static_cast<double>(x.steps.from(x.pairs.code[from])[code]);
        const double sum = at(t - 1, layer)[from] + own + mapped;
        if (sum > best) best = sum, p = from, was_right = layer;
      }
    }
    is_right = was_right;
  }
}

bool BestExpansion::try_best(const PairScores& x, ExpandedPath& best) {
  run(x, {});
  return trace(x, false, {}, best);
}

bool BestExpansion::try_wrong(const PairScores& x, std::span<const std::int32_t> gold, ExpandedPath& wrong,
                              ExpandedPath& right) {
  if (gold.empty()) return false;
  run(x, gold);
  if (!trace(x, true, gold, right)) throw std::invalid_argument("the rules forbid the gold labels");
  return trace(x, false, gold, wrong);
}

}  // namespace duilian
