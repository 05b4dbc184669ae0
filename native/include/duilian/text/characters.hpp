// What kind of character is it? One small set of classes, for features and for cutting text into units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

enum class CharClass : std::uint8_t { other, space, extend, han, emoji, digit, letter, punct };

/// Full-width digits and letters are classed like their narrow forms.
[[nodiscard]] CharClass char_class(char32_t c);

/// digit, letter, han, punct, space, emoji, other; a combining mark or joiner alone is other.
[[nodiscard]] std::u32string_view char_type_name(CharClass kind);

/// Throws std::invalid_argument with the position of the bad byte if the bytes are not UTF-8.
[[nodiscard]] std::u32string decode_utf8(std::string_view bytes);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);
[[nodiscard]] std::vector<std::u32string> decode_all(std::span<const std::string> texts);

/// The name of each character's type, for a text in UTF-8.
[[nodiscard]] std::vector<std::string> char_types(std::string_view text);

}  // namespace duilian
