// Turns labels of units into words. A word begins where a label may begin one and the previous label may end
// one, after white space, and at the beginning of a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

/// Whether each label may begin or end a word.
struct LabelEdges {
  std::span<const std::uint8_t> starts;  // [labels]
  std::span<const std::uint8_t> ends;    // [labels]
};

struct LabelledUnits {
  std::span<const std::int64_t> span;      // [2 · units]  begin and end of each unit in the text
  std::span<const std::int64_t> sentence;  // [sentences + 1]  units before each sentence
  std::span<const std::uint16_t> known;    // [units]  sets of Known
  std::span<const std::int32_t> label;     // [units]
  std::span<const float> p;                // [units], or empty
};

/// The words of all sentences, one after another.
struct WordColumns {
  std::vector<std::int32_t> first;     // first unit
  std::vector<std::int32_t> start;     // in the text
  std::vector<std::int32_t> end;       // exclusive
  std::vector<std::int32_t> label;     // of the first unit
  std::vector<std::int32_t> sentence;  // [sentences + 1]  words before each sentence
  std::vector<float> p;                // of the least certain unit; empty if unknown
};

/// Throws std::invalid_argument if the arrays are inconsistent or a label is out of range.
[[nodiscard]] WordColumns words_of_labels(const LabelEdges& edges, const LabelledUnits& units);

/// The text with two blanks between words, which must be in order and must not overlap. White space between
/// words is padded to two characters; nothing else changes. Throws std::invalid_argument if a word is outside
/// the text.
[[nodiscard]] std::u32string spaced(std::u32string_view text, std::span<const std::int32_t> start,
                                    std::span<const std::int32_t> end);

/// The same for many texts, with answers in UTF-8; the words of text k begin with number first[k].
[[nodiscard]] std::vector<std::string> spaced_texts(std::span<const std::u32string> texts,
                                                    std::span<const std::int32_t> start,
                                                    std::span<const std::int32_t> end,
                                                    std::span<const std::int64_t> first);

}  // namespace duilian
