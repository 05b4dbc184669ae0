// Tests units and sentences: named examples, and laws on hostile random text.
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/split.hpp"
#include "random.hpp"
#include "random_text.hpp"

using namespace duilian;
using namespace testing;
using namespace std::string_view_literals;

namespace {

/// What is known about each character: | where a word begins, - where none does.
[[nodiscard]] std::u32string edges(std::u32string_view text, SplitOptions options = {}) {
  std::u32string out;
  for (const std::uint16_t known : split_text(text, options).known)
    out += (known & kWordBegins) != 0 ? U'|' : (known & kWordGoesOn) != 0 ? U'-' : U'.';
  return out;
}

}  // namespace

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

TEST(flags_are_pairs_of_regional_indicators) {
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

TEST(sentences_include_runs_of_stops_and_closers) {
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

TEST(spans_cover_everything_visible) {
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

TEST(sentences_begin_and_end_with_visible_characters) {
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

TEST(no_sentence_ends_inside_a_protected_span) {
  CHECK(sentences(U"看#好！吗？#吧！好") == Pieces({U"看#好！吗？#吧！", U"好"}));
  CHECK(sentences(U"好？看http://a.cn/!?b") == Pieces({U"好？", U"看http://a.cn/!?b"}));
}

TEST(long_sentences_are_cut_between_protected_spans) {
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

TEST(protected_spans_show_where_words_begin) {
  CHECK(edges(U"有5kg吗") == U".|--|");
  CHECK(edges(U"第15日") == U"..-.");  // 15 may be part of a longer word
  CHECK(edges(U"第15，好") == U"..-|.");
  CHECK(edges(U"，ok") == U".|-");
  CHECK(edges(U"看a.b好") == U".|--|");
  CHECK(edges(U"看ab\u200bc好") == U"..--.");
  CHECK(edges(U"看a.\u200bb好") == U".|--|");
  CHECK(edges(std::u32string_view(U"1\0002", 3)) == U".-");
  CHECK(edges(U"a\tb") == U".|");
  CHECK(edges(U"我\u200b们") == U"..");
  SplitOptions joined{{true, true}, false, {}};
  CHECK(edges(U"ok1行", joined) == U"...");  // nothing is protected
  joined.whole.set();
  CHECK(edges(U"ok1行", joined) == U".-.");
}

TEST(letters_digits_and_han_are_not_marks) {
  const SplitText found = split_text(U"好。a、１😀", {});
  CHECK(found.first == std::vector<std::int64_t>({0, 2, 6}));
  for (const char32_t last : {U'好', U'a', U'１', U'、', U'😀'}) {
    const SplitText own = split_text(std::u32string(U"好，") + last, {});
    CHECK(((own.known[2] & kNoMark) != 0) == (last == U'好' || last == U'a' || last == U'１'));
    CHECK((own.known[0] & kNoMark) != 0);
    CHECK(((own.known[2] & kPunctuationMark) != 0) == (last == U'、'));
    CHECK(((own.known[1] & kMarkInRow) != 0) == (last == U'、'));
  }
  for (const char32_t mark : {U'，', U'。', U'！', U'？', U'；', U'、', U'）', U'：'}) {
    SplitOptions joined;
    joined.is_one_sentence = true;
    const SplitText own = split_text(std::u32string(U"好") + mark + U'好', joined);
    CHECK(((own.known[1] & kClauseMark) != 0) == (mark != U'、' && mark != U'）' && mark != U'：'));
  }
  CHECK((found.known[2] & kNoNumber) != 0 && (found.known[4] & kNoNumber) == 0);
}

TEST(gaps_are_recorded) {
  const SplitText found = split_text(U" 我 去\u200b北\u200b 京\x1f好。 他", {});
  const std::vector<std::uint16_t> gaps = {
      0, kGap | kApart | kWordBegins, kGap, kGap | kApart | kWordBegins, kGap | kApart | kWordBegins, 0, 0};
  for (std::size_t k = 0; k < gaps.size(); ++k)
    CHECK((found.known[k] & (kGap | kApart | kWordBegins)) == gaps[k]);
}

TEST(texts_are_split_separately) {
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
    for (const WholeSpan& each : own.whole) {
      CHECK(found.whole[whole].span.begin == static_cast<std::int64_t>(unit) + each.span.begin);
      CHECK(found.whole[whole].span.end == static_cast<std::int64_t>(unit) + each.span.end);
      CHECK(found.whole[whole++].kind == each.kind);
    }
    for (std::size_t u = 0; u < own.unit.size(); ++u, ++unit) {
      CHECK(found.unit[unit] == own.unit[u]);
      CHECK(found.known[unit] == own.known[u]);
    }
  }
  CHECK(unit == found.unit.size() && whole == found.whole.size() && whole > 0);
}
