// Compares the averaged passive-aggressive learner with a naive loop that changes every weight in every round
// and adds up all weights after each.
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "random.hpp"

namespace testing {

/// Multiclass examples with features of their own, some of them twice: the smallest possible structure.
struct MulticlassModel {
  struct Work {};
  std::int32_t classes = 3;
  std::int32_t features = 4;
  std::vector<std::vector<std::int32_t>> active;  // [examples]
  std::vector<std::int32_t> gold;                 // [examples]
  std::size_t repeats = 1;                        // answers to each example

  [[nodiscard]] std::int64_t weights() const { return static_cast<std::int64_t>(classes) * features; }
  [[nodiscard]] std::size_t answers(std::int64_t) const { return repeats; }
  [[nodiscard]] std::uint32_t weight(std::int32_t feature, std::int32_t label) const {
    return static_cast<std::uint32_t>(feature * classes + label);
  }
  template <class Weights>
  [[nodiscard]] std::int32_t best(const Weights& weights, std::int64_t i) const {
    // If rounding broke a tie differently here and in the twin, they would diverge.
    constexpr double kTie = 1e-5;
    std::vector<double> score(static_cast<std::size_t>(classes), 0.0);
    std::int32_t found = 0;
    for (std::int32_t c = 0; c < classes; ++c) {
      for (const std::int32_t f : active[i]) score[c] += weights[weight(f, c)];
      if (score[c] > score[found] + kTie) found = c;
    }
    return found;
  }
  double respond(duilian::WeightView weights, std::int64_t i, std::size_t, Work&,
                 std::vector<duilian::Delta>& difference) const {
    const std::int32_t guess = best(weights, i);
    for (const std::int32_t f : active[i]) {
      difference.push_back({weight(f, gold[i]), 1.0F});
      difference.push_back({weight(f, guess), -1.0F});
    }
    return 1.0;
  }
};

[[nodiscard]] inline MulticlassModel random_multiclass(Random& random, std::int64_t examples) {
  MulticlassModel out;
  out.repeats = random.chance(0.5) ? 1 : 2;
  for (std::int64_t i = 0; i < examples; ++i) {
    std::vector<std::int32_t> active(1 + static_cast<std::size_t>(random.below(4)));
    for (auto& f : active) f = static_cast<std::int32_t>(random.below(out.features));
    out.active.push_back(active);
    out.gold.push_back(static_cast<std::int32_t>(random.below(out.classes)));
  }
  return out;
}

struct NaiveAverage {
  std::vector<double> weights, mean;
  double loss = 0.0;
};

/// Qiu et al. (2012), Algorithm 1, as printed.
[[nodiscard]] inline NaiveAverage naive_passive_aggressive(const MulticlassModel& model, double cap,
                                                           int passes) {
  const auto size = static_cast<std::size_t>(model.weights());
  NaiveAverage out{std::vector<double>(size), std::vector<double>(size)};
  double rounds = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t k = 0; k < model.active.size() * model.repeats; ++k) {
      const auto i = static_cast<std::int64_t>(k / model.repeats);
      const std::int32_t guess = model.best(out.weights, i);
      std::vector<double> delta(size, 0.0);
      for (const std::int32_t f : model.active[i]) {
        delta[model.weight(f, model.gold[i])] += 1.0;
        delta[model.weight(f, guess)] -= 1.0;
      }
      double margin = 0.0;
      double norm = 0.0;
      for (std::size_t w = 0; w < size; ++w) {
        margin += out.weights[w] * delta[w];
        norm += delta[w] * delta[w];
      }
      if (guess != model.gold[i]) {
        const double loss = std::max(0.0, 1.0 - margin);
        out.loss += loss;
        for (std::size_t w = 0; w < size; ++w) out.weights[w] += std::min(cap, loss / norm) * delta[w];
      }
      rounds += 1.0;
      for (std::size_t w = 0; w < size; ++w) out.mean[w] += out.weights[w];
    }
  }
  for (double& w : out.mean) w /= rounds;
  return out;
}

}  // namespace testing

TEST(passive_aggressive_learning_equals_the_naive_loop) {
  testing::for_each_seed(60, [](testing::Random& random) {
    const testing::MulticlassModel model = testing::random_multiclass(random, 12);
    const auto size = static_cast<std::size_t>(model.weights());
    const double cap = random.chance(0.5) ? 0.25 : 0.03;
    std::vector<float> weights(size, 0.0F);
    std::vector<double> lag(size, 0.0);
    std::int64_t rounds = 0;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < 12; ++i) order.push_back(i);
    double loss = 0.0;
    constexpr int kPasses = 2;
    for (int pass = 0; pass < kPasses; ++pass) {
      loss += run_pass(model, duilian::PassiveAggressiveRule{weights, lag, cap, &rounds}, order);
    }
    const testing::NaiveAverage wanted = testing::naive_passive_aggressive(model, cap, kPasses);
    CHECK(rounds == static_cast<std::int64_t>(kPasses * 12 * model.repeats));
    CHECK_NEAR(loss, wanted.loss, 1e-4);
    const auto mean = duilian::mean_weights(weights, lag, rounds);
    for (std::size_t w = 0; w < size; ++w) {
      CHECK_NEAR(weights[w], wanted.weights[w], 1e-5);
      CHECK_NEAR(mean[w], wanted.mean[w], 1e-5);
    }
  });
}

TEST(a_passive_aggressive_step_reaches_the_margin_or_the_cap) {
  std::vector<float> weights(3, 0.0F);
  std::vector<double> lag(3, 0.0);
  std::int64_t rounds = 0;
  std::vector<duilian::Delta> difference{{2, -1.0F}, {0, 1.0F}, {0, 1.0F}, {1, 1.0F}, {1, -1.0F}};
  // ‖Δ‖² = 2² + 1² and τ = 1/5: the new margin is exactly the cost.
  CHECK_NEAR((duilian::PassiveAggressiveRule{weights, lag, 1.0, &rounds}.step(1.0, difference)), 1.0, 0.0);
  CHECK(difference.size() == 2);
  CHECK_NEAR(weights[0] * 2.0F - weights[2], 1.0, 1e-6);
  CHECK(weights[1] == 0.0F);
  // The margin is reached: no loss, no change. With a higher cost, the cap limits the step.
  CHECK_NEAR((duilian::PassiveAggressiveRule{weights, lag, 1.0, &rounds}.step(1.0, difference)), 0.0, 1e-6);
  CHECK_NEAR((duilian::PassiveAggressiveRule{weights, lag, 0.01, &rounds}.step(9.0, difference)), 8.0, 1e-6);
  CHECK_NEAR(weights[0], 0.42, 1e-6);
  CHECK(rounds == 3);
  const auto mean = duilian::mean_weights(weights, lag, rounds);
  CHECK_NEAR(mean[0], (0.4 + 0.4 + 0.42) / 3.0, 1e-6);
}

TEST(a_passive_aggressive_pass_refuses_bad_arguments) {
  testing::Random random(1);
  const testing::MulticlassModel model = testing::random_multiclass(random, 1);
  std::vector<float> weights(static_cast<std::size_t>(model.weights()), 0.0F);
  std::vector<double> lag(weights.size(), 0.0);
  std::int64_t rounds = 0;
  const std::vector<std::int64_t> order{0};
  using Rule = duilian::PassiveAggressiveRule;
  CHECK_THROWS(run_pass(model, Rule{std::span(weights).first(1), lag, 1.0, &rounds}, order),
               std::invalid_argument);
  CHECK_THROWS(run_pass(model, Rule{weights, std::span(lag).first(1), 1.0, &rounds}, order),
               std::invalid_argument);
  CHECK_THROWS(run_pass(model, Rule{weights, lag, 0.0, &rounds}, order), std::invalid_argument);
}
