// Cuts text into units, as offsets into the text. Between two units there is only white space or something
// invisible; every other character is in exactly one unit, so units and gaps together make up the text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/text/characters.hpp"

namespace duilian {

struct Span {
  std::int64_t begin;
  std::int64_t end;
  bool operator==(const Span&) const = default;
};

struct UnitOptions {
  bool joins_letters = false;  // iPhone is one unit
  bool joins_digits = false;   // 2026 is one unit
};

/// The end of the character that begins at `at`, including its marks; a joiner also takes the next emoji, and
/// two regional indicators make a flag.
[[nodiscard]] std::size_t end_of_cluster(std::u32string_view text, std::size_t at);
[[nodiscard]] inline std::size_t end_of_character(std::u32string_view text, std::size_t at) {
  const bool is_alone = char_class(text[at]) == CharClass::han &&
                        (at + 1 == text.size() || char_class(text[at + 1]) != CharClass::extend);
  return is_alone ? at + 1 : end_of_cluster(text, at);
}

/// A unit is a character with its marks, joiners and joined emoji, or a run of letters or digits.
[[nodiscard]] std::vector<Span> split_units(std::u32string_view text, UnitOptions options);
/// Appends the units of a part of a text, as places in the text.
void add_units(std::u32string_view text, Span part, UnitOptions options, std::vector<Span>& units);

/// The units of all words, and how many each word has.
struct WordUnits {
  std::vector<std::string> unit;  // UTF-8
  std::vector<std::int32_t> count;
};
[[nodiscard]] WordUnits split_words(std::span<const std::string> words, UnitOptions options);

}  // namespace duilian
