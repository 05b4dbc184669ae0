// Averaged passive-aggressive learning (PA-I, Crammer et al. 2006), which Qiu et al. (2012) apply to
// structures. Round k finds the best answer to an example and moves the weights just far enough for gold to
// win by the cost, but by at most C times the difference Δ = Φ(gold) - Φ(guess) (Eq. 6-11):
//   ℓ = max(0, cost - w·Δ),   w ← w + τ Δ,   τ = min(C, ℓ / ‖Δ‖²).
// The result is the mean of the weights after each round. It is exact, although a round touches only the
// weights in Δ: a change made in round k is missing from the k - 1 rounds before it, so
//   mean of K rounds = w - 1/K Σ_k (k - 1) τ_k Δ_k,
// where the sum, here called the lag, is updated with each change.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "duilian/concat.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// Adds up the entries for the same weight and drops those that cancel; the rest is sorted by weight.
inline void merge(std::vector<Delta>& difference) {
  std::sort(difference.begin(), difference.end(),
            [](const Delta& a, const Delta& b) { return a.weight < b.weight; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < difference.size();) {
    Delta sum = difference[k];
    for (++k; k < difference.size() && difference[k].weight == sum.weight; ++k)
      sum.value += difference[k].value;
    if (sum.value != 0.0F) difference[kept++] = sum;
  }
  difference.resize(kept);
}

/// The rule with its state from round to round; independent of any model.
struct PassiveAggressiveRule {
  std::span<float> weights;
  std::span<double> lag;  // [weights]
  double aggressiveness;  // C
  std::int64_t* rounds;   // so far, over all passes

  [[nodiscard]] WeightView view() const { return {weights, 1.0F}; }

  /// One round. `difference` may name a weight several times and is merged here; if it cancels out, nothing
  /// changes. Returns the loss before the step.
  double step(double cost, std::vector<Delta>& difference) const {
    const auto before = static_cast<double>((*rounds)++);
    merge(difference);
    if (difference.empty()) return 0.0;
    double margin = 0.0;
    double norm = 0.0;
    for (const Delta& d : difference) {
      margin += static_cast<double>(weights[d.weight]) * d.value;
      norm += static_cast<double>(d.value) * d.value;
    }
    const double loss = std::max(0.0, cost - margin);
    const double tau = std::min(aggressiveness, loss / norm);
    for (const Delta& d : difference) {
      const double change = tau * d.value;
      weights[d.weight] += static_cast<float>(change);
      lag[d.weight] += before * change;
    }
    return loss;
  }
};

/// The mean of the weights after each round.
[[nodiscard]] inline std::vector<float> mean_weights(std::span<const float> weights,
                                                     std::span<const double> lag, std::int64_t rounds) {
  if (weights.size() != lag.size()) throw std::invalid_argument("the lag does not match the weights");
  std::vector<float> mean(weights.begin(), weights.end());
  for (std::size_t w = 0; rounds > 0 && w < mean.size(); ++w) {
    mean[w] = static_cast<float>(weights[w] - lag[w] / static_cast<double>(rounds));
  }
  return mean;
}

/// What this learner requires of a model. An example may be answered in several ways (given all that is known
/// about it, or only part): there are answers(i) of them, each a round of its own. respond() finds the
/// answer, adds Φ(gold) and -Φ(guess) to the empty `difference`, and returns the cost of the guess: the
/// margin by which gold must win.
template <class M>
concept StructuredModel = requires(const M& model, WeightView weights, std::int64_t i, std::size_t answer,
                                   typename M::Work& work, std::vector<Delta>& difference) {
  { model.weights() } -> std::convertible_to<std::int64_t>;
  { model.answers(i) } -> std::convertible_to<std::size_t>;
  { model.respond(weights, i, answer, work, difference) } -> std::convertible_to<double>;
};

struct DenseDifference {
  double cost;
  std::vector<double> difference;  // [weights]
};

/// The cost of an answer, and Φ(gold) - Φ(guess) as a dense vector, for tests.
template <StructuredModel M>
[[nodiscard]] DenseDifference dense_difference(const M& model, std::span<const float> weights,
                                               std::int64_t example, std::size_t answer) {
  check_weights(model, weights.size());
  typename M::Work work;
  std::vector<Delta> found;
  const double cost = model.respond({weights, 1.0F}, example, answer, work, found);
  std::vector<double> dense(weights.size(), 0.0);
  for (const Delta& delta : found) dense[delta.weight] += delta.value;
  return {cost, std::move(dense)};
}

/// One pass over the examples in this order; returns the summed loss.
template <StructuredModel M>
double run_pass(const M& model, const PassiveAggressiveRule& rule, std::span<const std::int64_t> order) {
  check_weights(model, rule.weights.size());
  check_weights(model, rule.lag.size());
  if (!(rule.aggressiveness > 0.0))
    throw std::invalid_argument(concat("the aggressiveness must be above 0, got ", rule.aggressiveness));
  typename M::Work work;
  std::vector<Delta> difference;
  double total = 0.0;
  for (const std::int64_t example : order) {
    for (std::size_t answer = 0; answer < model.answers(example); ++answer) {
      difference.clear();
      const double cost = model.respond(rule.view(), example, answer, work, difference);
      total += rule.step(cost, difference);
    }
  }
  if (!std::isfinite(total)) throw std::runtime_error("the loss is not finite");
  return total;
}

}  // namespace duilian
