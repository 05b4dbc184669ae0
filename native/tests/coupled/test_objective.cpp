// Compares a coupled model in training with its definition: losses by enumeration, gradients by central
// differences, learning with any number of threads, and bad arguments.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/rules.hpp"
#include "random.hpp"
#include "random_coupled.hpp"

using namespace duilian;
using namespace testing;

namespace {

constexpr std::int64_t kCases = 60;

[[nodiscard]] std::vector<float> weights_after(const CoupledCase& x, Pruning pruning, PassOptions options,
                                               std::vector<double>& losses) {
  std::vector<float> weights = x.weights;
  std::vector<float> squares(weights.size());
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.sentences()));
  std::iota(order.rbegin(), order.rend(), 0);
  const CoupledObjective objective(x.layout, x.data, pruning, kNoGap, true);
  for (int pass = 0; pass < 3; ++pass) {
    AdaGradRule rule{weights, squares, 0.25F};
    losses.push_back(run_pass(objective, rule, order, options));
  }
  return weights;
}

}  // namespace

TEST(losses_match_the_definition) {
  CoupledObjective::Work work;  // reused from case to case, as in a thread
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 3));
    std::vector<double> direction;
    for (std::int64_t s = 0; s < x.sentences(); ++s)
      CHECK_NEAR(coupled_gradient(x, kKeepAll, s, work, direction), defined_loss(x, s), 1e-9);
  });
}

TEST(gradients_match_central_differences) {
  testing::for_each_seed(12, [](testing::Random& random) {
    CoupledCase x = random_coupled(random, random_settings(random, 2));
    CoupledObjective::Work work;
    std::vector<double> direction;
    static_cast<void>(coupled_gradient(x, kKeepAll, 0, work, direction));
    for (std::size_t w = 0; w < x.weights.size(); ++w) {
      const float weight = x.weights[w];
      std::vector<double> unused;
      x.weights[w] = weight + kStep;
      const double above = coupled_gradient(x, kKeepAll, 0, work, unused);
      x.weights[w] = weight - kStep;
      const double below = coupled_gradient(x, kKeepAll, 0, work, unused);
      x.weights[w] = weight;
      CHECK_NEAR(direction[w], (below - above) / (2.0 * kStep), 2e-5);
    }
  });
}

TEST(cases_are_of_every_kind) {
  std::map<std::vector<bool>, int> seen;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledSettings s = random_settings(random, 3);
    ++seen[{s.sides == 2, s.is_bound, s.is_mapped, s.annotation == testing::Annotation::full}];
  });
  CHECK(seen.size() == 16);
}

TEST(reused_scratch_memory_does_not_affect_losses) {
  CoupledObjective::Work kept;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 4));
    const Pruning pruning{1 + random.below(3), random.real(0.3, 1.0)};
    for (std::int64_t s = 0; s < x.sentences(); ++s) {
      CoupledObjective::Work fresh;
      std::vector<double> a;
      std::vector<double> b;
      CHECK(coupled_gradient(x, pruning, s, kept, a) == coupled_gradient(x, pruning, s, fresh, b));
      CHECK(a == b);
    }
  });
}

TEST(annotation_survives_pruning) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    CoupledCase x = random_coupled(random, random_settings(random, 4));
    for (float& w : x.weights) w *= 20.0F;
    CoupledObjective::Work work;
    std::vector<double> direction;
    for (std::int64_t s = 0; s < x.sentences(); ++s) {
      const double loss = coupled_gradient(x, {1, 0.5}, s, work, direction);
      CHECK(std::isfinite(loss) && loss >= -1e-9);
    }
  });
}

TEST(sentences_without_units_cost_nothing) {
  testing::Random random(1);
  CoupledCase x = random_coupled(random, {2, true, false, testing::Annotation::full, 2});
  x.data.first.insert(x.data.first.begin(), 0);
  x.data.side.insert(x.data.side.begin(), 1);
  CoupledObjective::Work work;
  std::vector<double> direction;
  CHECK(coupled_gradient(x, kKeepAll, 0, work, direction) == 0.0);
  CHECK(std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0.0; }));
}

TEST(learning_is_the_same_for_any_number_of_threads) {
  testing::for_each_seed(8, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 12));
    for (const std::size_t batch : {std::size_t{1}, std::size_t{5}}) {
      std::vector<double> losses;
      const auto alone = weights_after(x, {2, 0.9}, {batch, 1}, losses);
      for (const std::size_t threads : {std::size_t{2}, std::size_t{3}}) {
        std::vector<double> others;
        const auto together = weights_after(x, {2, 0.9}, {batch, threads}, others);
        CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
        CHECK(losses == others);
      }
    }
  });
}

TEST(every_entry_of_a_gradient_is_in_one_share) {
  testing::for_each_seed(15, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 1));
    const CoupledObjective objective(x.layout, x.data, {2, 0.95}, kNoGap, true);
    CoupledObjective::Work work;
    Gradient found;
    static_cast<void>(objective.compute(objective.prepare(x.view()), x.view(), 0, work, found));
    std::vector<double> wanted;
    CoupledObjective::Work other;
    static_cast<void>(coupled_gradient(x, {2, 0.95}, 0, other, wanted));
    for (std::size_t threads = 1; threads <= 3; ++threads) {
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
      CHECK(sum == wanted);
    }
  });
}

TEST(inconsistent_data_are_refused) {
  testing::Random random(3);
  const CoupledCase x = random_coupled(random, {2, false, false, testing::Annotation::full, 3});
  const auto units = static_cast<std::int64_t>(x.data.label.size());
  const auto refuses = [&](const auto& change) {
    CoupledData bad = x.data;
    change(bad);
    CHECK_THROWS(check(bad, x.layout.shape), std::invalid_argument);
  };
  refuses([](CoupledData& d) { d.side.pop_back(); });
  refuses([](CoupledData& d) { d.side[0] = 2; });
  refuses([](CoupledData& d) { d.side[0] = -1; });
  refuses([](CoupledData& d) { d.label[0] = 9; });
  refuses([](CoupledData& d) { d.first.back() -= 1; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units)}; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), all_labels(9, units)}; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), all_labels(1, units - 1)}; });
  // Candidates for only some sides would be read past their end.
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), TagSets{}}; });
  refuses([&](CoupledData& d) {
    d.label[0] = -1;
    d.sets = all_labels(9, units);
  });
  const auto lay_out = [&](const CoupledData& data, std::vector<TagSets> latent) {
    return lay_out_coupled(make_shape(x.layout.shape.labels, x.layout.shape.rules, {}), x.layout.separate,
                           data, latent, {{0, 1}}, {1, 9, 9});
  };
  CHECK_THROWS(lay_out(x.data, {}), std::invalid_argument);
  CHECK_THROWS(lay_out(x.data, {all_labels(1, units), TagSets{}}), std::invalid_argument);
  CoupledData wide = x.data;
  wide.features.value.assign(wide.features.value.size(), 1000);
  if (!wide.features.value.empty())
    CHECK_THROWS(lay_out(wide, {all_labels(1, units), all_labels(1, units)}), std::invalid_argument);
}

TEST(bad_passes_are_refused) {
  testing::Random random(3);
  const CoupledCase x = random_coupled(random, {2, false, false, testing::Annotation::full, 3});
  std::vector<double> losses;
  CHECK_THROWS(weights_after(x, kKeepAll, {0, 1}, losses), std::invalid_argument);
  CHECK_THROWS(weights_after(x, kKeepAll, {1, 0}, losses), std::invalid_argument);
}
