// A linear model against its definition: path scores summed weight by weight, gradients by central
// differences, AdaGrad against its formula and for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/learn/adagrad.hpp"
#include "duilian/learn/parallel.hpp"
#include "duilian/score/model.hpp"
#include "duilian/score/score.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

constexpr std::int64_t kCases = 120;
constexpr std::int64_t kRows = 5;
constexpr float kStep = 0x1p-10F;  // weights are multiples of it, so that a step is exact in a float

[[nodiscard]] bool has_legal_path(const Lattice& x, const std::vector<Succession>& rules) {
  const Lattice left = trim(x, rules);
  return left.positions() == 0 || left.width(0) > 0;
}

/// A model with everything it was laid out for.
struct Case {
  std::vector<std::int32_t> tags;
  FeatureRows features;
  std::vector<Example> examples;
  Model model;
  std::vector<float> weights;
};

void add_random_features(testing::Random& random, FeatureRows& features) {
  for (std::int32_t n = random.below(4); n > 0; --n) {
    features.value.push_back(static_cast<std::uint32_t>(random.below(kRows)));
  }
  features.first.push_back(static_cast<std::int64_t>(features.value.size()));
}

/// A sentence whose correct lattice is a part of the possible one and has a legal path.
[[nodiscard]] Example random_example(testing::Random& random, const std::vector<std::int32_t>& tags,
                                     const std::vector<Succession>& rules, std::int64_t first_unit) {
  while (true) {
    Example out;
    out.first_unit = first_unit;
    const std::int32_t positions = 1 + random.below(4);
    const double bundles = std::accumulate(tags.begin(), tags.end(), 1.0, std::multiplies<>());
    out.correct = testing::random_lattice(random, positions, tags, 1.0 / bundles, true);
    out.possible = unite(out.correct, testing::random_lattice(random, positions, tags, 3.0 / bundles, true));
    if (has_legal_path(out.correct, rules)) return out;
  }
}

[[nodiscard]] Case random_case(testing::Random& random, std::int32_t examples) {
  constexpr JointFeatures kJoint[] = {JointFeatures::none, JointFeatures::correct, JointFeatures::possible};
  Case x;
  x.tags = testing::random_sides(random, 3);
  const auto rules = testing::random_successions(random, x.tags, random.chance(0.5) ? 1.0 : 0.8);
  for (std::int32_t n = 0; n < examples; ++n) {
    x.examples.push_back(
        random_example(random, x.tags, rules, static_cast<std::int64_t>(x.features.first.size()) - 1));
    for (std::int32_t t = 0; t < x.examples.back().possible.positions(); ++t)
      add_random_features(random, x.features);
  }
  x.model = lay_out_model(x.tags, rules, kRows, x.features, x.examples, kJoint[random.below(3)]);
  for (std::int64_t w = 0; w < x.model.weights; ++w) {
    x.weights.push_back(kStep * static_cast<float>(random.below(2001) - 1000));
  }
  return x;
}

/// Σ w(feature, label) of one unit in one part.
[[nodiscard]] double state_score(const Case& x, const Part& part, std::int64_t unit, std::int32_t label) {
  double total = 0.0;
  for (std::int64_t f = x.features.first[unit]; f < x.features.first[unit + 1]; ++f) {
    const std::uint32_t row = x.features.value[f];
    for (std::int64_t k = part.first[row]; k < part.first[row + 1]; ++k) {
      if (part.label[k] == label) total += x.weights[part.state_at + k];
    }
  }
  return total;
}

/// One part's score of a row of labels; -1 is a label that the part does not know.
[[nodiscard]] double part_score(const Case& x, const Part& part, std::int64_t first_unit,
                                const std::vector<std::int32_t>& labels) {
  double total = 0.0;
  std::int32_t before = part.edge();
  for (std::size_t t = 0; t <= labels.size(); ++t) {
    const std::int32_t label = t < labels.size() ? labels[t] : part.edge();
    if (t < labels.size() && label >= 0)
      total += state_score(x, part, first_unit + static_cast<int>(t), label);
    const std::int64_t at = before >= 0 && label >= 0 ? part.transition(before, label) : -1;
    if (at >= 0) total += x.weights[at];
    before = label;
  }
  return total;
}

/// The score of a path by the model's definition; -inf where a succession forbids it.
[[nodiscard]] double defined_score(const Case& x, const Lattice& lattice, std::int64_t first_unit,
                                   const std::vector<std::int32_t>& path) {
  double total = 0.0;
  std::vector<std::int32_t> labels(path.size());
  for (std::size_t k = 0; k < x.tags.size(); ++k) {
    for (std::size_t t = 0; t < path.size(); ++t) {
      labels[t] = lattice.bundle(path[t])[k];
      if (t > 0 && !x.model.successions[k](labels[t - 1], labels[t])) return kForbidden;
    }
    total += part_score(x, x.model.separate[k], first_unit, labels);
  }
  if (!x.model.joint) return total;
  for (std::size_t t = 0; t < path.size(); ++t) labels[t] = x.model.bundles.find(lattice.bundle(path[t]));
  return total + part_score(x, *x.model.joint, first_unit, labels);
}

[[nodiscard]] double defined_log_partition(const Case& x, const Lattice& lattice, std::int64_t first_unit) {
  double sum = 0.0;
  testing::for_each_path(lattice, [&](const std::vector<std::int32_t>& path) {
    sum += std::exp(defined_score(x, lattice, first_unit, path));
  });
  return std::log(sum);
}

[[nodiscard]] double defined_loss(const Case& x, const Example& example) {
  return defined_log_partition(x, example.possible, example.first_unit) -
         defined_log_partition(x, example.correct, example.first_unit);
}

/// The loss of an example, and its downhill direction summed by weight.
[[nodiscard]] double gradient(const Case& x, const Example& example, std::vector<double>& direction) {
  ScoreWorkspace work;
  std::vector<Delta> deltas;
  const double loss = add_gradient(x.model, x.weights, x.features, example, work, deltas);
  direction.assign(x.weights.size(), 0.0);
  for (const Delta& delta : deltas) direction[delta.weight] += delta.value;
  return loss;
}

[[nodiscard]] std::vector<float> weights_after(const Case& x, std::size_t threads, std::size_t batch) {
  std::vector<float> weights = x.weights;
  std::vector<std::int64_t> order(x.examples.size());
  std::iota(order.rbegin(), order.rend(), 0);
  AdaGrad learner(x.model.weights, 0.5);
  for (int pass = 0; pass < 3; ++pass) {
    static_cast<void>(learner.pass(x.model, weights, x.features, x.examples, order, batch, threads));
  }
  return weights;
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
          score_lattice(x.model, x.weights, x.features, example.first_unit, lattice, work);
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
    for (const double d : direction) CHECK_NEAR(d, 0.0, 1e-12);
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

TEST(weights_without_evidence_do_not_exist) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const Case x = random_case(random, 2);
    std::int64_t at = 0;
    std::vector<const Part*> parts;
    for (const Part& part : x.model.separate) parts.push_back(&part);
    if (x.model.joint) parts.push_back(&*x.model.joint);
    for (const Part* part : parts) {
      CHECK(part->state_at == at && part->rows() == kRows);
      CHECK(part->transition_at == at + static_cast<std::int64_t>(part->label.size()));
      const std::int64_t dense = std::int64_t{part->labels + 1} * (part->labels + 1);
      at = part->transition_at +
           (part->is_dense ? dense : static_cast<std::int64_t>(part->transitions.size()));
      for (std::int64_t r = 0; r < kRows; ++r) {
        for (std::int64_t k = part->first[r] + 1; k < part->first[r + 1]; ++k) {
          CHECK(part->label[k - 1] < part->label[k]);
        }
      }
    }
    CHECK(at == x.model.weights);
  });
}

TEST(learning_is_the_same_for_any_number_of_threads) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const Case x = random_case(random, 25);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{30}}) {
      const auto alone = weights_after(x, 1, batch);
      CHECK(are_same_bytes(alone, weights_after(x, 2, batch)));
      CHECK(are_same_bytes(alone, weights_after(x, 3, batch)));
    }
    CHECK(x.weights != weights_after(x, 1, 4));
  });
}

TEST(adagrad_follows_its_formula) {
  testing::for_each_seed(20, [](testing::Random& random) {
    Case x = random_case(random, 4);
    const auto found = weights_after(x, 2, 2);
    std::vector<double> squares(x.weights.size());
    std::vector<double> direction;
    for (int pass = 0; pass < 3; ++pass) {
      for (const std::size_t begin : {3, 1}) {
        std::vector<double> sum(x.weights.size());
        for (const std::size_t n : {begin, begin - 1}) {
          static_cast<void>(gradient(x, x.examples[n], direction));
          for (std::size_t w = 0; w < sum.size(); ++w) sum[w] += direction[w];
        }
        for (std::size_t w = 0; w < sum.size(); ++w) {
          squares[w] += sum[w] * sum[w];
          x.weights[w] += static_cast<float>(0.5 * sum[w] / std::sqrt(1.0 + squares[w]));
        }
      }
    }
    for (std::size_t w = 0; w < found.size(); ++w) CHECK_NEAR(found[w], x.weights[w], 1e-5);
  });
}

TEST(learning_lowers_the_loss) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const Case x = random_case(random, 5);
    std::vector<float> weights = x.weights;
    const std::vector<std::int64_t> order = {0, 1, 2, 3, 4};
    AdaGrad learner(x.model.weights, 0.1);
    const auto pass = [&] { return learner.pass(x.model, weights, x.features, x.examples, order, 5, 1); };
    const double before = pass();
    for (int n = 0; n < 30; ++n) static_cast<void>(pass());
    CHECK(pass() <= before + 1e-9);
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
    const ScoredLattice scored = score_lattice(x.model, x.weights, x.features, 0, lattice, work);
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

TEST(bad_learners_are_refused) {
  for (const double rate : {0.0, -1.0, std::nan(""), HUGE_VAL})
    CHECK_THROWS(AdaGrad(3, rate), std::invalid_argument);
  AdaGrad learner(3, 0.1);
  std::vector<float> weights(2);
  CHECK_THROWS(learner.pass({}, weights, {}, {}, {}, 1, 1), std::invalid_argument);
  weights.resize(3);
  CHECK_THROWS(learner.pass({}, weights, {}, {}, {}, 0, 1), std::invalid_argument);
  CHECK_THROWS(learner.pass({}, weights, {}, {}, {}, 1, 0), std::invalid_argument);
}

TEST(an_exception_reaches_the_caller_from_any_thread) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    std::vector<int> done(100, 0);
    for_each_piece(100, threads, [&](std::size_t, std::size_t piece) { ++done[piece]; });
    CHECK(std::count(done.begin(), done.end(), 1) == 100);
    const auto fails = [](std::size_t, std::size_t piece) {
      if (piece == 57) throw std::out_of_range("piece 57");
    };
    CHECK_THROWS_WITH(for_each_piece(100, threads, fails), std::out_of_range, "piece 57");
  }
}
