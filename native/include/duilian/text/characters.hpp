// Classes of characters, for features and for cutting text into units; UTF-8 in and out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

enum class CharClass : std::uint8_t { other, space, extend, han, emoji, digit, letter, punct };

/// What matters about a character for splitting text, besides its class.
enum CharRole : std::uint8_t {
  kLineBreak = 8,
  kSentenceEnd = 16,   // 。！？… in any context
  kCloser = 32,        // a quote or bracket that may follow the end of a sentence
  kSeparator = 64,     // never shares a word with a number or a word in Latin letters
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

/// Full-width digits and letters belong to the classes of their half-width forms.
[[nodiscard]] inline CharClass char_class(char32_t c) { return class_in(char_facts(c)); }

/// digit, letter, han, punct, space, emoji or other; a combining mark or joiner by itself is other.
[[nodiscard]] std::u32string_view char_type_name(CharClass kind);

/// Throws std::invalid_argument with the position of the first byte that is not UTF-8.
[[nodiscard]] std::u32string decode_utf8(std::string_view bytes);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);
[[nodiscard]] std::vector<std::u32string> decode_all(std::span<const std::string> texts);

/// The type name of each character of a text in UTF-8.
[[nodiscard]] std::vector<std::string> char_types(std::string_view text);

}  // namespace duilian
