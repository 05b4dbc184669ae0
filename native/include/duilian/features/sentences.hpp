// Sentences as feature templates see them: units and further columns (such as a POS tag or a guide's tag),
// already folded, in a few long arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/features/reading.hpp"
#include "duilian/text/segment.hpp"

namespace duilian {

/// The hash of a value, which depends on its characters only.
[[nodiscard]] std::uint64_t hash_text(std::u32string_view text);
/// Extends the hash of a text to the hash of that text followed by `more`.
[[nodiscard]] std::uint64_t hash_more(std::uint64_t hash, std::u32string_view more);

/// Mixes a value into a key; the order of values matters.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(key ^ 0x9E3779B97F4A7C15U) * (value ^ 0xD1B54A32D192ED03U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// One string for each unit of all sentences, end to end.
struct TextColumn {
  std::u32string characters;
  std::vector<std::int64_t> first{0};  // [units + 1]
  std::vector<std::uint64_t> hash;     // [units]

  void add(std::u32string_view text);
  [[nodiscard]] std::u32string_view at(std::int64_t unit) const {
    return {characters.data() + first[unit], static_cast<std::size_t>(first[unit + 1] - first[unit])};
  }
};

class Sentences {
 public:
  /// The columns of the reading's dictionary, if it has one, follow those named here. Throws
  /// std::invalid_argument if two columns have the same name.
  Sentences(Reading reading, std::vector<std::string> column_names);

  /// Adds a sentence of units and columns in UTF-8; each column has one value per unit and is not folded.
  void add(std::span<const std::string> units, std::span<const std::vector<std::string>> columns);
  /// Adds a sentence as spans of a text, without columns except those of the dictionary.
  void add(std::u32string_view text, std::span<const Span> units);
  /// Adds sentences of several texts: text k has the sentences [text[k], text[k + 1]), sentence s has the
  /// units [first[s], first[s + 1]), and spans [units][2] holds the beginning and end of each unit in its
  /// text. Throws std::invalid_argument if the arrays are inconsistent.
  void add_texts(std::span<const std::u32string> texts, std::span<const std::int64_t> spans,
                 std::span<const std::int64_t> first, std::span<const std::int64_t> text);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(first_.size()) - 1; }
  [[nodiscard]] std::int64_t units() const { return first_.back(); }
  [[nodiscard]] std::int64_t begin_of(std::int64_t sentence) const { return first_[sentence]; }
  [[nodiscard]] std::int64_t end_of(std::int64_t sentence) const { return first_[sentence + 1]; }
  [[nodiscard]] const TextColumn& text() const { return text_; }
  /// The value of a column, and its hash; columns are numbered in the order of their names.
  [[nodiscard]] std::u32string_view column(std::size_t index, std::int64_t unit) const {
    return index < columns_.size() ? columns_[index].at(unit) : code(index, unit).text;
  }
  [[nodiscard]] std::uint64_t column_hash(std::size_t index, std::int64_t unit) const {
    return index < columns_.size() ? columns_[index].hash[unit] : code(index, unit).hash;
  }
  [[nodiscard]] const std::vector<std::string>& column_names() const { return column_names_; }
  [[nodiscard]] const std::vector<std::int64_t>& first() const { return first_; }

 private:
  [[nodiscard]] const CodeText& code(std::size_t index, std::int64_t unit) const {
    return *codes_[index - columns_.size()][unit];
  }
  void add_unit(std::u32string_view unit);
  /// Completes a sentence from the units added last, by looking up its words in the dictionary.
  void end_sentence(std::size_t units);

  Reading reading_;
  std::vector<std::string> column_names_;
  TextColumn text_;
  std::vector<TextColumn> columns_;     // given with the sentences
  Dictionary::Columns codes_;           // from the dictionary
  std::vector<std::int64_t> first_{0};  // [sentences + 1]  in units
  // The sentence being added, for the dictionary: its folded characters, and where its units end.
  std::u32string characters_;
  std::vector<std::int64_t> end_;
  Dictionary::Work work_;
};

}  // namespace duilian
