// Learning rules: how the gradient changes a weight.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/score/objective.hpp"

namespace duilian {

/// Requests a cache line that another core may hold. Baseline x86-64 has no named instruction for this;
/// processors that do not know it treat it as a no-op.
inline void prefetch_for_writing(const float* p) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*p));
#else
  __builtin_prefetch(p, 1);
#endif
}

/// AdaGrad (Duchi et al. 2011): each weight has its own step size, rate / √(1 + Σ g²). Every occurrence of a
/// feature is a step of its own.
struct AdaGradRule {
  std::span<float> weights;
  std::span<float> squares;  // [weights]  Σ g²
  float rate;

  [[nodiscard]] WeightView view() const { return {weights, 1.0F}; }
  void begin(std::size_t) const {}
  void change(std::uint32_t w, float g) const {
    squares[w] += g * g;
    weights[w] += rate * g / std::sqrt(1.0F + squares[w]);
  }
  void prefetch(std::uint32_t w) const {
    prefetch_for_writing(weights.data() + w);
    prefetch_for_writing(squares.data() + w);
  }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    float* weight = weights.data() + first;
    float* square = squares.data() + first;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const float g = strength * row[k];
      square[k] += g * g;
      weight[k] += rate * g / std::sqrt(1.0F + square[k]);
    }
  }
};

/// Stochastic gradient descent on loss + λ/2 ‖w‖², with the mean gradient of a batch (Algorithm 1 of Li et
/// al. 2017) and the step size of Pegasos and CRFsuite, η_k = 1 / (λ (t0 + k)). A single multiplication of
/// `scale` shrinks all weights, so a step touches active features only.
struct SgdRule {
  std::span<float> weights;  // the model's weights are these times scale
  double lambda;
  double t0;
  std::int64_t* steps;  // so far, over all passes
  double* scale;
  float gain = 0.0F;

  [[nodiscard]] WeightView view() const { return {weights, static_cast<float>(*scale)}; }
  void begin(std::size_t batch) {
    const double eta = 1.0 / (lambda * (t0 + static_cast<double>((*steps)++)));
    *scale *= 1.0 - eta * lambda;
    // Rescale long before `scale` leaves the range of a float.
    if (*scale < 1e-4) {
      for (float& w : weights) w *= static_cast<float>(*scale);
      *scale = 1.0;
    }
    gain = static_cast<float>(eta / *scale / static_cast<double>(batch));
  }
  void change(std::uint32_t w, float g) const { weights[w] += gain * g; }
  void prefetch(std::uint32_t w) const { prefetch_for_writing(weights.data() + w); }
  void change_row(std::uint32_t first, std::span<const float> row, float strength) const {
    float* weight = weights.data() + first;
    for (std::size_t k = 0; k < row.size(); ++k) weight[k] += gain * strength * row[k];
  }
};

}  // namespace duilian
