// Compares the uniform chain with the general one on an explicit lattice, and both with an enumeration of all
// label sequences.
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/chain/uniform.hpp"
#include "random_uniform.hpp"

using namespace duilian;
using testing::for_each_uniform_case;
using testing::UniformCase;

namespace {

[[nodiscard]] bool has_path(const OwnedChain& spelled) { return spelled.lattice.width(0) > 0; }

/// Rounding grows with the scores.
[[nodiscard]] double tolerance(double score) { return 1e-10 * (1.0 + std::abs(score)); }

/// The expected count of each pair of labels, [L][L], from the general chain.
[[nodiscard]] std::vector<double> general_pairs(const UniformCase& x, const OwnedChain& spelled,
                                                const Marginals& found) {
  const Lattice& lattice = spelled.lattice;
  std::vector<double> out(static_cast<std::size_t>(x.labels * x.labels), 0.0);
  for (const Block& block : spelled.between.blocks) {
    for (std::size_t k = 0; k < block.rows * block.cols; ++k) {
      const std::size_t i = k / block.cols;
      const std::size_t j = k % block.cols;
      const TagId from = lattice.tag[static_cast<std::size_t>(lattice.first[block.position]) + i];
      const TagId to = lattice.tag[static_cast<std::size_t>(lattice.first[block.position + 1]) + j];
      out[static_cast<std::size_t>(from * x.labels + to)] += found.pair[block.offset + i * block.stride + j];
    }
  }
  return out;
}

/// The expected counts from the core and the diagonals.
[[nodiscard]] std::vector<double> uniform_pairs(const UniformCase& x, const UniformMarginals& found) {
  const TransitionShape& s = x.shape;
  std::vector<double> out(s.labels * s.labels, 0.0);
  for (std::size_t i = 0; i < s.rows; ++i) {
    for (std::size_t j = 0; j < s.cols; ++j) {
      out[(s.row0 + i) * s.labels + s.col0 + j] += found.core[i * padded(s.cols) + j];
    }
  }
  for (const Diagonal& d : s.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) out[(d.i0 + k) * s.labels + d.j0 + k] += found.arc[d.at + k];
  }
  return out;
}

}  // namespace

TEST(the_previous_label_attains_the_maximum) {
  for_each_uniform_case(30, 1, [](const UniformCase& x, const UniformChain& chain, const OwnedChain&) {
    const std::size_t stride = x.shape.stride();
    std::vector<double> best(stride);
    best_step(chain.between, x.state.data(), best.data());
    const LabelTransitions unturned(x.shape, x.rules, x.table, false);
    for (std::size_t j = 0; j < x.shape.labels; ++j) {
      if (best[j] == kForbidden) continue;
      const std::size_t from = best_before(chain.between, x.state.data(), j);
      CHECK(from == best_before(unturned, x.state.data(), j));
      CHECK(x.state[from] + chain.between.score(from, j) == best[j]);
    }
  });
}

TEST(shapes_cover_every_legal_pair_once) {
  for_each_uniform_case(100, 1, [](const UniformCase& x, const UniformChain&, const OwnedChain&) {
    const TransitionShape& s = x.shape;
    std::vector<int> covered(s.labels * s.labels, 0);
    CHECK(s.row0 + s.rows <= s.labels && s.col0 + s.cols <= s.labels);
    for (std::size_t i = s.row0; i < s.row0 + s.rows; ++i) {
      for (std::size_t j = s.col0; j < s.col0 + s.cols; ++j) ++covered[i * s.labels + j];
    }
    std::size_t arcs = 0;
    for (const Diagonal& d : s.diagonals) {
      CHECK(d.at == arcs && d.size > 0 && d.i0 + d.size <= s.labels && d.j0 + d.size <= s.labels);
      for (std::size_t k = 0; k < d.size; ++k) ++covered[(d.i0 + k) * s.labels + d.j0 + k];
      arcs += d.size;
    }
    CHECK(arcs == s.arcs);
    const bool is_dense = s.rows == s.labels && s.cols == s.labels;  // a full core may have gaps
    for (TagId i = 0; i < x.labels; ++i) {
      for (TagId j = 0; j < x.labels; ++j) {
        const int times = covered[static_cast<std::size_t>(i * x.labels + j)];
        CHECK(x.rules(i, j) ? times == 1 : times == (is_dense ? 1 : 0));
      }
    }
  });
}

TEST(boundary_rules_in_blocks_are_a_core_and_four_diagonals) {
  for (const std::int32_t tags : {2, 3, 10}) {
    const auto n = static_cast<std::size_t>(tags);
    const TransitionShape s = shape_of(4 * tags, testing::boundary_rules(tags, false));
    CHECK(s.row0 == 0 && s.rows == 2 * n && s.col0 == n && s.cols == 2 * n);  // E S → S B
    CHECK(s.diagonals.size() == 4 && s.arcs == 4 * n);
    const TransitionShape dense = shape_of(4 * tags, testing::boundary_rules(tags, true));
    CHECK(dense.rows == 4 * n && dense.cols == 4 * n && dense.diagonals.empty());
  }
  CHECK_THROWS(shape_of(0, {}), std::invalid_argument);
}

TEST(label_transitions_equal_the_table) {
  for_each_uniform_case(60, 1, [](const UniformCase& x, const UniformChain& chain, const OwnedChain&) {
    for (TagId i = 0; i < x.labels; ++i) {
      for (TagId j = 0; j < x.labels; ++j) {
        CHECK(chain.between.score(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) ==
              x.between(i, j));
      }
    }
  });
}

TEST(uniform_chains_sum_like_general_ones) {
  UniformWorkspace work;  // reused from case to case, as in a thread
  Workspace general;
  int impossible = 0;
  for_each_uniform_case(
      300, 6, [&](const UniformCase& x, const UniformChain& chain, const OwnedChain& spelled) {
        UniformMarginals found;
        if (!has_path(spelled)) {
          ++impossible;
          CHECK_THROWS(log_partition(chain, work), std::invalid_argument);
          CHECK_THROWS(marginals(chain, work, found), std::invalid_argument);
          return;
        }
        Marginals wanted;
        marginals(spelled.view(), general, wanted);
        const double log_z = wanted.log_partition;
        CHECK_NEAR(log_partition(chain, work), log_z, tolerance(log_z));
        marginals(chain, work, found);
        CHECK_NEAR(found.log_partition, log_z, tolerance(log_z));
        std::vector<double> unit(x.state.size(), 0.0);
        for (std::int32_t t = 0; t < x.positions; ++t) {
          for (std::int32_t s = spelled.lattice.first[t]; s < spelled.lattice.first[t + 1]; ++s) {
            unit[static_cast<std::size_t>(t) * x.shape.stride() + spelled.lattice.tag[s]] = wanted.unit[s];
          }
        }
        CHECK(found.unit.size() == unit.size());
        for (std::size_t k = 0; k < unit.size(); ++k) CHECK_NEAR(found.unit[k], unit[k], 1e-9);
        const auto wanted_pairs = general_pairs(x, spelled, wanted);
        const auto pairs = uniform_pairs(x, found);
        for (std::size_t k = 0; k < pairs.size(); ++k) CHECK_NEAR(pairs[k], wanted_pairs[k], 1e-9);
      });
  CHECK(impossible > 10 && impossible < 1000);
}

TEST(labels_with_a_negligible_share_hardly_count) {
  UniformWorkspace work;
  int compared = 0;
  for_each_uniform_case(
      300, 6, [&](const UniformCase& x, const UniformChain& chain, const OwnedChain& spelled) {
        if (!has_path(spelled)) return;
        UniformMarginals exact;
        UniformMarginals found;
        unit_marginals(chain, work, exact);
        unit_marginals(chain, work, found, 1e-300);  // leaves out only zeros
        for (std::size_t k = 0; k < exact.unit.size(); ++k) CHECK_NEAR(found.unit[k], exact.unit[k], 1e-9);
        const auto is_wide = [](double score) { return score != kForbidden && std::abs(score) > 3.0; };
        if (chain.between.spread > 6.0 || std::any_of(x.state.begin(), x.state.end(), is_wide)) return;
        unit_marginals(chain, work, found, 1e-7);
        // A label may gain e^6 from its neighbours, and as much again from the transitions.
        for (std::size_t k = 0; k < exact.unit.size(); ++k) CHECK_NEAR(found.unit[k], exact.unit[k], 0.05);
        ++compared;
      });
  CHECK(compared > 20);
}

TEST(uniform_chains_find_the_best_labels) {
  UniformWorkspace work;
  Workspace general;
  for_each_uniform_case(300, 6,
                        [&](const UniformCase& x, const UniformChain& chain, const OwnedChain& spelled) {
                          std::vector<std::int32_t> labels(static_cast<std::size_t>(x.positions), -1);
                          const bool is_found = try_best_labels(chain, work, labels);
                          CHECK(is_found == has_path(spelled));
                          if (!is_found || !has_path(spelled)) return;
                          const Path best = best_path(spelled.view(), general);
                          CHECK(std::all_of(labels.begin(), labels.end(),
                                            [&](std::int32_t l) { return l >= 0 && l < x.labels; }));
                          CHECK_NEAR(x.score(labels), best.score, tolerance(best.score));
                        });
}

TEST(uniform_chains_equal_enumeration) {
  UniformWorkspace work;
  for_each_uniform_case(100, 3,
                        [&](const UniformCase& x, const UniformChain& chain, const OwnedChain& spelled) {
                          if (!has_path(spelled)) return;
                          std::vector<double> scores;
                          double highest = kForbidden;
                          const std::vector<std::int32_t> tags = {x.labels};
                          const Lattice all = complete_lattice(x.positions, tags);
                          testing::for_each_path(all, [&](std::vector<std::int32_t> path) {
                            for (std::int32_t& state : path) state = all.tag[state];
                            scores.push_back(x.score(path));
                            highest = std::max(highest, scores.back());
                          });
                          double sum = 0.0;
                          for (const double score : scores) sum += std::exp(score - highest);
                          CHECK_NEAR(log_partition(chain, work), highest + std::log(sum), tolerance(highest));
                          std::vector<std::int32_t> labels(static_cast<std::size_t>(x.positions));
                          CHECK(try_best_labels(chain, work, labels));
                          CHECK_NEAR(x.score(labels), highest, tolerance(highest));
                        });
}

TEST(a_path_that_underflows_at_first_may_win_in_the_end) {
  // 0 → 3 → 3 … and 1 → 2 → 2 …: the second path starts 750 below, beyond a double, and gains 300 per step.
  Succession rules{4, std::vector<std::uint8_t>(25, 0)};
  for (const std::size_t legal : {3, 7, 12, 18, 4, 9, 14, 19, 20, 21, 22, 23}) rules.allows[legal] = 1;
  const TransitionShape shape = shape_of(4, rules);
  const std::vector<float> table(25, 0.0F);
  const LabelTransitions between(shape, rules, table);
  std::vector<double> state(4 * shape.stride(), 0.0);
  state[1] = -750.0;
  state[2] = state[3] = kForbidden;
  for (std::size_t t = 1; t < 4; ++t) state[t * shape.stride() + 2] = 300.0;
  const UniformChain chain{4, state.data(), between, rules};
  UniformWorkspace work;
  UniformMarginals found;
  CHECK_NEAR(log_partition(chain, work), 150.0, 1e-9);
  marginals(chain, work, found);
  CHECK_NEAR(found.unit[1], 1.0, 1e-9);
}

TEST(old_scores_do_not_leak_into_the_next_sentence) {
  // Four labels are a core without diagonals and without padding; the fifth has no neighbours, so no kernel
  // writes to its place.
  Succession rules{5, std::vector<std::uint8_t>(36, 1)};
  for (std::size_t k = 0; k < 5; ++k) rules.allows[4 * 6 + k] = rules.allows[k * 6 + 4] = 0;
  const TransitionShape shape = shape_of(5, rules);
  CHECK(shape.rows == 4 && shape.cols == 4 && shape.arcs == 0);
  const std::vector<float> table(36, 0.0F);
  const LabelTransitions between(shape, rules, table);
  const std::vector<double> state(3 * shape.stride(), 0.0);
  UniformWorkspace work;
  work.alpha.assign(state.size(), 1e6);
  std::vector<std::int32_t> labels(3, -1);
  CHECK(try_best_labels(UniformChain{3, state.data(), between, rules}, work, labels));
  CHECK(labels == std::vector<std::int32_t>{0, 0, 0});
}

TEST(a_sentence_without_units_has_no_labels) {
  const TransitionShape shape = shape_of(2, {});
  const std::vector<float> table(9, 0.0F);
  const Succession rules;
  const LabelTransitions between(shape, rules, table);
  UniformWorkspace work;
  CHECK(try_best_labels(UniformChain{0, nullptr, between, rules}, work, {}));
  CHECK(log_partition(UniformChain{0, nullptr, between, rules}, work) == 0.0);
}

TEST(rules_for_other_labels_are_refused) {
  CHECK_THROWS_WITH(shape_of(4, Succession{2, std::vector<std::uint8_t>(9, 1)}), std::invalid_argument,
                    "the succession does not match");
}
