// Small random models with sentences to learn from, and what their scores are by definition.
// Part of test_score.cpp.
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "duilian/score/model.hpp"
#include "duilian/score/score.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

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

  [[nodiscard]] WeightView view() const { return {weights}; }
};

void add_random_features(testing::Random& random, FeatureRows& features) {
  for (std::int32_t n = random.below(4); n > 0; --n) {
    features.value.push_back(static_cast<std::uint32_t>(random.below(kRows)));
  }
  features.first.push_back(static_cast<std::int64_t>(features.value.size()));
}

/// Lets 0 start, stay and end, so that a legal sentence exists and can be drawn.
void allow_zeros(Succession& rule) {
  if (rule.is_free()) return;
  const auto edge = static_cast<std::size_t>(rule.tags);
  for (const std::size_t at : {std::size_t{0}, edge, edge * (edge + 1)}) rule.allows[at] = 1;
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
  auto rules = testing::random_successions(random, x.tags, random.chance(0.5) ? 1.0 : 0.8);
  for (Succession& rule : rules) allow_zeros(rule);
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

}  // namespace
