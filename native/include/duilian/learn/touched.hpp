// AdaGrad for models in which few weights ever change: what it keeps besides a weight exists only for weights
// that have changed. All others still have their first value, which tells everything else about them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/learn/rules.hpp"

namespace duilian {

/// What is known of a weight that has changed.
struct TouchedWeight {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  std::uint32_t weight = kNone;
  float squares = 0.0F;  // Σ g²
  float total = 0.0F;    // the sum of its values after each finished iteration
  float start = 0.0F;    // its first value
};

/// The sum of a value that stayed the same for some iterations, added up as if it could have changed.
[[nodiscard]] inline float repeated(float value, std::int32_t iterations) {
  float total = 0.0F;
  for (std::int32_t k = 0; k < iterations; ++k) total += value;
  return total;
}

/// Finds what is known of a weight. Only one thread may use it.
class TouchedTable {
 public:
  /// The entry of a weight; if it is new, the caller sets it up.
  [[nodiscard]] TouchedWeight& operator[](std::uint32_t weight) {
    if (4 * (used_ + 1) > 3 * slot_.size()) grow();
    TouchedWeight& found = slot_[place_of(weight)];
    used_ += found.weight == TouchedWeight::kNone ? 1 : 0;
    return found;
  }
  void prefetch(std::uint32_t weight) const {
    if (!slot_.empty()) __builtin_prefetch(&slot_[home(weight)], 1);
  }
  [[nodiscard]] std::size_t size() const { return used_; }
  template <class Visit>
  void for_each(const Visit& visit) {
    for (TouchedWeight& each : slot_) {
      if (each.weight != TouchedWeight::kNone) visit(each);
    }
  }

 private:
  [[nodiscard]] std::size_t home(std::uint32_t weight) const {
    const std::uint64_t mixed = (weight * 0x9E3779B97F4A7C15U) >> 32U;
    return static_cast<std::size_t>((mixed * slot_.size()) >> 32U);
  }
  /// Where the weight is, or may be put.
  [[nodiscard]] std::size_t place_of(std::uint32_t weight) const {
    std::size_t at = home(weight);
    while (slot_[at].weight != weight && slot_[at].weight != TouchedWeight::kNone)
      at = at + 1 == slot_.size() ? 0 : at + 1;
    return at;
  }
  void grow();

  std::vector<TouchedWeight> slot_;
  std::size_t used_ = 0;
};

/// The values of weights at the end of an iteration, or their mean until then, as far as they had changed.
struct KeptWeights {
  bool is_mean = false;
  std::int32_t iterations = 0;
  std::vector<std::uint32_t> weight;
  std::vector<float> value;
};

/// Throws std::invalid_argument if the arrays of a checkpoint do not fit together.
[[nodiscard]] KeptWeights make_kept(bool is_mean, std::int32_t iterations, std::vector<std::uint32_t> weight,
                                    std::vector<float> value);

/// What a checkpoint stores of changed weights.
struct TouchedState {
  std::vector<std::int64_t> size;  // [tables]
  std::vector<std::uint32_t> weight;
  std::vector<float> value, squares, total;
};

/// The changed weights of a model, for any number of threads: a block of weights always has the same table.
class TouchedWeights {
 public:
  static constexpr std::size_t kTables = 64;  // as many as Share has classes

  [[nodiscard]] TouchedTable& table(std::uint64_t block) { return tables_[block % kTables]; }
  [[nodiscard]] std::int32_t iterations() const { return iterations_; }
  [[nodiscard]] std::size_t size() const;

  /// Ends an iteration: adds every weight to its sum.
  void add(std::span<const float> weights);

  /// Writes the mean over all iterations for the weights in `ranges`, [begin, end) each, to `out`.
  void write_mean(std::span<const float> weights, std::span<const std::int64_t> ranges, std::span<float> out);

  /// Remembers the weights as they are, or their mean.
  [[nodiscard]] KeptWeights keep(std::span<const float> weights, bool is_mean);

  /// Writes all weights as they were kept; where they are 0, `out` must be. It may be `weights`.
  void write(std::span<const float> weights, const KeptWeights& kept, std::span<float> out);

  /// The state for a checkpoint, and the way back: `weights` have their first values, and become those of the
  /// checkpoint. Throws std::invalid_argument if the arrays do not fit together.
  [[nodiscard]] TouchedState state(std::span<const float> weights);
  void take_up(const TouchedState& state, std::int32_t iterations, std::span<float> weights);

 private:
  std::array<TouchedTable, kTables> tables_;
  std::int32_t iterations_ = 0;
};

/// The rule for weights of one block.
struct TouchedRule {
  std::span<float> weights;
  float rate;
  std::int32_t iterations;
  TouchedTable* table;

  void change(std::uint32_t w, float g) const {
    TouchedWeight& own = (*table)[w];
    if (own.weight != w) own = {w, 0.0F, repeated(weights[w], iterations), weights[w]};
    own.squares += g * g;
    weights[w] += rate * g / std::sqrt(1.0F + own.squares);
  }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != 0.0F) change(first + static_cast<std::uint32_t>(k), strength * row[k]);
    }
  }
  void prefetch(std::uint32_t w) const {
    prefetch_for_writing(weights.data() + w);
    table->prefetch(w);
  }
};

/// AdaGrad, with the same results as AdaGradRule.
struct SparseAdaGradRule {
  std::span<float> weights;
  TouchedWeights* touched;
  float rate;

  [[nodiscard]] WeightView view() const { return {weights, 1.0F}; }
  void begin(std::size_t) const {}
  /// The rule for the weights of a block, which a Share either has or has not.
  [[nodiscard]] TouchedRule of_block(std::uint64_t block) const {
    return {weights, rate, touched->iterations(), &touched->table(block)};
  }
  // Weights that belong to no block are few or none: they have the first table.
  void change(std::uint32_t w, float g) const { of_block(0).change(w, g); }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    of_block(0).change_row(first, row, strength);
  }
  void prefetch(std::uint32_t w) const { prefetch_for_writing(weights.data() + w); }
};

}  // namespace duilian
