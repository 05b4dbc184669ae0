// A trained plain tagger, compiled for tagging: one probe finds a feature's weights. Smaller and faster than
// the layout that it was trained in; what it answers is the same, up to the weights that were dropped or
// rounded.
//
// A slot of the table is 8 bytes: 32 bits of the key as a check, 32 bits where its entries begin. A feature
// that was never seen is mistaken for one that was with a chance of about 2^-32 per probe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/chain/uniform.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/score/tagging.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

/// The arrays of a compiled tagger, as a model file holds them.
struct CompiledWeights : WeightTable {
  std::vector<float> transition;  // [L + 1][L + 1]
};

/// Drops state weights whose size is below `least`, and features without any left.
[[nodiscard]] CompiledWeights compile_weights(const TaggerLayout& layout, std::span<const float> weights,
                                              std::span<const std::uint64_t> keys, float least);

class Predictor {
 public:
  Predictor(const Predictor&) = delete;  // between_ refers to shape_
  Predictor& operator=(const Predictor&) = delete;
  /// Throws std::invalid_argument if any index in the arrays leads outside.
  Predictor(std::int32_t labels, Succession rules, CompiledWeights weights, TemplateSet templates,
            Folding folding);

  struct alignas(kApart) Work {
    FeatureKeys keys;
    std::vector<std::uint32_t> entry;  // [keys]  where a feature's entries begin, or kNoEntry
    std::vector<double> state;
    UniformWorkspace chain;
    UniformMarginals found;
  };

  [[nodiscard]] std::int32_t labels() const { return labels_; }
  [[nodiscard]] const CompiledWeights& weights() const { return weights_; }
  [[nodiscard]] const TemplateSet& templates() const { return templates_; }
  [[nodiscard]] const Folding& folding() const { return folding_; }
  [[nodiscard]] std::size_t stride() const { return shape_.stride(); }

  /// State scores [T][stride] of one sentence.
  void score(const Sentences& sentences, std::int64_t sentence, Work& work) const;
  /// The chain over the scores in `work`; valid until the next call.
  [[nodiscard]] UniformChain chain(std::int32_t positions, const Work& work) const;

 private:
  std::int32_t labels_;
  Succession rules_;
  TransitionShape shape_;
  CompiledWeights weights_;
  TemplateSet templates_;
  Folding folding_;
  LabelTransitions between_;
};

/// What a user knows or prefers, for all units of the sentences: `allowed` has no positions if nothing is
/// fixed, and no tags at units that are free; a bonus is added to the score of a label at a unit.
struct Wishes {
  struct Bonus {
    std::int64_t unit;
    std::int32_t label;
    float score;
  };
  TagSets allowed;
  std::vector<Bonus> bonus;  // by unit
};

/// Throws std::invalid_argument unless the wishes fit so many labels and units.
void check(const Wishes& wishes, std::int32_t labels, std::int64_t units);

/// Changes the scores ([T][stride]) of a sentence, the units [begin, end), as the wishes say.
void apply(const Wishes& wishes, std::int32_t labels, std::size_t stride, std::int64_t begin,
           std::int64_t end, std::vector<double>& state);

/// The same for a sentence that has been scored.
void apply(const Wishes& wishes, const Predictor& predictor, const Sentences& sentences,
           std::int64_t sentence, Predictor::Work& work);

/// The best labels of every unit of all sentences. If the wishes leave a sentence no legal path, it is
/// labelled as if there were none for it, and counted in `impossible`.
[[nodiscard]] std::vector<std::int32_t> predict(const Predictor& predictor, const Sentences& sentences,
                                                const Wishes& wishes, std::size_t threads,
                                                std::int64_t& impossible);

/// The probability of every label at every unit, [units][L].
[[nodiscard]] std::vector<double> predict_marginals(const Predictor& predictor, const Sentences& sentences,
                                                    const Wishes& wishes, std::size_t threads);

}  // namespace duilian
