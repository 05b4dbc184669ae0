// From labels of units to words. A word begins where a label may begin one and the label before may end one,
// after white space, and at the beginning of a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

/// What labels say about words.
struct LabelEdges {
  std::span<const std::uint8_t> starts;  // [labels]
  std::span<const std::uint8_t> ends;    // [labels]
};

/// Units with their labels.
struct LabelledUnits {
  std::span<const std::int64_t> span;      // [2 · units]  begin and end in the text
  std::span<const std::int64_t> sentence;  // [sentences + 1]  units before each sentence
  std::span<const std::uint16_t> known;    // [units]  sets of `Known`
  std::span<const std::int32_t> label;     // [units]
  std::span<const float> p;                // [units], or empty
};

/// The words of all sentences, in a row.
struct WordColumns {
  std::vector<std::int32_t> first;     // first unit
  std::vector<std::int32_t> start;     // place in the text
  std::vector<std::int32_t> end;       // exclusive
  std::vector<std::int32_t> label;     // that of the first unit
  std::vector<std::int32_t> sentence;  // [sentences + 1]  words before each sentence
  std::vector<float> p;                // of the least certain unit; empty if not known
};

/// Throws std::invalid_argument if the arrays do not fit together or a label is out of range.
[[nodiscard]] WordColumns words_of_labels(const LabelEdges& edges, const LabelledUnits& units);

/// A text with two blanks between its words, which are in order and do not overlap. White space that is there
/// already is padded to two characters; nothing else changes. Throws std::invalid_argument if words are not
/// inside the text.
[[nodiscard]] std::u32string spaced(std::u32string_view text, std::span<const std::int32_t> start,
                                    std::span<const std::int32_t> end);

/// The same for many texts in UTF-8, whose words are in a row: first[k] of them come before text k.
[[nodiscard]] std::vector<std::string> spaced_texts(std::span<const std::u32string> texts,
                                                    std::span<const std::int32_t> start,
                                                    std::span<const std::int32_t> end,
                                                    std::span<const std::int64_t> first);

}  // namespace duilian
