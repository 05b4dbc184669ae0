// A neural parser: embeddings of words, bidirectional LSTMs, and products of a word with its head (Dozat and
// Manning 2017). Words are 1 … n; row 0 of a sentence is the root. The best projective tree is found exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/neural/lstm.hpp"
#include "duilian/tree/eisner.hpp"

namespace duilian {

inline constexpr std::size_t kFarthest = 33;  // words apart; farther ones count as that far

/// Weights as trained. A word has one row of numbers for each feature, out of the table of that feature.
struct NeuralWeights {
  std::vector<TrainedMatrix> tables;
  std::vector<std::size_t> table_of;  // [features]
  std::span<const float> root;        // [inputs]
  std::vector<std::array<TrainedLstm, 2>> layers;
  TrainedMap arc_head, arc_dependent, relation_head, relation_dependent;
  TrainedMatrix arc_weight;       // [arcs + 1][arcs]  of dependent (the last row: any) and head
  TrainedMatrix distance;         // [2][kFarthest + 1]  head to the right, to the left
  TrainedMatrix relation_weight;  // [size + 1][relations · (size + 1)]
  std::vector<TrainedMap> tagging;  // two maps, or none
};

/// Sentences: the rows of their features, and heads, -1 for those to be found.
struct NeuralSentences {
  std::span<const std::int64_t> first;    // [sentences + 1]
  std::span<const std::int32_t> feature;  // [words][features]
  std::span<const std::int32_t> head;     // [words]
};

struct NeuralAnswer {
  std::vector<std::int32_t> head, relation;  // [words]
  std::vector<float> tag;                    // [words][tags]  probabilities
  std::vector<std::int64_t> impossible;      // sentences whose given heads fit into no projective tree
};

/// What to find.
struct NeuralQuestion {
  bool finds_trees = true;  // otherwise given heads only get relations
  bool finds_tags = false;
};

class NeuralParser {
 public:
  /// Throws std::invalid_argument if sizes do not fit together. `root_relation` is that of roots only, or -1.
  NeuralParser(const NeuralWeights& weights, std::int32_t root_relation);

  [[nodiscard]] std::size_t relations() const { return relations_; }
  [[nodiscard]] std::size_t tags() const { return tags_; }
  /// Throws std::invalid_argument if a number is out of range.
  [[nodiscard]] NeuralAnswer answer(const NeuralSentences& sentences, const NeuralQuestion& question,
                                    std::size_t threads) const;
  /// The log probabilities of all heads of the words of a sentence.
  [[nodiscard]] ArcScores arc_scores(std::span<const std::int32_t> feature) const;

 private:
  struct Work;
  struct Table {
    std::size_t rows, columns;
    std::vector<float> value;
  };

  void check(const NeuralSentences& sentences) const;
  void answer_group(const NeuralSentences& sentences, const std::vector<std::size_t>& group,
                    const NeuralQuestion& question, Work& work, NeuralAnswer& out) const;
  void embed(std::span<const std::int32_t> feature, std::vector<float>& rows) const;
  void encode(Work& work) const;
  void score_arcs(const RowRange& own, Work& work) const;
  void choose_relations(const RowRange& own, const std::int32_t* head, Work& work,
                        std::int32_t* relation) const;
  [[nodiscard]] std::int32_t best_relation(std::int32_t head, const std::vector<float>& score) const;
  void weigh_tags(const RowRange& own, Work& work, float* p) const;

  std::vector<Table> tables_;
  std::vector<std::size_t> table_of_;
  std::vector<float> root_;
  std::vector<LstmLayer> layers_;
  Linear arc_head_, arc_dependent_, relation_head_, relation_dependent_;
  Linear arc_weight_, relation_weight_;
  std::vector<float> distance_;  // [2][kFarthest + 1]
  std::size_t arcs_ = 0, relation_size_ = 0, relations_ = 0, relation_room_ = 0, tags_ = 0;
  std::vector<Linear> tagging_;
  std::int32_t root_relation_;
};

}  // namespace duilian
