// Tests protected spans, the parts of mixed text that are never cut.
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/whole.hpp"
#include "random.hpp"
#include "random_text.hpp"

using namespace duilian;
using namespace testing;
using namespace std::string_view_literals;

namespace {

/// `text` with the protected spans of a kind in brackets.
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

/// Brackets in `expected` mark what must be found.
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

TEST(web_addresses_are_protected) {
  check_marked(
      WholeKind::url,
      {U"看[http://a.cn/b?q=1&c=2#d]吧", U"（[https://zh.example.org/wiki/A_(b)]）。",
       U"见[www.example.org]。", U"([http://a.cn/x]).", U"去[github.com/x]看", U"上[example.com]，",
       U"[http://a.cn/x], 好", U"用[HTTPS://A.CN]", U"地址[http://localhost:8080/a]", U"http:// 空",
       U"ok.Then", U"a@example.com", U"第3.x页", U"1.2.3", U"http://。", U"xhttp://a", U"://a", U"node.js"});
}

TEST(mail_addresses_are_protected) {
  check_marked(WholeKind::email, {U"写信到[li.ming+x@mail.example.cn]吧", U"[a@b.co]", U"a@b", U"@b.co",
                                  U"a@.co", U"请找[a_1@ex-ample.org]。", U"a@b.1"});
}

TEST(topics_and_names_are_protected) {
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

TEST(alphabetic_words_are_protected) {
  check_marked(WholeKind::word, {U"用[iPhone15]打", U"[Wi-Fi]和[COVID-19]", U"学[C++]、[C#]和[C]", U"[don't]",
                                 U"[3D]打印", U"[5G]", U"[AT&T]", U"[Python3.11]", U"[ok].[Then]", U"[a]-",
                                 U"[e\u0301ab]好", U"[Ｗｉ]－[Ｆｉ]", U"用[Node.js]写", U"[H₂O]",
                                 U"在[U.S.A.]和[U.S]，", U"如[e.g.]此", U"[J.K.][Rowling]", U"[a]. [b]"});
}

TEST(signs_before_prices_and_lines_are_protected) {
  check_marked(WholeKind::sign, {U"卖[￥]100，[$]5.99", U"[-]你好", U"a-b", U"a-好", U"--好", U"->"});
}

TEST(remains_of_html_are_protected) {
  check_marked(WholeKind::markup,
               {U"价[&nbsp;]5[&#39;]", U"[<br>]好[</div>][<BR/>]", U"a<b>c", U"<y>", U"A&B;", U"<p"});
}

TEST(emoji_are_protected) {
  check_marked(WholeKind::emoji,
               {U"好[👍🏽][👍]", U"[👨\u200D👩\u200D👧]", U"[🇨🇳][🇯🇵]", U"[❤\uFE0F]", U"按[1\uFE0F\u20E3]",
                U"中", U"好[:-)]了", U"[^_^]", U"(注:)", U"\u200D🐀"});
}

TEST(protected_spans_of_any_text_obey_the_laws) {
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

TEST(protected_spans_take_linear_time) {
  for (const std::u32string_view part :
       {U"a"sv, U"1"sv, U"#"sv, U"@"sv, U"a."sv, U"1,"sv, U"a@"sv, U"http://"sv, U"@好"sv, U"#好"sv, U")"sv,
        U"a-"sv, U"-1"sv, U"http://a/"sv}) {
    std::u32string text = U"http://a.cn/";
    while (text.size() < 100'000) text += part;
    for (const WholeSpan& each : find_whole_spans(text))
      CHECK(each.span.end - each.span.begin <= static_cast<std::int64_t>(kLongestWhole));
  }
}
