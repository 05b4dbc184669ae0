// Parses whole corpora with a parser of any kind, sentence by sentence, in several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "duilian/parallel.hpp"
#include "duilian/tree/parser.hpp"

namespace duilian {

/// A parsed sentence; without heads if the given ones allow no projective tree.
struct ParsedSentence {
  double score = kNoTree;
  Heads heads;                          // [n + 1]
  std::vector<std::int32_t> relations;  // [n + 1]
  bool is_simplified = false;           // parsed at order 1 because of its size
  std::vector<std::int32_t> tags{};     // [n + 1] or empty
};

/// The score of a sentence's tree in `data`.
[[nodiscard]] double tree_score(const TreeParser& parser, std::span<const float> weights,
                                const TreeData& data, std::int64_t sentence);
/// The score of the relations in `data` of a word's dependents.
[[nodiscard]] double relation_score(const TreeParser& parser, std::span<const float> weights,
                                    const TreeData& data, std::int64_t sentence, std::int32_t head);
/// The order-1 scores of all arcs of a sentence.
[[nodiscard]] ArcScores arc_scores(const TreeParser& parser, std::span<const float> weights,
                                   const TreeData& data, std::int64_t sentence);

/// Calls parse_one(sentence, given heads, work) for every sentence that has words.
template <class Work, class ParseOne>
[[nodiscard]] Parsed parse_all(const TreeData& data, std::size_t threads, const ParseOne& parse_one) {
  const auto count = static_cast<std::size_t>(data.sentences.size());
  Parsed out;
  out.head.assign(data.head.size(), kUnknown);
  out.relation.assign(data.head.size(), kUnknown);
  out.tag.assign(data.head.size(), kUnknown);
  out.score.assign(count, kNoTree);
  std::vector<std::uint8_t> is_simplified(count, 0), is_impossible(count, 0);
  Team team(threads, count);
  std::vector<Work> work(threads);
  team.for_each(count, [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const Heads given = heads_of(data, sentence);
    if (given.size() < 2) return;
    const ParsedSentence found = parse_one(sentence, given, work[thread]);
    is_simplified[k] = found.is_simplified;
    is_impossible[k] = found.heads.empty();
    if (found.heads.empty()) return;
    const auto begin = data.sentences.begin_of(sentence);
    std::copy(found.heads.begin() + 1, found.heads.end(), out.head.begin() + begin);
    std::copy(found.relations.begin() + 1, found.relations.end(), out.relation.begin() + begin);
    if (!found.tags.empty()) std::copy(found.tags.begin() + 1, found.tags.end(), out.tag.begin() + begin);
    out.score[k] = found.score;
  });
  for (std::size_t k = 0; k < count; ++k) {
    if (is_simplified[k] != 0) out.simplified.push_back(static_cast<std::int64_t>(k));
    if (is_impossible[k] != 0) out.impossible.push_back(static_cast<std::int64_t>(k));
  }
  return out;
}

}  // namespace duilian
