// A linear model against its definition: path scores summed weight by weight, gradients by central
// differences, AdaGrad against its formula and for any number of threads.
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
#include "duilian/learn/decode.hpp"
#include "duilian/learn/rules.hpp"
#include "duilian/score/model.hpp"
#include "duilian/score/score.hpp"
#include "random.hpp"
#include "random_model.hpp"
#include "test_lines.hpp"  // one program for the whole part
#include "test_predictor.hpp"
#include "test_tagging.hpp"

using namespace duilian;

namespace {

constexpr std::int64_t kCases = 120;

/// The loss of an example, and its direction as the learner gets it.
[[nodiscard]] double gradient(const Case& x, const Example& example, Gradient& out) {
  ScoreWorkspace work;
  out.sparse.clear();
  out.dense.assign(static_cast<std::size_t>(x.model.dense), 0.0);
  CoupledObjective::Prepared prepared;
  return add_gradient(CoupledObjective(x.model, x.features, {example}), prepared, x.view(), 0, work, out);
}

/// The same, summed by weight.
[[nodiscard]] double gradient(const Case& x, const Example& example, std::vector<double>& direction) {
  Gradient found;
  const double loss = gradient(x, example, found);
  direction = found.dense;
  direction.resize(x.weights.size());
  for (const Delta& delta : found.sparse) direction[delta.weight] += delta.value;
  return loss;
}

/// Weights that learn from the examples, last one first.
struct Learner {
  const Case& x;
  std::vector<float> weights = x.weights;
  std::vector<float> squares = std::vector<float>(weights.size());

  double pass(PassOptions options) {
    std::vector<std::int64_t> order(x.examples.size());
    std::iota(order.rbegin(), order.rend(), 0);
    AdaGradRule rule{weights, squares, 0.25F};
    return run_pass(CoupledObjective(x.model, x.features, x.examples), rule, order, options);
  }
};

[[nodiscard]] std::vector<float> weights_after(const Case& x, PassOptions options) {
  Learner learner{x};
  for (int pass = 0; pass < 3; ++pass) static_cast<void>(learner.pass(options));
  return learner.weights;
}

[[nodiscard]] bool are_same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST(path_scores_are_those_of_the_definition) {
  ScoreWorkspace work;  // kept from case to case, as a thread keeps it
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const Case x = random_case(random, 2);
    for (const Example& example : x.examples) {
      const Lattice& lattice = example.possible;
      const ScoredLattice scored =
          score_lattice(x.model, x.view(), x.features, example.first_unit, lattice, work);
      testing::for_each_path(lattice, [&](const std::vector<std::int32_t>& path) {
        CHECK_NEAR(path_score({lattice, scored.state, scored.between}, path),
                   defined_score(x, lattice, example.first_unit, path), 1e-12);
      });
    }
  });
}

TEST(gradients_are_central_differences) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    Case x = random_case(random, 1);
    std::vector<double> direction;
    const double loss = gradient(x, x.examples[0], direction);
    CHECK_NEAR(loss, defined_loss(x, x.examples[0]), 1e-10);
    for (std::size_t w = 0; w < x.weights.size(); ++w) {
      const float weight = x.weights[w];
      x.weights[w] = weight + kStep;
      const double above = defined_loss(x, x.examples[0]);
      x.weights[w] = weight - kStep;
      const double below = defined_loss(x, x.examples[0]);
      x.weights[w] = weight;
      CHECK_NEAR(direction[w], (below - above) / (2.0 * kStep), 1e-5);
    }
  });
}

TEST(cases_are_of_every_kind) {
  std::map<std::pair<std::size_t, bool>, int> seen;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const Case x = random_case(random, 1);
    ++seen[{x.tags.size(), x.model.joint.has_value()}];
  });
  CHECK(seen.size() == 6);
}

TEST(what_is_certain_costs_nothing) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const Case x = random_case(random, 1);
    Example example = x.examples[0];
    std::vector<double> direction;
    CHECK(gradient(x, example, direction) >= -1e-12);
    example.possible = example.correct;
    CHECK_NEAR(gradient(x, example, direction), 0.0, 0.0);
    for (const double d : direction) CHECK_NEAR(d, 0.0, 1e-6);
  });
}

TEST(an_empty_example_costs_nothing) {
  testing::Random random(1);
  Case x = random_case(random, 1);
  Example empty;
  empty.possible.sides = empty.correct.sides = x.examples[0].possible.sides;
  std::vector<double> direction;
  CHECK(gradient(x, empty, direction) == 0.0);
}

TEST(every_weight_has_one_place) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const Case x = random_case(random, 2);
    std::vector<int> used(static_cast<std::size_t>(x.model.weights));
    const auto use = [&](std::int64_t at, std::int64_t count) {
      for (std::int64_t w = at; w < at + count; ++w) ++used.at(static_cast<std::size_t>(w));
    };
    for (const Part& part : x.model.separate) {
      use(part.state_at, static_cast<std::int64_t>(part.label.size()));
      use(part.transition_at, std::int64_t{part.labels + 1} * (part.labels + 1));
      CHECK(part.transition_at < x.model.dense && part.state_at >= x.model.dense);
    }
    if (x.model.joint) {
      use(x.model.joint->state_at, static_cast<std::int64_t>(x.model.joint->label.size()));
      use(x.model.joint->transition_at, static_cast<std::int64_t>(x.model.joint->transitions.size()));
    }
    CHECK(std::count(used.begin(), used.end(), 1) == x.model.weights);
  });
}

TEST(learning_is_the_same_for_any_number_of_threads) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const Case x = random_case(random, 25);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{30}}) {
      const auto alone = weights_after(x, {batch, 1});
      CHECK(are_same_bytes(alone, weights_after(x, {batch, 2})));
      CHECK(are_same_bytes(alone, weights_after(x, {batch, 3})));
    }
  });
}

TEST(adagrad_follows_its_formula) {
  testing::for_each_seed(20, [](testing::Random& random) {
    Case x = random_case(random, 4);
    const auto found = weights_after(x, {2, 2});
    std::vector<double> squares(x.weights.size());
    const auto change = [&](std::size_t w, double g) {
      squares[w] += g * g;
      x.weights[w] += static_cast<float>(0.25 * g / std::sqrt(1.0 + squares[w]));
    };
    for (const std::size_t last : {3, 1, 3, 1, 3, 1}) {
      Gradient of[2];
      for (const std::size_t k : {0, 1}) static_cast<void>(gradient(x, x.examples[last - k], of[k]));
      for (const Gradient& one : of) {
        for (const Delta& delta : one.sparse) change(delta.weight, delta.value);
      }
      for (std::size_t w = 0; w < of[0].dense.size(); ++w) change(w, of[0].dense[w] + of[1].dense[w]);
    }
    for (std::size_t w = 0; w < found.size(); ++w) CHECK_NEAR(found[w], x.weights[w], 1e-5);
  });
}

TEST(learning_lowers_the_loss) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const Case x = random_case(random, 5);
    Learner learner{x};
    const double before = learner.pass({5, 1});
    for (int n = 0; n < 30; ++n) static_cast<void>(learner.pass({5, 1}));
    CHECK(learner.pass({5, 1}) <= before + 1e-6);
  });
}

TEST(decoding_finds_the_best_path_and_the_likeliest_tags) {
  ScoreWorkspace work;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const Case x = random_case(random, 1);
    const Lattice& lattice = x.examples[0].possible;
    const std::size_t sides = x.tags.size();
    std::vector<std::int32_t> best;
    double highest = kForbidden;
    std::vector<std::map<TagId, double>> mass(lattice.positions() * sides);
    testing::for_each_path(lattice, [&](const std::vector<std::int32_t>& path) {
      const double score = defined_score(x, lattice, 0, path);
      if (score > highest) best = path;
      highest = std::max(highest, score);
      for (std::size_t n = 0; n < mass.size(); ++n)
        mass[n][lattice.bundle(path[n / sides])[n % sides]] += std::exp(score);
    });
    const ScoredLattice scored = score_lattice(x.model, x.view(), x.features, 0, lattice, work);
    const auto by_path = decode_path(scored, lattice, work);
    const auto by_marginals = decode_marginals(x.model, scored, lattice, work);
    CHECK(by_path.size() == mass.size() && by_marginals.size() == mass.size());
    const auto is_lower = [](const auto& a, const auto& b) { return a.second < b.second; };
    for (std::size_t n = 0; n < mass.size(); ++n) {
      CHECK(by_path[n] == lattice.bundle(best[n / sides])[n % sides]);
      const double most = std::max_element(mass[n].begin(), mass[n].end(), is_lower)->second;
      CHECK_NEAR(mass[n][by_marginals[n]], most, 1e-9 * most);
    }
  });
}

TEST(many_sentences_decode_as_each_alone) {
  ScoreWorkspace work;
  testing::for_each_seed(10, [&](testing::Random& random) {
    const Case x = random_case(random, 12);
    std::vector<Lattice> lattices;
    std::vector<std::int64_t> first_units;
    std::vector<std::vector<TagId>> wanted[2];
    for (const Example& example : x.examples) {
      lattices.push_back(example.possible);
      first_units.push_back(example.first_unit);
      const auto scored =
          score_lattice(x.model, x.view(), x.features, example.first_unit, example.possible, work);
      wanted[0].push_back(decode_path(scored, example.possible, work));
      wanted[1].push_back(decode_marginals(x.model, scored, example.possible, work));
    }
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
      for (const bool by_marginals : {false, true}) {
        CHECK(decode_all(x.model, x.view(), x.features, first_units, lattices, {by_marginals, threads}) ==
              wanted[by_marginals ? 1 : 0]);
      }
    }
  });
}

TEST(bundles_are_numbered_exactly) {
  testing::for_each_seed(50, [](testing::Random& random) {
    const auto tags = testing::random_sides(random, 12);
    BundleIndex index(tags);
    std::map<std::vector<TagId>, std::int32_t> known;
    for (int n = 0; n < 200; ++n) {
      std::vector<TagId> bundle;
      for (const std::int32_t count : tags) bundle.push_back(random.below(count));
      CHECK(index.find(bundle) == (known.contains(bundle) ? known[bundle] : -1));
      if (random.chance(0.5)) continue;
      const auto id = known.try_emplace(bundle, static_cast<std::int32_t>(known.size())).first->second;
      CHECK(index.insert(bundle) == id);
      CHECK(std::equal(bundle.begin(), bundle.end(),
                       index.bundles().begin() + id * static_cast<int>(tags.size())));
    }
    CHECK(index.size() == static_cast<std::int32_t>(known.size()));
  });
}

TEST(bundles_of_huge_tag_sets_stay_apart) {
  const std::vector<std::int32_t> tags = {0x7FFFFFFF, 0x7FFFFFFF, 4};
  BundleIndex index(tags);
  const std::vector<std::vector<TagId>> corners = {
      {0, 0, 0}, {0x7FFFFFFE, 0, 0}, {0, 1, 0}, {0x7FFFFFFE, 0x7FFFFFFE, 3}, {0, 0, 1}};
  for (std::size_t n = 0; n < corners.size(); ++n)
    CHECK(index.insert(corners[n]) == static_cast<std::int32_t>(n));
  for (std::size_t n = 0; n < corners.size(); ++n)
    CHECK(index.find(corners[n]) == static_cast<std::int32_t>(n));
  const std::vector<std::int32_t> too_many = {0x7FFFFFFF, 0x7FFFFFFF, 5};
  CHECK_THROWS(BundleIndex(too_many), std::invalid_argument);
}

TEST(bad_models_are_refused) {
  testing::Random random(3);
  const Case x = random_case(random, 1);
  const auto rules = x.model.successions;
  const auto lay_out = [&](const std::vector<std::int32_t>& tags, std::int64_t rows, const Example& example) {
    return lay_out_model(tags, rules, rows, x.features, std::vector{example}, JointFeatures::none);
  };
  Example late = x.examples[0];
  late.first_unit = 1;
  CHECK_THROWS(lay_out(x.tags, kRows, late), std::invalid_argument);
  late.first_unit = -1;
  CHECK_THROWS(lay_out(x.tags, kRows, late), std::invalid_argument);
  CHECK_THROWS(lay_out(std::vector<std::int32_t>(x.tags.size(), 0), kRows, x.examples[0]),
               std::invalid_argument);
  CHECK_THROWS(lay_out(std::vector<std::int32_t>(x.tags.size() + 1, 3), kRows, x.examples[0]),
               std::invalid_argument);
  if (!x.features.value.empty()) CHECK_THROWS(lay_out(x.tags, 0, x.examples[0]), std::invalid_argument);
}

TEST(bad_passes_are_refused) {
  testing::Random random(3);
  const Case x = random_case(random, 1);
  Learner learner{x};
  CHECK_THROWS(learner.pass({0, 1}), std::invalid_argument);
  CHECK_THROWS(learner.pass({1, 0}), std::invalid_argument);
}

TEST(an_exception_reaches_the_caller_from_any_thread) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    Team team(threads);
    std::vector<int> done(100, 0);
    team.for_each(100, [&](std::size_t, std::size_t piece) { ++done[piece]; });
    CHECK(std::count(done.begin(), done.end(), 1) == 100);
    const auto fails = [](std::size_t, std::size_t piece) {
      if (piece == 57) throw std::out_of_range("piece 57");
    };
    CHECK_THROWS_WITH(team.for_each(100, fails), std::out_of_range, "piece 57");
  }
}
