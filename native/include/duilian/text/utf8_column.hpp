// Reads columns of texts in place, as Arrow stores them, and cuts words out without a string per word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace duilian {

/// Texts end to end: text k is bytes [offset[k], offset[k + 1]).
struct Utf8Column {
  std::string_view bytes;
  std::span<const std::int64_t> offset;  // [texts + 1]
};

/// Walks through a text, forward only.
class Utf8Cursor {
 public:
  explicit Utf8Cursor(std::string_view text) : text_(text) {}

  /// The characters [start, end). Throws if words overlap or are not inside the text.
  [[nodiscard]] std::string_view word(std::int32_t start, std::int32_t end);

 private:
  /// The byte where a character begins; the end of the text counts, too.
  [[nodiscard]] std::size_t byte_of(std::int32_t character);

  std::string_view text_;
  std::int32_t character_ = 0;
  std::size_t byte_ = 0;
};

/// The number of characters in each text; -1 if it is not UTF-8.
[[nodiscard]] std::vector<std::int64_t> count_characters(const Utf8Column& column);

/// Words as character spans of their texts; text k has the words [first[k], first[k + 1]).
struct WordSpans {
  std::span<const std::int32_t> start;  // [words]
  std::span<const std::int32_t> end;
  std::span<const std::int64_t> first;  // [texts + 1]
};

/// A column of words: word w is bytes [offset[w], offset[w + 1]).
struct WordBytes {
  std::vector<std::int32_t> offset;  // [words + 1]
  std::vector<std::uint8_t> bytes;
};

/// Cuts the words out. The words of a text must be in order without overlap, and the texts valid UTF-8.
[[nodiscard]] WordBytes cut_words(const Utf8Column& column, const WordSpans& words);

}  // namespace duilian
