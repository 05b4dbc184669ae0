// Two chains as the passive-aggressive learner sees them: sentences with letters and, where known, tags; each
// is answered in up to three ways (letters alone, tags for given letters, both), all with the same weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/two_chain/search.hpp"

namespace duilian {

/// How two chains are used: both, letters alone, or tags for given letters.
enum class TwoChainMode : std::uint8_t { joint, segment, tag };

/// Templates as patterns: templates that differ only by a shift are one pattern, whose value at a unit is
/// looked up once and applies to several places.
struct TwoChainPatterns {
  TemplateSet set;
  std::vector<PlaceSet> places;  // [patterns]
};
/// Throws std::invalid_argument unless every pattern has places, all of which the shape has, too.
void check(const TwoChainPatterns& patterns, const TwoChainShape& shape);

/// The features of all units of some sentences and of the units around them: unit i of sentence k, counted
/// from -before, is first[k] + k · (before + after) + before + i.
struct TwoChainFeatures {
  std::vector<std::uint64_t> keys;  // [rows]
  std::vector<PlaceSet> places;     // [rows]
  FeatureRows rows;
};
/// All features that occur at least `min_count` times, in order of first occurrence.
[[nodiscard]] TwoChainFeatures index_two_chain(const TwoChainShape& shape, const TwoChainPatterns& patterns,
                                               const Sentences& sentences, std::uint32_t min_count);
/// The rows of other sentences.
[[nodiscard]] FeatureRows find_two_chain(const TwoChainShape& shape, const TwoChainPatterns& patterns,
                                         const Sentences& sentences, const FeatureIndex& index);

struct TwoChainData {
  FeatureRows features;                // of units and those around them; see TwoChainFeatures
  std::vector<std::int64_t> first{0};  // [sentences + 1]  in units
  std::vector<std::int32_t> letter;    // [units]
  std::vector<std::int32_t> tag;       // [units]  kUnknownTag if not known
};
/// Throws std::invalid_argument unless the arrays are consistent and the letters legal.
void check(const TwoChainData& data, const TwoChainShape& shape);

/// The weights of bare cliques, then, for feature row r, the entries [first[r], first[r + 1]), one per slot.
struct TwoChainLayout {
  TwoChainShape shape;
  std::vector<std::int64_t> first{0};  // [rows + 1]
  std::vector<std::uint16_t> slot;     // [entries]  ascending within a row
  std::vector<PlaceSet> places;        // [rows]

  [[nodiscard]] std::int64_t weights() const {
    return static_cast<std::int64_t>(shape.clique_weights() + slot.size());
  }
};
/// Gives an entry to every slot that a feature occurs with in the data; features seen `full_from` times or
/// more have all slots of their places.
[[nodiscard]] TwoChainLayout lay_out_two_chain(const TwoChainShape& shape, const TwoChainData& data,
                                               std::span<const PlaceSet> places, std::int64_t full_from);

struct TwoChainWork {
  std::vector<float> rows;
  TwoChainWorkspace search;
  std::vector<std::int32_t> letter, tag, gold_tag;
};

struct TwoChainLearning {
  std::vector<TwoChainMode> modes;  // the ways to answer each sentence, where possible
  double cost = 1.0;                // the margin by which gold must win
  // The cost counts for every wrong letter and tag, also in the search; otherwise once.
  bool is_per_label = false;
};

/// The two chains as a StructuredModel (passive_aggressive.hpp).
class TwoChainStructure {
 public:
  using Work = TwoChainWork;
  TwoChainStructure(const TwoChainLayout& layout, const TwoChainData& data, TwoChainLearning learning);

  [[nodiscard]] std::int64_t weights() const { return layout_.weights(); }
  [[nodiscard]] std::size_t answers(std::int64_t sentence) const;
  double respond(WeightView weights, std::int64_t sentence, std::size_t answer, Work& work,
                 std::vector<Delta>& difference) const;

 private:
  struct Path {
    std::span<const std::int32_t> letter, tag;  // without tags: letters alone
  };
  [[nodiscard]] bool has_tags(std::int64_t sentence) const { return tagged_[sentence] != 0; }
  double add_costs(std::int64_t sentence, TwoChainMode mode, Work& work) const;
  void add_difference(std::int64_t sentence, const Path& gold, const Path& guess,
                      std::vector<Delta>& out) const;
  void add_features(std::int64_t sentence, std::size_t i, Clique clique, std::size_t value, float sign,
                    std::vector<Delta>& out) const;

  const TwoChainLayout& layout_;
  const TwoChainData& data_;
  TwoChainLearning learning_;
  std::vector<std::uint8_t> tagged_;  // [sentences]  whether a tag is known
};

/// The letters and tags of all units. In mode `tag`, the letters of the data are given; in mode `segment`,
/// tags are kUnknownTag.
struct TwoChainLabels {
  std::vector<std::int32_t> letter, tag;  // [units]
};
[[nodiscard]] TwoChainLabels label_two_chain(const TwoChainLayout& layout, WeightView weights,
                                             const TwoChainData& data, TwoChainMode mode,
                                             std::size_t threads);

}  // namespace duilian
