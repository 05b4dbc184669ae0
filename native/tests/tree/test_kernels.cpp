// Compares both sets of tree kernels with plain loops, and pruning scores with sums over visited features.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/tree/kernels.hpp"
#include "duilian/tree/parser.hpp"
#include "random.hpp"

namespace {

using duilian::kArcLanes;
using duilian::RowProducts;
using duilian::Taper;
using duilian::TreeKernels;
using testing::Random;

const TreeKernels* const kSets[] = {&duilian::tree_kernels(), &duilian::baseline_tree_kernels()};

[[nodiscard]] std::vector<double> random_values(Random& random, std::size_t count, double missing) {
  std::vector<double> out(count);
  for (double& each : out) each = random.chance(missing) ? duilian::kNoTree : random.real(-3.0, 3.0);
  return out;
}

TEST(products_of_rows_equal_plain_loops) {
  testing::for_each_seed(300, [](Random& random) {
    constexpr std::size_t margin = duilian::kSpanLanes;
    const auto size = static_cast<std::size_t>(1 + random.below(30));
    const auto count = static_cast<std::size_t>(random.below(30));
    const auto step = static_cast<std::ptrdiff_t>(size + 2 * margin);
    const auto rows = static_cast<std::ptrdiff_t>(count + 1);
    const double missing = random.chance(0.2) ? 1.0 : 0.3;
    for (const Taper taper : {Taper::kNone, Taper::kRising, Taper::kFalling}) {
      const bool is_sum = random.chance(0.5);
      // Neighbours count as zeros, so that factors that do not matter do no harm.
      const auto cells = static_cast<std::size_t>(rows * step);
      std::vector<double> a = random_values(random, cells, is_sum ? 0.0 : missing), b = a;
      for (double& each : b) each = random.real(-2.0, 2.0);
      std::vector<double> out = random_values(random, size + 2 * margin, is_sum ? 0.0 : missing),
                          wanted = out;
      RowProducts row{
          a.data() + margin, step, b.data() + (rows - 1) * step + margin, -step, count, size, taper, nullptr};
      const double zero = is_sum ? 0.0 : duilian::kNoTree;
      for (std::size_t x = 0; x < size; ++x) {
        for (std::size_t k = 0; k < count; ++k) {
          const auto at = static_cast<std::size_t>(row.a_step) * k + margin + x;
          if (k >= row.count_at(x)) a[at] = zero;
        }
      }
      for (std::size_t x = 0; x < size; ++x) {
        double& to = wanted[x];
        for (std::size_t k = 0; k < row.count_at(x); ++k) {
          const double one =
              row.a[static_cast<std::ptrdiff_t>(k) * row.a_step + static_cast<std::ptrdiff_t>(x)];
          const double two =
              row.b[static_cast<std::ptrdiff_t>(k) * row.b_step + static_cast<std::ptrdiff_t>(x)];
          to = is_sum ? to + one * two : std::max(to, one + two);
        }
      }
      for (const TreeKernels* set : kSets) {
        std::vector<double> found = out;
        row.out = found.data();
        (is_sum ? set->add_products : set->raise_to_sums)(row);
        for (std::size_t x = 0; x < size; ++x)
          CHECK(found[x] == wanted[x] || std::abs(found[x] - wanted[x]) <= 1e-12 * (1 + std::abs(wanted[x])));
      }
    }
  });
}

TEST(rows_are_added_in_order) {
  testing::for_each_seed(200, [](Random& random) {
    const auto size = static_cast<std::size_t>(1 + random.below(100));
    std::vector<float> weights(size + 50), start(size);
    for (auto* each : {&weights, &start}) {
      for (float& value : *each) value = static_cast<float>(random.real(-1.0, 1.0));
    }
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(random.below(9)));
    for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(random.below(51));
    std::vector<float> wanted = start;
    for (const std::uint32_t row : rows) {
      for (std::size_t k = 0; k < size; ++k) wanted[k] += weights[row + k];
    }
    for (const TreeKernels* set : kSets) {
      std::vector<float> found = start;
      set->add_rows(weights.data(), rows.data(), rows.size(), size, found.data());
      CHECK(found == wanted);
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
    duilian::TreeData data{{duilian::Folding(), {}}, {}, {}, {}, {}, {}, {}, {}};
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
