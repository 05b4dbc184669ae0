// Small random predictors, with the tagger and the sentences they were made from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "duilian/score/predictor.hpp"
#include "random.hpp"

namespace testing {

using namespace duilian;

inline constexpr const char* kPredictorTemplates = "w[0]\nw[-1] w[0]\nw[0] w[1]\ntype[0]";

/// `sentences` of 0 to 6 units each.
[[nodiscard]] inline Sentences small_texts(Random& random, std::int32_t sentences) {
  const std::vector<std::string> words = {"中", "国", "人", "a", "1", "。", "\U00020000"};
  Sentences out(Folding(), {});
  for (std::int32_t n = 0; n < sentences; ++n) {
    std::vector<std::string> units;
    for (std::int32_t k = random.below(7); k > 0; --k) {
      units.push_back(words[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(words.size())))]);
    }
    out.add(units, {});
  }
  return out;
}

/// A tagger as it was laid out, and compiled.
struct PredictorCase {
  TemplateSet templates = parse_templates(kPredictorTemplates);
  Sentences sentences;
  FeatureRows features;
  std::vector<std::uint64_t> keys;
  TaggerLayout layout;
  std::vector<float> weights;

  PredictorCase(Random& random, RuleKind kind, std::int32_t texts) : sentences(small_texts(random, texts)) {
    std::int32_t labels = 0;
    Succession rules = random_rules(random, kind, labels);
    // Half of the features are unknown to the tagger, as in new text.
    keys = count_keys(templates, sentences, 2);
    FeatureKeys scratch;
    extract_rows(templates, sentences, 0, sentences.size(), FeatureIndex(keys), scratch, features);
    TaggingData data{features, sentences.first(), {}, {}};
    for (std::int64_t unit = 0; unit < sentences.units(); ++unit) data.label.push_back(random.below(labels));
    layout = lay_out_tagger(labels, std::move(rules), static_cast<std::int64_t>(keys.size()), data, 8);
    for (std::int64_t w = 0; w < layout.weights(); ++w) {
      weights.push_back(random.chance(0.1) ? 0.0F : static_cast<float>(random.real(-2.0, 2.0)));
    }
  }

  [[nodiscard]] Predictor compile(float min_weight = 0.0F) const {
    return {layout.labels, layout.rules, compile_weights(layout, weights, keys, min_weight), templates,
            Folding()};
  }
};

/// Rules under which every text has a legal analysis.
[[nodiscard]] inline RuleKind living_kind(Random& random) {
  constexpr RuleKind kKinds[] = {RuleKind::free, RuleKind::blocks, RuleKind::tag_wise};
  return kKinds[random.below(3)];
}

}  // namespace testing
