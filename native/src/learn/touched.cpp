// Keeps sums and squares of changed weights (see touched.hpp).
#include "duilian/learn/touched.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace duilian {

void TouchedTable::grow() {
  constexpr std::size_t kLeast = 64;
  std::vector<TouchedWeight> old(std::max(kLeast, slot_.size() + slot_.size() / 2));
  old.swap(slot_);
  for (const TouchedWeight& each : old) {
    if (each.weight != TouchedWeight::kNone) slot_[place_of(each.weight)] = each;
  }
}

KeptWeights make_kept(bool is_mean, std::int32_t iterations, std::vector<std::uint32_t> weight,
                      std::vector<float> value) {
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (weight.size() != value.size() || iterations < 0 || (is_mean && iterations == 0) ||
      !std::all_of(value.begin(), value.end(), is_finite))
    throw std::invalid_argument("the arrays of the kept weights do not fit together");
  return {is_mean, iterations, std::move(weight), std::move(value)};
}

std::size_t TouchedWeights::size() const {
  std::size_t total = 0;
  for (const TouchedTable& table : tables_) total += table.size();
  return total;
}

void TouchedWeights::add(std::span<const float> weights) {
  for (TouchedTable& table : tables_)
    table.for_each([&](TouchedWeight& each) { each.total += weights[each.weight]; });
  ++iterations_;
}

void TouchedWeights::write_mean(std::span<const float> weights, std::span<const std::int64_t> ranges,
                                std::span<float> out) {
  for (std::size_t k = 0; k + 1 < ranges.size(); k += 2) {
    if (ranges[k] < 0 || ranges[k] > ranges[k + 1] ||
        ranges[k + 1] > static_cast<std::int64_t>(std::min(weights.size(), out.size())))
      throw std::invalid_argument("a range of weights does not exist");
  }
  const auto count = static_cast<float>(iterations_);
  std::vector<bool> is_wanted(weights.size());
  for (std::size_t k = 0; k + 1 < ranges.size(); k += 2) {
    for (std::int64_t w = ranges[k]; w < ranges[k + 1]; ++w) {
      is_wanted[w] = true;
      if (weights[w] != 0.0F) out[w] = repeated(weights[w], iterations_) / count;
    }
  }
  for (TouchedTable& table : tables_) {
    table.for_each([&](const TouchedWeight& each) {
      if (is_wanted[each.weight]) out[each.weight] = each.total / count;
    });
  }
}

KeptWeights TouchedWeights::keep(std::span<const float> weights, bool is_mean) {
  KeptWeights out{is_mean, iterations_, {}, {}};
  out.weight.reserve(size());
  out.value.reserve(size());
  const auto count = static_cast<float>(iterations_);
  for (TouchedTable& table : tables_) {
    table.for_each([&](const TouchedWeight& each) {
      out.weight.push_back(each.weight);
      out.value.push_back(is_mean ? each.total / count : weights[each.weight]);
    });
  }
  return out;
}

void TouchedWeights::write(std::span<const float> weights, const KeptWeights& kept, std::span<float> out) {
  if (weights.size() != out.size() ||
      std::any_of(kept.weight.begin(), kept.weight.end(), [&](std::uint32_t w) { return w >= out.size(); }))
    throw std::invalid_argument("the kept weights are those of another model");
  const auto count = static_cast<float>(kept.iterations);
  const auto unchanged = [&](float start) {
    return kept.is_mean ? repeated(start, kept.iterations) / count : start;
  };
  // Pages of zeros that nobody has written to need no memory.
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (weights[w] != 0.0F) out[w] = unchanged(weights[w]);
  }
  for (TouchedTable& table : tables_)
    table.for_each([&](const TouchedWeight& each) { out[each.weight] = unchanged(each.start); });
  for (std::size_t k = 0; k < kept.weight.size(); ++k) out[kept.weight[k]] = kept.value[k];
}

TouchedState TouchedWeights::state(std::span<const float> weights) {
  TouchedState out;
  for (TouchedTable& table : tables_) {
    out.size.push_back(static_cast<std::int64_t>(table.size()));
    table.for_each([&](const TouchedWeight& each) {
      out.weight.push_back(each.weight);
      out.value.push_back(weights[each.weight]);
      out.squares.push_back(each.squares);
      out.total.push_back(each.total);
    });
  }
  return out;
}

void TouchedWeights::take_up(const TouchedState& state, std::int32_t iterations, std::span<float> weights) {
  const std::size_t count = state.weight.size();
  std::int64_t sum = 0;
  for (const std::int64_t size : state.size) {
    if (size < 0 || size > static_cast<std::int64_t>(count) - sum)
      throw std::invalid_argument("the sizes of the tables are wrong");
    sum += size;
  }
  const auto is_finite = [](float x) { return std::isfinite(x); };
  const auto fits = [&](const std::vector<float>& values) {
    return values.size() == count && std::all_of(values.begin(), values.end(), is_finite);
  };
  if (state.size.size() != kTables || sum != static_cast<std::int64_t>(count) || iterations < 0 ||
      !fits(state.value) || !fits(state.squares) || !fits(state.total))
    throw std::invalid_argument("the arrays of the changed weights do not fit together");
  std::vector<bool> is_taken(weights.size());
  for (const std::uint32_t weight : state.weight) {
    if (weight >= weights.size() || is_taken[weight])
      throw std::invalid_argument("a changed weight does not exist, or is listed twice");
    is_taken[weight] = true;
  }
  std::size_t k = 0;
  for (std::size_t table = 0; table < kTables; ++table) {
    for (const std::size_t end = k + static_cast<std::size_t>(state.size[table]); k < end; ++k) {
      const std::uint32_t w = state.weight[k];
      tables_[table][w] = {w, state.squares[k], state.total[k], weights[w]};
      weights[w] = state.value[k];
    }
  }
  iterations_ = iterations;
}

}  // namespace duilian
