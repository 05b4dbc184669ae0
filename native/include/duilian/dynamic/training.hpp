// Training with dynamic features (Algorithm 2 of Zhao et al. 2012). Weights exist for the features of the
// training sentences: those of their units, and those of the words on the gold path.
//
// At each unit, gold and guess alike have the features of the words that the search followed there. So both
// are outputs of the same linear model, and the guess is its best. This model is trained by
// passive-aggressive steps, as in the paper, or by the gradient of a conditional random field
// (DynamicObjective).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/dynamic/search.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/score/tagging.hpp"

namespace duilian {

struct FeatureOptions {
  std::uint32_t min_count = 1;       // minimum count of a unit feature
  std::uint32_t min_word_count = 1;  // minimum count of a word feature
  std::int64_t full_from = 2;        // see lay_out_tagger
  std::size_t threads = 1;           // for extracting features
};

class DynamicTraining {
 public:
  /// The rows of word features that labels of each kind use at a unit, among those of a sentence.
  struct FollowedRows {
    std::array<std::size_t, kKinds> begin{}, end{};
  };
  struct Work {
    std::vector<double> state;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;
    std::vector<FollowedRows> followed;  // [T]
    std::vector<std::int32_t> guess;
    DynamicWorkspace search;

    [[nodiscard]] std::span<const std::uint32_t> rows_of(std::int32_t t, Kind kind) const {
      const FollowedRows& at = followed[static_cast<std::size_t>(t)];
      return std::span(rows).subspan(at.begin[kind], at.end[kind] - at.begin[kind]);
    }
  };

  /// Keeps references to the sentences. `label` holds the gold label of every unit.
  DynamicTraining(std::int32_t labels, Succession rules, LabelWords words, const TemplateSet& templates,
                  TemplateSet word_templates, const Sentences& sentences, std::vector<std::int32_t> label,
                  FeatureOptions options, DynamicOptions search);

  DynamicTraining(const DynamicTraining&) = delete;  // an objective refers to its parts
  DynamicTraining& operator=(const DynamicTraining&) = delete;

  [[nodiscard]] std::int64_t weights() const { return layout_.weights(); }
  [[nodiscard]] const TaggerLayout& layout() const { return layout_; }
  /// Keys of unit features, then of word features, in the order of rows in the layout.
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const { return keys_; }

  [[nodiscard]] std::size_t answers(std::int64_t) const { return 1; }
  /// For the passive-aggressive learner; see StructuredModel.
  double respond(WeightView weights, std::int64_t sentence, std::size_t answer, Work& work,
                 std::vector<Delta>& difference) const;

  /// Labels other sentences; `rows` are their unit features.
  [[nodiscard]] std::vector<std::int32_t> tag(WeightView weights, const Sentences& sentences,
                                              const FeatureRows& rows, std::size_t threads) const;
  /// The rows of unit features in other sentences.
  [[nodiscard]] FeatureRows rows(const TemplateSet& templates, const Sentences& sentences,
                                 std::size_t threads) const;

  /// Searches one training sentence, given its state scores without start and stop.
  [[nodiscard]] bool search(WeightView weights, const LabelTransitions& between, std::int64_t sentence,
                            Work& work) const;
  [[nodiscard]] const TaggingData& data() const { return data_; }
  [[nodiscard]] const LabelWords& words() const { return words_; }
  /// The number of unit features; their rows come first.
  [[nodiscard]] std::size_t unit_rows() const { return units_.size(); }

 private:
  void index_words(FeatureRows& all);
  [[nodiscard]] bool decode(WeightView weights, const LabelTransitions& between, const Sentences& sentences,
                            std::int64_t sentence, Work& work) const;
  void add_words(std::int32_t t, std::int32_t label, float sign, const Work& work,
                 std::vector<Delta>& difference) const;
  void add_row(std::uint32_t row, std::int32_t label, float sign, std::vector<Delta>& difference) const;
  void add_transitions(std::span<const std::int32_t> labels, float sign,
                       std::vector<Delta>& difference) const;

  LabelWords words_;
  WordTemplates word_templates_;
  const Sentences& sentences_;
  TaggingData data_;  // unit features and gold labels
  FeatureOptions options_;
  DynamicOptions search_;  // with a beam of 1
  std::vector<std::uint64_t> keys_;
  FeatureIndex units_;   // keys of unit features
  KeyTable word_index_;  // keys of word features; their rows follow those of units
  TaggerLayout layout_;
};

/// The same model as a conditional random field: log Z minus the score of the gold path, under the features
/// that the search used.
class DynamicObjective {
 public:
  using Prepared = LabelTransitions;
  struct alignas(kCacheSeparation) Work {
    DynamicTraining::Work dynamic;
    TaggingObjective::Work plain;
  };

  explicit DynamicObjective(const DynamicTraining& training)
      : training_(training), plain_(training.layout(), training.data()) {}

  [[nodiscard]] std::int64_t weights() const { return plain_.weights(); }
  [[nodiscard]] std::int64_t dense() const { return plain_.dense(); }
  [[nodiscard]] Prepared prepare(WeightView weights) const { return plain_.prepare(weights); }
  double compute(const Prepared& between, WeightView weights, std::int64_t sentence, Work& work,
                 Gradient& out) const;
  template <ChangeRule R>
  void apply(std::int64_t sentence, const Gradient& gradient, Share share, R& rule) const {
    plain_.apply(sentence, gradient, share, rule);
    for (const Delta& delta : gradient.sparse) {
      if (share.has(delta.weight / kBlock)) rule.change(delta.weight, delta.value);
    }
  }

 private:
  /// Calls take(label, index of the state weight) for the word features at unit t, which differ by kind of
  /// label.
  template <class Take>
  void for_each_word_weight(std::int32_t t, const DynamicTraining::Work& work, const Take& take) const;

  static constexpr std::uint32_t kBlock = 64;  // one thread updates all weights of a cache line

  const DynamicTraining& training_;
  TaggingObjective plain_;
};

}  // namespace duilian
