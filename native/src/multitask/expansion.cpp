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
  if (!is_sound) throw std::invalid_argument("the mapping does not fit the labels of the two sides");
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

/// Adds a row of transitions, except those that rules forbid.
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
  std::vector<float> sum(other_edge);  // over z' ∈ φ(y'), for every z
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

void BestExpansion::choose(const LabelMap& map, std::span<const double> other, std::size_t other_stride,
                           std::size_t stride, std::vector<double>& own) {
  const std::size_t T = own.size() / stride;
  const auto L = static_cast<std::size_t>(map.labels());
  choice.assign(T * L, -1);
  for (std::size_t t = 0; t < T; ++t) {
    const double* scores = other.data() + t * other_stride;
    for (std::size_t y = 0; y < L; ++y) {
      std::int32_t& best = choice[t * L + y];
      for (const std::int32_t z : map.of(static_cast<std::int32_t>(y))) {
        if (best < 0 || scores[z] > scores[best]) best = z;
      }
      if (best >= 0) own[t * stride + y] += scores[best];
    }
  }
}

/// The row or column of `mapped` that a label counts as.
std::size_t BestExpansion::code(std::size_t t, std::size_t label) const {
  const std::int32_t chosen = choice[t * labels_ + label];
  return chosen < 0 ? codes - 1 : static_cast<std::size_t>(chosen);
}

void BestExpansion::prepare(const LabelTransitions& between, const SideTransitions& other) {
  const TransitionShape& s = between.shape;
  labels_ = s.labels;
  codes = static_cast<std::size_t>(other.labels) + 2;
  mapped.assign(codes * codes, 0.0F);
  mapped_peak.assign(codes, 0.0F);
  for (std::int32_t a = 0; a <= other.labels; ++a) {
    float* row = mapped.data() + static_cast<std::size_t>(a) * codes;
    for (std::int32_t b = 0; b <= other.labels; ++b) row[b] = other(a, b);
    mapped_peak[static_cast<std::size_t>(a)] = *std::max_element(row, row + codes);
  }
  core_peak.resize(s.rows);
  for (std::size_t i = 0; i < s.rows; ++i) {
    const double* row = between.core.data() + i * padded(s.cols);
    core_peak[i] = *std::max_element(row, row + s.cols);
  }
  columns.resize(s.cols);
}

/// Ties go to the smaller label.
void BestExpansion::offer(std::size_t t, std::size_t i, std::size_t j, double sum) {
  double& highest = delta[t * labels_ + j];
  std::int32_t& best = from[t * labels_ + j];
  if (sum > highest || (sum == highest && static_cast<std::int32_t>(i) < best)) {
    highest = sum;
    best = static_cast<std::int32_t>(i);
  }
}

/// The steps of the core from one label.
void BestExpansion::offer_row(const LabelTransitions& between, std::size_t t, std::size_t i) {
  const TransitionShape& s = between.shape;
  const double before = delta[(t - 1) * labels_ + i];
  const double* own = between.core.data() + (i - s.row0) * padded(s.cols);
  const float* other = mapped_row(t - 1, i);
  for (std::size_t k = 0; k < s.cols; ++k) {
    offer(t, i, s.col0 + k, before + own[k] + static_cast<double>(other[columns[k]]));
  }
}

// δ[t][j] = max_i (δ[t-1][i] + own(i, j) + mapped(choice[t-1][i], choice[t][j])), states to be added. Rows of
// the core that cannot beat what the best label before reaches everywhere are skipped.
void BestExpansion::step(const LabelTransitions& between, std::size_t t) {
  const TransitionShape& s = between.shape;
  const double* before = delta.data() + (t - 1) * labels_;
  if (s.rows > 0 && s.cols > 0) {
    for (std::size_t k = 0; k < s.cols; ++k) columns[k] = code(t, s.col0 + k);
    const double* core = before + s.row0;
    const auto best = s.row0 + static_cast<std::size_t>(std::max_element(core, core + s.rows) - core);
    offer_row(between, t, best);
    const double* reached = delta.data() + t * labels_ + s.col0;
    const double lowest = *std::min_element(reached, reached + s.cols);
    for (std::size_t i = s.row0; i < s.row0 + s.rows; ++i) {
      const double bound =
          before[i] + core_peak[i - s.row0] + static_cast<double>(mapped_peak[code(t - 1, i)]);
      if (i != best && before[i] != kForbidden && bound >= lowest) offer_row(between, t, i);
    }
  }
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) {
      const std::size_t i = d.i0 + k;
      const auto other = static_cast<double>(mapped_row(t - 1, i)[code(t, d.j0 + k)]);
      offer(t, i, d.j0 + k, before[i] + between.arc[d.at + k] + other);
    }
  }
}

bool BestExpansion::try_labels(std::span<const double> state, std::size_t stride,
                               const LabelTransitions& between, const SideTransitions& own,
                               const SideTransitions& other, std::span<std::int32_t> labels) {
  const std::size_t T = labels.size();
  const auto L = static_cast<std::size_t>(own.labels);
  if (T == 0) return true;
  prepare(between, other);
  const std::size_t edge = codes - 2;
  delta.assign(T * L, kForbidden);
  from.assign(T * L, own.labels);
  for (std::size_t t = 0; t < T; ++t) {
    if (t > 0) step(between, t);
    for (std::size_t j = 0; j < L; ++j) {
      const auto label = static_cast<std::int32_t>(j);
      double& score = delta[t * L + j];
      if (t == 0 && own.rules(own.labels, label))
        score = own(own.labels, label) + static_cast<double>(mapped[edge * codes + code(0, j)]);
      score += state[t * stride + j];
      if (t + 1 < T) continue;
      score += own.rules(label, own.labels)
                   ? own(label, own.labels) + static_cast<double>(mapped_row(t, j)[edge])
                   : kForbidden;
    }
  }
  const double* last = delta.data() + (T - 1) * L;
  const double* best = std::max_element(last, last + L);
  if (*best == kForbidden) return false;
  labels[T - 1] = static_cast<std::int32_t>(best - last);
  for (std::size_t t = T - 1; t > 0; --t) labels[t - 1] = from[t * L + static_cast<std::size_t>(labels[t])];
  return true;
}

}  // namespace duilian
