// Cuts text into units: characters with their marks, and runs of letters or digits.
#include "duilian/text/segment.hpp"

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr char32_t kZeroWidthJoiner = 0x200D;
[[nodiscard]] bool is_regional(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

}  // namespace

std::size_t end_of_cluster(std::u32string_view text, std::size_t at) {
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

void add_units(std::u32string_view text, Span part, UnitOptions options, std::vector<Span>& units) {
  text = text.substr(0, static_cast<std::size_t>(part.end));
  const auto joins = [&](CharClass kind) {
    return (kind == CharClass::letter && options.joins_letters) ||
           (kind == CharClass::digit && options.joins_digits);
  };
  for (auto at = static_cast<std::size_t>(part.begin); at < text.size();) {
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
}

std::vector<Span> split_units(std::u32string_view text, UnitOptions options) {
  std::vector<Span> units;
  add_units(text, {0, static_cast<std::int64_t>(text.size())}, options, units);
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

}  // namespace duilian
