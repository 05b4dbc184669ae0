// A trained tagger with dynamic features, compiled for tagging: a plain tagger for unit features, and the
// same table for word features.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "duilian/dynamic/search.hpp"
#include "duilian/dynamic/table_scorer.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/score/predictor.hpp"

namespace duilian {

/// Compiles the weights of a trained tagger, whose word features are the rows from `unit_rows` on. Drops
/// state weights smaller in size than `min_weight`, and features that have none left.
[[nodiscard]] CompiledWeights compile_dynamic(const TaggerLayout& layout, std::span<const float> weights,
                                              std::span<const std::uint64_t> keys, std::size_t unit_rows,
                                              const LabelWords& words, float min_weight);

class DynamicPredictor {
 public:
  /// Throws std::invalid_argument if an index in the arrays is out of range.
  DynamicPredictor(std::int32_t labels, Succession rules, CompiledWeights weights, TemplateSet templates,
                   TemplateSet word_templates, Reading reading, LabelWords words, DynamicOptions options);

  struct alignas(kCacheSeparation) Work {
    Predictor::Work plain;
    TableScorer::Work words;
    DynamicWorkspace search;
  };

  [[nodiscard]] const Predictor& plain() const { return plain_; }
  /// The best labels, given the unit scores in `work.plain`; returns false if no path is legal.
  [[nodiscard]] bool decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                            std::span<std::int32_t> out) const;

 private:
  Predictor plain_;
  WordTemplates word_templates_;
  SortedTemplates sorted_;
  LabelWords words_;
  DynamicOptions options_;
};

/// Like `predict` of a plain tagger.
[[nodiscard]] std::vector<std::int32_t> predict(const DynamicPredictor& predictor, const Sentences& sentences,
                                                const Constraints& constraints, std::size_t threads,
                                                std::int64_t& impossible);

/// The tagger as a label model, for whole files.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const DynamicPredictor& predictor,
                                                      std::span<const std::uint8_t> starts);

}  // namespace duilian
