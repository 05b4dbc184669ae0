// A trained coupled tagger, compiled for tagging. All weights of a feature, of every side and of the joint
// parts, stand side by side in one table: the labels of the sides first, then the joint labels. A sentence is
// scored in two passes over its features: what prunes, then the labels that are left, of sides that others
// have pruned for and joint ones, and only at units where more than one bundle is left. If pruning may be
// rough, what prunes is in a table of its own, and everything else waits for the second pass.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "duilian/chain/rough.hpp"
#include "duilian/coupled/entry_table.hpp"
#include "duilian/coupled/k_best.hpp"
#include "duilian/coupled/rough_table.hpp"
#include "duilian/coupled/search.hpp"
#include "duilian/coupled/weights.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/text/fold.hpp"

namespace duilian {

class CoupledPredictor {
 public:
  CoupledPredictor(const CoupledPredictor&) = delete;  // between_ refers to shape_
  CoupledPredictor& operator=(const CoupledPredictor&) = delete;
  /// Throws std::invalid_argument if any index in the arrays leads outside.
  CoupledPredictor(CoupledShape shape, std::shared_ptr<const CoupledWeights> weights, TemplateSet templates,
                   Folding folding, SearchOptions options);

  struct alignas(kApart) Work {
    SearchWork search;
    FeatureKeys keys;
    std::vector<std::uint32_t> entry;        // [keys]  where a feature's weights begin
    std::vector<float> row;                  // side scores of one unit
    std::vector<std::uint32_t> joint_entry;  // of all units
    std::vector<std::size_t> joint_first;    // [T + 1]
    std::vector<EntryTable::LateRow> late;   // of all units
    std::vector<std::size_t> late_first;     // [T + 1]
    std::vector<std::int32_t> path;
    std::vector<std::uint32_t> record;           // [keys]  of rough scores
    std::vector<Rough> rough;                    // [T][stride of the rough table]
    std::vector<EntryTable::Begins> rest;        // of the features of all units
    std::vector<std::size_t> rest_first;         // [T + 1]
    std::vector<std::uint32_t> late_entry;       // of the units with a choice
    std::vector<std::size_t> late_entry_first;   // [T + 1]
    std::vector<std::span<const TagId>> wanted;  // [pruned sides]  labels of one unit
    std::vector<Rough> place;                    // scores of one unit, set aside
    RoughWorkspace pruning;
    Shortlist list;
  };

  [[nodiscard]] const CoupledShape& shape() const { return shape_; }
  [[nodiscard]] const CoupledWeights& weights() const { return *weights_; }
  [[nodiscard]] const TemplateSet& templates() const { return templates_; }
  [[nodiscard]] const Folding& folding() const { return folding_; }

  /// Scores and prunes a sentence and builds the space of bundles that are left, under wishes for each side's
  /// labels (or none). False, and the space without wishes, if they leave no legal path.
  [[nodiscard]] bool prepare(const Sentences& sentences, std::int64_t sentence,
                             std::span<const Wishes> wishes, Work& work) const;
  /// The labels of some sides, from the space; the answer is in work.search.
  void decode(SideChoice sides, Work& work) const;

 private:
  /// All weights, ready for exact scores; made when it is first asked for.
  [[nodiscard]] const EntryTable& all() const;
  [[nodiscard]] bool has_pruner(std::size_t side) const;
  void prune_by_rough_scores();
  /// The weights that do not prune: a table of its own, and where each feature's begin in it.
  [[nodiscard]] std::vector<EntryTable::Begins> set_rest_apart();

  /// By exact scores of all labels.
  [[nodiscard]] bool prepare_exactly(const Sentences& sentences, std::int64_t sentence,
                                     std::span<const Wishes> wishes, Work& work) const;
  void score(const Sentences& sentences, std::int64_t sentence, Work& work) const;
  /// Changes the scores as the wishes say; false if they leave no legal path.
  [[nodiscard]] bool wish(const Sentences& sentences, std::int64_t sentence, std::span<const Wishes> wishes,
                          Work& work) const;
  /// The rest of the scores, for the candidates.
  void add_late_rows(Work& work) const;

  /// By rough scores; false if they cannot tell.
  [[nodiscard]] bool prune_roughly(const Sentences& sentences, std::int64_t sentence,
                                   std::span<const Wishes> wishes, Work& work) const;
  void wish_roughly(const Sentences& sentences, std::int64_t sentence, std::span<const Wishes> wishes,
                    Work& work) const;
  /// The scores of the candidates that they have left.
  void score_candidates(const Sentences& sentences, std::int64_t sentence, std::span<const Wishes> wishes,
                        Work& work) const;
  /// What the features of the units with a choice lead to, so that memory has time to answer.
  void gather_rest(Work& work) const;
  void score_unit(std::int32_t t, Work& work) const;

  CoupledShape shape_;
  std::shared_ptr<const CoupledWeights> weights_;
  TemplateSet templates_;
  Folding folding_;
  SearchOptions options_;
  CoupledTransitions between_;
  CoupledTransitions prune_between_;
  mutable std::once_flag is_made_;
  mutable std::optional<EntryTable> all_;
  std::optional<RoughTable> rough_;
  double rough_scale_ = 0.0;
  std::vector<RoughPruner> rough_pruner_;          // [sides]
  std::vector<std::vector<float>> rough_between_;  // [sides]  e^transition, [L + 1][L + 1]
  std::optional<EntryTable> rest_;
};

/// Answers for all sentences. `allowed`: labels that are given, [sides][units], or none.
[[nodiscard]] CoupledAnswers predict(const CoupledPredictor& predictor, const Sentences& sentences,
                                     std::span<const TagSets> allowed, bool with_candidates,
                                     std::size_t threads);

/// Answers for all sentences under wishes for the labels of each side (or none at all). A sentence that they
/// leave no legal path is answered without them, and counted in `impossible`.
[[nodiscard]] CoupledAnswers predict_wished(const CoupledPredictor& predictor, const Sentences& sentences,
                                            std::span<const Wishes> wishes, bool with_candidates,
                                            std::size_t threads, std::int64_t& impossible);

/// The best label sequences of one side for the first sentence, under wishes that hold if they can; gives
/// log Z through `log_z`.
[[nodiscard]] std::vector<SideAnswer> k_best(const CoupledPredictor& predictor, const Sentences& sentences,
                                             std::size_t side, std::span<const Wishes> wishes, std::size_t k,
                                             double& log_z);

/// One side of a coupled tagger as a model that labels; starts[k][l]: label l of side k begins a word.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const CoupledPredictor& predictor, std::size_t side,
                                                      std::vector<std::vector<std::uint8_t>> starts);

/// Expected counts of label pairs of two sides, [La][Lb], over all units: the mapping that was learned.
[[nodiscard]] std::vector<double> count_pairs(const CoupledPredictor& predictor, const Sentences& sentences,
                                              std::span<const TagSets> allowed, std::size_t side_a,
                                              std::size_t side_b, std::size_t threads);

}  // namespace duilian
