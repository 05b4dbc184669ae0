// Compares charts with all trees of short sentences; tests keys of parts and the averages of the perceptron.
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "duilian/learn/perceptron.hpp"
#include "duilian/tree/parser.hpp"
#include "random.hpp"
#include "tree/all_trees.hpp"

using namespace duilian;

namespace {

struct RandomParts {
  std::int32_t n;
  std::vector<double> value;

  RandomParts(std::int32_t words, testing::Random& random) : n(words), value(4096) {
    for (double& each : value) each = random.real(-2.0, 2.0);
  }
  [[nodiscard]] double at(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) const {
    std::size_t place = 0;
    for (const std::int32_t each : {a, b, c, d}) place = place * 8 + static_cast<std::size_t>(each + 1);
    return value[place % value.size()];
  }
  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const { return at(6, 6, h, m); }
  [[nodiscard]] double sibling(std::int32_t h, std::int32_t s, std::int32_t m) const {
    return at(5, h, s, m);
  }
  [[nodiscard]] double grandparent(std::int32_t g, std::int32_t h, std::int32_t m) const {
    return at(g, h, m, 6);
  }
  [[nodiscard]] double grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) const {
    return at(g, h, s, m) * 0.5;
  }

  [[nodiscard]] double score(const Heads& heads, std::int32_t order) const {
    const TreeShape shape(heads);
    double total = 0.0;
    for (std::int32_t m = 1; m <= n; ++m) {
      const std::int32_t h = heads[m];
      total += arc(h, m);
      if (order < 2) continue;
      total += sibling(h, shape.inner[m], m) + (h == 0 ? 0.0 : grandparent(heads[h], h, m));
      if (order == 3 && h != 0) total += grand_sibling(heads[h], h, shape.inner[m], m);
    }
    for (std::int32_t h = 0; h <= n && order > 1; ++h) {
      for (const auto& side : shape.last) {
        if (side[h] == kNobody) continue;
        total += sibling(h, side[h], kNobody);
        if (order == 3 && h != 0) total += grand_sibling(heads[h], h, side[h], kNobody);
      }
    }
    return total;
  }
};

/// Eisner's algorithm written out: the sum over all trees, or the best score.
[[nodiscard]] double plain_eisner(const ArcScores& scores, bool is_sum) {
  const std::int32_t n = scores.words;
  const double zero = is_sum ? 0.0 : kNoTree;
  const auto times = [&](double a, double b) { return is_sum ? a * b : a + b; };
  const auto plus = [&](double a, double b) { return is_sum ? a + b : std::max(a, b); };
  const auto arc = [&](std::int32_t h, std::int32_t m) {
    return is_sum ? std::exp(scores.at(h, m)) : scores.at(h, m);
  };
  ArcScores right(n), left(n), right_arc(n), left_arc(n);
  for (auto* each : {&right, &left, &right_arc, &left_arc})
    std::fill(each->value.begin(), each->value.end(), zero);
  for (std::int32_t i = 1; i <= n; ++i) right.at(i, i) = left.at(i, i) = is_sum ? 1.0 : 0.0;
  for (std::int32_t width = 1; width < n; ++width) {
    for (std::int32_t i = 1; i + width <= n; ++i) {
      const std::int32_t j = i + width;
      double between = zero;
      for (std::int32_t r = i; r < j; ++r) between = plus(between, times(right.at(i, r), left.at(r + 1, j)));
      right_arc.at(i, j) = times(between, arc(i, j));
      left_arc.at(i, j) = times(between, arc(j, i));
      for (std::int32_t r = i + 1; r <= j; ++r)
        right.at(i, j) = plus(right.at(i, j), times(right_arc.at(i, r), right.at(r, j)));
      for (std::int32_t r = i; r < j; ++r)
        left.at(i, j) = plus(left.at(i, j), times(left.at(i, r), left_arc.at(r, j)));
    }
  }
  double total = zero;
  for (std::int32_t r = 1; r <= n; ++r)
    total = plus(total, times(arc(0, r), times(left.at(1, r), right.at(r, n))));
  return is_sum ? std::log(total) : total;
}

}  // namespace

TEST(long_sentences_are_searched_like_short_ones) {
  testing::for_each_seed(12, [](testing::Random& random) {
    const std::int32_t n = 5 + random.below(40);
    const double missing = random.chance(0.5) ? 0.0 : 0.2;
    // Far beyond the range of a double, sums are those of logarithms.
    const double scale = random.chance(0.3) ? 400.0 : 1.0;
    ArcScores scores(n);
    for (std::int32_t h = 0; h <= n; ++h) {
      for (std::int32_t m = 1; m <= n; ++m) {
        if (h != m && !(random.chance(missing) && h != m - 1)) scores.at(h, m) = random.real(-2.0, 2.0);
      }
    }
    EisnerWork work;
    std::vector<double> marginal, ignored;
    const ScoredTree best = best_tree(scores, work);
    CHECK_NEAR(best.score, plain_eisner(scores, false), 1e-9);
    double total = 0.0;
    for (std::int32_t m = 1; m <= n; ++m) total += scores.at(best.heads[m], m);
    CHECK_NEAR(best.score, total, 1e-9);
    const double log_z = arc_marginals(scores, work, marginal);
    CHECK_NEAR(log_z, plain_eisner(scores, true), 1e-9);
    // The marginal of an arc is the derivative of log Z.
    for (int trial = 0; trial < 20; ++trial) {
      const std::int32_t m = 1 + random.below(n), h = random.below(n + 1);
      if (h == m || scores.at(h, m) == kNoTree) continue;
      constexpr double step = 1e-4;
      ArcScores more = scores, less = scores;
      more.at(h, m) += step, less.at(h, m) -= step;
      const double slope =
          (arc_marginals(more, work, ignored) - arc_marginals(less, work, ignored)) / (2 * step);
      CHECK_NEAR(marginal[scores.place(h, m)], slope, 1e-6);
    }
    for (double& each : scores.value) each *= scale;
    arc_marginals(scores, work, marginal);
    for (std::int32_t m = 1; m <= n; ++m) {
      double sum = 0.0;
      for (std::int32_t h = 0; h <= n; ++h) sum += marginal[scores.place(h, m)];
      CHECK_NEAR(sum, 1.0, 1e-9);
    }
  });
}

TEST(dependents_are_seen_from_the_inside_out) {
  const TreeShape shape({-1, 3, 3, 0, 3, 4, 3});
  CHECK(shape.inner == (std::vector<std::int32_t>{-1, 2, -1, -1, -1, -1, 4}));
  CHECK(shape.last[0][3] == 1);
  CHECK(shape.last[1][3] == 6);
  CHECK(shape.last[1][4] == 5);
  CHECK(shape.last[1][5] == kNobody);
}

TEST(charts_find_the_best_of_all_trees) {
  testing::for_each_seed(60, [](testing::Random& random) {
    const std::int32_t n = 1 + random.below(4);
    const double density = random.chance(0.3) ? 1.0 : 0.75;
    RandomParts parts(n, random);
    const auto side = static_cast<std::size_t>(n) + 1;
    std::vector<std::uint8_t> allowed(side * side, 1);
    for (auto& each : allowed) each = random.chance(density) ? 1 : 0;
    ArcScores scores(n);
    for (std::int32_t h = 0; h <= n; ++h) {
      for (std::int32_t m = 1; m <= n; ++m) {
        if (h != m && allowed[scores.place(h, m)] != 0) scores.at(h, m) = parts.arc(h, m);
      }
    }
    double best[4] = {kNoTree, kNoTree, kNoTree, kNoTree};
    double sum = 0.0;
    testing::for_each_tree(n, allowed, [&](const Heads& heads) {
      for (std::int32_t order = 1; order <= 3; ++order)
        best[order] = std::max(best[order], parts.score(heads, order));
      sum += std::exp(parts.score(heads, 1));
    });
    EisnerWork work;
    GrandWork grand;
    ArcSet arcs;
    arcs.reset(n, allowed);
    CHECK_NEAR(best_tree(scores, work).score, best[1], 1e-9);
    CHECK_NEAR(best_grand_tree<false>(parts, arcs, grand).score, best[2], 1e-9);
    CHECK_NEAR(best_grand_tree<true>(parts, arcs, grand).score, best[3], 1e-9);
    std::vector<double> marginal;
    CHECK_NEAR(arc_marginals(scores, work, marginal), std::log(sum), 1e-9);
  });
}

TEST(features_with_and_without_distance_are_neighbours) {
  std::vector<NodeAtoms> nodes(4, NodeAtoms{7, 8, 1, 2, 3});
  PartKeys keys;
  keys.reset(nodes, {true, 3});
  const std::vector<std::int32_t> tags{kRootTag, 0, 1, 0};
  const std::vector<std::uint8_t> classes{kVerb, kMark};
  keys.set_context(tags, classes);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;
  keys.arc(0, 3, 0, 3, [&](std::uint32_t key, std::uint32_t place) { seen.emplace_back(key, place); });
  // 36 plain templates, two tags between, three counts; each with and without distance.
  CHECK(seen.size() == 2 * (36 + 2 + 3));
  for (std::size_t k = 0; k < seen.size(); k += 2) {
    CHECK(seen[k].first == seen[k + 1].first);
    CHECK(seen[k].second < 16 && seen[k + 1].second == without_distance(seen[k].second));
  }
  std::size_t siblings = 0;
  keys.sibling(1, 2, 3, place_of(1, 3), [&](std::uint32_t, std::uint32_t) { ++siblings; });
  CHECK(siblings == 22 + 14);
  std::size_t others = 0;
  keys.grandparent(0, 1, 2, 3, [&](std::uint32_t, std::uint32_t) { ++others; });
  keys.grand_sibling(0, 1, 2, 3, 1, [&](std::uint32_t, std::uint32_t) { ++others; });
  CHECK(others == 22 + 14);
}

TEST(each_direction_and_distance_has_its_own_place) {
  std::set<std::int32_t> places;
  for (std::int32_t far = 1; far < 40; ++far) {
    places.insert(place_of(50, 50 + far));
    places.insert(place_of(50, 50 - far));
  }
  CHECK(places.size() == 14);
  CHECK(places.count(place_without_distance(true)) + places.count(place_without_distance(false)) == 0);
}

TEST(tags_and_counts_between_two_words) {
  BetweenWords between;
  const std::vector<std::int32_t> tags{kRootTag, 0, 1, 0, 2, 1};
  const std::vector<std::uint8_t> classes{kVerb, kConjunction, kMark};
  between.reset(tags, classes);
  std::vector<std::uint32_t> seen;
  std::vector<std::int32_t> first;
  between.for_each_tag(0, 5, [&](std::uint32_t tag, std::int32_t at) {
    seen.push_back(tag);
    first.push_back(at);
  });
  CHECK(seen == (std::vector<std::uint32_t>{between_key(0), between_key(1), between_key(2)}));
  CHECK(first == (std::vector<std::int32_t>{1, 2, 4}));
  CHECK(between.count(kVerb, 0, 5) == 2);
  CHECK(between.count(kMark, 3, 5) == 1);
  CHECK(between.count(kConjunction, 2, 5) == 0);
}

TEST(the_mean_of_a_perceptron_is_over_all_its_rounds) {
  std::vector<float> weights(3, 0.0F);
  std::vector<double> lag(3, 0.0);
  std::vector<double> total(3, 0.0);
  std::int64_t rounds = 0;
  PerceptronRule rule{weights, lag, &rounds};
  for (std::uint32_t round = 0; round < 7; ++round) {
    rule.begin(1);
    rule.change(round % 3, round % 2 == 0 ? 2.0F : -1.0F);
    const std::vector<float> row{1.0F, 0.0F};
    if (round == 4) rule.change_row(1, row, 3.0F);
    for (std::size_t k = 0; k < 3; ++k) total[k] += static_cast<double>(weights[k]);
  }
  const std::vector<float> mean = mean_weights(weights, lag, rounds);
  for (std::size_t k = 0; k < 3; ++k) CHECK_NEAR(static_cast<double>(mean[k]), total[k] / 7.0, 1e-6);
}
