// Compares the search under dynamic features with one that keeps whole paths and with a list of all paths,
// and the compiled tagger with the one in training; and bad arguments.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/dynamic/predictor.hpp"
#include "duilian/dynamic/training.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using Labels = std::vector<std::int32_t>;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr std::int32_t kTags = 2;
constexpr std::int32_t kLabels = 4 * kTags;  // E E S S B B I I

[[nodiscard]] LabelWords label_words() {
  std::vector<std::uint8_t> starts, ends;
  std::vector<std::u32string> tag;
  for (std::int32_t l = 0; l < kLabels; ++l) {
    const std::int32_t letter = l / kTags;
    starts.push_back(letter == 1 || letter == 2 ? 1 : 0);
    ends.push_back(letter < 2 ? 1 : 0);
    tag.push_back(l % kTags == 0 ? U"n" : U"v");
  }
  return {starts, ends, tag};
}

/// The score that words give to a label: an arbitrary number that depends on all of them.
[[nodiscard]] double said(const History& history, std::int32_t t, std::int32_t label, std::uint64_t seed) {
  std::uint64_t key = mix(seed, static_cast<std::uint64_t>(t));
  for (std::size_t k = 0; k < history.begin.size(); ++k) {
    key = mix(key, static_cast<std::uint64_t>(history.begin[k] + 1));
    key = mix(key, static_cast<std::uint64_t>(history.label[k] + 1));
  }
  key = mix(mix(key, history.is_open ? 1 : 2), static_cast<std::uint64_t>(label));
  return testing::Random(key).real(-2.0, 2.0);
}

class AnyScorer final : public WordScorer {
 public:
  AnyScorer(const LabelWords& words, std::uint64_t seed) : words_(words), seed_(seed) {}
  void add(const FollowedHistories& followed, std::int32_t t, KindSet kinds, double* state) override {
    for (std::size_t l = 0; l < words_.tag.size(); ++l) {
      const Kind kind = words_.kind_of(l);
      if (has(kinds, kind)) state[l] += said(followed[kind], t, static_cast<std::int32_t>(l), seed_);
    }
  }

 private:
  const LabelWords& words_;
  std::uint64_t seed_;
};

/// A chain of a few units with random scores, and everything it refers to.
struct Case {
  explicit Case(testing::Random& random)
      : rules(testing::boundary_rules(kTags, false)),
        shape(shape_of(kLabels, rules)),
        transition(random_floats(random)),
        between(shape, rules, transition),
        words(label_words()),
        length(static_cast<std::size_t>(1 + random.below(4))),
        state(length * shape.stride(), kForbidden),
        seed(random.bits()) {
    for (std::size_t t = 0; t < length; ++t) {
      for (std::int32_t l = 0; l < kLabels; ++l) {
        const bool is_legal = (t > 0 || rules(kLabels, l)) && (t + 1 < length || rules(l, kLabels));
        if (is_legal) at(t, l) = random.real(-2.0, 2.0);
      }
    }
  }
  [[nodiscard]] static std::vector<float> random_floats(testing::Random& random) {
    std::vector<float> out(static_cast<std::size_t>((kLabels + 1) * (kLabels + 1)));
    for (float& w : out) w = static_cast<float>(random.real(-2.0, 2.0));
    return out;
  }
  [[nodiscard]] double& at(std::size_t t, std::int32_t l) {
    return state[t * shape.stride() + static_cast<std::size_t>(l)];
  }
  [[nodiscard]] bool search(DynamicOptions options, Labels& out) {
    AnyScorer scorer(words, seed);
    DynamicWorkspace work;
    out.assign(length, -1);
    const UniformChain chain{static_cast<std::int32_t>(length), state.data(), between, rules};
    return try_dynamic_labels(chain, words, scorer, options, work, out);
  }

  Succession rules;
  TransitionShape shape;
  std::vector<float> transition;
  LabelTransitions between;
  LabelWords words;
  std::size_t length;
  std::vector<double> state;
  std::uint64_t seed;
};

struct Path {
  double score = 0.0;
  Labels label;
  History history;
};

/// Extends a path by a label, which may follow these words; no score if that is not legal.
[[nodiscard]] Path extended(Case& x, const Path& path, std::int32_t label, const History* followed) {
  const std::size_t t = path.label.size();
  Path out = path;
  out.score += x.at(t, label);
  if (followed != nullptr) out.score += said(*followed, static_cast<std::int32_t>(t), label, x.seed);
  if (t > 0) {
    const std::int32_t before = path.label.back();
    out.score += x.rules(before, label)
                     ? x.between.score(static_cast<std::size_t>(before), static_cast<std::size_t>(label))
                     : kForbidden;
  }
  out.label.push_back(label);
  out.history.extend(x.words, static_cast<std::int32_t>(t), label);
  return out;
}

/// The best of all paths, each with its own words.
[[nodiscard]] Path best_of_all(Case& x, const Path& path) {
  if (path.label.size() == x.length) return path;
  Path best{kForbidden, {}, {}};
  for (std::int32_t l = 0; l < kLabels; ++l) {
    const Path next = extended(x, path, l, &path.history);
    if (next.score == kForbidden) continue;
    const Path found = best_of_all(x, next);
    if (found.score > best.score) best = found;
  }
  return best;
}

/// Algorithm 1 with whole paths, the best one of each label; labels follow the best path of their kind, or of
/// all. Paths more than `path_gap` below the best are not followed.
[[nodiscard]] Path plain_search(Case& x, bool is_by_kind, double path_gap = kNoLimit) {
  std::vector<Path> kept(1);
  for (std::size_t t = 0; t < x.length; ++t) {
    const auto best_path = [&](std::int32_t label) -> const Path& {
      const Path* best = nullptr;
      for (const Path& path : kept) {
        const bool is_kind =
            x.words.kind_of(static_cast<std::size_t>(label)) == (path.history.is_open ? kInside : kBetween);
        if (t > 0 && is_by_kind && !is_kind) continue;
        if (best == nullptr || path.score > best->score) best = &path;
      }
      return best == nullptr ? kept.front() : *best;
    };
    const auto by_score = [](const Path& a, const Path& b) { return a.score < b.score; };
    const double top = std::max_element(kept.begin(), kept.end(), by_score)->score;
    std::vector<Path> next;
    for (std::int32_t l = 0; l < kLabels; ++l) {
      Path best{kForbidden, {}, {}};
      for (const Path& path : kept) {
        const Path& leader = best_path(l);
        const Path found = extended(x, path, l, top - leader.score <= path_gap ? &leader.history : nullptr);
        if (found.score > best.score) best = found;
      }
      if (best.score != kForbidden) next.push_back(best);
    }
    kept = next;
  }
  return *std::max_element(kept.begin(), kept.end(),
                           [](const Path& a, const Path& b) { return a.score < b.score; });
}

}  // namespace

TEST(a_wide_beam_finds_the_best_of_all_paths) {
  testing::for_each_seed(60, [](testing::Random& random) {
    Case x(random);
    Labels found;
    CHECK(x.search({.beam = 5000, .kind_gap = -1.0}, found));
    CHECK(found == best_of_all(x, {}).label);
  });
}

TEST(a_beam_of_one_is_the_search_by_whole_paths) {
  testing::for_each_seed(100, [](testing::Random& random) {
    Case x(random);
    Labels found;
    CHECK(x.search({.beam = 1, .kind_gap = -1.0}, found));
    CHECK(found == plain_search(x, false).label);
    CHECK(x.search({.beam = 1, .kind_gap = kNoLimit}, found));
    CHECK(found == plain_search(x, true).label);
  });
}

TEST(a_path_far_below_the_best_is_not_followed) {
  testing::for_each_seed(100, [](testing::Random& random) {
    Case x(random);
    Labels all, near;
    CHECK(x.search({.beam = 1, .kind_gap = kNoLimit}, all));
    CHECK(x.search({.beam = 1, .kind_gap = kNoLimit, .path_gap = 1e9}, near));
    CHECK(all == near);
    for (const double path_gap : {0.0, 1.0, 3.0}) {
      CHECK(x.search({.beam = 1, .kind_gap = kNoLimit, .path_gap = path_gap}, near));
      CHECK(near == plain_search(x, true, path_gap).label);
    }
  });
}

TEST(a_missing_legal_path_is_reported) {
  testing::Random random(1);
  Case x(random);
  std::fill(x.state.begin(), x.state.end(), kForbidden);
  Labels found;
  CHECK(!x.search({.beam = 1, .kind_gap = -1.0, .path_gap = 3.0}, found));
  CHECK(!x.search({.beam = 2, .kind_gap = -1.0}, found));
}

namespace {

/// Sentences over a few units with random gold labels.
struct Corpus {
  explicit Corpus(testing::Random& random) : sentences(Folding{}, {}) {
    const std::vector<std::string> known{"甲", "乙", "丙", "ab"};
    const Succession rules = testing::boundary_rules(kTags, false);
    for (std::int32_t k = 0; k < 5; ++k) {
      std::int32_t before = kLabels;
      std::vector<std::string> units;
      const std::int32_t length = 1 + random.below(7);
      for (std::int32_t t = 0; t < length; ++t) {
        std::int32_t next = 0;
        do next = random.below(kLabels);
        while (!rules(before, next) || (t + 1 == length && !rules(next, kLabels)));
        label.push_back(before = next);
        units.push_back(known[static_cast<std::size_t>(random.below(4))]);
      }
      sentences.add(units, {});
    }
  }
  Sentences sentences;
  Labels label;
};

}  // namespace

TEST(the_compiled_tagger_answers_like_the_one_in_training) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const Corpus corpus(random);
    const TemplateSet units = parse_templates("x[0]\nx[-1] x[0]");
    const TemplateSet about = parse_templates(
        "@pos[-2] @pos[-1]\n@pos[-1] w[0]\n@pos[0] w[0]\nw[-1] w[0]\nw[0] len[0]\n@pos[-1] w[-1]\n"
        "w[-2] w[-1]\nw[0] w[1]\nw[1] w[2]\nlen[-1] len[0]\nw[0] if single[-1]");
    const Succession rules = testing::boundary_rules(kTags, false);
    const DynamicTraining training(
        kLabels, rules, label_words(), units, about, corpus.sentences, corpus.label,
        {.min_count = 1, .full_from = 1 + random.below(3), .threads = 1}, {.kind_gap = kNoLimit});
    std::vector<float> weights(static_cast<std::size_t>(training.weights()));
    for (float& w : weights) w = static_cast<float>(random.real(-1.0, 1.0));
    const FeatureRows rows = training.rows(units, corpus.sentences, 1);
    const Labels found = training.tag({weights}, corpus.sentences, rows, 2);
    const DynamicPredictor predictor(kLabels, rules,
                                     compile_dynamic(training.layout(), weights, training.keys(),
                                                     training.unit_rows(), label_words(), 0.0F),
                                     units, about, Folding{}, label_words(),
                                     {.beam = 1, .kind_gap = kNoLimit});
    std::int64_t impossible = 0;
    CHECK(predict(predictor, corpus.sentences, {}, 1, impossible) == found);
    CHECK(impossible == 0);
  });
}

TEST(steps_lead_to_the_gold_labels) {
  testing::Random random(7);
  const Corpus corpus(random);
  const TemplateSet units = parse_templates("x[-1] x[0] x[1]\nx[-2] x[-1] x[0]\nx[0] x[1] x[2]");
  const DynamicTraining training(kLabels, testing::boundary_rules(kTags, false), label_words(), units,
                                 parse_templates("@pos[-1] w[0]\nw[-2] w[-1] w[0]"), corpus.sentences,
                                 corpus.label, {}, {.kind_gap = kNoLimit});
  std::vector<float> weights(static_cast<std::size_t>(training.weights()));
  DynamicTraining::Work work;
  double cost = 1.0;
  for (std::int32_t pass = 0; pass < 200 && cost > 0.0; ++pass) {
    cost = 0.0;
    for (std::int64_t k = 0; k < corpus.sentences.size(); ++k) {
      std::vector<Delta> difference;
      cost += training.respond({weights}, k, 0, work, difference);
      for (const Delta& delta : difference) weights[delta.weight] += delta.value;
    }
  }
  CHECK(cost == 0.0);
}

TEST(inconsistent_arguments_are_refused) {
  CHECK_THROWS_WITH(LabelWords({1}, {1, 0}, {U"n"}), std::invalid_argument,
                    "the lists about labels differ in length");
  CHECK_THROWS_WITH(WordTemplates(parse_templates("w[-3]")), std::invalid_argument,
                    "the template 'w[-3]' looks more than 2 words back");
  testing::Random random(1);
  const Corpus corpus(random);
  const Succession rules = testing::boundary_rules(kTags, false);
  const auto train = [&](std::int32_t labels, const Labels& gold) {
    DynamicTraining(labels, rules, label_words(), parse_templates("x[0]"), {}, corpus.sentences, gold, {},
                    {});
  };
  CHECK_THROWS_WITH(train(kLabels, {}), std::invalid_argument, "the labels do not match the sentences");
  CHECK_THROWS_WITH(train(kLabels, Labels(corpus.label.size(), kLabels)), std::invalid_argument,
                    "a label is out of range");
  CHECK_THROWS_WITH(train(3, corpus.label), std::invalid_argument,
                    "the lists about labels do not match the labels");
}
