// Finds protected spans, the parts of mixed text that are never cut: web and mail addresses, hashtags, names
// after an @, numbers with signs and units, words in Latin letters, currency signs before prices, emoji,
// remains of HTML. It uses rules, in one pass and linear time.
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
inline constexpr std::size_t kLongestWhole = 1000;  // in characters, not counting marks after the last

/// Whether spans of a kind are always words; others may be part of a longer word, as 15 in 15日.
[[nodiscard]] constexpr bool is_word(WholeKind kind) {
  return kind != WholeKind::number && kind != WholeKind::word;
}

[[nodiscard]] std::u32string_view whole_kind_name(WholeKind kind);

struct WholeSpan {
  Span span;
  WholeKind kind;
  bool operator==(const WholeSpan&) const = default;
};

/// In text order and without overlap. No span contains white space or a control character, and none cuts a
/// unit of split_units() that is a single character with its marks.
[[nodiscard]] std::vector<WholeSpan> find_whole_spans(std::u32string_view text);

}  // namespace duilian
