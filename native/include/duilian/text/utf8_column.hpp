// Columns of texts as Arrow stores them: read in place, and words cut out of them without a string per word.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace duilian {

/// Texts in one row of bytes: text k goes from offset[k] to offset[k + 1].
struct Utf8Column {
  std::string_view bytes;
  std::span<const std::int64_t> offset;  // [texts + 1]
};

/// Characters of each text, -1 for one that is not UTF-8.
[[nodiscard]] std::vector<std::int64_t> count_characters(const Utf8Column& column);

/// Words by their characters in their texts; text k has the words from first[k] to first[k + 1].
struct WordSpans {
  std::span<const std::int32_t> start;  // [words]
  std::span<const std::int32_t> end;
  std::span<const std::int64_t> first;  // [texts + 1]
};

/// A column of words: word w goes from offset[w] to offset[w + 1].
struct WordBytes {
  std::vector<std::int32_t> offset;  // [words + 1]
  std::vector<std::uint8_t> bytes;
};

/// The words in UTF-8. Those of a text are in order and do not overlap, and the texts are valid UTF-8.
[[nodiscard]] WordBytes cut_words(const Utf8Column& column, const WordSpans& words);

}  // namespace duilian
