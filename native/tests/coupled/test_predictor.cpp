// Compares the compiled coupled tagger with the one in training: the same answers with any number of threads,
// exactly and with coarse pruning; and bad weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"
#include "compiled_coupled.hpp"
#include "duilian/coupled/predictor.hpp"
#include "duilian/coupled/tagging.hpp"
#include "random.hpp"
#include "random_coupled.hpp"

using namespace duilian;
using namespace testing;

namespace {

[[nodiscard]] bool operator==(const TagSets& a, const TagSets& b) {
  return a.first == b.first && a.tag == b.tag;
}

}  // namespace

TEST(many_sentences_are_tagged_like_single_ones) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 8));
    const SearchOptions options{{2, 0.9}, random.chance(0.5) ? Decoding::path : Decoding::marginals};
    const auto tag = [&](std::span<const std::int64_t> first, std::size_t threads) {
      return tag_coupled(x.layout, x.view(), x.data.features, first, {}, {}, options, true, threads);
    };
    const CoupledAnswers all = tag(x.data.first, 1);
    const CoupledAnswers again = tag(x.data.first, 3);
    CHECK(all.label == again.label && all.p == again.p && all.candidate_p == again.candidate_p);
    for (std::size_t k = 0; k < x.sides(); ++k) {
      CHECK(all.candidates[k] == again.candidates[k]);
      CHECK(all.candidates[k].positions() == static_cast<std::int32_t>(x.data.label.size()));
      for (std::size_t u = 0; u < all.p[k].size(); ++u) {
        const auto set = all.candidates[k].at(static_cast<std::int32_t>(u));
        CHECK(std::binary_search(set.begin(), set.end(), all.label[k][u]));
        double sum = 0.0;
        for (std::int32_t c = all.candidates[k].first[u]; c < all.candidates[k].first[u + 1]; ++c)
          sum += all.candidate_p[k][c];
        CHECK_NEAR(sum, 1.0, 1e-5);
      }
    }
  });
}

TEST(compiled_weights_answer_like_those_in_training) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const CompiledCase x(random);
    const CoupledAnswers wanted =
        tag_coupled(x.model.layout, x.model.view(), x.model.data.features, x.model.data.first, {}, {},
                    {{2, 0.9}, Decoding::marginals}, true, 1);
    const CoupledPredictor predictor = x.predictor(x.compiled());
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
      const CoupledAnswers found = predict(predictor, x.sentences, {}, true, threads);
      CHECK(found.label == wanted.label);
      for (std::size_t k = 0; k < found.p.size(); ++k) {
        for (std::size_t u = 0; u < found.p[k].size(); ++u) CHECK_NEAR(found.p[k][u], wanted.p[k][u], 1e-5);
      }
      const auto pairs = count_pairs(predictor, x.sentences, {}, 0, 1, threads);
      CHECK_NEAR(std::accumulate(pairs.begin(), pairs.end(), 0.0), x.sentences.units(), 1e-6);
    }
  });
}

TEST(coarse_pruning_with_a_wide_window_hardly_changes_answers) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const CompiledCase x(random);
    constexpr Pruning kAll{1000, 1.0 - 1e-9};
    const CoupledAnswers wanted = predict(x.predictor(x.compiled(), kAll), x.sentences, {}, true, 1);
    const CoupledPredictor coarse =
        x.predictor(x.compiled(), {kAll.max_candidates, kAll.candidate_mass, 0.0, 30.0});
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
      const CoupledAnswers found = predict(coarse, x.sentences, {}, true, threads);
      for (std::size_t k = 0; k < found.p.size(); ++k) {
        CHECK(found.candidates[k] == wanted.candidates[k]);
        for (std::size_t c = 0;
             c < found.candidate_p[k].size() && found.candidates[k] == wanted.candidates[k]; ++c)
          CHECK_NEAR(found.candidate_p[k][c], wanted.candidate_p[k][c], 0.01);
      }
    }
  });
}

TEST(the_search_for_two_sides_answers_like_the_general_one) {
  int pairs = 0;
  testing::for_each_seed(40, [&](testing::Random& random) {
    const CompiledCase x(random);
    pairs += has_pair_shape(x.model.layout.shape) ? 1 : 0;
    constexpr double kNoGap = std::numeric_limits<double>::infinity();
    for (const double gap : {kNoGap, 3.0, 0.5, 0.0}) {
      for (const double window : {0.0, 6.0}) {
        const CoupledPredictor predictor =
            x.searching(x.compiled(), {{4, 0.95, 0.0, window}, Decoding::marginals, gap});
        const CoupledAnswers general = predict(predictor, x.sentences, {}, true, 1);
        std::int64_t impossible = -1;
        // Uses try_pairs().
        const CoupledAnswers found = predict_constrained(predictor, x.sentences, {}, true, 1, impossible);
        CHECK(impossible == 0);
        CHECK(found.label == general.label);
        for (std::size_t k = 0; k < found.p.size(); ++k) {
          CHECK(found.candidates[k] == general.candidates[k]);
          for (std::size_t c = 0; c < found.candidate_p[k].size(); ++c)
            CHECK_NEAR(found.candidate_p[k][c], general.candidate_p[k][c], 1e-6);
        }
      }
    }
  });
  CHECK(pairs > 5);
}

TEST(the_search_for_two_sides_leaves_wide_scores_to_the_general_one) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const CompiledCase x(random);
    CoupledWeights weights = x.compiled();
    for (float& each : weights.transition) each *= 1000.0F;
    const CoupledPredictor predictor = x.predictor(std::move(weights), Pruning{100, 1.0});
    std::int64_t impossible = -1;
    const CoupledAnswers found = predict_constrained(predictor, x.sentences, {}, false, 1, impossible);
    CHECK(found.label == predict(predictor, x.sentences, {}, false, 1).label);
  });
}

TEST(a_file_that_asks_for_too_many_candidates_is_searched_among_fewer) {
  // All labels are equally good, so nothing else would stop the search: 20^8 bundles for each unit, or 100^4
  // pairs.
  Sentences sentences(Folding(), {});
  sentences.add(std::vector<std::string>(40, "中"), {});
  for (const auto& [sides, labels, kept] : {std::tuple{8U, 20, 1U}, std::tuple{2U, 100, 12U}}) {
    CoupledShape shape =
        make_shape(std::vector<std::int32_t>(sides, labels), std::vector<Succession>(sides), {});
    if (sides == 2) add_joint_part(shape, {0, 1}, std::vector<TagId>{0, 0}, 0);  // for try_pairs()
    CoupledWeights weights;
    weights.table.slot = {kNoSlot, 0};
    weights.table.label = {kLastEntry};
    weights.table.weight = {0.0F};
    weights.transition.assign(
        sides * static_cast<std::size_t>((labels + 1) * (labels + 1)) + (sides == 2 ? 1 : 0), 0.0F);
    for (const double window : {0.0, 4.0}) {
      const CoupledPredictor predictor(shape, std::make_shared<CoupledWeights>(weights),
                                       parse_templates("w[0]"), {},
                                       {{100, 1.0, 0.0, window}, Decoding::marginals});
      std::int64_t impossible = -1;
      const CoupledAnswers found = predict_constrained(predictor, sentences, {}, true, 1, impossible);
      CHECK(found.label == predict(predictor, sentences, {}, false, 1).label);
      for (const TagSets& sets : found.candidates) {
        for (std::int32_t t = 0; t < sets.positions(); ++t) CHECK(sets.at(t).size() == kept);
      }
    }
  }
}

TEST(hostile_weights_are_refused) {
  testing::Random random(7);
  const CompiledCase x(random);
  const CoupledWeights good = x.compiled();
  const std::int32_t sides =
      std::accumulate(x.model.layout.shape.labels.begin(), x.model.layout.shape.labels.end(), 0);
  const auto refuses = [&](const auto& change) {
    CoupledWeights bad = good;
    change(bad);
    CHECK_THROWS(x.predictor(bad), std::invalid_argument);
    CHECK_THROWS(x.predictor(bad, {2, 0.9, 0.0, 4.0}), std::invalid_argument);
  };
  refuses([](CoupledWeights& w) { w.table.label[0] = 0x7FFF; });
  refuses([](CoupledWeights& w) { w.table.label.pop_back(); });
  refuses([](CoupledWeights& w) { w.table.weight[0] = std::nanf(""); });
  refuses([](CoupledWeights& w) { w.table.slot.clear(); });
  refuses([](CoupledWeights& w) { w.table.slot.assign(4, 0); });
  refuses([](CoupledWeights& w) { w.transition.pop_back(); });
  refuses([](CoupledWeights& w) { w.transition[0] = INFINITY; });
  refuses([](CoupledWeights& w) { w.pruned_sides = {0}; });
  refuses([&](CoupledWeights& w) {  // a side's label after a joint one
    w.table.label = {static_cast<std::uint16_t>(sides), kLastEntry};
    w.table.weight = {1.0F, 1.0F};
    w.table.slot = {0, kNoSlot};
  });
}
