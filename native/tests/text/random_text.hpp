// Hostile random text, and the pieces it is cut into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "duilian/text/characters.hpp"
#include "duilian/text/segment.hpp"
#include "duilian/text/split.hpp"
#include "random.hpp"

namespace testing {

using namespace duilian;

using Pieces = std::vector<std::u32string>;

[[nodiscard]] inline Pieces pieces(std::u32string_view text, const std::vector<Span>& spans) {
  Pieces out;
  for (const Span& span : spans) {
    out.emplace_back(
        text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
  }
  return out;
}

[[nodiscard]] inline Pieces units(std::u32string_view text, bool joins_letters = false,
                                  bool joins_digits = false) {
  return pieces(text, split_units(text, {joins_letters, joins_digits}));
}

[[nodiscard]] inline Pieces sentences(std::u32string_view text) {
  return pieces(text, split_sentences(text));
}

// Everything that ever broke a tokenizer, and a little that never did.
inline constexpr std::u32string_view kNasty =
    U" \t\n\r\v\f\u0085\u2028\u2029\u3000\u00A0\u200B\u200C\u200D\u2060\uFEFF\uFE0F\u20E3\u0301\u3099\u00AD"
    U"aZéж09５Ａ中国々〇\U00020000\U0002F800。！？…!?.,，=&/"
    U"”’」）\"')]\U0001F468\U0001F469\U0001F466\U0001F3FB"
    U"\U0001F1E8\U0001F1F3❤\U000E0067カ한\uE000\uFFFF\U0010FFFF";

[[nodiscard]] inline std::u32string nasty_text(Random& random) {
  std::u32string out;
  for (std::int32_t n = random.below(24); n > 0; --n) {
    const auto k = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(kNasty.size()) + 1));
    out.push_back(k == kNasty.size() ? U'\0' : kNasty[k]);
  }
  return out;
}

/// Ascending, disjoint, not empty, inside the text, and with only white space between them.
[[nodiscard]] inline bool covers(std::u32string_view text, const std::vector<Span>& spans) {
  std::int64_t at = 0;
  const auto is_blank_until = [&](std::int64_t end) {
    for (; at < end; ++at) {
      if (char_class(text[static_cast<std::size_t>(at)]) != CharClass::space) return false;
    }
    return true;
  };
  for (const Span& span : spans) {
    if (span.begin < at || span.end <= span.begin || !is_blank_until(span.begin)) return false;
    at = span.end;
  }
  const auto size = static_cast<std::int64_t>(text.size());
  return at <= size && is_blank_until(size);
}

}  // namespace testing
