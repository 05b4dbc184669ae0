#include "duilian/learn/adagrad.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/learn/parallel.hpp"

namespace duilian {

AdaGrad::AdaGrad(std::int64_t weights, double rate)
    : rate_(rate), squares_(static_cast<std::size_t>(weights)), gradient_(static_cast<std::size_t>(weights)) {
  if (!(rate > 0.0) || !std::isfinite(rate))
    throw std::invalid_argument(concat("the rate must be > 0, got ", rate));
}

void AdaGrad::step(std::span<float> weights) {
  for (const std::int64_t w : touched_) {
    const double g = gradient_[w];
    gradient_[w] = 0.0;
    squares_[w] += static_cast<float>(g * g);
    weights[w] += static_cast<float>(rate_ * g / std::sqrt(1.0 + squares_[w]));
  }
  touched_.clear();
}

double AdaGrad::pass(const Model& model, std::span<float> weights, const FeatureRows& features,
                     std::span<const Example> examples, std::span<const std::int64_t> order,
                     std::size_t batch, std::size_t threads) {
  if (weights.size() != gradient_.size()) throw std::invalid_argument("the weights do not fit the learner");
  if (batch < 1 || threads < 1) throw std::invalid_argument("batch and threads must be at least 1");
  std::vector<ScoreWorkspace> work(threads);
  std::vector<std::vector<Delta>> deltas(batch);
  std::vector<double> losses(batch);
  double total = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += batch) {
    const std::size_t count = std::min(batch, order.size() - begin);
    for_each_piece(count, threads, [&](std::size_t thread, std::size_t k) {
      deltas[k].clear();
      losses[k] = add_gradient(model, weights, features, examples[order[begin + k]], work[thread], deltas[k]);
    });
    for (std::size_t k = 0; k < count; ++k) {
      total += losses[k];
      for (const Delta& delta : deltas[k]) {
        // A weight may be noted twice when its sum passes through zero; the second step then finds zero.
        if (gradient_[delta.weight] == 0.0) touched_.push_back(delta.weight);
        gradient_[delta.weight] += delta.value;
      }
    }
    if (!std::isfinite(total)) throw std::runtime_error("the loss is not finite; try a smaller rate");
    step(weights);
  }
  return total;
}

}  // namespace duilian
