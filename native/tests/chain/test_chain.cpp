// Compares every answer of a chain with an enumeration of all its paths on small random lattices, and the
// fast sums with the plain ones.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/chain/chain.hpp"
#include "duilian/chain/log_domain.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using States = std::vector<std::int32_t>;

constexpr std::int64_t kCases = 400;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A random score for any two bundles, the same wherever they occur, because positions share blocks.
class TransitionScore {
 public:
  TransitionScore(const Lattice& lattice, testing::Random& random, double range, double forbidden)
      : lattice_(lattice), salt_(random.bits()), range_(range), forbidden_(forbidden) {}

  [[nodiscard]] double operator()(std::int32_t i, std::int32_t j) const {
    std::uint64_t seed = salt_;
    for (const std::int32_t state : {i, j}) {
      for (const TagId tag : lattice_.bundle(state)) seed = seed * 31 + static_cast<std::uint64_t>(tag) + 1;
    }
    testing::Random here(seed);
    if (here.chance(forbidden_)) return kForbidden;
    return here.real(-range_, range_);
  }

 private:
  const Lattice& lattice_;
  std::uint64_t salt_;
  double range_;
  double forbidden_;
};

/// A random chain with all its legal paths and their scores.
struct Case {
  Lattice lattice;
  std::vector<double> state;
  Transitions between;
  std::vector<Path> paths;
  double peak = kForbidden;
  double log_partition = kForbidden;

  [[nodiscard]] Chain chain() const { return {lattice, state, between}; }
  [[nodiscard]] double probability(const Path& path) const { return std::exp(path.score - log_partition); }
  /// Allowed error: even sums of scores of this size are rounded.
  [[nodiscard]] double tolerance() const {
    return 1e-12 * (1.0 + range * static_cast<double>(lattice.positions()));
  }
  double range = 1.0;
};

void enumerate(Case& x, const TransitionScore& score) {
  testing::for_each_path(x.lattice, [&](const States& states) {
    double total = 0.0;
    for (std::size_t t = 0; t < states.size(); ++t) {
      total += x.state[states[t]] + (t == 0 ? 0.0 : score(states[t - 1], states[t]));
    }
    if (total != kForbidden) x.paths.push_back({total, states});
  });
  for (const Path& path : x.paths) x.peak = std::max(x.peak, path.score);
  double sum = 0.0;
  for (const Path& path : x.paths) sum += std::exp(path.score - x.peak);
  if (!x.paths.empty()) x.log_partition = x.peak + std::log(sum);
}

[[nodiscard]] Case random_case(testing::Random& random) {
  constexpr double kRanges[] = {0.0, 1.0, 10.0, 300.0, 1e4};
  Case x;
  x.range = kRanges[random.below(5)];
  const auto tags = testing::random_sides(random, 3);
  const double bundles = std::accumulate(tags.begin(), tags.end(), 1.0, std::multiplies<>());
  // About four states per position besides the certain one, so that all paths can still be listed.
  x.lattice = testing::random_lattice(random, 1 + random.below(5), tags, std::min(0.7, 4.0 / bundles), true);
  for (std::int32_t s = 0; s < x.lattice.states(); ++s) x.state.push_back(random.real(-x.range, x.range));
  const TransitionScore score(x.lattice, random, x.range, random.chance(0.5) ? 0.0 : 0.3);
  x.between = make_transitions(x.lattice, score);
  check(x.chain());
  enumerate(x, score);
  return x;
}

/// Calls test(case) for random chains that have a legal path.
template <class Test>
void for_each_legal_case(const Test& test) {
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const Case x = random_case(random);
    if (!x.paths.empty()) test(x);
  });
}

/// A complete chain with random scores in [-range, range].
struct LongChain {
  Lattice lattice;
  std::vector<double> state;
  Transitions between;

  LongChain(std::int32_t positions, std::int32_t tags, double range) {
    testing::Random random(7);
    lattice = complete_lattice(positions, std::vector{tags});
    for (std::int32_t s = 0; s < lattice.states(); ++s) state.push_back(random.real(-range, range));
    between = make_transitions(lattice, TransitionScore(lattice, random, range, 0.0));
  }
  [[nodiscard]] Chain chain() const { return {lattice, state, between}; }
};

}  // namespace

TEST(log_partition_is_the_sum_over_paths) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const Case x = random_case(random);
    Workspace work;
    CHECK_NEAR(log_partition(x.chain(), work), x.log_partition, x.tolerance());
  });
}

TEST(random_cases_are_of_every_kind) {
  int impossible = 0;
  std::size_t longest = 0;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const Case x = random_case(random);
    impossible += x.paths.empty() ? 1 : 0;
    longest = std::max(longest, x.paths.size());
  });
  CHECK(impossible > 10 && impossible < kCases / 3);
  CHECK(longest > 500);
}

TEST(marginals_are_sums_of_path_probabilities) {
  Workspace work;  // one for all cases: nothing may leak from one sentence to the next
  for_each_legal_case([&](const Case& x) {
    std::vector<double> unit(x.state.size());
    std::vector<double> pair(x.between.score.size());
    for (const Path& path : x.paths) {
      const double p = x.probability(path);
      for (std::size_t t = 0; t < path.states.size(); ++t) {
        unit[path.states[t]] += p;
        if (t == 0) continue;
        const auto before = static_cast<std::int32_t>(t - 1);
        const Block& block = x.between.between(before);
        const auto i = static_cast<std::size_t>(path.states[t - 1] - x.lattice.first[t - 1]);
        pair[block.offset + i * block.stride + (path.states[t] - x.lattice.first[t])] += p;
      }
    }
    Marginals found;
    marginals(x.chain(), work, found);
    CHECK_NEAR(found.log_partition, x.log_partition, x.tolerance());
    CHECK(found.unit.size() == unit.size() && found.pair.size() == pair.size());
    for (std::size_t s = 0; s < unit.size(); ++s) CHECK_NEAR(found.unit[s], unit[s], 10 * x.tolerance());
    for (std::size_t k = 0; k < pair.size(); ++k) CHECK_NEAR(found.pair[k], pair[k], 10 * x.tolerance());
  });
}

TEST(pair_marginals_are_separate_for_each_position) {
  Workspace work;
  for_each_legal_case([&](const Case& x) {
    std::vector<std::size_t> at{0};  // where the matrix of t begins
    for (std::int32_t t = 0; t + 1 < x.lattice.positions(); ++t) {
      at.push_back(at.back() + static_cast<std::size_t>(x.lattice.width(t) * x.lattice.width(t + 1)));
    }
    std::vector<double> wanted(at.back());
    for (const Path& path : x.paths) {
      for (std::size_t t = 0; t + 1 < path.states.size(); ++t) {
        const std::int32_t i = path.states[t] - x.lattice.first[t];
        const std::int32_t j = path.states[t + 1] - x.lattice.first[t + 1];
        wanted[at[t] + i * x.lattice.width(static_cast<std::int32_t>(t) + 1) + j] += x.probability(path);
      }
    }
    const auto found = pair_marginals(x.chain(), work);
    CHECK(found.size() == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) CHECK_NEAR(found[k], wanted[k], 10 * x.tolerance());
  });
}

TEST(entropy_is_the_entropy_of_the_paths) {
  Workspace work;
  for_each_legal_case([&](const Case& x) {
    double wanted = 0.0;
    for (const Path& path : x.paths) {
      const double p = x.probability(path);
      if (p > 0.0) wanted -= p * std::log(p);
    }
    CHECK_NEAR(entropy(x.chain(), work), wanted, 1e-11 + 100 * x.tolerance());
  });
}

TEST(the_best_path_has_the_highest_score) {
  Workspace work;
  for_each_legal_case([&](const Case& x) {
    const Path best = best_path(x.chain(), work);
    CHECK_NEAR(best.score, x.peak, x.tolerance());
    CHECK_NEAR(path_score(x.chain(), best.states), x.peak, x.tolerance());
    CHECK(best.score <= log_partition(x.chain(), work) + x.tolerance());
  });
}

TEST(path_scores_are_sums) {
  for_each_legal_case([](const Case& x) {
    for (const Path& path : x.paths)
      CHECK_NEAR(path_score(x.chain(), path.states), path.score, x.tolerance());
  });
}

TEST(the_k_best_paths_have_the_k_highest_scores) {
  for_each_legal_case([](const Case& x) {
    std::vector<double> scores;
    for (const Path& path : x.paths) scores.push_back(path.score);
    std::sort(scores.rbegin(), scores.rend());
    for (const std::size_t k : {std::size_t{1}, std::size_t{7}, scores.size(), scores.size() + 3}) {
      const auto found = k_best(x.chain(), static_cast<std::int32_t>(k));
      CHECK(found.size() == std::min(k, scores.size()));
      std::set<States> distinct;
      for (std::size_t n = 0; n < found.size(); ++n) {
        CHECK_NEAR(found[n].score, scores[n], x.tolerance());
        CHECK_NEAR(path_score(x.chain(), found[n].states), found[n].score, x.tolerance());
        distinct.insert(found[n].states);
      }
      CHECK(distinct.size() == found.size());
    }
  });
}

TEST(plain_sums_equal_the_fast_ones) {
  Workspace work;
  std::vector<double> alpha;
  for_each_legal_case([&](const Case& x) {
    CHECK_NEAR(log_domain::forward<log_domain::LogPlus>(x.chain(), alpha), log_partition(x.chain(), work),
               x.tolerance());
    CHECK_NEAR(log_domain::forward<log_domain::MaxPlus>(x.chain(), alpha), best_path(x.chain(), work).score,
               x.tolerance());
  });
}

TEST(a_lattice_without_a_legal_path_is_refused) {
  const Lattice lattice = complete_lattice(3, std::vector{2});
  const std::vector<double> state(6, 0.0);
  const Transitions between = make_transitions(lattice, [](auto, auto) { return kForbidden; });
  const Chain chain{lattice, state, between};
  Workspace work;
  Marginals found;
  CHECK(log_partition(chain, work) == kForbidden);
  CHECK_THROWS(marginals(chain, work, found), std::invalid_argument);
  CHECK_THROWS(pair_marginals(chain, work), std::invalid_argument);
  CHECK_THROWS(entropy(chain, work), std::invalid_argument);
  CHECK_THROWS(best_path(chain, work), std::invalid_argument);
  CHECK(k_best(chain, 3).empty());
}

TEST(an_empty_sentence_has_one_empty_path) {
  const Lattice lattice;
  const Transitions between = make_transitions(lattice, [](auto, auto) { return 0.0; });
  const Chain chain{lattice, {}, between};
  Workspace work;
  CHECK(log_partition(chain, work) == 0.0);
  CHECK(entropy(chain, work) == 0.0);
  CHECK(best_path(chain, work).states.empty());
  CHECK(k_best(chain, 2).size() == 1);
}

TEST(bad_chains_are_refused) {
  const Lattice lattice = complete_lattice(2, std::vector{2});
  const Lattice gap{1, {0, 1, 1}, {0}};
  const Transitions between = make_transitions(lattice, [](auto, auto) { return 0.0; });
  const std::vector<double> good(4, 0.0);
  const auto refused = [&](const Lattice& x, const std::vector<double>& state) {
    check(Chain{x, state, between});
  };
  CHECK_THROWS(refused(lattice, {0.0}), std::invalid_argument);
  CHECK_THROWS(refused(gap, {0.0}), std::invalid_argument);
  for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
    CHECK_THROWS(refused(lattice, {0.0, 0.0, bad, 0.0}), std::invalid_argument);
  }
  for (const double bad : {kInfinity, std::nan("")}) {
    CHECK_THROWS(make_transitions(lattice, [&](auto, auto) { return bad; }), std::invalid_argument);
  }
  const Chain chain{lattice, good, between};
  CHECK_THROWS(k_best(chain, 0), std::invalid_argument);
  CHECK_THROWS(path_score(chain, States{0}), std::invalid_argument);
  CHECK_THROWS(path_score(chain, States{0, 1}), std::invalid_argument);
}

TEST(equal_columns_share_their_blocks) {
  CHECK(lay_out(complete_lattice(50, std::vector{3, 2})).blocks.size() == 1);
  CHECK(lay_out(complete_lattice(1, std::vector{3})).blocks.empty());
  const Lattice alternating{1, {0, 2, 3, 5, 6, 8}, {0, 1, 0, 0, 1, 0, 0, 1}};
  const Transitions found = lay_out(alternating);
  CHECK(found.block_of == std::vector<std::int32_t>{0, 1, 0, 1});
  CHECK(found.blocks[0].rows == 2 && found.blocks[0].cols == 1 && found.blocks[1].cols == 2);
}

TEST(long_chains_do_not_overflow) {
  Workspace work;
  std::vector<double> alpha;
  const LongChain flat(10000, 5, 0.0);
  CHECK_NEAR(log_partition(flat.chain(), work), 10000 * std::log(5.0), 1e-7);
  CHECK_NEAR(entropy(flat.chain(), work), 10000 * std::log(5.0), 1e-7);
  for (const double range : {5.0, 200.0, 1e4}) {
    const LongChain x(10000, 4, range);
    const double log_z = log_partition(x.chain(), work);
    CHECK(std::isfinite(log_z));
    CHECK_NEAR(log_z, log_domain::forward<log_domain::LogPlus>(x.chain(), alpha), 1e-11 * std::abs(log_z));
    Marginals found;
    marginals(x.chain(), work, found);
    for (std::size_t t = 0; t < 10000; ++t) {
      CHECK_NEAR(std::accumulate(&found.unit[4 * t], &found.unit[4 * t] + 4, 0.0), 1.0, 1e-9);
    }
    CHECK_NEAR(std::accumulate(found.pair.begin(), found.pair.end(), 0.0), 9999.0, 1e-6);
  }
}
