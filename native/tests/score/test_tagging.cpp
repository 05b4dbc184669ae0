// Compares the plain tagger with its definition: losses by enumeration, gradients by central differences,
// layouts pair by pair.
#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/score/tagging.hpp"
#include "random.hpp"
#include "random_tagger.hpp"

using namespace duilian;

namespace {

using RowAndLabel = std::pair<std::uint32_t, std::int32_t>;

template <class Test>
void for_each_tagger(std::int64_t seeds, testing::Annotation annotation, std::int32_t sentences,
                     const Test& test) {
  for (std::int32_t kind = 0; kind < testing::kRuleKinds; ++kind) {
    testing::for_each_seed(seeds, [&](testing::Random& random) {
      testing::TaggerCase x =
          testing::random_tagger(random, {static_cast<testing::RuleKind>(kind), annotation, sentences});
      test(x);
    });
  }
}

void check_gradient(testing::TaggerCase& x) {
  std::vector<double> direction;
  const double loss = testing::tagger_gradient(x, 0, direction);
  CHECK_NEAR(loss, testing::defined_loss(x, 0), 1e-9);
  for (std::size_t w = 0; w < x.weights.size(); ++w) {
    const float weight = x.weights[w];
    x.weights[w] = weight + testing::kWeightStep;
    const double above = testing::defined_loss(x, 0);
    x.weights[w] = weight - testing::kWeightStep;
    const double below = testing::defined_loss(x, 0);
    x.weights[w] = weight;
    CHECK_NEAR(direction[w], (below - above) / (2.0 * testing::kWeightStep), 2e-5);
  }
}

/// The pairs that a layout has weights for; checks that they are in order.
[[nodiscard]] std::set<RowAndLabel> pairs_of(const TaggerLayout& layout) {
  std::set<RowAndLabel> out;
  for (std::uint32_t row = 0; row + 1 < layout.first.size(); ++row) {
    std::int64_t next = layout.first[row];
    std::int32_t before = -1;
    layout.for_each_place(row, [&](std::int32_t label, std::int64_t k) {
      CHECK(k == next++ && label > before);
      CHECK(layout.find(row, label) == layout.transitions() + k);
      before = label;
      out.emplace(row, label);
    });
    CHECK(next == layout.first[row + 1]);
  }
  CHECK(out.size() == static_cast<std::size_t>(layout.first.back()));
  return out;
}

/// Two units with features 0 0 and 1 2, and labels 1 and 0 of three.
[[nodiscard]] TaggingData two_units() {
  TaggingData data;
  data.features.first = {0, 2, 4};
  data.features.value = {0, 0, 1, 2};
  data.first = {0, 2};
  data.label = {1, 0};
  return data;
}

}  // namespace

TEST(gradients_of_full_annotation_match_central_differences) {
  for_each_tagger(12, testing::Annotation::full, 1, check_gradient);
}

TEST(gradients_of_partial_annotation_match_central_differences) {
  for_each_tagger(12, testing::Annotation::partial, 1, check_gradient);
}

TEST(weights_count_with_their_scale) {
  for_each_tagger(10, testing::Annotation::partial, 1, [](const testing::TaggerCase& x) {
    std::vector<float> doubled = x.weights;
    for (float& w : doubled) w *= 2.0F;
    const TaggingObjective objective(x.layout, x.data);
    TaggingObjective::Work work;
    Gradient out;
    out.dense.assign(static_cast<std::size_t>(objective.dense()), 0.0);
    const WeightView half{doubled, 0.5F};
    auto prepared = objective.prepare(half);
    CHECK_NEAR(add_gradient(objective, prepared, half, 0, work, out), testing::defined_loss(x, 0), 1e-9);
  });
}

TEST(tagged_units_are_the_best_labels) {
  for_each_tagger(20, testing::Annotation::full, 7, [](const testing::TaggerCase& x) {
    const auto alone = tag_units(x.layout, x.view(), x.data.features, x.data.first, 1);
    CHECK(alone == tag_units(x.layout, x.view(), x.data.features, x.data.first, 3));
    // The best labels must be as good as any other sequence: no single change helps.
    testing::TaggerCase forced = x;
    forced.data.label = alone;
    for (std::int64_t k = 0; k < x.sentences(); ++k) {
      const double best = testing::defined_log_sum(forced, k, true);
      CHECK(best >= testing::defined_log_sum(x, k, true) - 1e-9);
      for (std::int64_t unit = x.data.first[k]; unit < x.data.first[k + 1]; ++unit) {
        for (std::int32_t l = 0; l < x.layout.labels; ++l) {
          forced.data.label[unit] = l;
          CHECK(testing::defined_log_sum(forced, k, true) <= best + 1e-9);
        }
        forced.data.label[unit] = alone[unit];
      }
    }
  });
}

TEST(a_sentence_without_units_costs_nothing) {
  TaggingData data = two_units();
  data.first = {0, 0, 2};
  const TaggerLayout layout = lay_out_tagger(3, {}, 3, data, 100);
  const std::vector<float> weights(static_cast<std::size_t>(layout.weights()), 0.0F);
  const TaggingObjective objective(layout, data);
  TaggingObjective::Work work;
  Gradient out;
  out.dense.assign(static_cast<std::size_t>(objective.dense()), 0.0);
  auto prepared = objective.prepare({weights});
  CHECK(add_gradient(objective, prepared, {weights}, 0, work, out) == 0.0);
  CHECK(out.sparse.empty());
  CHECK(tag_units(layout, {weights}, data.features, data.first, 1).size() == 2);
}

TEST(layouts_have_the_pairs_in_the_data) {
  const TaggingData data = two_units();
  CHECK(pairs_of(lay_out_tagger(3, {}, 3, data, 100)) == std::set<RowAndLabel>{{0, 1}, {1, 0}, {2, 0}});
  CHECK(lay_out_tagger(3, {}, 3, data, 100).weights() == 16 + 3);
}

TEST(frequent_features_have_a_weight_for_every_label) {
  const TaggingData data = two_units();
  const std::set<RowAndLabel> some = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}};
  CHECK(pairs_of(lay_out_tagger(3, {}, 3, data, 2)) == some);
  CHECK(pairs_of(lay_out_tagger(3, {}, 3, data, 1)).size() == 9);
  // Row 3 never occurs: it has weights only if zero occurrences are enough.
  CHECK(pairs_of(lay_out_tagger(3, {}, 4, data, 1)).size() == 9);
  CHECK(pairs_of(lay_out_tagger(3, {}, 4, data, 0)).size() == 12);
}

TEST(features_that_no_sentence_teaches_may_be_left_out) {
  TaggingData data = two_units();
  data.first = {0, 1, 2};
  const TaggerLayout whole = lay_out_tagger(3, {}, 3, data, 2);
  const TaggerLayout part = lay_out_tagger(3, {}, 3, data, 2, std::vector<std::int64_t>{1});
  CHECK(pairs_of(part) == std::set<RowAndLabel>{{1, 0}, {2, 0}});
  CHECK_THROWS_WITH(lay_out_tagger(3, {}, 3, data, 2, std::vector<std::int64_t>{2}), std::invalid_argument,
                    "a sentence does not exist");

  std::vector<float> weights;
  for (std::int64_t w = 0; w < part.weights(); ++w) weights.push_back(static_cast<float>(w + 1));
  std::vector<float> out(static_cast<std::size_t>(whole.weights()), 0.0F);
  copy_weights(part, weights, 0.5F, whole, out);
  std::size_t copied = 0;
  for (std::uint32_t row = 0; row < 3; ++row) {
    whole.for_each(row, out, [&](std::int32_t label, float weight) {
      const std::int64_t from = part.find(row, label);
      CHECK(weight == (from < 0 ? 0.0F : 0.5F * weights[static_cast<std::size_t>(from)]));
      copied += from < 0 ? 0 : 1;
    });
  }
  CHECK(copied == 2);
  for (std::size_t k = 0; k < 16; ++k) CHECK(out[k] == 0.5F * weights[k]);
  std::vector<float> lacking(static_cast<std::size_t>(part.weights()), 0.0F);
  CHECK_THROWS_WITH(copy_weights(whole, out, 1.0F, part, lacking), std::invalid_argument,
                    "the weights do not match the layouts");
  CHECK_THROWS(copy_weights(part, weights, 1.0F, whole, lacking), std::invalid_argument);
}

TEST(features_of_partial_units_pair_with_every_allowed_label) {
  TaggingData data = two_units();
  data.label = {-1, 0};
  data.sets = {{0, 2, 2}, {0, 2}};
  check(data);
  CHECK(pairs_of(lay_out_tagger(3, {}, 3, data, 100)) ==
        std::set<RowAndLabel>{{0, 0}, {0, 2}, {1, 0}, {2, 0}});
}

TEST(bad_tagging_data_are_refused) {
  const auto refuses = [](auto&& change) {
    TaggingData data = two_units();
    check(data);
    change(data);
    CHECK_THROWS(check(data), std::invalid_argument);
  };
  refuses([](TaggingData& x) { x.first.clear(); });
  refuses([](TaggingData& x) { x.first = {1, 2}; });
  refuses([](TaggingData& x) { x.first = {0, 1}; });
  refuses([](TaggingData& x) { x.first = {0, 2, 1, 2}; });
  refuses([](TaggingData& x) { x.label.push_back(0); });
  refuses([](TaggingData& x) { x.features.first = {0, 4}; });
  refuses([](TaggingData& x) { x.features.first = {0, 2, 5}; });
  refuses([](TaggingData& x) { x.sets = {{0, 1}, {0}}; });
}

TEST(bad_layouts_are_refused) {
  TaggingData data = two_units();
  CHECK_THROWS_WITH(lay_out_tagger(1, {}, 3, data, 1), std::invalid_argument, "a label is out of range");
  CHECK_THROWS_WITH(lay_out_tagger(3, {}, 2, data, 1), std::invalid_argument,
                    "a feature row is out of range");
  CHECK_THROWS_WITH(lay_out_tagger(0x10000, {}, 3, data, 9), std::invalid_argument,
                    "65536 labels, but at most");
  data.sets = {{0, 1, 1}, {3}};
  CHECK_THROWS_WITH(lay_out_tagger(3, {}, 3, data, 1), std::invalid_argument, "a label is out of range");
}

TEST(units_without_a_legal_path_are_refused) {
  const TaggingData data = two_units();
  const Succession never{3, std::vector<std::uint8_t>(16, 0)};
  const TaggerLayout layout = lay_out_tagger(3, never, 3, data, 1);
  const std::vector<float> weights(static_cast<std::size_t>(layout.weights()), 0.0F);
  CHECK_THROWS(tag_units(layout, {weights}, data.features, data.first, 1), std::invalid_argument);
}
