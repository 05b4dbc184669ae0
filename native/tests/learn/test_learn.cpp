// Compares learners with naive loops and with what they promise: stochastic gradient descent step by step,
// the dual of exponentiated gradient with its primal, and threads that pass on work and exceptions.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/exponentiated.hpp"
#include "duilian/learn/rules.hpp"
#include "duilian/parallel.hpp"
#include "random.hpp"
#include "random_tagger.hpp"

using namespace duilian;

namespace {

using Order = std::vector<std::int64_t>;

[[nodiscard]] Order backwards(std::int64_t count) {
  Order out(static_cast<std::size_t>(count));
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

[[nodiscard]] testing::TaggerCase tagger(testing::Random& random, testing::Annotation annotation,
                                         std::int32_t sentences) {
  const auto kind = static_cast<testing::RuleKind>(random.below(testing::kRuleKinds));
  return testing::random_tagger(random, {kind, annotation, sentences});
}

struct SgdSettings {
  double lambda;
  double t0;
  int passes;
};

/// The model's weights after some passes; `losses` receives the summed losses.
[[nodiscard]] std::vector<float> sgd_weights(const testing::TaggerCase& x, SgdSettings settings,
                                             PassOptions options, std::vector<double>& losses) {
  std::vector<float> weights = x.weights;
  std::int64_t steps = 0;
  double scale = 1.0;
  const TaggingObjective objective(x.layout, x.data);
  const Order order = backwards(x.sentences());
  for (int pass = 0; pass < settings.passes; ++pass) {
    SgdRule rule{weights, settings.lambda, settings.t0, &steps, &scale};
    losses.push_back(run_pass(objective, rule, order, options));
  }
  for (float& w : weights) w *= static_cast<float>(scale);
  return weights;
}

/// w ← (1 - ηλ) w + η · mean gradient of the batch, every weight in every step.
[[nodiscard]] std::vector<double> naive_sgd_weights(testing::TaggerCase x, SgdSettings settings,
                                                    std::size_t batch, std::vector<double>& losses) {
  std::vector<double> weights(x.weights.begin(), x.weights.end());
  std::vector<double> direction;
  const Order order = backwards(x.sentences());
  double steps = 0.0;
  for (int pass = 0; pass < settings.passes; ++pass) {
    losses.push_back(0.0);
    for (std::size_t begin = 0; begin < order.size(); begin += batch) {
      const std::size_t end = std::min(begin + batch, order.size());
      std::vector<double> sum(weights.size(), 0.0);
      for (std::size_t k = begin; k < end; ++k) {
        losses.back() += testing::tagger_gradient(x, order[k], direction);
        for (std::size_t w = 0; w < sum.size(); ++w) sum[w] += direction[w];
      }
      const double eta = 1.0 / (settings.lambda * (settings.t0 + steps++));
      for (std::size_t w = 0; w < weights.size(); ++w) {
        weights[w] =
            (1.0 - eta * settings.lambda) * weights[w] + eta * sum[w] / static_cast<double>(end - begin);
        x.weights[w] = static_cast<float>(weights[w]);
      }
    }
  }
  return weights;
}

/// Σ_i -log p(gold_i) + C/2 ‖w‖², by definition.
[[nodiscard]] double primal(testing::TaggerCase x, const std::vector<double>& weights, double penalty) {
  double total = 0.5 * penalty * std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
  for (std::size_t w = 0; w < weights.size(); ++w) x.weights[w] = static_cast<float>(weights[w]);
  for (std::int64_t k = 0; k < x.sentences(); ++k) total += testing::defined_loss(x, k);
  return total;
}

}  // namespace

TEST(sgd_equals_the_naive_loop) {
  testing::for_each_seed(30, [](testing::Random& random) {
    const auto annotation = random.chance(0.5) ? testing::Annotation::full : testing::Annotation::partial;
    const testing::TaggerCase x = tagger(random, annotation, 7);
    const SgdSettings settings{0.1, 20.0, 4};
    for (const std::size_t batch : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{20}}) {
      std::vector<double> losses;
      std::vector<double> naive_losses;
      const auto found = sgd_weights(x, settings, {batch, 2}, losses);
      const auto wanted = naive_sgd_weights(x, settings, batch, naive_losses);
      for (std::size_t w = 0; w < wanted.size(); ++w) CHECK_NEAR(found[w], wanted[w], 1e-4);
      for (std::size_t n = 0; n < losses.size(); ++n) CHECK_NEAR(losses[n], naive_losses[n], 1e-3);
    }
  });
}

TEST(sgd_restarts_a_scale_that_has_shrunk) {
  // With t0 = 1, the first step erases all weights at once, and the scale restarts.
  testing::for_each_seed(10, [](testing::Random& random) {
    const testing::TaggerCase x = tagger(random, testing::Annotation::full, 4);
    std::vector<double> losses;
    const SgdSettings settings{1.0, 1.0, 3};
    const auto found = sgd_weights(x, settings, {2, 1}, losses);
    const auto wanted = naive_sgd_weights(x, settings, 2, losses);
    for (std::size_t w = 0; w < wanted.size(); ++w) CHECK_NEAR(found[w], wanted[w], 1e-4);
  });
  std::vector<float> weights = {1.0F, -2.0F};
  std::int64_t steps = 0;
  double scale = 1.0;
  SgdRule rule{weights, 0.5, 2.0, &steps, &scale};
  double shrunk = 1.0;
  for (int n = 0; n < 5000; ++n) {
    rule.begin(1);
    shrunk *= 1.0 - 1.0 / (2.0 + n);
    CHECK(scale >= 1e-4 && scale <= 1.0);
    CHECK_NEAR(rule.view()[1], -2.0 * shrunk, 1e-5 * shrunk);
  }
}

TEST(sgd_is_the_same_for_any_number_of_threads) {
  testing::for_each_seed(8, [](testing::Random& random) {
    const testing::TaggerCase x = tagger(random, testing::Annotation::partial, 20);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{6}}) {
      std::vector<double> losses[2];
      const auto alone = sgd_weights(x, {0.1, 20.0, 2}, {batch, 1}, losses[0]);
      for (const std::size_t threads : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
        losses[1].clear();
        const auto together = sgd_weights(x, {0.1, 20.0, 2}, {batch, threads}, losses[1]);
        CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
        CHECK(losses[0] == losses[1]);
      }
    }
  });
}

TEST(a_loss_that_is_not_finite_ends_the_pass) {
  testing::Random random(2);
  testing::TaggerCase x =
      testing::random_tagger(random, {testing::RuleKind::blocks, testing::Annotation::full, 2});
  x.data.label[0] = 0;  // E cannot begin a sentence
  std::vector<double> losses;
  CHECK_THROWS_WITH(sgd_weights(x, {0.1, 20.0, 1}, {1, 2}, losses), std::runtime_error,
                    "the loss is not finite");
}

TEST(every_entry_of_a_gradient_is_in_one_share) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const testing::TaggerCase x = tagger(random, testing::Annotation::partial, 1);
    const TaggingObjective objective(x.layout, x.data);
    TaggingObjective::Work work;
    Gradient found;
    found.dense.assign(static_cast<std::size_t>(objective.dense()), 0.0);
    static_cast<void>(objective.compute(objective.prepare(x.view()), x.view(), 0, work, found));
    for (std::size_t threads = 1; threads <= 4; ++threads) {
      std::vector<double> sum(x.weights.size(), 0.0);
      std::vector<std::size_t> owner(x.weights.size(), threads);
      for (std::size_t thread = 0; thread < threads; ++thread) {
        std::vector<Delta> entries;
        Collector collector{entries};
        objective.apply(0, found, Share(thread, threads), collector);
        for (const Delta& delta : entries) {
          CHECK(owner[delta.weight] == threads || owner[delta.weight] == thread);
          owner[delta.weight] = thread;
          sum[delta.weight] += delta.value;
        }
      }
      std::vector<double> wanted;
      static_cast<void>(testing::tagger_gradient(x, 0, wanted));
      for (auto w = static_cast<std::size_t>(objective.dense()); w < sum.size(); ++w)
        CHECK(sum[w] == wanted[w]);
    }
  });
}

TEST(rules_change_rows_like_single_weights) {
  testing::for_each_seed(20, [](testing::Random& random) {
    std::vector<float> start(40);
    std::vector<float> row(static_cast<std::size_t>(1 + random.below(30)));
    for (float& w : start) w = static_cast<float>(random.real(-1.0, 1.0));
    for (float& g : row) g = random.chance(0.3) ? 0.0F : static_cast<float>(random.real(-1.0, 1.0));
    const auto compare = [&](const auto& make_rule) {
      std::vector<float> by_row = start;
      std::vector<float> one_by_one = start;
      std::vector<float> squares[2] = {std::vector<float>(40, 0.5F), std::vector<float>(40, 0.5F)};
      make_rule(by_row, squares[0]).change_row(5, row, -0.75F);
      for (std::size_t k = 0; k < row.size(); ++k) {
        make_rule(one_by_one, squares[1]).change(static_cast<std::uint32_t>(5 + k), -0.75F * row[k]);
      }
      for (std::size_t w = 0; w < start.size(); ++w) {
        CHECK_NEAR(by_row[w], one_by_one[w], 1e-6);
        CHECK_NEAR(squares[0][w], squares[1][w], 1e-6);
      }
    };
    compare([](std::span<float> w, std::span<float> squares) { return AdaGradRule{w, squares, 0.25F}; });
    std::int64_t steps = 0;
    double scale = 1.0;
    compare(
        [&](std::span<float> w, std::span<float>) { return SgdRule{w, 0.1, 20.0, &steps, &scale, 0.5F}; });
  });
}

TEST(exponentiated_gradient_never_lowers_the_dual) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const testing::TaggerCase x = tagger(random, testing::Annotation::full, 5);
    const double penalty = random.real(0.2, 3.0);
    ExponentiatedGradient learner(x.layout, x.data, penalty);
    double before = learner.dual();
    for (int pass = 0; pass < 15; ++pass) {
      learner.pass(backwards(x.sentences()));
      CHECK(learner.dual() >= before - 1e-6);
      CHECK(learner.dual() <= primal(x, learner.weights(), penalty) + 1e-5);
      before = learner.dual();
    }
  });
}

TEST(exponentiated_gradient_meets_the_primal) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const testing::TaggerCase x = tagger(random, testing::Annotation::full, 4);
    ExponentiatedGradient learner(x.layout, x.data, 1.0);
    for (int pass = 0; pass < 400; ++pass) learner.pass(backwards(x.sentences()));
    CHECK_NEAR(learner.dual(), primal(x, learner.weights(), 1.0), 1e-3);
    // At the optimum, the gradient of the loss cancels that of the penalty.
    testing::TaggerCase there = x;
    for (std::size_t w = 0; w < x.weights.size(); ++w)
      there.weights[w] = static_cast<float>(learner.weights()[w]);
    std::vector<double> sum(x.weights.size(), 0.0);
    std::vector<double> direction;
    for (std::int64_t k = 0; k < x.sentences(); ++k) {
      static_cast<void>(testing::tagger_gradient(there, k, direction));
      for (std::size_t w = 0; w < sum.size(); ++w) sum[w] += direction[w];
    }
    for (std::size_t w = 0; w < sum.size(); ++w) CHECK_NEAR(sum[w], learner.weights()[w], 2e-2);
  });
}

TEST(bad_settings_of_exponentiated_gradient_are_refused) {
  testing::Random random(4);
  testing::TaggerCase x = tagger(random, testing::Annotation::full, 3);
  CHECK_THROWS_WITH(ExponentiatedGradient(x.layout, x.data, 0.0), std::invalid_argument,
                    "the penalty must be above 0, got 0");
  CHECK_THROWS_WITH(ExponentiatedGradient(x.layout, x.data, std::nan("")), std::invalid_argument,
                    "the penalty");
  x.data.label[0] = -1;
  CHECK_THROWS_WITH(ExponentiatedGradient(x.layout, x.data, 1.0), std::invalid_argument,
                    "exponentiated gradient needs");
}

TEST(sentences_without_units_do_no_harm) {
  testing::Random random(4);
  testing::TaggerCase x = tagger(random, testing::Annotation::full, 3);
  ExponentiatedGradient without(x.layout, x.data, 1.0);
  without.pass(Order{0, 1, 2});
  x.data.first.insert(x.data.first.begin(), 0);
  ExponentiatedGradient with(x.layout, x.data, 1.0);
  with.pass(Order{0, 1, 2, 3});
  CHECK(with.weights() == without.weights() && with.dual() == without.dual());
}

TEST(teams_do_every_piece_once) {
  for (std::size_t threads = 1; threads <= 4; ++threads) {
    Team team(threads);
    CHECK(team.size() == threads);
    for (std::size_t run = 0; run < 300; ++run) {
      const std::size_t pieces = run % 17;
      std::vector<int> done(pieces, 0);
      team.for_each(pieces,
                    [&](std::size_t thread, std::size_t piece) { done[piece] += thread < threads ? 1 : 99; });
      CHECK(std::count(done.begin(), done.end(), 1) == static_cast<std::ptrdiff_t>(pieces));
    }
  }
}

TEST(teams_call_every_thread_once_per_run) {
  for (std::size_t threads = 1; threads <= 4; ++threads) {
    Team team(threads);
    std::vector<int> calls(threads, 0);
    for (int run = 0; run < 500; ++run) team.run([&](std::size_t thread) { ++calls[thread]; });
    CHECK(std::count(calls.begin(), calls.end(), 500) == static_cast<std::ptrdiff_t>(threads));
  }
  CHECK_THROWS(Team(0), std::invalid_argument);
}

TEST(a_team_survives_exceptions_that_reach_the_caller) {
  for (std::size_t threads = 1; threads <= 4; ++threads) {
    Team team(threads);
    for (std::size_t bad = 0; bad < threads; ++bad) {
      const auto fails = [&](std::size_t thread) {
        if (thread == bad) throw std::out_of_range("thread " + std::to_string(bad));
      };
      CHECK_THROWS_WITH(team.run(fails), std::out_of_range, "thread " + std::to_string(bad));
      std::atomic<int> calls{0};
      team.run([&](std::size_t) { ++calls; });
      CHECK(calls == static_cast<int>(threads));
    }
    const auto all_fail = [](std::size_t) { throw std::domain_error("all"); };
    for (int run = 0; run < 50; ++run) CHECK_THROWS_WITH(team.run(all_fail), std::domain_error, "all");
  }
}

TEST(teams_come_and_go) {
  for (int n = 0; n < 100; ++n) {
    const Team idle(1 + static_cast<std::size_t>(n % 4));
    Team busy(1 + static_cast<std::size_t>(n % 3));
    std::atomic<int> sum{0};
    busy.for_each(10, [&](std::size_t, std::size_t piece) { sum += static_cast<int>(piece); });
    CHECK(sum == 45);
  }
}
