// A random coupled tagger over words, in training and compiled.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "duilian/coupled/predictor.hpp"
#include "duilian/coupled/tagging.hpp"
#include "duilian/text/characters.hpp"
#include "random.hpp"
#include "random_coupled.hpp"

namespace testing {

/// Only the first sentence.
[[nodiscard]] inline duilian::Sentences first_of(const duilian::Sentences& sentences) {
  std::vector<std::string> units;
  for (std::int64_t u = 0; u < sentences.end_of(0); ++u)
    units.push_back(duilian::encode_utf8(sentences.text().at(u)));
  duilian::Sentences out(duilian::Folding(), {});
  out.add(units, {});
  return out;
}

/// Words as units, with random weights.
struct CompiledCase {
  duilian::TemplateSet templates = duilian::parse_templates("w[0]\nw[-1] w[0]\n");
  duilian::Sentences sentences{duilian::Folding(), {}};
  std::vector<std::uint64_t> keys;
  CoupledCase model;

  explicit CompiledCase(Random& random) {
    const std::vector<std::string> words = {"中", "国", "人", "a", "。"};
    CoupledSettings settings = random_settings(random, 6);
    settings.annotation = Annotation::full;
    const CoupledCase drawn = random_coupled(random, settings);
    model.data = drawn.data;
    for (std::int64_t s = 0; s < drawn.sentences(); ++s) {
      std::vector<std::string> units;
      for (std::int64_t u = drawn.data.first[s]; u < drawn.data.first[s + 1]; ++u)
        units.push_back(words[static_cast<std::size_t>(random.below(5))]);
      sentences.add(units, {});
    }
    keys = duilian::count_keys(templates, sentences, 1);
    duilian::FeatureKeys scratch;
    model.data.features = {};
    duilian::extract_rows(templates, sentences, 0, sentences.size(), duilian::FeatureIndex(keys), scratch,
                          model.data.features);
    duilian::CoupledShape shape = drawn.layout.shape;
    shape.joint.clear();
    std::vector<duilian::TaggerLayout> separate;
    std::vector<duilian::TagSets> latent;
    for (std::size_t k = 0; k < shape.sides(); ++k) {
      separate.push_back(duilian::lay_out_tagger(shape.labels[k], shape.rules[k],
                                                 static_cast<std::int64_t>(keys.size()),
                                                 own_data(model.data, static_cast<std::int32_t>(k)), 1));
      latent.push_back(all_labels(shape.labels[k], static_cast<std::int64_t>(model.data.label.size())));
    }
    model.layout = duilian::lay_out_coupled(std::move(shape), std::move(separate), model.data, latent,
                                            {{0, 1}}, {1, 3, 100});
    for (std::int64_t w = 0; w < model.layout.weights; ++w)
      model.weights.push_back(random.chance(0.2) ? 0.0F : static_cast<float>(random.real(-1.0, 1.0)));
  }

  [[nodiscard]] duilian::CoupledWeights compiled() const {
    const std::span<const float> weights(model.weights);
    return duilian::compile_coupled(model.layout, {&weights, 1}, {}, keys, 0.0F).at(0);
  }
  [[nodiscard]] duilian::CoupledPredictor predictor(duilian::CoupledWeights weights,
                                                    duilian::Pruning pruning = {2, 0.9}) const {
    return searching(std::move(weights), {pruning, duilian::Decoding::marginals});
  }
  [[nodiscard]] duilian::CoupledPredictor searching(duilian::CoupledWeights weights,
                                                    duilian::SearchOptions options) const {
    return {model.layout.shape, std::make_shared<duilian::CoupledWeights>(std::move(weights)), templates,
            duilian::Folding(), options};
  }
};

}  // namespace testing
