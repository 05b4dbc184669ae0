// A trained tagger with dynamic features, compiled for tagging: a plain tagger for the features of units, and
// the same table for those of words.
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

/// The weights of a trained tagger, whose features of words are the rows from `unit_rows` on. Drops state
/// weights whose size is below `min_weight`, and features without any left.
[[nodiscard]] CompiledWeights compile_dynamic(const TaggerLayout& layout, std::span<const float> weights,
                                              std::span<const std::uint64_t> keys, std::size_t unit_rows,
                                              const LabelWords& words, float min_weight);

class DynamicPredictor {
 public:
  /// Throws std::invalid_argument if any index in the arrays leads outside.
  DynamicPredictor(std::int32_t labels, Succession rules, CompiledWeights weights, TemplateSet templates,
                   TemplateSet word_templates, Reading reading, LabelWords words, DynamicOptions options);

  struct alignas(kCacheSeparation) Work {
    Predictor::Work plain;
    TableScorer::Work words;
    DynamicWorkspace search;
  };

  [[nodiscard]] const Predictor& plain() const { return plain_; }
  /// The best labels, from the scores of units in `work.plain`; false if no path is legal.
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

/// For whole files.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const DynamicPredictor& predictor,
                                                      std::span<const std::uint8_t> starts);

}  // namespace duilian
