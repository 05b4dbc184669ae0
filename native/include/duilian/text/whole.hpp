// Parts of mixed text that are never cut: web and mail addresses, hashtags, names after an @, numbers with
// their signs and units, words in Latin letters, signs before prices, emoji, left-overs of HTML. Found by
// rules, in one pass and linear time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "duilian/text/segment.hpp"

namespace duilian {

enum class WholeKind : std::uint8_t {
  url,
  email,
  hashtag,
  mention,
  number,
  quantity,
  word,
  sign,
  emoji,
  markup
};
inline constexpr std::size_t kWholeKinds = 10;
inline constexpr std::size_t kLongestWhole = 1000;  // characters, without marks after the last

/// Whether parts of a kind are words by themselves; others may be part of a longer word: 15 in 15日.
[[nodiscard]] constexpr bool is_word(WholeKind kind) {
  return kind != WholeKind::number && kind != WholeKind::word;
}

[[nodiscard]] std::u32string_view whole_kind_name(WholeKind kind);

struct WholeSpan {
  Span span;
  WholeKind kind;
  bool operator==(const WholeSpan&) const = default;
};

/// In the order of the text; they do not overlap, have no white space inside and cut no unit of split_units()
/// that is a single character with its marks. White space and control characters always end them.
[[nodiscard]] std::vector<WholeSpan> find_whole_spans(std::u32string_view text);

}  // namespace duilian
