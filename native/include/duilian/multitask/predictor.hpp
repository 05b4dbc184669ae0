// One side of a trained multi-task tagger that expands only the best mapped label: two tables of weights, and
// a search of its own. (If all labels are expanded, a side is a plain tagger; see
// MultitaskTraining::compile.)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "duilian/multitask/expansion.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/score/predictor.hpp"

namespace duilian {

class BestExpansionPredictor {
 public:
  /// Throws std::invalid_argument if an index in the arrays is out of range.
  BestExpansionPredictor(std::int32_t labels, const Succession& rules, CompiledWeights weights,
                         std::int32_t other_labels, const Succession& other_rules,
                         CompiledWeights other_weights, const LabelMap& map, const TemplateSet& templates,
                         const Reading& reading);

  struct alignas(kCacheSeparation) Work {
    Predictor::Work own, other;
    BestExpansion best;
    ExpandedPath found;
  };

  [[nodiscard]] const Predictor& own() const { return own_; }
  [[nodiscard]] const Predictor& other() const { return other_; }
  /// The best labels, given the side's own scores in `work.own`.
  [[nodiscard]] bool decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                            std::span<std::int32_t> out) const;

 private:
  Succession rules_, other_rules_;
  Predictor own_, other_;
  LabelPairs pairs_;
  PairSteps steps_;
};

/// Like `predict` of a plain tagger.
[[nodiscard]] std::vector<std::int32_t> predict(const BestExpansionPredictor& predictor,
                                                const Sentences& sentences, const Constraints& constraints,
                                                std::size_t threads, std::int64_t& impossible);

/// The side as a label model, for whole files.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const BestExpansionPredictor& predictor,
                                                      std::span<const std::uint8_t> starts);

}  // namespace duilian
