// Tags for the words of a tree whose relations are known, the last step of a converter. Each tag is chosen
// independently; the words above and below are features, and so is everything in the guide tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/relations.hpp"

namespace duilian {

/// Tag weights are part of a parser's weights, from `start` on; their rows overlap like those of relations.
class TreeTagModel {
 public:
  TreeTagModel(std::int32_t tags, std::int32_t bits, std::int64_t start)
      : tags_(tags), shift_(static_cast<std::uint32_t>(32 - bits)), start_(start) {}

  [[nodiscard]] std::int32_t size() const { return tags_; }
  /// The tag of every word, [n + 1]; relations are those of the tree, [n + 1].
  [[nodiscard]] std::vector<std::int32_t> label(std::span<const float> weights, const RelationTask& task,
                                                std::span<const std::int32_t> relations) const;
  /// The score of a word's tag; for tests.
  [[nodiscard]] double score(std::span<const float> weights, const RelationTask& task,
                             std::span<const std::int32_t> relations, std::int32_t word,
                             std::int32_t tag) const;
  /// Appends the changes from the best tags to the known ones ([n + 1], -1 where unknown), which must win by
  /// `cost`; returns how many did not.
  std::int32_t list_changes(std::span<const float> weights, const RelationTask& task,
                            std::span<const std::int32_t> relations, std::span<const std::int32_t> known,
                            float cost, std::vector<Delta>& changes) const;

 private:
  template <class Visit>
  void visit_rows(const RelationTask& task, std::span<const std::int32_t> relations, std::int32_t m,
                  const Visit& visit) const;
  void score_word(std::span<const float> weights, const RelationTask& task,
                  std::span<const std::int32_t> relations, std::int32_t m, std::vector<float>& out) const;

  std::int32_t tags_;
  std::uint32_t shift_;
  std::int64_t start_;
};

}  // namespace duilian
