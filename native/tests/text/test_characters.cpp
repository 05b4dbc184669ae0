// Tests character classes, UTF-8 and folding: named examples, and laws on hostile random text.
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/fold.hpp"
#include "random.hpp"
#include "random_text.hpp"

using namespace duilian;
using namespace testing;
using namespace std::string_view_literals;

namespace {

void check_classes(std::u32string_view characters, CharClass kind) {
  for (const char32_t c : characters) CHECK(char_class(c) == kind);
}

}  // namespace

TEST(characters_have_their_classes) {
  check_classes(U"一中国龥々〇豈\u3400\U00020000\U0002A6D6\U0002F800\U00030000", CharClass::han);
  check_classes(U"09０９٠", CharClass::digit);
  check_classes(U"azAZａｚＡＺéßжΩ", CharClass::letter);
  check_classes(U"\U0001F600\U0001F468\U0001F1E8❤", CharClass::emoji);
  check_classes(U",.!?_+$，。！？、《》“”…", CharClass::punct);
  check_classes(U"カの한\uE000\u2160½", CharClass::other);
}

TEST(marks_and_joiners_extend) {
  check_classes(U"\u0301\u036F\u3099\u20E3\uFE0F\u200C\u200D\u2060\U0001F3FB\U000E0067\U000E0100",
                CharClass::extend);
}

TEST(white_space_and_controls_are_space) {
  check_classes(U" \t\n\r\v\f\u001F\u007F\u0085\u00A0\u2003\u2028\u2029\u3000\u200B\uFEFF", CharClass::space);
  CHECK(char_class(U'\0') == CharClass::space);
}

TEST(noncharacters_are_other) {
  for (const char32_t c :
       {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x10FFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
    CHECK(char_class(c) == CharClass::other);
  }
}

TEST(classes_are_named) {
  CHECK(char_type_name(CharClass::digit) == U"digit");
  CHECK(char_type_name(CharClass::letter) == U"letter");
  CHECK(char_type_name(CharClass::han) == U"han");
  CHECK(char_type_name(CharClass::punct) == U"punct");
  CHECK(char_type_name(CharClass::space) == U"space");
  CHECK(char_type_name(CharClass::emoji) == U"emoji");
  CHECK(char_type_name(CharClass::other) == U"other");
  CHECK(char_type_name(CharClass::extend) == U"other");
}

TEST(every_code_point_survives_a_round_trip) {
  std::u32string all;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
  }
  const std::string bytes = encode_utf8(all);
  // 1, 2, 3 and 4 bytes for the code points of each length, without the surrogates.
  CHECK(bytes.size() == 0x80 + 2 * 0x780 + 3 * (0xF800 - 0x800) + 4 * 0x100000);
  CHECK(decode_utf8(bytes) == all);
}

TEST(encoding_matches_the_compilers) {
  CHECK(encode_utf8(U"a\u00E9\u4E2D\U00020000") == "a\xC3\xA9\xE4\xB8\xAD\xF0\xA0\x80\x80");
  CHECK(encode_utf8(std::u32string(1, U'\0')) == std::string(1, '\0'));
  CHECK(decode_utf8("").empty());
}

TEST(bytes_that_are_not_utf8_are_refused_with_their_position) {
  using namespace std::string_view_literals;
  const auto refused = {
      "\x80"sv,
      "\xBF"sv,  // a continuation without a lead
      "\xC3"sv,
      "\xE4\xB8"sv,
      "\xF0\xA0\x80"sv,  // cut off
      "\xE4\xB8z"sv,
      "\xC3\xC3\xA9"sv,
      "\xF0\xA0\x80z"sv,  // a lead without its continuation
      "\xC0\x80"sv,
      "\xC1\xBF"sv,
      "\xE0\x9F\xBF"sv,
      "\xF0\x8F\xBF\xBF"sv,  // overlong
      "\xED\xA0\x80"sv,
      "\xED\xBF\xBF"sv,  // surrogates
      "\xF4\x90\x80\x80"sv,
      "\xF5\x80\x80\x80"sv,
      "\xFE"sv,
      "\xFF"sv,  // beyond U+10FFFF
  };
  for (const std::string_view bad : refused) {
    for (const std::string_view before : {""sv, "ab"sv, "中"sv}) {
      for (const std::string_view after : {""sv, "中文"sv}) {
        const std::string bytes = std::string(before) + std::string(bad) + std::string(after);
        const std::string message = "byte " + std::to_string(before.size()) + " is not UTF-8";
        CHECK_THROWS_WITH(decode_utf8(bytes), std::invalid_argument, message);
      }
    }
  }
}

TEST(random_bytes_decode_to_themselves_or_not_at_all) {
  constexpr std::string_view kBytes = "a\x7F\x80\x8F\x90\x9F\xA0\xBF\xC2\xDF\xE0\xED\xEF\xF0\xF4";
  int refused = 0;
  testing::for_each_seed(5000, [&](testing::Random& random) {
    std::string bytes;
    for (std::int32_t n = random.below(6); n >= 0; --n) {
      bytes.push_back(
          kBytes[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(kBytes.size())))]);
    }
    try {
      CHECK(encode_utf8(decode_utf8(bytes)) == bytes);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  });
  CHECK(refused > 1000 && refused < 5000);
}

TEST(folding_narrows_only_if_asked) {
  const std::u32string wide = U"Ａｚ０９！～　￥￦中Aー";
  CHECK(Folding()(wide) == wide);
  CHECK(Folding(false, {})(wide) == wide);
  CHECK(Folding(true, {})(wide) == U"Az09!~ ¥₩中Aー");
}

TEST(folding_narrows_before_it_applies_pairs) {
  const std::array<std::pair<char32_t, char32_t>, 3> pairs = {{{U'國', U'国'}, {U'A', U'a'}, {U'a', U'b'}}};
  CHECK(Folding(false, pairs)(U"中國ＡAa") == U"中国Ａab");
  CHECK(Folding(true, pairs)(U"中國ＡAa") == U"中国aab");
}

TEST(folding_shows_the_case_of_letters_if_asked) {
  const Folding cased(true, {}, Letters::cased);
  CHECK(cased.unit(U"check") == U"eng" && cased.unit(U"Check") == U"Eng" && cased.unit(U"ＮＢＡ") == U"ENG");
  CHECK(cased.unit(U"iPhone") == U"eNG" && cased.unit(U"YouTube") == U"eNG" && cased.unit(U"k") == U"E");
  CHECK(cased.unit(U"中") == U"中" && cased.unit(U"1a") == U"1a");
  CHECK(Folding(true, {}, Letters::unified).unit(U"Check") == kEnglish);
  CHECK(Folding(true, {}).unit(U"Check") == U"Check");
}

TEST(folding_keeps_every_offset) {
  const Folding fold(true, {});
  for (char32_t c = 0; c < 0x110000; ++c) {
    const char32_t folded = fold(c);
    if (folded != c) CHECK(c == 0x3000 || c == 0x3002 || (c >= 0xFF01 && c <= 0xFFE6));
    CHECK(fold(folded) == folded);
  }
  CHECK(fold(std::u32string(kNasty)).size() == kNasty.size());
}
