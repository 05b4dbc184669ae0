// What kind of character is it? One small set of classes, for features and for cutting text into units.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

enum class CharClass : std::uint8_t { other, space, extend, han, emoji, digit, letter, punct };

/// What splitting text asks of a character beside its class.
enum CharRole : std::uint8_t {
  kLineBreak = 8,
  kSentenceEnd = 16,   // 。！？… wherever they are
  kCloser = 32,        // a quote or bracket that may follow the end of a sentence
  kSeparator = 64,     // shares a word with no number and no word in Latin letters
  kPunctuation = 128,  // is punctuation in all corpora
};

/// Class (the lowest three bits) and roles of the Basic Multilingual Plane: one load for nearly every
/// character.
extern const std::array<std::uint8_t, 0x10000> kCharFacts;
[[nodiscard]] std::uint8_t rare_char_facts(char32_t c);

[[nodiscard]] inline std::uint8_t char_facts(char32_t c) {
  return c < kCharFacts.size() ? kCharFacts[c] : rare_char_facts(c);
}
[[nodiscard]] constexpr CharClass class_in(std::uint8_t facts) { return static_cast<CharClass>(facts & 7U); }

/// Full-width digits and letters are classed like their narrow forms.
[[nodiscard]] inline CharClass char_class(char32_t c) { return class_in(char_facts(c)); }

/// digit, letter, han, punct, space, emoji, other; a combining mark or joiner alone is other.
[[nodiscard]] std::u32string_view char_type_name(CharClass kind);

/// Throws std::invalid_argument with the position of the bad byte if the bytes are not UTF-8.
[[nodiscard]] std::u32string decode_utf8(std::string_view bytes);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);
[[nodiscard]] std::vector<std::u32string> decode_all(std::span<const std::string> texts);

/// The name of each character's type, for a text in UTF-8.
[[nodiscard]] std::vector<std::string> char_types(std::string_view text);

}  // namespace duilian
