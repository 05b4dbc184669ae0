// Two taggers that share weights through a loose mapping (Qiu et al. 2013). Each side has the weights of a
// plain tagger over the same features; a sentence is scored with the weights of its own side and, if that
// side uses the mapping, with the other's. A passive-aggressive step compares gold with the best wrong answer
// (Eq. 11) and changes all of these weights (Eq. 15).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/multitask/expansion.hpp"
#include "duilian/score/predictor.hpp"
#include "duilian/score/tagging.hpp"

namespace duilian {

inline constexpr std::size_t kSides = 2;

/// The sentences of both sides, one after another.
struct MultitaskData {
  FeatureRows features;
  std::vector<std::int64_t> first{0};  // [sentences + 1]  in units
  std::vector<std::int32_t> side;      // [sentences]
  std::vector<std::int32_t> label;     // [units]  in the sentence's own side
};

class MultitaskTraining {
 public:
  struct Work {
    std::vector<double> state, other;
    ExpandedPath gold, guess;
    UniformWorkspace chain;
    BestExpansion best;
  };

  /// `map[s]` leads from side s to the other; if side s does not use the mapping, it maps no label at all.
  MultitaskTraining(std::array<TaggerLayout, kSides> layout, std::array<LabelMap, kSides> map,
                    Expansion expansion, MultitaskData data);

  MultitaskTraining(const MultitaskTraining&) = delete;  // an objective refers to its parts
  MultitaskTraining& operator=(const MultitaskTraining&) = delete;

  /// In this order: transitions of side 0, transitions of side 1, states of side 0, states of side 1.
  [[nodiscard]] std::int64_t weights() const { return layout_[0].weights() + layout_[1].weights(); }
  [[nodiscard]] const TaggerLayout& layout(std::size_t side) const { return layout_[side]; }

  [[nodiscard]] std::size_t answers(std::int64_t) const { return 1; }
  /// For the passive-aggressive learner; see StructuredModel.
  double respond(WeightView weights, std::int64_t sentence, std::size_t answer, Work& work,
                 std::vector<Delta>& difference) const;

  /// The best labels of other sentences according to one side.
  [[nodiscard]] std::vector<std::int32_t> tag(WeightView weights, std::size_t side,
                                              const FeatureRows& features,
                                              std::span<const std::int64_t> first, std::size_t threads) const;

  /// The weights of one side including everything the mapping adds, as a plain tagger. For `Expansion::all`.
  [[nodiscard]] CompiledWeights compile(std::span<const float> weights, std::size_t side,
                                        std::span<const std::uint64_t> keys, float min_weight) const;

  /// The transitions of a plain chain: summed if all labels are expanded, otherwise the side's own.
  struct Between {
    std::vector<float> table;  // [L + 1][L + 1]
    std::optional<LabelTransitions> chain;
    std::optional<PairSteps> steps;  // for the best expansion, and for training
  };
  [[nodiscard]] Between between(std::span<const float> weights, std::size_t side,
                                bool has_exponentials) const;
  /// State scores of the side without start and stop; if all labels are expanded, they include the labels
  /// mapped to.
  void score(std::span<const float> weights, std::size_t side, const FeatureRows& features,
             std::int64_t begin, std::int64_t end, Work& work) const;
  [[nodiscard]] Expansion expansion() const { return expansion_; }
  [[nodiscard]] const MultitaskData& data() const { return data_; }
  [[nodiscard]] const LabelMap& map(std::size_t side) const { return map_[side]; }
  /// The offset from an index in the layout of a side to the index in the model, for transitions and for
  /// states.
  [[nodiscard]] std::int64_t transition_offset(std::size_t side) const {
    return side == 0 ? 0 : layout_[0].transitions();
  }
  [[nodiscard]] std::int64_t state_offset(std::size_t side) const {
    return side == 0 ? layout_[1].transitions() : layout_[0].weights();
  }

 private:
  [[nodiscard]] bool decode(std::span<const float> weights, std::size_t side, const Between& scores,
                            const FeatureRows& features, std::int64_t begin, std::int64_t end,
                            Work& work) const;
  /// The scores in `work`, for a search over pairs.
  [[nodiscard]] PairScores pair_scores(std::size_t side, const Between& scores, const Work& work) const;
  /// The weights, shifted so that the states of a side are where its layout has them; its transitions are
  /// not.
  [[nodiscard]] WeightView states(std::span<const float> weights, std::size_t side) const {
    return {weights.subspan(static_cast<std::size_t>(state_offset(side)))};
  }
  [[nodiscard]] SideTransitions transitions(std::span<const float> weights, std::size_t side) const;
  void add_path(std::size_t side, std::int64_t begin, const ExpandedPath& path, const ExpandedPath& rival,
                float sign, std::vector<Delta>& difference) const;
  /// Calls take(z) for each label that a label with this partner counts as on the other side.
  template <class Take>
  void for_each_expanded(std::size_t side, std::int32_t label, std::int32_t partner, const Take& take) const;
  void add_states(std::size_t side, std::int64_t unit, std::int32_t label, float sign,
                  std::vector<Delta>& difference) const;
  void add_transition(std::size_t side, std::int32_t before, std::int32_t after, float sign,
                      std::vector<Delta>& difference) const;

  std::array<TaggerLayout, kSides> layout_;
  std::array<LabelMap, kSides> map_;
  std::vector<LabelPairs> pairs_;  // [sides]  only single labels if all are expanded
  Expansion expansion_;
  MultitaskData data_;
};

/// The same model with all labels expanded, as a conditional random field.
class MultitaskObjective {
 public:
  using Prepared = std::array<MultitaskTraining::Between, kSides>;
  struct alignas(kCacheSeparation) Work {
    MultitaskTraining::Work plain;
    UniformMarginals found;
    std::vector<double> pairs;  // [L + 1][L + 1]  changes to the side's own transitions
    std::vector<double> sum;
  };

  /// Throws std::invalid_argument if only the best labels are expanded, because that has no gradient.
  explicit MultitaskObjective(const MultitaskTraining& training);

  [[nodiscard]] std::int64_t weights() const { return training_.weights(); }
  [[nodiscard]] std::int64_t dense() const {
    return training_.layout(0).transitions() + training_.layout(1).transitions();
  }
  [[nodiscard]] Prepared prepare(WeightView weights) const;
  double compute(const Prepared& between, WeightView weights, std::int64_t sentence, Work& work,
                 Gradient& out) const;

  template <ChangeRule R>
  void apply(std::int64_t sentence, const Gradient& gradient, Share share, R& rule) const {
    const auto side = static_cast<std::size_t>(training_.data().side[sentence]);
    const FeatureRows& features = training_.data().features;
    const auto L = static_cast<std::size_t>(training_.layout(side).labels);
    std::vector<float> mapped(static_cast<std::size_t>(training_.layout(1 - side).labels));
    for (std::size_t a = 0; a < gradient.active.size(); ++a) {
      const std::int64_t unit = training_.data().first[sentence] + gradient.active[a];
      const std::span own(gradient.change.data() + a * L, L);
      const bool is_mapped = map_changes(side, own, mapped);
      for (std::int64_t f = features.first[unit]; f < features.first[unit + 1]; ++f) {
        const std::uint32_t row = features.value[f];
        if (!share.has(block_of(row))) continue;
        change_labels(training_.layout(side), training_.state_offset(side), row, 1.0F, own, rule);
        if (!is_mapped) continue;
        change_labels(training_.layout(1 - side), training_.state_offset(1 - side), row, 1.0F,
                      std::span<const float>(mapped), rule);
      }
    }
  }

 private:
  /// Maps changes for the labels of a side to the other side; returns false if there are none.
  [[nodiscard]] bool map_changes(std::size_t side, std::span<const float> own,
                                 std::vector<float>& mapped) const;
  void add_pairs(std::size_t side, Work& work, std::vector<double>& dense) const;

  const MultitaskTraining& training_;
};

}  // namespace duilian
