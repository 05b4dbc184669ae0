#include "duilian/text/segment.hpp"

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr char32_t kZeroWidthJoiner = 0x200D;
constexpr std::u32string_view kClosers = U"”’」』》〉】）］｝〕\"')]}";
constexpr std::u32string_view kLineBreaks = U"\n\r\v\f\u0085\u2028\u2029";

[[nodiscard]] bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

[[nodiscard]] bool is_regional(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

[[nodiscard]] bool is_web_character(char32_t c) {
  const CharClass kind = char_class(c);
  return c < 0x80 && (kind == CharClass::letter || kind == CharClass::digit || is_one_of(c, U"=&/"));
}

[[nodiscard]] bool ends_sentence(std::u32string_view text, std::size_t at) {
  const char32_t c = text[at];
  if (is_one_of(c, U"。！？…｡")) return true;
  return is_one_of(c, U"!?") && (at + 1 == text.size() || !is_web_character(text[at + 1]));
}

/// Leaves out white space at both ends; keeps nothing of a span without a visible character.
void add_trimmed(std::u32string_view text, std::size_t begin, std::size_t end, std::vector<Span>& out) {
  while (begin < end && char_class(text[begin]) == CharClass::space) ++begin;
  while (end > begin && char_class(text[end - 1]) == CharClass::space) --end;
  if (begin < end) out.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
}

}  // namespace

std::size_t end_of_character(std::u32string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (is_regional(text[at]) && end < text.size() && is_regional(text[end])) ++end;
  while (end < text.size()) {
    const CharClass kind = char_class(text[end]);
    const bool is_joined = text[end - 1] == kZeroWidthJoiner && kind == CharClass::emoji;
    if (kind != CharClass::extend && !is_joined) break;
    ++end;
  }
  return end;
}

std::vector<Span> split_units(std::u32string_view text, UnitOptions options) {
  const auto joins = [&](CharClass kind) {
    return (kind == CharClass::letter && options.joins_letters) ||
           (kind == CharClass::digit && options.joins_digits);
  };
  std::vector<Span> units;
  for (std::size_t at = 0; at < text.size();) {
    const CharClass kind = char_class(text[at]);
    if (kind == CharClass::space) {
      ++at;
      continue;
    }
    std::size_t end = end_of_character(text, at);
    while (joins(kind) && end < text.size() && char_class(text[end]) == kind)
      end = end_of_character(text, end);
    units.push_back({static_cast<std::int64_t>(at), static_cast<std::int64_t>(end)});
    at = end;
  }
  return units;
}

WordUnits split_words(std::span<const std::string> words, UnitOptions options) {
  WordUnits out;
  for (const std::string& word : words) {
    const std::u32string text = decode_utf8(word);
    const auto spans = split_units(text, options);
    for (const Span& span : spans) {
      out.unit.push_back(encode_utf8(std::u32string_view(text).substr(
          static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin))));
    }
    out.count.push_back(static_cast<std::int32_t>(spans.size()));
  }
  return out;
}

std::vector<Span> split_sentences(std::u32string_view text) {
  std::vector<Span> sentences;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_break = is_one_of(text[at], kLineBreaks);
    if (!is_break && !ends_sentence(text, at)) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (!is_break && end < text.size() && ends_sentence(text, end)) ++end;
    while (!is_break && end < text.size() &&
           (is_one_of(text[end], kClosers) || char_class(text[end]) == CharClass::extend)) {
      ++end;
    }
    add_trimmed(text, begin, end, sentences);
    begin = at = end;
  }
  add_trimmed(text, begin, text.size(), sentences);
  return sentences;
}

}  // namespace duilian
