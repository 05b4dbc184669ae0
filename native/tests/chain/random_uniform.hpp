// Random uniform chains, small enough to list all their paths.
#pragma once

#include <vector>

#include "duilian/chain/uniform.hpp"
#include "random.hpp"

namespace testing {

using namespace duilian;

/// A random uniform chain with everything it refers to.
struct UniformCase {
  std::int32_t labels = 0;
  Succession rules;
  TransitionShape shape;
  std::vector<float> table;  // [L + 1][L + 1]
  std::int32_t positions = 0;
  std::vector<double> state;  // [T][stride]

  UniformCase(Random& random, RuleKind kind, std::int32_t max_positions)
      : rules(random_rules(random, kind, labels)), shape(shape_of(labels, rules)) {
    // 300 is in between: no single score leaves the range of a double, but a few in sequence do.
    constexpr double kRanges[] = {3.0, 300.0, 1e4};
    const double state_range = kRanges[random.below(3)];
    const double table_range = kRanges[random.below(3)];
    const double forbidden = random.chance(0.5) ? 0.0 : 0.2;
    const auto edge = static_cast<std::size_t>(labels) + 1;
    for (std::size_t k = 0; k < edge * edge; ++k) {
      table.push_back(static_cast<float>(random.real(-table_range, table_range)));
    }
    positions = 1 + random.below(max_positions);
    state.assign(static_cast<std::size_t>(positions) * shape.stride(), 0.0);
    for (std::int32_t t = 0; t < positions; ++t) {
      for (TagId l = 0; l < labels; ++l) {
        const bool is_legal = (t > 0 || rules(labels, l)) && (t + 1 < positions || rules(l, labels));
        at(t, l) =
            is_legal && !random.chance(forbidden) ? random.real(-state_range, state_range) : kForbidden;
      }
    }
  }

  [[nodiscard]] double& at(std::int32_t t, TagId l) {
    return state[static_cast<std::size_t>(t) * shape.stride() + static_cast<std::size_t>(l)];
  }
  [[nodiscard]] double at(std::int32_t t, TagId l) const {
    return state[static_cast<std::size_t>(t) * shape.stride() + static_cast<std::size_t>(l)];
  }
  /// The transition score by the table and the rules.
  [[nodiscard]] double between(TagId i, TagId j) const {
    return rules(i, j) ? table[static_cast<std::size_t>(i * (labels + 1) + j)] : kForbidden;
  }
  [[nodiscard]] double score(const std::vector<std::int32_t>& path) const {
    double total = 0.0;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(path.size()); ++t) {
      total += at(t, path[t]) + (t > 0 ? between(path[t - 1], path[t]) : 0.0);
    }
    return total;
  }
};

/// Calls test(case, chain, spelled) for every kind of rules and many seeds.
template <class Test>
void for_each_uniform_case(std::int64_t seeds, std::int32_t max_positions, const Test& test) {
  for (std::int32_t kind = 0; kind < kRuleKinds; ++kind) {
    for_each_seed(seeds, [&](Random& random) {
      const UniformCase x(random, static_cast<RuleKind>(kind), max_positions);
      const LabelTransitions between(x.shape, x.rules, x.table);
      const UniformChain chain{x.positions, x.state.data(), between, x.rules};
      test(x, chain, spell_out(chain));
    });
  }
}

}  // namespace testing
