// Many sentences as feature templates see them: units, and further columns (a POS column, a guide tag),
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

/// The hash of a value: the same for the same characters, wherever they occur.
[[nodiscard]] std::uint64_t hash_text(std::u32string_view text);
/// The hash of a text that continues with `more`, given the hash of its beginning.
[[nodiscard]] std::uint64_t hash_more(std::uint64_t hash, std::u32string_view more);

/// Mixes a value into a key; the order of values matters.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(key ^ 0x9E3779B97F4A7C15U) * (value ^ 0xD1B54A32D192ED03U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// One string per unit of all sentences, end to end.
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
  /// If the reading has a dictionary, it adds its columns after those named. Throws std::invalid_argument if
  /// one of them has the same name.
  Sentences(Reading reading, std::vector<std::string> column_names);

  /// Units and columns in UTF-8; each column has one value per unit and is not folded.
  void add(std::span<const std::string> units, std::span<const std::vector<std::string>> columns);
  /// Units as places in a text, without columns but those of the dictionary.
  void add(std::u32string_view text, std::span<const Span> units);
  /// Sentences of several texts: text k has the sentences [text[k], text[k + 1]), sentence s the
  /// units [first[s], first[s + 1]), and spans [units][2] says where each unit begins and ends in its text.
  /// Throws std::invalid_argument if these do not fit together.
  void add_texts(std::span<const std::u32string> texts, std::span<const std::int64_t> spans,
                 std::span<const std::int64_t> first, std::span<const std::int64_t> text);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(first_.size()) - 1; }
  [[nodiscard]] std::int64_t units() const { return first_.back(); }
  [[nodiscard]] std::int64_t begin_of(std::int64_t sentence) const { return first_[sentence]; }
  [[nodiscard]] std::int64_t end_of(std::int64_t sentence) const { return first_[sentence + 1]; }
  [[nodiscard]] const TextColumn& text() const { return text_; }
  /// The value of a column, in the order of their names, and its hash.
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
  /// Ends a sentence of units that were added: looks its words up.
  void end_sentence(std::size_t units);

  Reading reading_;
  std::vector<std::string> column_names_;
  TextColumn text_;
  std::vector<TextColumn> columns_;     // those that are given with the sentences
  Dictionary::Columns codes_;           // those of the dictionary
  std::vector<std::int64_t> first_{0};  // [sentences + 1]  in units
  // Of the sentence that is being added, for the dictionary: folded characters, and where units end.
  std::u32string characters_;
  std::vector<std::int64_t> end_;
  Dictionary::Work work_;
};

}  // namespace duilian
