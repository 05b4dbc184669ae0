// Compares both sets of tree kernels with plain loops, and pruning scores with sums over visited features.
#include <algorithm>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/tree/kernels.hpp"
#include "duilian/tree/parser.hpp"
#include "random.hpp"

namespace {

using duilian::kArcLanes;
using duilian::TreeKernels;
using testing::Random;

const TreeKernels* const kSets[] = {&duilian::tree_kernels(), &duilian::baseline_tree_kernels()};

[[nodiscard]] std::vector<double> random_values(Random& random, std::size_t count, double missing) {
  std::vector<double> out(count);
  for (double& each : out) each = random.chance(missing) ? duilian::kNoTree : random.real(-3.0, 3.0);
  return out;
}

TEST(the_largest_sum_equals_a_plain_loop) {
  testing::for_each_seed(200, [](Random& random) {
    const auto n = static_cast<std::size_t>(1 + random.below(20));
    const double missing = random.chance(0.2) ? 1.0 : 0.3;
    const std::vector<double> x = random_values(random, n, missing), y = random_values(random, n, missing);
    double top = duilian::kNoTree;
    for (std::size_t k = 0; k < n; ++k) top = std::max(top, x[k] + y[k]);
    for (const TreeKernels* set : kSets) CHECK(set->largest_sum(x.data(), y.data(), n) == top);
  });
}

TEST(products_and_multiples_equal_plain_loops) {
  testing::for_each_seed(200, [](Random& random) {
    const auto n = static_cast<std::size_t>(random.below(20));
    const std::vector<double> x = random_values(random, n, 0.0), y = random_values(random, n, 0.0);
    const double scale = random.real(-2.0, 2.0);
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) sum += x[k] * y[k];
    for (const TreeKernels* set : kSets) {
      CHECK_NEAR(set->inner_product(x.data(), y.data(), n), sum, 1e-12);
      std::vector<double> to = y;
      set->add_scaled(scale, x.data(), n, to.data());
      for (std::size_t k = 0; k < n; ++k) CHECK_NEAR(to[k], y[k] + scale * x[k], 1e-12);
    }
  });
}

TEST(arc_weights_are_added_in_the_order_of_a_plain_loop) {
  testing::for_each_seed(200, [](Random& random) {
    const auto count = static_cast<std::size_t>(random.below(20));
    const auto features = static_cast<std::size_t>(1 + random.below(5));
    const auto shift = static_cast<std::uint32_t>(32 - (4 + random.below(6)));
    const std::size_t stride = count + kArcLanes;
    std::vector<float> table(std::size_t{1} << (32 - shift)), start(stride, 0.0F);
    for (float& each : table) each = static_cast<float>(random.real(-1.0, 1.0));
    for (float& each : start) each = static_cast<float>(random.real(-1.0, 1.0));
    std::vector<std::uint32_t> own(features), other(features * stride), far(stride);
    for (auto* each : {&own, &other}) {
      for (std::uint32_t& key : *each) key = static_cast<std::uint32_t>(random.bits());
    }
    for (std::uint32_t& place : far) place = static_cast<std::uint32_t>(random.below(16));
    const auto near = static_cast<std::uint32_t>(random.below(16));
    std::vector<float> wanted = start;
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t k = 0; k < features; ++k) {
        const std::uint32_t place = (own[k] + other[k * stride + j]) >> shift;
        wanted[j] += table[place ^ far[j]];
        wanted[j] += table[place ^ near];
      }
    }
    for (const TreeKernels* set : kSets) {
      std::vector<float> score = start;
      set->add_arc_weights({own.data(), other.data(), stride, features, far.data(), near, count},
                           table.data(), shift, score.data());
      CHECK(std::equal(score.begin(), score.begin() + static_cast<std::ptrdiff_t>(count), wanted.begin()));
    }
  });
}

TEST(pruning_scores_are_sums_over_the_features_of_an_arc) {
  testing::for_each_seed(60, [](Random& random) {
    const std::int32_t n = 1 + random.below(25);
    const std::int32_t bits = 8 + random.below(4);
    const duilian::TreeParser parser(
        {2, 8, 8, bits, 0, {0, duilian::kVerb, duilian::kConjunction, duilian::kMark}, {}});
    duilian::TreeData data{{duilian::Folding(), {}}, {}, {}, {}, {}, {}, {}};
    std::vector<std::string> text;
    for (std::int32_t m = 0; m < n; ++m) text.emplace_back(random.chance(0.5) ? "书" : "看书");
    data.sentences.add(text, {});
    for (std::int32_t m = 0; m < n; ++m) data.tag.push_back(random.below(5));  // the last tag is unknown
    data.head.assign(text.size(), duilian::kUnknown);
    data.relation.assign(text.size(), duilian::kUnknown);
    std::vector<float> table(std::size_t{1} << bits);
    for (float& each : table) each = static_cast<float>(random.real(-1.0, 1.0));
    duilian::ParseWork work;
    parser.prepare(data, 0, work);
    parser.score_pruning_arcs(table, work);
    for (std::int32_t h = 0; h <= n; ++h) {
      for (std::int32_t m = 1; m <= n; ++m) {
        if (m == h) continue;
        float total = 0.0F;
        work.keys.pruning_arc(h, m, static_cast<std::size_t>(h), static_cast<std::size_t>(m),
                              [&](std::uint32_t key, std::uint32_t place) {
                                total += table[(key >> static_cast<std::uint32_t>(32 - bits)) ^ place];
                              });
        CHECK(work.scores.at(h, m) == static_cast<double>(total));
      }
    }
  });
}

}  // namespace
