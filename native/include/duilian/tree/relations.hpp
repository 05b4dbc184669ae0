// Relations for the arcs of a tree. The dependents of a word, from left to right and with the word itself in
// its place, form a chain (McDonald et al. 2006); punctuation marks are left out. Chains are decided from the
// leaves to the root, and a word's relation depends on those below it, which distinguishes a clause with a
// subject of its own from one without. The best relations of a chain are exact, given those below.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/score/objective.hpp"
#include "duilian/tree/grand_chart.hpp"
#include "duilian/tree/part_keys.hpp"

namespace duilian {

/// A tree seen by dependents: those of each word, from the inside out on both sides.
struct TreeShape {
  explicit TreeShape(const Heads& heads);
  std::vector<std::int32_t> inner;    // [n + 1]  next sibling of m towards the head, or kNobody
  std::vector<std::int32_t> last[2];  // [n + 1]  outermost dependent to the left and right, or kNobody
};

/// A sentence with a tree whose arcs need relations. All arrays have an element for the root, word 0.
struct RelationTask {
  RelationTask(const Heads& tree, const PartKeys& part_keys, std::span<const NodeAtoms> nodes,
               std::span<const std::uint8_t> tag_classes);

  [[nodiscard]] bool is_mark(std::int32_t word) const;

  const Heads& heads;
  const PartKeys& keys;
  std::span<const NodeAtoms> words;
  std::span<const std::uint8_t> classes;  // [tags]
  TreeShape shape;
  std::vector<std::vector<std::int32_t>> dependents;  // [n + 1]  from left to right
  std::vector<std::int32_t> upwards;                  // words with dependents, lower ones first
};

struct RelationWork {
  std::vector<float> score;             // [words + 1][relations]
  std::vector<float> pair;              // [tags seen][before][after]
  std::vector<std::int32_t> pair_tags;  // [tags seen]
  std::vector<float> best;              // [links + 1][relations + 2]
  std::vector<std::int32_t> from, links;
  std::vector<std::uint32_t> rows;
  bool keeps_pairs = false;    // from sentence to sentence, if the weights stay the same
  double relation_cost = 0.0;  // added to the score of relations that are not gold
};

/// Relation weights are part of a parser's weights and begin at `start`. Features are hashed into 2^bits rows
/// that overlap: a row may begin anywhere and has a weight for each relation. If `of_roots` has relations of
/// both kinds, roots have one of those marked there, and other words one of the rest.
class RelationModel {
 public:
  RelationModel(std::int32_t relations, std::int32_t bits, std::int64_t start,
                std::vector<std::uint8_t> of_roots = {})
      : relations_(relations),
        shift_(static_cast<std::uint32_t>(32 - bits)),
        start_(start),
        of_roots_(std::move(of_roots)) {}

  [[nodiscard]] std::int32_t size() const { return relations_; }
  /// The relation of every arc, [n + 1].
  [[nodiscard]] std::vector<std::int32_t> label(std::span<const float> weights, const RelationTask& task,
                                                RelationWork& work) const;
  /// The score of the relations of a word's dependents, given those below; for tests.
  [[nodiscard]] double chain_score(std::span<const float> weights, const RelationTask& task,
                                   std::int32_t head, std::span<const std::int32_t> relation) const;
  /// Appends the changes from the best relations to gold, chain by chain, over gold relations below; returns
  /// the number of wrong ones. known: [n + 1], -1 where unknown; there the best relation that agrees with the
  /// others serves as gold.
  std::int32_t list_changes(std::span<const float> weights, const RelationTask& task,
                            std::span<const std::int32_t> known, RelationWork& work,
                            std::vector<Delta>& changes) const;

 private:
  template <class Visit>
  void visit_rows(const RelationTask& task, std::int32_t m, std::span<const std::int32_t> below,
                  const Visit& visit) const;
  template <class Visit>
  void visit_pair_rows(std::int32_t before, std::int32_t tag, const Visit& visit) const;
  template <class Visit>
  void visit_pairs(const RelationTask& task, std::int32_t head, std::span<const std::int32_t> relation,
                   const Visit& visit) const;
  void score_dependents(std::span<const float> weights, const RelationTask& task, std::int32_t head,
                        std::span<const std::int32_t> below, RelationWork& work) const;
  void add_to_others(const RelationTask& task, std::int32_t head, std::span<const std::int32_t> known,
                     float value, RelationWork& work) const;
  void bar_relations(const RelationTask& task, std::int32_t head, RelationWork& work) const;
  void label_dependents(std::span<const float> weights, const RelationTask& task, std::int32_t head,
                        RelationWork& work, std::span<std::int32_t> found) const;
  void begin(const RelationTask& task, RelationWork& work) const;
  [[nodiscard]] const float* pairs_of(std::span<const float> weights, std::int32_t tag,
                                      RelationWork& work) const;
  void label_chain(const float* pairs, RelationWork& work, std::span<std::int32_t> found) const;

  std::int32_t relations_;
  std::uint32_t shift_;
  std::int64_t start_;
  std::vector<std::uint8_t> of_roots_;  // [relations] or empty
};

}  // namespace duilian
