// Classifies characters by table, and decodes and encodes UTF-8 strictly.
#include "duilian/text/characters.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "unicode_tables.hpp"

namespace duilian {

namespace {

struct RoleOf {
  CharRole role;
  std::u32string_view characters;
};

constexpr RoleOf kRoles[] = {
    {kLineBreak, U"\n\r\v\f\u0085\u2028\u2029"},
    {kSentenceEnd, U"。！？…｡"},
    {kCloser, U"”’」』》〉】）］｝〕\"')]}"},
    // Unless they are part of a number: 1,234.
    {kSeparator, U"，,；;。！!？?“”\"《》()（）[]［］【】{}｛｝=＝<>＜＞|｜"},
    // Other signs may be units, names or numbers: ℃, ××, ○.
    {kPunctuation, U"，,。．.、；;：:？?！!…“”‘’\"'（）()《》〈〉【】「」『』〔〕［］[]｛｝{}—～~"},
};

[[nodiscard]] std::array<std::uint8_t, 0x10000> char_table() {
  std::array<std::uint8_t, 0x10000> table{};
  for (const CharRange& range : kCharRanges) {
    for (char32_t c = range.low; c <= range.high && c < table.size(); ++c)
      table[c] = static_cast<std::uint8_t>(range.kind);
  }
  for (const auto& [role, characters] : kRoles) {
    for (const char32_t c : characters) table[c] |= role;
  }
  return table;
}

/// The length of the sequence that a lead byte starts, or 0.
[[nodiscard]] std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

[[nodiscard]] bool is_valid(char32_t c, std::size_t length) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return c >= kSmallest[length] && c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
}

}  // namespace

const std::array<std::uint8_t, 0x10000> kCharFacts = char_table();

std::uint8_t rare_char_facts(char32_t c) {
  const auto* end = std::end(kCharRanges);
  const auto* range = std::lower_bound(std::begin(kCharRanges), end, c,
                                       [](const CharRange& r, char32_t code) { return r.high < code; });
  return static_cast<std::uint8_t>(range != end && range->low <= c ? range->kind : CharClass::other);
}

std::u32string_view char_type_name(CharClass kind) {
  switch (kind) {
    case CharClass::space:
      return U"space";
    case CharClass::han:
      return U"han";
    case CharClass::emoji:
      return U"emoji";
    case CharClass::digit:
      return U"digit";
    case CharClass::letter:
      return U"letter";
    case CharClass::punct:
      return U"punct";
    default:
      return U"other";
  }
}

std::u32string decode_utf8(std::string_view bytes) {
  std::u32string out;
  out.reserve(bytes.size());
  for (std::size_t k = 0; k < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[k]);
    const std::size_t length = sequence_length(lead);
    bool is_good = length > 0 && k + length <= bytes.size();
    char32_t c = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t j = 1; is_good && j < length; ++j) {
      const auto next = static_cast<unsigned char>(bytes[k + j]);
      is_good = (next & 0xC0U) == 0x80;
      c = (c << 6U) | (next & 0x3FU);
    }
    if (!is_good || !is_valid(c, length)) throw std::invalid_argument(concat("byte ", k, " is not UTF-8"));
    out.push_back(c);
    k += length;
  }
  return out;
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(3 * text.size());
  for (const char32_t c : text) {
    const auto tail = [&](unsigned shift) {
      out.push_back(static_cast<char>(0x80U | ((c >> shift) & 0x3FU)));
    };
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      out.push_back(static_cast<char>(0xC0U | (c >> 6U)));
      tail(0);
    } else if (c < 0x10000) {
      out.push_back(static_cast<char>(0xE0U | (c >> 12U)));
      tail(6);
      tail(0);
    } else {
      out.push_back(static_cast<char>(0xF0U | (c >> 18U)));
      tail(12);
      tail(6);
      tail(0);
    }
  }
  return out;
}

std::vector<std::u32string> decode_all(std::span<const std::string> texts) {
  std::vector<std::u32string> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(decode_utf8(text));
  return out;
}

std::vector<std::string> char_types(std::string_view text) {
  std::vector<std::string> names;
  for (const char32_t c : decode_utf8(text)) names.push_back(encode_utf8(char_type_name(char_class(c))));
  return names;
}

}  // namespace duilian
