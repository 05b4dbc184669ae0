// The averaged perceptron (Collins 2002; the paper's Algorithm 4) as a learning rule. It knows no model: the
// gradient of an example is what speaks for gold less what speaks for the guess.
//
// Averages are exact and cost nothing per step: with Δ_k the change of step k (from 0) of K,
//   w = Σ_k Δ_k,   late = Σ_k k Δ_k,   average of the K weights after each step = w - late / K.
// A step is a batch; with batches of one sentence the algorithm is the printed one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "duilian/learn/rules.hpp"

namespace duilian {

struct PerceptronRule {
  std::span<float> weights;
  std::span<double> late;  // [weights]
  std::int64_t* steps;     // so far, over all passes
  double now = 0.0;

  [[nodiscard]] WeightView view() const { return {weights, 1.0F}; }
  void begin(std::size_t) { now = static_cast<double>((*steps)++); }
  void change(std::uint32_t w, float g) const {
    weights[w] += g;
    late[w] += now * static_cast<double>(g);
  }
  void prefetch(std::uint32_t w) const {
    prefetch_for_writing(weights.data() + w);
    __builtin_prefetch(late.data() + w, 1);
  }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != 0.0F) change(first + static_cast<std::uint32_t>(k), strength * row[k]);
    }
  }
};

/// The average of the weights after each of so many steps.
inline void average_weights(std::span<const float> weights, std::span<const double> late, std::int64_t steps,
                            std::span<float> out) {
  const auto count = static_cast<double>(std::max<std::int64_t>(steps, 1));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<float>(static_cast<double>(weights[k]) - late[k] / count);
}

}  // namespace duilian
