// A trained coupled tagger, compiled for tagging. All weights of a feature are together in one table: first
// the labels of the sides, then the joint labels. A sentence is scored in two passes over its features. The
// first pass prunes; the second scores what is left (joint labels, and labels of sides with a pruner), but
// only at units with more than one bundle. With coarse pruning (coarse_pruning.hpp), the weights that prune
// have a table of their own, and everything else waits for the second pass.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "duilian/coupled/coarse_pruning.hpp"
#include "duilian/coupled/entry_table.hpp"
#include "duilian/coupled/k_best.hpp"
#include "duilian/coupled/search.hpp"
#include "duilian/coupled/weights.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/score/confidence.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/score/words.hpp"
#include "duilian/spare.hpp"

namespace duilian {

/// What is asked of the labels of a side, such as whether they begin a word.
struct SideFlags {
  std::size_t side;
  std::span<const std::uint8_t> of_label;
};

class CoupledPredictor {
 public:
  CoupledPredictor(const CoupledPredictor&) = delete;  // between_ refers to shape_
  CoupledPredictor& operator=(const CoupledPredictor&) = delete;
  /// Throws std::invalid_argument if an index in the arrays is out of range.
  CoupledPredictor(CoupledShape shape, std::shared_ptr<const CoupledWeights> weights, TemplateSet templates,
                   Reading reading, SearchOptions options);

  struct alignas(kCacheSeparation) Work {
    SearchWork search;
    FeatureKeys keys;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> entry;               // [keys]  where the weights of a feature begin
    std::vector<float> row;                         // side scores of one unit
    std::vector<std::uint32_t> joint_entry;         // of all units
    std::vector<std::size_t> joint_first;           // [T + 1]
    std::vector<EntryTable::DeferredRow> deferred;  // of all units
    std::vector<std::size_t> deferred_first;        // [T + 1]
    std::vector<std::int32_t> path;
    CoarsePruner::Work look;
  };

  [[nodiscard]] const CoupledShape& shape() const { return shape_; }
  [[nodiscard]] const CoupledWeights& weights() const { return *weights_; }
  [[nodiscard]] const TemplateSet& templates() const { return templates_.set(); }
  [[nodiscard]] const Reading& reading() const { return reading_; }

  /// Scores and prunes a sentence and builds the space of remaining bundles, under constraints for the labels
  /// of each side (or none). If the constraints leave no legal path, builds the space without them and
  /// returns false.
  [[nodiscard]] bool prepare(const Sentences& sentences, std::int64_t sentence,
                             std::span<const Constraints> constraints, Work& work) const;
  /// prepare() and decode() in one step, for speed; the space is unspecified afterwards.
  [[nodiscard]] bool answer(const Sentences& sentences, std::int64_t sentence,
                            std::span<const Constraints> constraints, SideChoice sides, Work& work) const;
  /// Writes the probabilities of a side's labels, [units][labels], by the weights that prune it and no
  /// others.
  void score_side(const Sentences& sentences, std::int64_t sentence, std::size_t side, Work& work,
                  std::span<double> p) const;
  /// The same for one side, of whose labels only those matter for which `flags` differ: where candidates
  /// agree in that, any of them may be the answer, and there are no probabilities.
  [[nodiscard]] bool answer_flags(const Sentences& sentences, std::int64_t sentence,
                                  std::span<const Constraints> constraints, const SideFlags& flags,
                                  Work& work) const;
  /// Decodes the labels of the given sides from the space; the answer is in work.search.
  void decode(SideChoice sides, Work& work) const;
  [[nodiscard]] Spare<Work>& spare() const { return spare_; }

 private:
  /// All weights, for exact scores; built on first use.
  [[nodiscard]] const EntryTable& all() const;
  void extract(const Sentences& sentences, std::int64_t sentence, Work& work) const;

  /// Scores and prunes a sentence, then calls search(joint features), and again with half as many candidates
  /// while it returns false because there are too many bundles. Returns false if the constraints left no
  /// legal path and were ignored.
  template <class Search>
  [[nodiscard]] bool prune(const Sentences& sentences, std::int64_t sentence,
                           std::span<const Constraints> constraints, Work& work, const Search& search) const;
  /// Prunes by exact scores of all labels; returns the same as prune().
  [[nodiscard]] bool prune_exactly(const Sentences& sentences, std::int64_t sentence,
                                   std::span<const Constraints> constraints, Pruning pruning,
                                   Work& work) const;
  void score(Work& work) const;
  /// Applies the constraints to the scores; returns false if they leave no legal path.
  [[nodiscard]] bool apply_constraints(const Sentences& sentences, std::int64_t sentence,
                                       std::span<const Constraints> constraints, Work& work) const;
  /// Tries to answer with coarse pruning; returns false if that does not decide.
  [[nodiscard]] bool try_flags(const Sentences& sentences, std::int64_t sentence,
                               std::span<const Constraints> constraints, const SideFlags& flags,
                               Work& work) const;
  /// Adds the remaining scores of the candidates.
  void add_deferred_rows(Work& work) const;

  CoupledShape shape_;
  std::shared_ptr<const CoupledWeights> weights_;
  AnchorTemplates templates_;
  Reading reading_;
  SearchOptions options_;
  CoupledTransitions between_;
  CoupledTransitions prune_between_;
  mutable std::once_flag is_made_;
  mutable std::optional<EntryTable> all_;
  mutable Spare<Work> spare_;
  std::unique_ptr<CoarsePruner> coarse_pruner_;  // null: all labels are scored exactly
};

/// How labels of a side become words.
struct SideWords {
  std::size_t side;
  LabelEdges edges;
  const ConfidenceCurve* curve;  // null: probabilities stay as they are
};

/// The words of a side; `units` come without labels and probabilities. Throws std::invalid_argument if there
/// is no such side, or if units and labels are inconsistent.
[[nodiscard]] WordColumns words_of_side(const CoupledAnswers& answers, const SideWords& how,
                                        LabelledUnits units);

/// Answers for all sentences. `allowed` holds given labels, [sides][units], or is empty.
[[nodiscard]] CoupledAnswers predict(const CoupledPredictor& predictor, const Sentences& sentences,
                                     std::span<const TagSets> allowed, bool with_candidates,
                                     std::size_t threads);

/// Answers for all sentences under constraints for the labels of each side (or none). A sentence without a
/// legal path under the constraints is answered without them and counted in `impossible`.
[[nodiscard]] CoupledAnswers predict_constrained(const CoupledPredictor& predictor,
                                                 const Sentences& sentences,
                                                 std::span<const Constraints> constraints,
                                                 bool with_candidates, std::size_t threads,
                                                 std::int64_t& impossible);

/// The labels of one side as far as `flags` tell them apart, [units], under constraints like those above.
[[nodiscard]] std::vector<std::int32_t> predict_flags(const CoupledPredictor& predictor,
                                                      const Sentences& sentences,
                                                      std::span<const Constraints> constraints,
                                                      const SideFlags& flags, std::size_t threads,
                                                      std::int64_t& impossible);

/// The best label sequences of one side for the first sentence, under constraints if these leave a legal
/// path; `log_z` receives log Z.
[[nodiscard]] std::vector<SideAnswer> k_best(const CoupledPredictor& predictor, const Sentences& sentences,
                                             std::size_t side, std::span<const Constraints> constraints,
                                             std::size_t k, double& log_z);

/// One side of a coupled tagger as a label model; starts[k][l] says whether label l of side k begins a word.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const CoupledPredictor& predictor, std::size_t side,
                                                      std::vector<std::vector<std::uint8_t>> starts);

/// The probabilities from which a side's candidates are chosen, [units][labels] of all sentences: by its own
/// separate features, or by its pruner if it has one. Throws std::invalid_argument if there is no such side.
[[nodiscard]] std::vector<double> side_probabilities(const CoupledPredictor& predictor,
                                                     const Sentences& sentences, std::size_t side,
                                                     std::size_t threads);

/// Expected counts of label pairs of two sides, [La][Lb], over all units: the mapping as it was learned.
[[nodiscard]] std::vector<double> count_pairs(const CoupledPredictor& predictor, const Sentences& sentences,
                                              std::span<const TagSets> allowed, std::size_t side_a,
                                              std::size_t side_b, std::size_t threads);

}  // namespace duilian
