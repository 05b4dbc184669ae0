// AdaGrad (Duchi et al. 2011) on mini-batches: each weight has its own step, rate / √(1 + Σ g²).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/score/score.hpp"

namespace duilian {

/// A batch's sentences are computed in parallel and added up in their order, so that the weights are the
/// same for any number of threads.
class AdaGrad {
 public:
  AdaGrad(std::int64_t weights, double rate);

  /// One pass over the examples in the given order, `batch` at a time; gives the summed loss.
  double pass(const Model& model, std::span<float> weights, const FeatureRows& features,
              std::span<const Example> examples, std::span<const std::int64_t> order, std::size_t batch,
              std::size_t threads);

 private:
  void step(std::span<float> weights);

  double rate_;
  std::vector<float> squares_;         // [weights]  Σ g²
  std::vector<double> gradient_;       // [weights]  zero between steps
  std::vector<std::int64_t> touched_;  // weights whose gradient is not zero
};

}  // namespace duilian
