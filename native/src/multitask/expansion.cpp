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
      for (const std::int32_t z : map.of(y)) to[y] += from[z];
    }
  }
}

namespace {

/// Adds a row of transitions, but for those that rules forbid.
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
      for_each_mapped(map, after, other.labels, [&](std::int32_t right) { row[after] += sum[right]; });
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

double BestExpansion::between(std::size_t t, std::int32_t before, std::int32_t after,
                              const SideTransitions& own, const SideTransitions& other) const {
  const auto L = static_cast<std::size_t>(own.labels);
  const std::int32_t left =
      before == own.labels ? other.labels : choice[(t - 1) * L + static_cast<std::size_t>(before)];
  const std::int32_t right =
      after == own.labels ? other.labels : choice[t * L + static_cast<std::size_t>(after)];
  const double mapped = left < 0 || right < 0 ? 0.0 : other(left, right);
  return own(before, after) + mapped;
}

bool BestExpansion::try_labels(std::span<const double> state, std::size_t stride, const SideTransitions& own,
                               const SideTransitions& other, std::span<std::int32_t> labels) {
  const std::size_t T = labels.size();
  const auto L = static_cast<std::size_t>(own.labels);
  if (T == 0) return true;
  delta.assign(T * L, kForbidden);
  from.assign(T * L, 0);
  // δ[t][j] = state[t][j] + max_i (δ[t-1][i] + between(t, i, j))
  for (std::size_t t = 0; t < T; ++t) {
    for (std::int32_t j = 0; j < own.labels; ++j) {
      double& highest = delta[t * L + static_cast<std::size_t>(j)];
      if (t == 0) {
        if (own.rules(own.labels, j)) highest = between(0, own.labels, j, own, other);
      }
      for (std::int32_t i = 0; t > 0 && i < own.labels; ++i) {
        const double before = delta[(t - 1) * L + static_cast<std::size_t>(i)];
        if (before == kForbidden || !own.rules(i, j)) continue;
        const double sum = before + between(t, i, j, own, other);
        if (sum > highest) {
          highest = sum;
          from[t * L + static_cast<std::size_t>(j)] = i;
        }
      }
      highest += state[t * stride + static_cast<std::size_t>(j)];
    }
  }
  double highest = kForbidden;
  for (std::int32_t j = 0; j < own.labels; ++j) {
    const double last = delta[(T - 1) * L + static_cast<std::size_t>(j)];
    if (last == kForbidden || !own.rules(j, own.labels)) continue;
    const double sum = last + between(T, j, own.labels, own, other);
    if (sum > highest) {
      highest = sum;
      labels[T - 1] = j;
    }
  }
  if (highest == kForbidden) return false;
  for (std::size_t t = T - 1; t > 0; --t) labels[t - 1] = from[t * L + static_cast<std::size_t>(labels[t])];
  return true;
}

}  // namespace duilian
