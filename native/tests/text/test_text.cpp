// Character classes, UTF-8, folding, units and sentences: named examples, and laws on hostile random text.
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/fold.hpp"
#include "duilian/text/segment.hpp"
#include "duilian/text/split.hpp"
#include "duilian/text/whole.hpp"
#include "random.hpp"

using namespace duilian;
using namespace std::string_view_literals;

namespace {

using Pieces = std::vector<std::u32string>;

[[nodiscard]] Pieces pieces(std::u32string_view text, const std::vector<Span>& spans) {
  Pieces out;
  for (const Span& span : spans) {
    out.emplace_back(
        text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
  }
  return out;
}

[[nodiscard]] Pieces units(std::u32string_view text, bool joins_letters = false, bool joins_digits = false) {
  return pieces(text, split_units(text, {joins_letters, joins_digits}));
}

[[nodiscard]] Pieces sentences(std::u32string_view text) { return pieces(text, split_sentences(text)); }

// Everything that has ever broken a tokenizer, and a little that never did.
constexpr std::u32string_view kNasty =
    U" \t\n\r\v\f\u0085\u2028\u2029\u3000\u00A0\u200B\u200C\u200D\u2060\uFEFF\uFE0F\u20E3\u0301\u3099\u00AD"
    U"aZéж09５Ａ中国々〇\U00020000\U0002F800。！？…!?.,，=&/"
    U"”’」）\"')]\U0001F468\U0001F469\U0001F466\U0001F3FB"
    U"\U0001F1E8\U0001F1F3❤\U000E0067カ한\uE000\uFFFF\U0010FFFF";

[[nodiscard]] std::u32string nasty_text(testing::Random& random) {
  std::u32string out;
  for (std::int32_t n = random.below(24); n > 0; --n) {
    const auto k = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(kNasty.size()) + 1));
    out.push_back(k == kNasty.size() ? U'\0' : kNasty[k]);
  }
  return out;
}

/// Ascending, disjoint, not empty, inside the text, and only white space between them.
[[nodiscard]] bool covers(std::u32string_view text, const std::vector<Span>& spans) {
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

TEST(what_is_no_character_is_other) {
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

TEST(every_code_point_comes_back) {
  std::u32string all;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
  }
  const std::string bytes = encode_utf8(all);
  // 1, 2, 3 and 4 bytes for the code points of each length, less the surrogates.
  CHECK(bytes.size() == 0x80 + 2 * 0x780 + 3 * (0xF800 - 0x800) + 4 * 0x100000);
  CHECK(decode_utf8(bytes) == all);
}

TEST(encoding_is_the_compilers) {
  CHECK(encode_utf8(U"a\u00E9\u4E2D\U00020000") == "a\xC3\xA9\xE4\xB8\xAD\xF0\xA0\x80\x80");
  CHECK(encode_utf8(std::u32string(1, U'\0')) == std::string(1, '\0'));
  CHECK(decode_utf8("").empty());
}

TEST(bytes_that_are_not_utf8_are_refused_at_their_place) {
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
      "\xF0\x8F\xBF\xBF"sv,  // too long for what they say
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

TEST(folding_pairs_come_after_the_width) {
  const std::array<std::pair<char32_t, char32_t>, 3> pairs = {{{U'國', U'国'}, {U'A', U'a'}, {U'a', U'b'}}};
  CHECK(Folding(false, pairs)(U"中國ＡAa") == U"中国Ａab");
  CHECK(Folding(true, pairs)(U"中國ＡAa") == U"中国aab");
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

TEST(units_are_characters) {
  CHECK(units(U"").empty());
  CHECK(units(U" \t\n\u3000").empty());
  CHECK(units(U"中") == Pieces{U"中"});
  CHECK(units(U"我 用iOS 17。") == Pieces{U"我", U"用", U"i", U"O", U"S", U"1", U"7", U"。"});
  CHECK(units(U"\U00020000中") == Pieces{U"\U00020000", U"中"});
}

TEST(units_join_runs_if_asked) {
  const std::u32string_view text = U"买iPhone15 2026年ＡＢ１２";
  CHECK(units(text, true, true) == Pieces{U"买", U"iPhone", U"15", U"2026", U"年", U"ＡＢ", U"１２"});
  CHECK(units(U"ab12", true, false) == Pieces{U"ab", U"1", U"2"});
  CHECK(units(U"ab12", false, true) == Pieces{U"a", U"b", U"12"});
  CHECK(units(U"cafe\u0301s", true) == Pieces{U"cafe\u0301s"});
}

TEST(units_keep_what_belongs_together) {
  CHECK(units(U"e\u0301a") == Pieces{U"e\u0301", U"a"});
  CHECK(units(U"\U0001F468\u200D\U0001F469\u200D\U0001F466好") ==
        Pieces{U"\U0001F468\u200D\U0001F469\u200D\U0001F466", U"好"});
  CHECK(units(U"\U0001F468\U0001F3FB\U0001F468") == Pieces{U"\U0001F468\U0001F3FB", U"\U0001F468"});
  CHECK(units(U"❤\uFE0F1\uFE0F\u20E3") == Pieces{U"❤\uFE0F", U"1\uFE0F\u20E3"});
  CHECK(units(U"\u0301\u0301中") == Pieces{U"\u0301\u0301", U"中"});
}

TEST(flags_are_pairs_of_letters) {
  const std::u32string china = U"\U0001F1E8\U0001F1F3";
  CHECK(units(china + china) == Pieces{china, china});
  CHECK(units(china + U"\U0001F1E8") == Pieces{china, U"\U0001F1E8"});
}

TEST(sentences_end_at_full_stops_and_line_breaks) {
  CHECK(sentences(U"").empty());
  CHECK(sentences(U" \n\r\n ").empty());
  CHECK(sentences(U"他来了。你呢？ 我也来！") == Pieces{U"他来了。", U"你呢？", U"我也来！"});
  CHECK(sentences(U"第一行\r\n\r\n 第二行\u2028第三行") == Pieces{U"第一行", U"第二行", U"第三行"});
  CHECK(sentences(U"没有句号") == Pieces{U"没有句号"});
  CHECK(sentences(U"。") == Pieces{U"。"});
}

TEST(sentences_take_runs_and_closers_along) {
  CHECK(sentences(U"真的？！……好") == Pieces{U"真的？！……", U"好"});
  CHECK(sentences(U"他说：“走。”我走了。") == Pieces{U"他说：“走。”", U"我走了。"});
  CHECK(sentences(U"（完。）」好") == Pieces{U"（完。）」", U"好"});
  CHECK(sentences(U"好！\uFE0F行") == Pieces{U"好！\uFE0F", U"行"});
}

TEST(ascii_stops_do_not_cut_addresses) {
  CHECK(sentences(U"看http://a.cn/?q=1&r=2吧") == Pieces{U"看http://a.cn/?q=1&r=2吧"});
  CHECK(sentences(U"好! 行?走") == Pieces{U"好!", U"行?", U"走"});
  CHECK(sentences(U"好!") == Pieces{U"好!"});
}

TEST(spans_cover_whatever_is_visible) {
  testing::for_each_seed(20000, [](testing::Random& random) {
    const std::u32string text = nasty_text(random);
    for (const bool joins_letters : {false, true}) {
      for (const bool joins_digits : {false, true}) {
        CHECK(covers(text, split_units(text, {joins_letters, joins_digits})));
      }
    }
    CHECK(covers(text, split_sentences(text)));
  });
}

TEST(sentences_begin_and_end_with_something_visible) {
  testing::for_each_seed(5000, [](testing::Random& random) {
    for (const std::u32string& sentence : sentences(nasty_text(random))) {
      CHECK(char_class(sentence.front()) != CharClass::space &&
            char_class(sentence.back()) != CharClass::space);
      CHECK(sentence.find_first_of(U"\n\r\v\f\u0085\u2028\u2029") == sentence.npos);
    }
  });
}

TEST(joined_runs_are_unions_of_characters) {
  testing::for_each_seed(5000, [](testing::Random& random) {
    const std::u32string text = nasty_text(random);
    std::vector<bool> begins(text.size() + 1, false);
    for (const Span& span : split_units(text, {})) begins[static_cast<std::size_t>(span.begin)] = true;
    for (const Span& span : split_units(text, {true, true}))
      CHECK(begins[static_cast<std::size_t>(span.begin)]);
  });
}

namespace {

/// `text` with the parts of a kind in brackets.
[[nodiscard]] std::u32string marked(std::u32string_view text, WholeKind kind) {
  std::u32string out;
  std::size_t at = 0;
  for (const WholeSpan& each : find_whole_spans(text)) {
    if (each.kind != kind) continue;
    const auto begin = static_cast<std::size_t>(each.span.begin);
    const auto end = static_cast<std::size_t>(each.span.end);
    out.append(text.substr(at, begin - at)).append(U"[").append(text.substr(begin, end - begin)).append(U"]");
    at = end;
  }
  return out.append(text.substr(at));
}

/// Brackets in `expected` stand around what must be found.
void check_marked(WholeKind kind, std::initializer_list<std::u32string_view> expected) {
  for (const std::u32string_view each : expected) {
    std::u32string plain(each);
    std::erase_if(plain, [](char32_t c) { return c == U'[' || c == U']'; });
    const std::u32string found = marked(plain, kind);
    if (found != each)
      testing::fail(__FILE__, __LINE__, "expected " + encode_utf8(each) + ", found " + encode_utf8(found));
  }
}

}  // namespace

TEST(addresses_of_pages_are_whole) {
  check_marked(
      WholeKind::url,
      {U"看[http://a.cn/b?q=1&c=2#d]吧", U"（[https://zh.example.org/wiki/A_(b)]）。",
       U"见[www.example.org]。", U"([http://a.cn/x]).", U"去[github.com/x]看", U"上[example.com]，",
       U"[http://a.cn/x], 好", U"用[HTTPS://A.CN]", U"地址[http://localhost:8080/a]", U"http:// 空",
       U"ok.Then", U"a@example.com", U"第3.x页", U"1.2.3", U"http://。", U"xhttp://a", U"://a", U"node.js"});
}

TEST(addresses_of_mail_are_whole) {
  check_marked(WholeKind::email, {U"写信到[li.ming+x@mail.example.cn]吧", U"[a@b.co]", U"a@b", U"@b.co",
                                  U"a@.co", U"请找[a_1@ex-ample.org]。", U"a@b.1"});
}

TEST(topics_and_names_are_whole) {
  check_marked(WholeKind::hashtag, {U"[#春节#]快乐", U"看[#topic_1]吧", U"[#春节] 快乐", U"#春节快乐！",
                                    U"C#很好", U"#1", U"##", U"# a", U"[#a#][#b#]"});
  check_marked(WholeKind::mention, {U"转[@li_ming]看", U"[@小明]：你好", U"[@小明] 你好", U"@小明你好！",
                                    U"谢谢[@小明]", U"a@b", U"@ a", U"@", U"@@"});
}

TEST(numbers_keep_what_belongs_to_them) {
  check_marked(WholeKind::number, {U"共[1,234,567.8]元",
                                   U"在[12:30]见",
                                   U"于[2026-11-16]到",
                                   U"[２０２６]年",
                                   U"版本[1.2.3]",
                                   U"[5]公斤",
                                   U"a3",
                                   U"3D",
                                   U"5G",
                                   U"[1],[2]",
                                   U"北京-[2]",
                                   U"[10:05:30]",
                                   U"第[1]、[2]",
                                   U"[2026/11/16]",
                                   U"1a",
                                   U"[100]，[200]",
                                   U"[１，２３４]",
                                   U"[2024],[100]",
                                   U"[2019]-[2020]年",
                                   U"打[+86-138-0013-8000]",
                                   U"打[010-12345678]吧",
                                   U"[10²]"});
  check_marked(WholeKind::quantity,
               {U"涨了[3.5%]", U"[12km]外", U"气温[-3℃]", U"气温 [-3.5°C]", U"时速[100km/h]", U"[16GB]内存",
                U"[３．５％]", U"加[½]杯", U"[3½]", U"[20m²]", U"[5㎡]", U"5A级", U"3m2", U"7月"});
}

TEST(words_in_letters_are_whole) {
  check_marked(WholeKind::word, {U"用[iPhone15]打", U"[Wi-Fi]和[COVID-19]", U"学[C++]、[C#]和[C]", U"[don't]",
                                 U"[3D]打印", U"[5G]", U"[AT&T]", U"[Python3.11]", U"[ok].[Then]", U"[a]-",
                                 U"[e\u0301ab]好", U"[Ｗｉ]－[Ｆｉ]", U"用[Node.js]写", U"[H₂O]",
                                 U"在[U.S.A.]和[U.S]，", U"如[e.g.]此", U"[J.K.][Rowling]", U"[a]. [b]"});
}

TEST(signs_before_prices_and_lines_are_whole) {
  check_marked(WholeKind::sign, {U"卖[￥]100，[$]5.99", U"[-]你好", U"a-b", U"a-好", U"--好", U"->"});
}

TEST(emoji_are_whole) {
  check_marked(WholeKind::emoji,
               {U"好[👍🏽][👍]", U"[👨\u200D👩\u200D👧]", U"[🇨🇳][🇯🇵]", U"[❤\uFE0F]", U"按[1\uFE0F\u20E3]",
                U"中", U"好[:-)]了", U"[^_^]", U"(注:)", U"\u200D🐀"});
}

TEST(whole_spans_of_any_text_keep_the_laws) {
  constexpr std::u32string_view kSigns = U"ht:/w.cn@#＃＠12,.%-+km_'() 好明：?C";
  testing::for_each_seed(3000, [&](testing::Random& random) {
    std::u32string text = nasty_text(random);
    for (std::int32_t n = random.below(20); n > 0; --n)
      text.insert(text.begin() + random.below(static_cast<std::int32_t>(text.size()) + 1),
                  kSigns[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(kSigns.size())))]);
    std::vector<bool> is_edge(text.size() + 1, false);
    for (const Span& unit : split_units(text, {})) {
      is_edge[static_cast<std::size_t>(unit.begin)] = true;
      is_edge[static_cast<std::size_t>(unit.end)] = true;
    }
    std::int64_t at = 0;
    for (const WholeSpan& each : find_whole_spans(text)) {
      CHECK(each.span.begin >= at && each.span.end > each.span.begin);
      at = each.span.end;
      CHECK(is_edge[static_cast<std::size_t>(each.span.begin)] && is_edge[static_cast<std::size_t>(at)]);
      for (std::int64_t k = each.span.begin; k < at; ++k)
        CHECK(char_class(text[static_cast<std::size_t>(k)]) != CharClass::space);
    }
    CHECK(at <= static_cast<std::int64_t>(text.size()));
  });
}

TEST(whole_spans_take_linear_time) {
  for (const std::u32string_view part :
       {U"a"sv, U"1"sv, U"#"sv, U"@"sv, U"a."sv, U"1,"sv, U"a@"sv, U"http://"sv, U"@好"sv, U"#好"sv, U")"sv,
        U"a-"sv, U"-1"sv, U"http://a/"sv}) {
    std::u32string text = U"http://a.cn/";
    while (text.size() < 100'000) text += part;
    for (const WholeSpan& each : find_whole_spans(text))
      CHECK(each.span.end - each.span.begin <= static_cast<std::int64_t>(kLongestWhole));
  }
}

TEST(no_sentence_ends_inside_a_part) {
  CHECK(sentences(U"看#好！吗？#吧！好") == Pieces({U"看#好！吗？#吧！", U"好"}));
  CHECK(sentences(U"好？看http://a.cn/!?b") == Pieces({U"好？", U"看http://a.cn/!?b"}));
}

TEST(long_sentences_are_cut_between_parts) {
  const std::u32string word(700, U'a');
  std::u32string text;
  while (text.size() < 20'000) text += word + U"好";
  std::size_t at = 0;
  for (const std::u32string& each : sentences(text)) {
    CHECK(each.size() <= kLongestSentence);
    CHECK(at == 0 || text[at] == U'好' || text[at - 1] == U'好');
    at += each.size();
  }
  CHECK(at == text.size());
  text.assign(3000, U'好');
  text[1500] = U'，';
  CHECK(sentences(text) == Pieces({text.substr(0, 1501), text.substr(1501)}));
  text.assign(3000, U'\u0301');
  CHECK(sentences(text).size() == 1);  // one character
}

namespace {

/// What is known of each character: | where a word begins, - where none does.
[[nodiscard]] std::u32string edges(std::u32string_view text, SplitOptions options = {}) {
  std::u32string out;
  for (const std::uint8_t known : split_text(text, options).known)
    out += (known & kWordBegins) != 0 ? U'|' : (known & kWordGoesOn) != 0 ? U'-' : U'.';
  return out;
}

}  // namespace

TEST(parts_tell_where_words_begin) {
  CHECK(edges(U"有5kg吗") == U".|--|");
  CHECK(edges(U"第15日") == U"..-.");  // 15 may be in a longer word
  CHECK(edges(U"第15，好") == U"..-|.");
  CHECK(edges(U"，ok") == U".|-");
  CHECK(edges(U"看a.b好") == U".|--|");
  SplitOptions joined{{true, true}, false, {}};
  CHECK(edges(U"ok1行", joined) == U"...");  // nothing is protected
  joined.whole.set();
  CHECK(edges(U"ok1行", joined) == U".-.");
}

TEST(letters_digits_and_han_are_no_marks) {
  const SplitText found = split_text(U"好。a、１😀", {});
  CHECK(found.first == std::vector<std::int64_t>({0, 2, 6}));
  std::vector<bool> no_mark;
  for (const std::uint8_t known : found.known) no_mark.push_back((known & kNoMark) != 0);
  CHECK(no_mark == std::vector<bool>({true, false, true, false, true, false}));
  CHECK((found.known[2] & kNoNumber) != 0 && (found.known[4] & kNoNumber) == 0);
}

TEST(texts_are_split_one_by_one) {
  const std::vector<std::u32string> texts = {U"好。a、１", U"", U"5kg！不"};
  const SplitTexts found = split_texts(texts, {});
  std::size_t unit = 0;
  std::size_t whole = 0;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const SplitText own = split_text(texts[k], {});
    CHECK(found.text[k + 1] - found.text[k] == static_cast<std::int64_t>(own.first.size()) - 1);
    for (std::size_t s = 0; s < own.first.size(); ++s)
      CHECK(found.first[static_cast<std::size_t>(found.text[k]) + s] ==
            static_cast<std::int64_t>(unit) + own.first[s]);
    for (const WholeUnits& each : own.whole) {
      CHECK(found.whole[whole].begin == static_cast<std::int64_t>(unit) + each.begin);
      CHECK(found.whole[whole].end == static_cast<std::int64_t>(unit) + each.end);
      CHECK(found.whole[whole++].kind == each.kind);
    }
    for (std::size_t u = 0; u < own.unit.size(); ++u, ++unit) {
      CHECK(found.unit[unit] == own.unit[u]);
      CHECK(found.known[unit] == own.known[u]);
    }
  }
  CHECK(unit == found.unit.size() && whole == found.whole.size() && whole > 0);
}
