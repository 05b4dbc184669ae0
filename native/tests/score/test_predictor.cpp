// Compares the compiled tagger with the one it was compiled from, and tests constraints.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/features/probing.hpp"
#include "duilian/score/predictor.hpp"
#include "random.hpp"
#include "random_predictor.hpp"

using namespace duilian;
using namespace testing;

namespace {

using Labels = std::vector<std::int32_t>;

[[nodiscard]] Labels predict_all(const Predictor& predictor, const Sentences& sentences,
                                 const Constraints& constraints, std::int64_t& impossible) {
  const Labels labels = predict(predictor, sentences, constraints, 1, impossible);
  std::int64_t again = -1;
  CHECK(predict(predictor, sentences, constraints, 3, again) == labels && again == impossible);
  return labels;
}

/// Allows each unit its label in `labels` or, by chance, every label.
[[nodiscard]] Constraints constrain(testing::Random& random, const Labels& labels) {
  Constraints out;
  for (const std::int32_t label : labels) {
    if (random.chance(0.6)) out.allowed.tag.push_back(label);
    out.allowed.first.push_back(static_cast<std::int32_t>(out.allowed.tag.size()));
  }
  return out;
}

[[nodiscard]] bool is_granted(const Constraints& constraints, std::int64_t unit, std::int32_t label) {
  const auto set = constraints.allowed.at(static_cast<std::int32_t>(unit));
  return set.empty() || std::find(set.begin(), set.end(), label) != set.end();
}

/// The labels that the constraints leave at each unit.
[[nodiscard]] std::vector<std::vector<TagId>> left_by(const Constraints& constraints, std::int32_t labels) {
  std::vector<double> state(constraints.barred_at.size() * static_cast<std::size_t>(labels), 0.0);
  const auto units = static_cast<std::int64_t>(constraints.barred_at.size());
  apply({constraints.allowed, {}, constraints.barred_at, constraints.barred}, labels,
        static_cast<std::size_t>(labels), 0, units, state);
  std::vector<std::vector<TagId>> out(constraints.barred_at.size());
  for (std::size_t k = 0; k < state.size(); ++k) {
    if (state[k] != kForbidden)
      out[k / static_cast<std::size_t>(labels)].push_back(
          static_cast<TagId>(k % static_cast<std::size_t>(labels)));
  }
  return out;
}

/// Two labels, two features and an empty slot: a good start for bad arrays.
[[nodiscard]] CompiledWeights two_entries() {
  CompiledWeights out;
  out.slot = {kNoSlot, 0, (std::uint64_t{7} << 32U) | 1U};
  out.label = {kLastEntry, 1 | kLastEntry};
  out.weight = {0.5F, -0.5F};
  out.transition.assign(9, 0.0F);
  return out;
}

void build(CompiledWeights weights) {
  const Predictor built(2, {}, std::move(weights), parse_templates("w[0]"), Folding());
}

template <class Change>
void refuses(const char* message, const Change& change) {
  CompiledWeights weights = two_entries();
  change(weights);
  CHECK_THROWS_WITH(build(weights), std::invalid_argument, message);
}

}  // namespace

TEST(predictors_label_like_the_tagger_they_were_compiled_from) {
  testing::for_each_seed(60, [](testing::Random& random) {
    const PredictorCase x(random, living_kind(random), 20);
    const Predictor predictor = x.compile();
    std::int64_t impossible = -1;
    CHECK(predict_all(predictor, x.sentences, {}, impossible) ==
          tag_units(x.layout, {x.weights}, x.features, x.sentences.first(), 1));
    CHECK(impossible == 0);
  });
}

TEST(predictors_score_like_the_tagger_they_were_compiled_from) {
  testing::for_each_seed(30, [](testing::Random& random) {
    const PredictorCase x(random, living_kind(random), 10);
    const Predictor predictor = x.compile();
    Predictor::Work work;
    std::vector<double> wanted;
    for (std::int64_t k = 0; k < x.sentences.size(); ++k) {
      predictor.score(x.sentences, k, work);
      score_units(x.layout, {x.weights}, x.features, x.sentences.begin_of(k), x.sentences.end_of(k), wanted);
      CHECK(work.state.size() == wanted.size());
      for (std::size_t n = 0; n < wanted.size(); ++n) CHECK_NEAR(work.state[n], wanted[n], 1e-12);
    }
  });
}

TEST(small_weights_are_dropped) {
  testing::for_each_seed(20, [](testing::Random& random) {
    PredictorCase x(random, living_kind(random), 20);
    const Predictor pruned = x.compile(1.0F);
    for (std::int64_t w = x.layout.transitions(); w < x.layout.weights(); ++w) {
      if (std::abs(x.weights[w]) < 1.0F) x.weights[w] = 0.0F;
    }
    const auto kept = static_cast<std::size_t>(std::count_if(
        x.weights.begin() + x.layout.transitions(), x.weights.end(), [](float w) { return w != 0.0F; }));
    CHECK(pruned.weights().weight.size() == kept);
    std::int64_t impossible = -1;
    CHECK(predict(pruned, x.sentences, {}, 1, impossible) ==
          tag_units(x.layout, {x.weights}, x.features, x.sentences.first(), 1));
  });
}

TEST(possible_constraints_hold) {
  testing::for_each_seed(60, [](testing::Random& random) {
    const PredictorCase x(random, living_kind(random), 12);
    const Predictor predictor = x.compile();
    // The answer of another tagger is legal, so it can be required.
    std::vector<float> others = x.weights;
    std::reverse(others.begin(), others.end());
    const Constraints constraints =
        constrain(random, tag_units(x.layout, {others}, x.features, x.sentences.first(), 1));
    std::int64_t impossible = -1;
    const Labels labels = predict_all(predictor, x.sentences, constraints, impossible);
    CHECK(impossible == 0);
    for (std::size_t unit = 0; unit < labels.size(); ++unit) {
      CHECK(is_granted(constraints, static_cast<std::int64_t>(unit), labels[unit]));
    }
    const auto p = predict_marginals(predictor, x.sentences, constraints, 2);
    const auto L = static_cast<std::size_t>(x.layout.labels);
    CHECK(p.size() == labels.size() * L);
    for (std::size_t unit = 0; unit < labels.size(); ++unit) {
      double sum = 0.0;
      for (std::size_t l = 0; l < L; ++l) {
        sum += p[unit * L + l];
        const bool may_be =
            is_granted(constraints, static_cast<std::int64_t>(unit), static_cast<std::int32_t>(l));
        CHECK(may_be || p[unit * L + l] == 0.0);
      }
      CHECK_NEAR(sum, 1.0, 1e-9);
    }
  });
}

TEST(impossible_constraints_are_counted_and_ignored) {
  testing::for_each_seed(40, [](testing::Random& random) {
    const PredictorCase x(random, testing::RuleKind::blocks, 12);
    const Predictor predictor = x.compile();
    const std::int32_t tags = x.layout.labels / 4;
    std::int64_t impossible = -1;
    const Labels free = predict(predictor, x.sentences, {}, 1, impossible);
    Constraints constraints;
    std::int64_t wanted = 0;
    for (std::int64_t k = 0; k < x.sentences.size(); ++k) {
      const std::int64_t length = x.sentences.end_of(k) - x.sentences.begin_of(k);
      const bool is_bad = length > 0 && random.chance(0.5);
      wanted += is_bad ? 1 : 0;
      for (std::int64_t t = 0; t < length; ++t) {
        if (is_bad && t == 0)
          constraints.allowed.tag.push_back(random.below(tags));  // E cannot begin a sentence
        constraints.allowed.first.push_back(static_cast<std::int32_t>(constraints.allowed.tag.size()));
      }
    }
    CHECK(predict_all(predictor, x.sentences, constraints, impossible) == free);
    CHECK(impossible == wanted);
    if (wanted > 0) {
      CHECK_THROWS(predict_marginals(predictor, x.sentences, constraints, 2), std::invalid_argument);
    }
  });
}

TEST(bonuses_add_to_the_scores) {
  testing::for_each_seed(40, [](testing::Random& random) {
    const PredictorCase x(random, living_kind(random), 8);
    const Predictor predictor = x.compile();
    Constraints constraints;
    for (std::int64_t unit = 0; unit < x.sentences.units(); ++unit) {
      for (std::int32_t n = random.below(3); n > 0; --n) {
        constraints.bonus.push_back(
            {unit, random.below(x.layout.labels), 0.5F * static_cast<float>(random.below(9) - 4)});
      }
    }
    Predictor::Work plain;
    Predictor::Work constrained;
    std::size_t used = 0;
    for (std::int64_t k = 0; k < x.sentences.size(); ++k) {
      predictor.score(x.sentences, k, plain);
      predictor.score(x.sentences, k, constrained);
      apply(constraints, predictor, x.sentences, k, constrained);
      for (; used < constraints.bonus.size() && constraints.bonus[used].unit < x.sentences.end_of(k);
           ++used) {
        const auto t = static_cast<std::size_t>(constraints.bonus[used].unit - x.sentences.begin_of(k));
        plain.state[t * predictor.stride() + constraints.bonus[used].label] += constraints.bonus[used].score;
      }
      CHECK(plain.state == constrained.state);
    }
    CHECK(used == constraints.bonus.size());
  });
}

TEST(a_large_bonus_wins) {
  testing::Random random(5);
  const PredictorCase x(random, testing::RuleKind::free, 8);
  const Predictor predictor = x.compile();
  Constraints constraints;
  Labels wanted;
  for (std::int64_t unit = 0; unit < x.sentences.units(); ++unit) {
    wanted.push_back(random.below(x.layout.labels));
    constraints.bonus.push_back({unit, wanted.back(), 1e4F});
  }
  std::int64_t impossible = -1;
  CHECK(predict_all(predictor, x.sentences, constraints, impossible) == wanted && impossible == 0);
}

TEST(bad_constraints_are_refused) {
  testing::Random random(5);
  const PredictorCase x(random, testing::RuleKind::blocks, 8);
  const Predictor predictor = x.compile();
  const auto units = static_cast<std::size_t>(x.sentences.units());
  CHECK(units > 1);
  const auto allow = [&](TagId label) {
    Constraints out;
    out.allowed.first.assign(units + 1, 1);
    out.allowed.first[0] = 0;
    out.allowed.tag = {label};
    return out;
  };
  const auto is_refused = [&](const Constraints& constraints, const char* message) {
    CHECK_THROWS_WITH(check(constraints, predictor.labels(), x.sentences.units()), std::invalid_argument,
                      message);
  };
  check(allow(0), predictor.labels(), x.sentences.units());
  is_refused(allow(x.layout.labels), "an allowed label is out of range");
  is_refused(allow(-1), "the tags of position 0");
  Constraints shorter = allow(0);
  shorter.allowed.first.pop_back();
  is_refused(shorter, "the allowed labels do not match");
  const float infinity = std::numeric_limits<float>::infinity();
  const auto last = static_cast<std::int64_t>(units) - 1;
  check(Constraints{{}, {{0, 0, 1.0F}, {0, 0, 1.0F}, {last, 1, -1.0F}}, {}, {}}, predictor.labels(),
        x.sentences.units());
  is_refused({{}, {{1, 0, 1.0F}, {0, 0, 1.0F}}, {}, {}}, "a bonus does not match");
  is_refused({{}, {{-1, 0, 1.0F}}, {}, {}}, "a bonus does not match");
  is_refused({{}, {{last + 1, 0, 1.0F}}, {}, {}}, "a bonus does not match");
  is_refused({{}, {{0, x.layout.labels, 1.0F}}, {}, {}}, "a bonus does not match");
  is_refused({{}, {{0, -1, 1.0F}}, {}, {}}, "a bonus does not match");
  is_refused({{}, {{0, 0, infinity}}, {}, {}}, "a bonus does not match");
}

TEST(facts_about_units_bar_labels) {
  const std::vector<std::uint16_t> barred_by = {1, 2, 3, 0};
  const std::vector<std::uint16_t> known = {0, 1, 2, 4, 1, 3};
  const Constraints free = restricted({{}, {{2, 1, 1.0F}}, {}, {}}, known, barred_by);
  using Sets = std::vector<std::vector<TagId>>;
  CHECK(left_by(free, 4) ==
        Sets({{0, 1, 2, 3}, {1, 3}, {0, 3}, {0, 1, 2, 3}, {1, 3}, {3}}));  // 4 bars nothing
  CHECK(free.bonus.size() == 1);
  CHECK(!free.limits_labels(0, 1) && !free.limits_labels(3, 4) && free.limits_labels(3, 5));
  const Constraints given = {{{0, 1, 3, 4, 4, 4, 4}, {0, 0, 1, 1}}, {}, {}, {}};
  const Constraints both = restricted(given, known, barred_by);
  // Nothing else would be left at unit 2.
  CHECK(left_by(both, 4) == Sets({{0}, {1}, {1}, {0, 1, 2, 3}, {1, 3}, {3}}));
  CHECK_THROWS(restricted(given, {known.data(), 5}, barred_by), std::invalid_argument);
  CHECK_THROWS(restricted(both, known, barred_by), std::invalid_argument);
  const std::vector<std::uint16_t> other = {4, 0};
  const std::vector<std::span<const std::uint16_t>> sides = {barred_by, other};
  const std::vector<Constraints> found = restrictions(known, sides);
  CHECK(found.size() == 2);
  CHECK(left_by(found[0], 4) == left_by(free, 4));
  CHECK(left_by(found[1], 2) == Sets({{0, 1}, {0, 1}, {0, 1}, {1}, {0, 1}, {0, 1}}));
  CHECK(restrictions(std::vector<std::uint16_t>({0, 8}), sides).empty());
  const std::vector<std::uint16_t> all = {1, 1};
  CHECK(!restricted({}, known, all).limits_labels(0, 6));  // would leave nothing
  Constraints outside = free;
  outside.barred_at[0] = 100;
  CHECK_THROWS(check(outside, 4, 6), std::invalid_argument);
  outside = free;
  outside.barred.tag.back() = 4;
  CHECK_THROWS(check(outside, 4, 6), std::invalid_argument);
}

TEST(bad_predictor_arrays_are_refused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  build(two_entries());
  refuses("the arrays of the tagger are inconsistent", [](CompiledWeights& w) { w.transition.pop_back(); });
  refuses("the arrays of the tagger are inconsistent", [](CompiledWeights& w) { w.weight.pop_back(); });
  refuses("the arrays of the tagger are inconsistent", [](CompiledWeights& w) { w.slot.clear(); });
  refuses("a weight of the tagger is not finite", [&](CompiledWeights& w) { w.weight[0] = nan; });
  refuses("a weight of the tagger is not finite", [&](CompiledWeights& w) { w.transition[8] = nan; });
  refuses("the tagger's table has no free slot", [](CompiledWeights& w) { w.slot[0] = 0; });
  refuses("a slot of the tagger points outside", [](CompiledWeights& w) { w.slot[1] = 2; });
  refuses("a label of the tagger is out of range", [](CompiledWeights& w) { w.label[0] = 2; });
  refuses("the tagger's last entry is not marked", [](CompiledWeights& w) { w.label[1] = 1; });
  refuses("the labels of a feature do not ascend", [](CompiledWeights& w) { w.label = {1, kLastEntry}; });
  refuses("the tagger's table has too few free slots", [](CompiledWeights& w) {
    w.slot.assign(2 * kLongestRun, 0);
    w.slot[kLongestRun + 1] = kNoSlot;
  });
}

TEST(predictors_without_features_follow_their_transitions) {
  CompiledWeights weights;
  weights.slot = {kNoSlot};
  weights.transition = {0.0F, 1.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F};  // start at 0, then alternate
  const Predictor predictor(2, {}, weights, parse_templates("w[0]"), Folding());
  Sentences sentences(Folding(), {});
  sentences.add(std::vector<std::string>{"a", "b", "c"}, {});
  sentences.add(std::vector<std::string>{}, {});
  std::int64_t impossible = -1;
  CHECK(predict_all(predictor, sentences, {}, impossible) == Labels{0, 1, 0});
  CHECK(predict_marginals(predictor, sentences, {}, 1).size() == 6);
}

TEST(few_labels_with_few_weights_score_the_same) {
  testing::Random random(23);
  int coded = 0;
  for (int round = 0; round < 60; ++round) {
    PredictorCase x(random, living_kind(random), 6);
    if (x.layout.labels > 4) continue;
    for (float& weight : x.weights) weight = std::round(4.0F * weight) / 4.0F;
    const Predictor predictor = x.compile();
    coded += CodedTable::make(predictor.weights(), 4).has_value() ? 1 : 0;
    Predictor::Work work;
    for (std::int64_t s = 0; s < x.sentences.size(); ++s) {
      predictor.score_states(x.sentences, s, work);
      FeatureKeys keys;
      extract_keys(x.templates, x.sentences, s, s + 1, keys);
      std::vector<double> wanted(work.state.size(), 0.0);
      for (std::size_t t = 0; t + 1 < keys.first.size(); ++t) {
        for (std::int64_t k = keys.first[t]; k < keys.first[t + 1]; ++k)
          predictor.weights().add_to(predictor.weights().find(keys.value[static_cast<std::size_t>(k)]),
                                     wanted.data() + t * predictor.stride());
      }
      CHECK(work.state == wanted);
    }
  }
  CHECK(coded > 5);
}

TEST(weights_are_coded_only_if_they_are_few) {
  CompiledWeights weights = two_entries();
  CHECK(CodedTable::make(weights, 4).has_value());
  CHECK(!CodedTable::make(weights, 5).has_value());
  weights.label.clear();
  weights.weight.clear();
  for (int k = 0; k < 255; ++k)
    weights.add(static_cast<std::uint16_t>(kLastEntry), 1.0F + static_cast<float>(k));
  CHECK(!CodedTable::make(weights, 4).has_value());
}
