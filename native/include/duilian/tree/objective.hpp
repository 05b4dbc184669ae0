// Trees as a learner sees them, with two losses: wrong heads and relations of the best tree (for the
// perceptron), and the log likelihood of a tree by arcs (for pruning, which needs marginals).
#pragma once

#include "duilian/tree/parser.hpp"

namespace duilian {

/// What all objectives here share: their changes are a list, and nothing is prepared per batch.
struct ListedChanges {
  struct Prepared {};

  [[nodiscard]] std::int64_t dense() const { return 0; }
  [[nodiscard]] Prepared prepare(WeightView) const { return {}; }
  /// Passes this share of the list to a rule.
  template <ChangeRule R>
  void apply(std::int64_t, const Gradient& gradient, Share share, R& rule) const {
    // Neighbours in one cache line belong to one thread.
    constexpr std::uint32_t kBlock = 32;
    constexpr std::size_t kAhead = 16;
    const std::vector<Delta>& changes = gradient.sparse;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (k + kAhead < changes.size() && share.has(changes[k + kAhead].weight / kBlock))
        rule.prefetch(changes[k + kAhead].weight);
      if (share.has(changes[k].weight / kBlock)) rule.change(changes[k].weight, changes[k].value);
    }
  }
};

/// The arcs that a search may use in training, computed once for all passes.
class AllowedArcs {
 public:
  /// `allowed` has the arcs of all sentences as returned by `allowed_arcs`; if empty, every arc is allowed.
  AllowedArcs(const TreeData& data, std::vector<std::uint8_t> allowed);
  /// Writes those of a sentence that agree with the given heads to `out`.
  void copy(std::int64_t sentence, const Heads& given, std::vector<std::uint8_t>& out) const;

 private:
  std::vector<std::uint8_t> allowed_;
  std::vector<std::size_t> first_;  // [sentences + 1]  where the arcs of each sentence begin
};

/// Relations are learned on gold trees, and again on the trees of a parser that did not see the sentences:
/// there, the words around an arc are attached with the same errors as in new text. Only correct arcs count.
class RelationTrees {
 public:
  /// `guessed` has the heads of all words; if empty, relations are learned on gold trees alone.
  RelationTrees(const TreeData& data, std::vector<std::int32_t> guessed);
  /// Appends the changes for a sentence with this gold tree; returns the number of wrong relations.
  std::int32_t list_changes(const TreeParser& parser, std::span<const float> weights, std::int64_t sentence,
                            const Heads& gold, ParseWork& work, std::vector<Delta>& changes) const;

 private:
  [[nodiscard]] Heads guess_of(std::int64_t sentence) const;

  const TreeData& data_;
  std::vector<std::int32_t> guessed_;
};

/// The gold tree against the best one by these weights. Where heads are unknown, the best tree that agrees
/// with the others serves as gold. Gold arcs survive pruning, because the loss needs them.
class TreeObjective : public ListedChanges {
 public:
  using Work = ParseWork;

  TreeObjective(const TreeParser& parser, const TreeData& data, std::vector<std::uint8_t> allowed,
                std::vector<std::int32_t> guessed, ParseOptions options);
  [[nodiscard]] std::int64_t weights() const { return parser_.shape().weights(); }
  double compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work, Gradient& out) const;

 private:
  const TreeParser& parser_;
  const TreeData& data_;
  AllowedArcs allowed_;
  RelationTrees relation_trees_;
  ParseOptions options_;
};

/// log Z minus the score of the gold tree under the pruning model; skips sentences with unknown heads.
class PruningObjective : public ListedChanges {
 public:
  using Work = ParseWork;

  PruningObjective(const TreeParser& parser, const TreeData& data) : parser_(parser), data_(data) {}
  [[nodiscard]] std::int64_t weights() const { return parser_.shape().pruning_weights(); }
  double compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work, Gradient& out) const;

 private:
  const TreeParser& parser_;
  const TreeData& data_;
};

}  // namespace duilian
