// The graph-based parser of order 1, 2 or 3: hashed weights score parts, a search finds the best tree, and
// then each arc gets a relation. Before that, a small model of order 1 prunes arcs by their marginals (coarse
// to fine).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/sentences.hpp"
#include "duilian/score/objective.hpp"
#include "duilian/tree/arcs.hpp"
#include "duilian/tree/coded_weights.hpp"
#include "duilian/tree/eisner.hpp"
#include "duilian/tree/grand_chart.hpp"
#include "duilian/tree/part_keys.hpp"
#include "duilian/tree/relations.hpp"
#include "duilian/tree/tree_tags.hpp"

namespace duilian {

inline constexpr std::int32_t kUnknown = -1;  // a head or a relation that is not given

/// Sentences with their tags and, where known, heads (0 is the root) and relations, one per word. For a
/// converter, they also have complete guide trees, and the tags to learn (or kUnknown). With hints, they also
/// have tags of another standard.
struct TreeData {
  Sentences sentences;
  std::vector<std::int32_t> tag, head, relation;                     // [units]
  std::vector<std::int32_t> guide_head, guide_relation, wanted_tag;  // [units] or empty
  std::vector<std::int32_t> hint{};                                  // [units] or empty

  [[nodiscard]] bool has_guide() const { return !guide_head.empty(); }
  [[nodiscard]] bool has_hints() const { return !hint.empty(); }
};
void check(const TreeData& data, std::int32_t tags, std::int32_t relations);
/// Checks the guide trees and the tags to learn, which must be below `wanted_tags`.
void check_guide(const TreeData& data, std::int32_t wanted_tags);

/// Everything about a parser except its weights. Tables have 2^bits weights.
struct ParserShape {
  std::int32_t order = 1;
  std::int32_t bits = 22;
  std::int32_t relation_bits = 20;
  std::int32_t pruning_bits = 18;
  std::int32_t relations = 0;
  std::vector<std::uint8_t> tag_class;  // [tags]
  std::vector<std::uint8_t> of_roots;   // [relations]  whether only roots have it; or empty if unknown
  std::int32_t tag_bits = 4;
  std::int32_t tags = 0;  // tags that a converter chooses from; 0 if tags are given

  [[nodiscard]] std::int64_t tree_weights() const { return std::int64_t{1} << bits; }
  /// Weights of trees, then of relations. Rows of relations overlap: they may begin anywhere.
  [[nodiscard]] std::int64_t labelled_weights() const {
    return tree_weights() + (relations == 0 ? 0 : (std::int64_t{1} << relation_bits) + relations + 2);
  }
  /// All weights, including those of tags.
  [[nodiscard]] std::int64_t weights() const {
    return labelled_weights() + (tags == 0 ? 0 : (std::int64_t{1} << tag_bits) + tags);
  }
  [[nodiscard]] std::int64_t pruning_weights() const { return std::int64_t{1} << pruning_bits; }
};
void check(const ParserShape& shape);

/// How to search. An arc is tried if its marginal is at least `min_share` times that of the word's best head;
/// 0 means every arc. Sentences with more than `longest` words are parsed at order 1, as are those whose
/// tables would need more than `most_cells`, each of some 50 bytes: whoever writes a model file chooses what
/// is pruned.
struct ParseOptions {
  double min_share = 0.0;
  std::int32_t longest = 200;
  bool keeps_heads = false;    // whether given heads are kept
  double head_cost = 0.0;      // in training: what each wrong head scores extra
  double relation_cost = 0.0;  // in training: what each wrong relation scores extra
  std::int64_t most_cells = std::int64_t{1} << 24;
};

/// Everything that a thread needs, reused from sentence to sentence.
struct alignas(kCacheSeparation) ParseWork {
  std::vector<NodeAtoms> nodes;
  std::vector<std::int32_t> context;
  GuideTree guide;
  bool has_hints = false;
  PartKeys keys;
  ArcRowWork row;
  ArcScores scores;
  EisnerWork eisner;
  std::vector<double> marginal;
  std::vector<std::uint8_t> allowed;  // [n + 1][n + 1]
  double head_cost = 0.0;  // added to the score of heads that are not gold, so that gold learns to win by it
  Heads gold;
  ArcSet arcs;
  GrandWork grand;
  RelationWork relations;
};

class TreeParser {
 public:
  using Work = ParseWork;

  explicit TreeParser(ParserShape shape)
      : shape_(std::move(shape)),
        relations_(shape_.relations, shape_.relation_bits, shape_.tree_weights(), shape_.of_roots),
        coded_relations_(shape_.relations, shape_.relation_bits, 0, shape_.of_roots),
        tags_(shape_.tags, shape_.tag_bits, shape_.labelled_weights()) {
    check(shape_);
  }
  [[nodiscard]] const ParserShape& shape() const { return shape_; }

  /// Computes the keys of a sentence; all methods below refer to the sentence prepared last.
  void prepare(const TreeData& data, std::int64_t sentence, ParseWork& work) const;
  /// Writes the arcs that may be used to work.allowed. `heads` has the given heads, kUnknown elsewhere.
  void prune(std::span<const float> pruning, const Heads& heads, double min_share, ParseWork& work) const;
  /// The best tree over work.allowed, at this order.
  [[nodiscard]] ScoredTree search(std::span<const float> weights, std::int32_t order, ParseWork& work) const;
  [[nodiscard]] ScoredTree search(const CodedWeights& weights, std::int32_t order, ParseWork& work) const;
  [[nodiscard]] double tree_score(std::span<const float> weights, const Heads& heads, std::int32_t order,
                                  ParseWork& work) const;
  /// The best relation of every arc, [n + 1].
  [[nodiscard]] std::vector<std::int32_t> label(std::span<const float> weights, const Heads& heads,
                                                ParseWork& work) const;
  [[nodiscard]] std::vector<std::int32_t> label(const CodedWeights& weights, const Heads& heads,
                                                ParseWork& work) const;
  /// The best tag of every word, given the tree and its relations, [n + 1].
  [[nodiscard]] std::vector<std::int32_t> tag(std::span<const float> weights, const Heads& heads,
                                              std::span<const std::int32_t> relations, ParseWork& work) const;
  /// Appends the changes from the best tags to the known ones; returns the number of wrong tags.
  std::int32_t list_tag_changes(std::span<const float> weights, const Heads& heads,
                                std::span<const std::int32_t> relations, std::span<const std::int32_t> known,
                                ParseWork& work, std::vector<Delta>& changes) const;
  /// The score of the relations in `data` of a word's dependents.
  [[nodiscard]] double relation_score(std::span<const float> weights, const TreeData& data,
                                      std::int64_t sentence, std::int32_t head, ParseWork& work) const;
  /// Writes the order-1 scores of all arcs to work.scores.
  void score_arcs(std::span<const float> weights, ParseWork& work) const;
  void score_pruning_arcs(std::span<const float> pruning, ParseWork& work) const;
  /// Appends the changes from the guess to gold.
  void list_changes(const Heads& gold, const Heads& guess, ParseWork& work,
                    std::vector<Delta>& changes) const;
  /// Appends the changes from the best relations of a tree to the known ones, [n + 1]; returns the number of
  /// wrong relations.
  std::int32_t list_relation_changes(std::span<const float> weights, const Heads& heads,
                                     std::span<const std::int32_t> known, ParseWork& work,
                                     std::vector<Delta>& changes) const;

 private:
  void score_guided_arcs(const ArcTable& table, ParseWork& work) const;
  template <class Weights>
  [[nodiscard]] ScoredTree search_by(Weights weights, std::int32_t order, ParseWork& work) const;

  ParserShape shape_;
  RelationModel relations_;
  RelationModel coded_relations_;  // starts at 0, because coded relation weights are separate
  TreeTagModel tags_;
};

/// Heads and relations of all words, one sentence after another, and what happened along the way.
struct Parsed {
  std::vector<std::int32_t> head, relation;  // [units]
  std::vector<std::int32_t> tag;             // [units]  chosen by a converter, otherwise kUnknown
  std::vector<double> score;                 // [sentences]
  std::vector<std::int64_t> simplified;      // sentences parsed at order 1 because they are too large
  std::vector<std::int64_t> impossible;      // sentences whose given heads allow no projective tree
};
[[nodiscard]] Parsed parse(const TreeParser& parser, std::span<const float> weights,
                           std::span<const float> pruning, const TreeData& data, ParseOptions options,
                           std::size_t threads);
/// With coded weights, for a parser that does not choose tags.
[[nodiscard]] Parsed parse(const TreeParser& parser, const CodedWeights& weights,
                           std::span<const float> pruning, const TreeData& data, ParseOptions options,
                           std::size_t threads);

/// The k best trees of the sentence prepared last over work.allowed, best first; fewer if there are fewer.
[[nodiscard]] std::vector<ScoredTree> k_best_trees(const TreeParser& parser, std::span<const float> weights,
                                                   std::int32_t order, std::int32_t k, ParseWork& work);
/// Those of a sentence in `data`, over the arcs that pruning leaves.
[[nodiscard]] std::vector<ScoredTree> k_best_trees(const TreeParser& parser, std::span<const float> weights,
                                                   std::span<const float> pruning, const TreeData& data,
                                                   std::int64_t sentence, std::int32_t k,
                                                   ParseOptions options);

/// The order at which a sentence of this many words is parsed.
[[nodiscard]] std::int32_t order_for(const ParserShape& shape, std::size_t words, ParseOptions options);
/// Order 1 if the arcs [n + 1][n + 1] that pruning left are too many for another.
[[nodiscard]] std::int32_t order_within(std::int32_t order, std::span<const std::uint8_t> allowed,
                                        std::size_t words, ParseOptions options);
/// The `min_share` for pruning its arcs: at order 1, pruning costs more than it saves.
[[nodiscard]] inline double share_for(std::int32_t order, ParseOptions options) {
  return order == 1 ? 0.0 : options.min_share;
}
/// The heads of a sentence in a corpus, with the root at index 0.
[[nodiscard]] Heads heads_of(const TreeData& data, std::int64_t sentence);
/// Its relations, with an element for the root, [n + 1].
[[nodiscard]] std::vector<std::int32_t> relations_of(const TreeData& data, std::int64_t sentence);
[[nodiscard]] inline Heads free_heads(std::size_t count) { return Heads(count, kUnknown); }
[[nodiscard]] bool is_whole(const Heads& heads);
/// Whether every word has a head and is below the root.
[[nodiscard]] bool is_tree(const Heads& heads);

/// Forbids all other heads of words whose head is given; `allowed` is [n + 1][n + 1].
void keep_given(const Heads& given, std::span<std::uint8_t> allowed);

/// The arcs left by pruning, one square per sentence, end to end.
[[nodiscard]] std::vector<std::uint8_t> allowed_arcs(const TreeParser& parser, std::span<const float> pruning,
                                                     const TreeData& data, double min_share,
                                                     std::size_t threads);
/// The probability of each word's head under the pruning model, [units]; 0 where no head is given.
[[nodiscard]] std::vector<double> head_probabilities(const TreeParser& parser, std::span<const float> pruning,
                                                     const TreeData& data, std::size_t threads);
/// Where the square of each sentence begins, and where the last one ends.
[[nodiscard]] std::vector<std::size_t> arcs_before(const TreeData& data);

/// How many heads pruning leaves for the words of a corpus, and how many gold heads are among them.
struct PruningCounts {
  std::int64_t words = 0, kept = 0, gold = 0;
};
[[nodiscard]] PruningCounts count_allowed(const TreeData& data, std::span<const std::uint8_t> allowed);

}  // namespace duilian
