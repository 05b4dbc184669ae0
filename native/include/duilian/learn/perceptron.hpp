// The averaged perceptron (Collins 2002; Algorithm 4 of Li et al. 2014) as a learning rule, independent of
// any model: the gradient of an example is the features of gold minus those of the guess.
//
// As in passive-aggressive learning, the lag (what is missing from the average) is updated with each change,
// and `mean_weights` subtracts it. A round is a batch; with batches of one sentence, this is the published
// algorithm.
#pragma once

#include <cstdint>
#include <span>

#include "duilian/learn/rules.hpp"

namespace duilian {

struct PerceptronRule {
  std::span<float> weights;
  std::span<double> lag;  // [weights]
  std::int64_t* rounds;   // so far, over all passes
  double now = 0.0;

  [[nodiscard]] WeightView view() const { return {weights, 1.0F}; }
  void begin(std::size_t) { now = static_cast<double>((*rounds)++); }
  void change(std::uint32_t w, float g) const {
    weights[w] += g;
    lag[w] += now * static_cast<double>(g);
  }
  void prefetch(std::uint32_t w) const {
    prefetch_for_writing(weights.data() + w);
    __builtin_prefetch(lag.data() + w, 1);
  }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != 0.0F) change(first + static_cast<std::uint32_t>(k), strength * row[k]);
    }
  }
};

}  // namespace duilian
