// The joint model of tags and trees (Li et al. 2014, section III). Its weights are those of a parser, then
// those of tags: hashed rows for features of a word with a tag (the paper's Table I, as templates), and a
// square of neighbouring tags. A part also uses tags that the chart does not hold, beside and between its
// words; these are the best tags of a plain tagger, which also decides which tags a word may have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/tree/joint_chart.hpp"
#include "duilian/tree/objective.hpp"
#include "duilian/tree/weighed_parts.hpp"

namespace duilian {

/// Sentences with what is known about them; the tags in `tree` are those of the plain tagger.
struct JointData {
  TreeData tree;
  std::vector<std::int64_t> first;       // [units + 1]  candidates of each word
  std::vector<std::int32_t> tag;         // [candidates]
  std::vector<std::uint8_t> likelihood;  // [candidates]  a class of probability according to the plain tagger
  std::vector<std::int32_t> gold;        // [units]  kUnknown if not given
};
void check(const JointData& data, std::int32_t tags, std::int32_t relations);

struct JointShape {
  ParserShape tree;
  std::int32_t tag_bits = 20;

  [[nodiscard]] std::int32_t tags() const { return static_cast<std::int32_t>(tree.tag_class.size()); }
  [[nodiscard]] std::int64_t tag_start() const { return tree.weights(); }
  [[nodiscard]] std::int64_t pair_start() const { return tag_start() + (std::int64_t{1} << tag_bits); }
  /// The square of neighbouring tags has one more tag, for the start of the sentence.
  [[nodiscard]] std::int64_t weights() const {
    return pair_start() + std::int64_t{tags()} * (std::int64_t{tags()} + 1);
  }
};

struct alignas(kCacheSeparation) JointParseWork {
  // One node per word: first with the plain tagger's tags, for pruning; then with the chosen tags.
  ParseWork words;
  NodeSet nodes;  // all candidates
  std::vector<NodeAtoms> atoms;
  std::vector<std::uint8_t> likelihood;  // [nodes]
  double head_cost = 0.0;                // added to the score of a head or tag that is not gold
  TaggedTree gold;
  PartKeys keys;
  FeatureKeys features;
  ArcSet arcs;
  JointWork chart;
};

class JointParser {
 public:
  using Work = JointParseWork;

  JointParser(JointShape shape, TemplateSet templates);
  [[nodiscard]] const JointShape& shape() const { return shape_; }
  [[nodiscard]] const TreeParser& tree() const { return tree_; }

  /// Computes the keys of a sentence; all methods below refer to the sentence prepared last.
  void prepare(const JointData& data, std::int64_t sentence, Work& work) const;
  /// The best tags and tree over work.words.allowed, or only over nodes marked 1 in `usable`, if given.
  [[nodiscard]] TaggedTree search(std::span<const float> weights, std::int32_t order, Work& work,
                                  std::span<const std::uint8_t> usable = {}) const;
  [[nodiscard]] double score(std::span<const float> weights, const TaggedTree& tree, std::int32_t order,
                             Work& work) const;
  /// Appends the changes from the guess to gold, up to the parser's order.
  void list_changes(const TaggedTree& gold, const TaggedTree& guess, Work& work,
                    std::vector<Delta>& changes) const;
  /// Reduces work.words to one node per word: the one in the tree.
  void choose(const TaggedTree& tree, Work& work) const;
  [[nodiscard]] std::int32_t tag_of(const Work& work, std::int32_t node) const {
    return work.atoms[node].tag;
  }

 private:
  template <class Visit>
  void visit_tag(const Work& work, std::int32_t node, const Visit& visit) const;
  [[nodiscard]] std::uint32_t pair_weight(std::int32_t before, std::int32_t tag) const;

  friend class WeighedTags;

  JointShape shape_;
  TreeParser tree_;
  TemplateSet templates_;
};

/// Tags, heads and relations of all words, one sentence after another, and what happened along the way.
struct JointParsed {
  Parsed trees;
  std::vector<std::int32_t> tag;  // [units]
};
[[nodiscard]] JointParsed parse(const JointParser& parser, std::span<const float> weights,
                                std::span<const float> pruning, const JointData& data, ParseOptions options,
                                std::size_t threads);

/// The score of a tagged tree of a sentence; heads and nodes are those of the words, without the root.
[[nodiscard]] double tree_score(const JointParser& parser, std::span<const float> weights,
                                const JointData& data, std::int64_t sentence,
                                std::span<const std::int32_t> heads, std::span<const std::int32_t> nodes);

/// Gold tags and tree against the best ones by these weights. Where something is unknown, the best answer
/// that agrees with the rest serves as gold.
class JointObjective : public ListedChanges {
 public:
  using Work = JointParseWork;

  JointObjective(const JointParser& parser, const JointData& data, std::vector<std::uint8_t> allowed,
                 std::vector<std::int32_t> guessed, ParseOptions options);
  [[nodiscard]] std::int64_t weights() const { return parser_.shape().weights(); }
  double compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work, Gradient& out) const;

 private:
  [[nodiscard]] TaggedTree gold_of(std::span<const float> weights, std::int64_t sentence, std::int32_t order,
                                   Work& work) const;

  const JointParser& parser_;
  const JointData& data_;
  AllowedArcs allowed_;
  RelationTrees relation_trees_;
  ParseOptions options_;
};

}  // namespace duilian
