// Tests words for search engines: positions, lengths and parts, by hand.
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/search_words.hpp"

using namespace duilian;
using namespace testing;

namespace {

struct Cut {
  std::vector<std::int32_t> start;
  std::vector<std::int32_t> end;
};

/// Words separated by blanks, as offsets into the text without blanks.
[[nodiscard]] Cut cut(std::u32string_view words) {
  Cut found;
  std::int32_t at = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == U' ') continue;
    if (k == 0 || words[k - 1] == U' ') found.start.push_back(at);
    ++at;
    if (k + 1 == words.size() || words[k + 1] == U' ') found.end.push_back(at);
  }
  return found;
}

/// "word position+length:standards" of everything found.
[[nodiscard]] std::string found(std::u32string_view a, std::u32string_view b, bool with_parts) {
  const Cut x = cut(a);
  const Cut y = cut(b);
  std::u32string text;
  for (const char32_t c : a) {
    if (c != U' ') text += c;
  }
  const std::vector<StandardWords> standards = {{x.start, x.end}, {y.start, y.end}};
  std::string out;
  for (const SearchWord& each : search_words(text, standards, with_parts)) {
    const auto word =
        text.substr(static_cast<std::size_t>(each.start), static_cast<std::size_t>(each.end - each.start));
    out += encode_utf8(word) + " " + std::to_string(each.position) + "+" + std::to_string(each.length) + ":" +
           std::to_string(each.standards) + "\n";
  }
  return out;
}

[[nodiscard]] std::string parts(std::u32string_view word) {
  std::string out;
  for (const Part& part : parts_of_word(word)) {
    out += encode_utf8(word.substr(static_cast<std::size_t>(part.start),
                                   static_cast<std::size_t>(part.end - part.start))) +
           " ";
  }
  return out;
}

}  // namespace

TEST(a_coarse_word_spans_the_positions_of_fine_ones) {
  CHECK(found(U"我 去 北京大学 。", U"我 去 北京 大学 。", false) ==
        "我 0+1:3\n去 1+1:3\n北京大学 2+2:1\n北京 2+1:2\n大学 3+1:2\n");
}

TEST(words_that_cross_share_positions) {
  CHECK(found(U"甲乙 丙", U"甲 乙丙", false) == "甲乙 0+2:1\n甲 0+1:2\n乙丙 1+2:2\n丙 2+1:1\n");
}

TEST(punctuation_leaves_a_gap) { CHECK(found(U"好 ， 对", U"好 ， 对", false) == "好 0+1:3\n对 2+1:3\n"); }

TEST(a_part_has_its_words_position_and_spans_all_it_touches) {
  CHECK(found(U"图书馆", U"图书 馆", true) == "图书馆 0+2:1\n图书 0+1:2\n书馆 0+2:0\n馆 1+1:2\n");
}

TEST(parts_are_short_runs) {
  CHECK(parts(U"北京") == "");
  CHECK(parts(U"办公室") == "办公 公室 ");
  CHECK(parts(U"甲乙丙丁戊") == "甲乙 甲乙丙 甲乙丙丁 乙丙 乙丙丁 乙丙丁戊 丙丁 丙丁戊 丁戊 ");
  CHECK(parts(U"iPhone15") == "iPhone 15 ");
  CHECK(parts(U"15日") == "15 ");
  CHECK(parts(U"T恤衫") == "恤衫 ");
  CHECK(parts(U"") == "");
}

TEST(terms_are_folded_and_marks_are_not_words) {
  const std::vector<std::pair<char32_t, char32_t>> pairs = {{U'國', U'国'}};
  CHECK(search_term(U"國ＡＢc", Folding(true, pairs)) == U"国abc");
  CHECK(!is_searchable(U"……"));
  CHECK(!is_searchable(U""));
  CHECK(is_searchable(U"C++"));
  CHECK(is_searchable(U"😀"));
}

TEST(words_outside_the_text_are_refused) {
  const std::vector<std::int32_t> start = {0, 2};
  const std::vector<std::int32_t> far = {2, 9};
  const std::vector<std::int32_t> overlapping = {3, 4};
  const std::vector<std::int32_t> few = {2};
  const auto asked = [&start](const std::vector<std::int32_t>& end) {
    const std::vector<StandardWords> standards = {{start, end}};
    (void)search_words(U"甲乙丙丁", standards, true);
  };
  CHECK_THROWS(asked(far), std::invalid_argument);
  CHECK_THROWS(asked(overlapping), std::invalid_argument);
  CHECK_THROWS(asked(few), std::invalid_argument);
  const std::vector<std::int32_t> negative = {-1};
  const std::vector<StandardWords> standards = {{negative, few}};
  CHECK_THROWS((void)search_words(U"甲乙", standards, true), std::invalid_argument);
}
