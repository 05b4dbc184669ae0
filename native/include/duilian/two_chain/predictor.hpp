// Two trained chains, compiled for use. A feature's weights are one record, in cells of neighbours: looked up
// once, added to the rows of all units that the feature applies to. The chain of letters has its own records
// and short rows, so that it does not pay for the tags.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/two_chain/learning.hpp"

namespace duilian {

/// The arrays of a trained model, as a file holds them; an entry's label is its slot.
struct TwoChainWeights : WeightTable {
  std::vector<float> clique;  // weights of cliques alone
};

/// Drops weights of features whose size is below `min_weight`, and features without any left.
[[nodiscard]] TwoChainWeights compile_two_chain(const TwoChainLayout& layout, std::span<const float> weights,
                                                std::span<const std::uint64_t> keys, float min_weight);

class TwoChainPredictor {
 public:
  /// Throws std::invalid_argument if any index in the arrays leads outside.
  TwoChainPredictor(TwoChainShape shape, TwoChainPatterns patterns, TwoChainWeights weights, Reading reading);

  struct alignas(kCacheSeparation) Work {
    FeatureKeys keys;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> record;  // [keys]
    std::vector<float> rows;
    TwoChainWorkspace search;
  };

  [[nodiscard]] const TwoChainShape& shape() const { return shape_; }
  [[nodiscard]] const TwoChainWeights& weights() const { return weights_; }
  [[nodiscard]] const Reading& reading() const { return reading_; }

  /// Checks what label() and chains() rely on, once for all sentences.
  void check_sentences(const Sentences& sentences) const { check_columns(patterns_.set, sentences); }
  /// One sentence, scored; valid until `work` is used again.
  [[nodiscard]] TwoChains chains(const Sentences& sentences, std::int64_t sentence, bool letters_only,
                                 Work& work) const;

 private:
  /// Records of all features for one kind of rows.
  struct Records {
    WeightTable table;  // only its slots, which lead to records
    std::vector<std::uint32_t>
        words;  // number of cells; then for each: displacement, and weights of a vector

    void add_to(std::uint32_t record, float* row) const;
  };
  [[nodiscard]] Records records_for(std::span<const std::int32_t> displacement) const;

  TwoChainShape shape_;
  TwoChainPatterns patterns_;
  AnchorTemplates all_templates_;
  AnchorTemplates letter_templates_;  // those about letters
  TwoChainWeights weights_;
  Reading reading_;
  CliqueScores cliques_;
  Records all_, letters_;
};

/// Letters and tags of all units. In mode `tag` letters are given: `letter` has one for every unit.
[[nodiscard]] TwoChainLabels predict(const TwoChainPredictor& predictor, const Sentences& sentences,
                                     TwoChainMode mode, std::span<const std::int32_t> letter,
                                     std::size_t threads);

/// p(s_i, t_i) at every unit, [units][S · T], where the log of a path's probability is its score times
/// `scale`, up to a constant. Throws std::invalid_argument unless the scale is finite and above 0.
[[nodiscard]] std::vector<double> predict_marginals(const TwoChainPredictor& predictor,
                                                    const Sentences& sentences, double scale,
                                                    std::size_t threads);

/// The k best paths of one sentence, or its k best letters by the chain of letters alone.
[[nodiscard]] std::vector<TwoChainPath> k_best(const TwoChainPredictor& predictor, const Sentences& sentences,
                                               std::int64_t sentence, std::size_t k, bool letters_only);
/// That constant, for one sentence.
[[nodiscard]] double log_partition(const TwoChainPredictor& predictor, const Sentences& sentences,
                                   std::int64_t sentence, double scale);
/// The score of a path of one sentence; without tags, by the chain of letters alone.
[[nodiscard]] double path_score(const TwoChainPredictor& predictor, const Sentences& sentences,
                                std::int64_t sentence, std::span<const std::int32_t> letter,
                                std::span<const std::int32_t> tag);

}  // namespace duilian
