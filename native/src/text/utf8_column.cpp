// Counts characters and cuts words in columns of UTF-8 without decoding them.
#include "duilian/text/utf8_column.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

void check(const Utf8Column& column) {
  const auto& offset = column.offset;
  if (offset.empty() || offset.front() < 0 || !std::is_sorted(offset.begin(), offset.end()) ||
      offset.back() > static_cast<std::int64_t>(column.bytes.size()))
    throw std::invalid_argument("the offsets do not match the bytes of the texts");
}

[[nodiscard]] std::string_view text_at(const Utf8Column& column, std::size_t k) {
  const auto begin = static_cast<std::size_t>(column.offset[k]);
  return column.bytes.substr(begin, static_cast<std::size_t>(column.offset[k + 1]) - begin);
}

}  // namespace

std::size_t Utf8Cursor::byte_of(std::int32_t character) {
  if (character < character_) throw std::invalid_argument("the words of a text overlap");
  for (; character_ < character; ++character_) {
    if (byte_ >= text_.size()) throw std::invalid_argument("a word is not inside its text");
    do ++byte_;
    while (byte_ < text_.size() && (static_cast<unsigned char>(text_[byte_]) & 0xC0U) == 0x80);
  }
  return byte_;
}

std::string_view Utf8Cursor::word(std::int32_t start, std::int32_t end) {
  const std::size_t from = byte_of(start);
  return text_.substr(from, byte_of(end) - from);
}

std::vector<std::int64_t> count_characters(const Utf8Column& column) {
  check(column);
  std::vector<std::int64_t> out;
  out.reserve(column.offset.size() - 1);
  for (std::size_t k = 0; k + 1 < column.offset.size(); ++k) {
    try {
      out.push_back(static_cast<std::int64_t>(decode_utf8(text_at(column, k)).size()));
    } catch (const std::invalid_argument&) {
      out.push_back(-1);
    }
  }
  return out;
}

WordBytes cut_words(const Utf8Column& column, const WordSpans& words) {
  check(column);
  const auto& first = words.first;
  if (words.start.size() != words.end.size() || first.size() != column.offset.size() || first.front() != 0 ||
      first.back() != static_cast<std::int64_t>(words.start.size()) ||
      !std::is_sorted(first.begin(), first.end()))
    throw std::invalid_argument("the words do not match the texts");
  // All words are parts of their texts, so this is enough memory for them.
  if (column.offset.back() - column.offset.front() > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("the texts have more than 2^31 - 1 bytes");
  WordBytes out;
  out.offset.reserve(words.start.size() + 1);
  out.offset.push_back(0);
  out.bytes.reserve(static_cast<std::size_t>(column.offset.back() - column.offset.front()));
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    Utf8Cursor cursor(text_at(column, k));
    for (auto w = static_cast<std::size_t>(first[k]); w < static_cast<std::size_t>(first[k + 1]); ++w) {
      const std::string_view word = cursor.word(words.start[w], words.end[w]);
      out.bytes.insert(out.bytes.end(), word.begin(), word.end());
      out.offset.push_back(static_cast<std::int32_t>(out.bytes.size()));
    }
  }
  return out;
}

}  // namespace duilian
