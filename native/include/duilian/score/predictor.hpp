// A trained plain tagger, compiled for tagging: a single probe finds the weights of a feature (see
// weight_table.hpp). It is smaller and faster than the layout used in training; its answers are the same,
// except for weights that were dropped or rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "duilian/chain/uniform.hpp"
#include "duilian/features/finder.hpp"
#include "duilian/score/coded_table.hpp"
#include "duilian/score/tagging.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/spare.hpp"

namespace duilian {

/// The arrays of a compiled tagger, as a model file holds them.
struct CompiledWeights : WeightTable {
  std::vector<float> transition;  // [L + 1][L + 1]
};

/// Compiled weights under construction, feature by feature.
class CompiledTable {
 public:
  explicit CompiledTable(std::vector<float> transition) { out_.transition = std::move(transition); }
  /// Adds a weight to the current feature, unless it is 0 or smaller in size than `min_weight`.
  void add(std::uint16_t label, float weight, float min_weight) {
    if (weight != 0.0F && std::abs(weight) >= min_weight) out_.add(label, weight);
  }
  /// A feature without weights is left out.
  void end_feature(std::uint64_t key) {
    if (out_.end_feature(begin_)) {
      keys_.push_back(key);
      begins_.push_back(begin_);
    }
    begin_ = out_.label.size();
  }
  [[nodiscard]] CompiledWeights finish(Room room = Room::small) && {
    out_.place(keys_, begins_, room);
    return std::move(out_);
  }

 private:
  CompiledWeights out_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::size_t> begins_;
  std::size_t begin_ = 0;
};

/// Drops state weights smaller in size than `min_weight`, and features that have none left.
[[nodiscard]] CompiledWeights compile_weights(const TaggerLayout& layout, std::span<const float> weights,
                                              std::span<const std::uint64_t> keys, float min_weight);

class Predictor {
 public:
  Predictor(const Predictor&) = delete;  // between_ refers to shape_
  Predictor& operator=(const Predictor&) = delete;
  /// Throws std::invalid_argument if an index in the arrays is out of range.
  Predictor(std::int32_t labels, Succession rules, std::shared_ptr<const CompiledWeights> weights,
            TemplateSet templates, Reading reading);
  Predictor(std::int32_t labels, Succession rules, CompiledWeights weights, TemplateSet templates,
            Reading reading)
      : Predictor(labels, std::move(rules), std::make_shared<const CompiledWeights>(std::move(weights)),
                  std::move(templates), std::move(reading)) {}

  struct alignas(kCacheSeparation) Work {
    FeatureFinder<WeightTable>::Work entries;
    FeatureFinder<CodedTable>::Work codes;
    std::vector<double> state;
    UniformWorkspace chain;
    UniformMarginals found;
  };

  [[nodiscard]] std::int32_t labels() const { return labels_; }
  [[nodiscard]] const CompiledWeights& weights() const { return weights_; }
  [[nodiscard]] const TemplateSet& templates() const { return finder_.templates(); }
  [[nodiscard]] const Reading& reading() const { return reading_; }
  [[nodiscard]] std::size_t stride() const { return shape_.stride(); }
  [[nodiscard]] Spare<Work>& spare() const { return spare_; }

  /// The scores that features give to each label of one sentence, [T][stride].
  void score_states(const Sentences& sentences, std::int64_t sentence, Work& work) const;
  /// These with start and stop scores, and kForbidden where the rules forbid a label.
  void score(const Sentences& sentences, std::int64_t sentence, Work& work) const;
  /// The chain over the scores in `work`; valid until they change.
  [[nodiscard]] UniformChain chain(std::int32_t positions, const Work& work) const;

 private:
  [[nodiscard]] const std::optional<CodedTable>& coded() const;

  std::int32_t labels_;
  Succession rules_;
  TransitionShape shape_;
  std::shared_ptr<const CompiledWeights> kept_;
  const CompiledWeights& weights_;
  FeatureFinder<WeightTable> finder_;
  FeatureFinder<CodedTable> code_finder_;
  Reading reading_;
  LabelTransitions between_;
  mutable std::once_flag is_coded_;
  mutable std::optional<CodedTable> coded_;  // made when first needed, if it can be
  mutable Spare<Work> spare_;
};

/// What a user knows or prefers about all units of the sentences. `allowed` has no positions if nothing is
/// fixed, and no tags at units that are free. A bonus is added to the score of a label at a unit. Where
/// nothing is fixed, facts about the text may bar labels. Nearly every unit has such facts (a Han character
/// is not punctuation), but few are different, so units share the sets of barred labels.
struct Constraints {
  struct Bonus {
    std::int64_t unit;
    std::int32_t label;
    float score;
  };
  TagSets allowed;
  std::vector<Bonus> bonus;              // sorted by unit
  std::vector<std::uint16_t> barred_at;  // [units]  index of the set of barred labels; empty without facts
  TagSets barred;                        // the sets; the first bars nothing

  /// Whether labels are fixed or barred at any of the units [begin, end).
  [[nodiscard]] bool limits_labels(std::int64_t begin, std::int64_t end) const;
  /// Calls keep(unit, labels) where labels are fixed, and elsewhere forbid(unit, label) for every barred
  /// label.
  template <class Forbid, class Keep>
  void for_each_limit(std::int64_t begin, std::int64_t end, const Forbid& forbid, const Keep& keep) const {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const auto at = static_cast<std::size_t>(unit);
      if (allowed.positions() != 0 && !allowed.at(static_cast<std::int32_t>(unit)).empty()) {
        keep(unit, allowed.at(static_cast<std::int32_t>(unit)));
      } else if (!barred_at.empty() && barred_at[at] != 0) {
        for (const TagId label : barred.at(barred_at[at])) forbid(unit, label);
      }
    }
  }
  [[nodiscard]] std::span<const Bonus> bonuses(std::int64_t begin, std::int64_t end) const;
};

/// Bonus k is score[k] for label[k] at unit[k]. Throws std::invalid_argument if the arrays differ in length.
[[nodiscard]] Constraints make_constraints(TagSets allowed, std::span<const std::int64_t> unit,
                                           std::span<const std::int32_t> label, std::span<const float> score);

/// Adds facts about units to the constraints: a label is barred at a unit if known[unit] & barred_by[label],
/// unless no label would remain.
[[nodiscard]] Constraints restricted(const Constraints& constraints, std::span<const std::uint16_t> known,
                                     std::span<const std::uint16_t> barred_by);

/// Such constraints for each side from facts alone; empty if these bar nothing.
[[nodiscard]] std::vector<Constraints> restrictions(
    std::span<const std::uint16_t> known, std::span<const std::span<const std::uint16_t>> barred_by);

/// Throws std::invalid_argument unless the constraints fit this many labels and units.
void check(const Constraints& constraints, std::int32_t labels, std::int64_t units);

/// Applies the constraints to the scores ([T][stride]) of the units [begin, end) of a sentence.
void apply(const Constraints& constraints, std::int32_t labels, std::size_t stride, std::int64_t begin,
           std::int64_t end, std::vector<double>& state);

/// Applies them to a sentence that has been scored.
void apply(const Constraints& constraints, const Predictor& predictor, const Sentences& sentences,
           std::int64_t sentence, Predictor::Work& work);

/// The best labels for all units. A sentence without a legal path under the constraints is labelled without
/// them and counted in `impossible`.
[[nodiscard]] std::vector<std::int32_t> predict(const Predictor& predictor, const Sentences& sentences,
                                                const Constraints& constraints, std::size_t threads,
                                                std::int64_t& impossible);

/// Likewise for other kinds of search: score(thread, sentence) scores the units, the constraints change the
/// scores, and decode(thread, sentence, out) finds the labels.
[[nodiscard]] std::vector<std::int32_t> predict_with(
    const Predictor& predictor, const Sentences& sentences, const Constraints& constraints,
    std::size_t threads, std::int64_t& impossible,
    const std::function<Predictor::Work&(std::size_t, std::int64_t)>& score,
    const std::function<bool(std::size_t, std::int64_t, std::span<std::int32_t>)>& decode);

/// The probability of every label at every unit, [units][L].
[[nodiscard]] std::vector<double> predict_marginals(const Predictor& predictor, const Sentences& sentences,
                                                    const Constraints& constraints, std::size_t threads);

/// The chain of one sentence under the constraints.
[[nodiscard]] OwnedChain constrained_chain(const Predictor& predictor, const Sentences& sentences,
                                           const Constraints& constraints, std::int64_t sentence);

}  // namespace duilian
