// Two trained chains, compiled for tagging. The weights of a feature are one record, in cells of neighbours:
// it is looked up once and added to the rows of all units that the feature applies to. The chain of letters
// has its own records and short rows, so that it does not pay for the tags.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/two_chain/learning.hpp"

namespace duilian {

/// The arrays of a trained model, as they are stored in a file; the label of an entry is its slot.
struct TwoChainWeights : WeightTable {
  std::vector<float> clique;  // weights of bare cliques
};

/// Drops feature weights smaller in size than `min_weight`, and features that have none left.
[[nodiscard]] TwoChainWeights compile_two_chain(const TwoChainLayout& layout, std::span<const float> weights,
                                                std::span<const std::uint64_t> keys, float min_weight);

class TwoChainPredictor {
 public:
  /// Throws std::invalid_argument if an index in the arrays is out of range.
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

  /// Checks once, for all sentences, what label() and chains() rely on.
  void check_sentences(const Sentences& sentences) const { check_columns(patterns_.set, sentences); }
  /// The chains of one sentence, scored; valid until `work` is used again.
  [[nodiscard]] TwoChains chains(const Sentences& sentences, std::int64_t sentence, bool letters_only,
                                 Work& work) const;

 private:
  /// The records of all features for one kind of row.
  struct Records {
    WeightTable table;  // only its slots; they refer to records
    // Number of cells; then for each: displacement, and the weights of a vector.
    std::vector<std::uint32_t> words;

    void add_to(std::uint32_t record, float* row) const;
  };
  [[nodiscard]] Records records_for(std::span<const std::int32_t> displacement) const;

  TwoChainShape shape_;
  TwoChainPatterns patterns_;
  AnchorTemplates all_templates_;
  AnchorTemplates letter_templates_;  // those that apply to letters
  TwoChainWeights weights_;
  Reading reading_;
  CliqueScores cliques_;
  Records all_, letters_;
};

/// The letters and tags of all units. In mode `tag`, letters are given: `letter` has one for every unit.
[[nodiscard]] TwoChainLabels predict(const TwoChainPredictor& predictor, const Sentences& sentences,
                                     TwoChainMode mode, std::span<const std::int32_t> letter,
                                     std::size_t threads);

/// p(s_i, t_i) at every unit, [units][S · T]. The log probability of a path is its score times `scale`, minus
/// log_partition(). Throws std::invalid_argument unless the scale is finite and above 0.
[[nodiscard]] std::vector<double> predict_marginals(const TwoChainPredictor& predictor,
                                                    const Sentences& sentences, double scale,
                                                    std::size_t threads);

/// The k best paths of one sentence, or its k best letter sequences by the chain of letters alone.
[[nodiscard]] std::vector<TwoChainPath> k_best(const TwoChainPredictor& predictor, const Sentences& sentences,
                                               std::int64_t sentence, std::size_t k, bool letters_only);
/// log Σ e^(scale × score) over all paths of one sentence.
[[nodiscard]] double log_partition(const TwoChainPredictor& predictor, const Sentences& sentences,
                                   std::int64_t sentence, double scale);
/// The score of a path of one sentence; without tags, by the chain of letters alone.
[[nodiscard]] double path_score(const TwoChainPredictor& predictor, const Sentences& sentences,
                                std::int64_t sentence, std::span<const std::int32_t> letter,
                                std::span<const std::int32_t> tag);

}  // namespace duilian
