// Tests a lexicon's words: what lines mean, and where they occur in texts, compared with the simplest search.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/lexicon/word_list.hpp"
#include "duilian/text/characters.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

constexpr double kMax = 1e4;

[[nodiscard]] std::u32string random_word(testing::Random& random, std::int32_t max_length) {
  std::u32string out;
  for (std::int32_t n = 1 + random.below(max_length); n > 0; --n)
    out.push_back(U"甲乙丙\U00020000"[random.below(4)]);
  return out;
}

[[nodiscard]] std::vector<WordList::Occurrence> naive_occurrences(const WordList& words,
                                                                  std::u32string_view text) {
  std::vector<WordList::Occurrence> out;
  for (std::size_t start = 0; start < text.size(); ++start) {
    for (std::size_t end = start + 1; end <= text.size(); ++end) {
      for (std::uint32_t entry = 0; entry < words.size(); ++entry) {
        if (words.word(entry) == text.substr(start, end - start))
          out.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(end), entry});
      }
    }
  }
  return out;
}

[[nodiscard]] std::vector<std::string> characters(std::u32string_view text) {
  std::vector<std::string> out;
  for (const char32_t c : text) out.push_back(encode_utf8(std::u32string_view(&c, 1)));
  return out;
}

}  // namespace

TEST(occurrences_match_a_plain_search) {
  testing::for_each_seed(300, [](testing::Random& random) {
    WordList words;
    // Some words are so long that they have no bit in the filter.
    const std::int32_t max_length = random.chance(0.2) ? 90 : 5;
    for (std::int32_t n = random.below(12); n > 0; --n)
      CHECK(words.add(random_word(random, max_length), {}, WordList::kNoWeight));
    std::u32string text = random_word(random, 40);
    if (words.size() > 0)
      text += words.word(static_cast<std::size_t>(random.below(static_cast<std::int32_t>(words.size()))));
    text += random_word(random, 4);
    std::vector<WordList::Occurrence> found;
    words.find_occurrences(text, found);
    CHECK(found == naive_occurrences(words, text));
  });
}

TEST(many_words_are_all_found_again) {
  testing::Random random(1);
  WordList words;
  std::vector<std::u32string> given;
  for (int n = 0; n < 3000; ++n) {
    std::u32string word;
    for (std::int32_t k = 1 + random.below(4); k > 0; --k)
      word.push_back(0x4E00 + static_cast<char32_t>(random.below(300)));
    CHECK(words.add(word, {}, WordList::kNoWeight));
    given.push_back(std::move(word));
  }
  for (const auto& word : given) {
    const std::uint32_t entry = words.find(word);
    CHECK(entry != WordList::kNone && words.word(entry) == word);
  }
  CHECK(words.find(U"龘") == WordList::kNone);
  const auto order = words.sorted();
  CHECK(std::is_sorted(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return words.word(a) < words.word(b); }));
  CHECK(order.size() == words.size());
}

TEST(an_empty_list_finds_nothing) {
  const WordList words;
  std::vector<WordList::Occurrence> found;
  words.find_occurrences(U"甲乙", found);
  CHECK(found.empty());
  CHECK(words.find(U"甲") == WordList::kNone);
  CHECK(words.all_tags().empty());
}

TEST(entries_of_one_word_are_merged) {
  WordList words;
  CHECK(words.add(U"研究", {"VV", "NN", "VV"}, WordList::kNoWeight));
  CHECK(words.add(U"研究", {}, WordList::kNoWeight));
  CHECK(words.add(U"研究", {"JJ"}, WordList::kNoWeight));
  CHECK(!words.add(U"研究", {"JJ"}, 2.0));
  CHECK(words.size() == 1);
  CHECK(words.tags(0) == WordList::Tags{"JJ", "NN", "VV"});
  CHECK(words.add(U"好", {}, 2.0));
  CHECK(words.add(U"好", {"VA"}, 2.0));
  CHECK(!words.add(U"好", {}, WordList::kNoWeight));
  CHECK(words.weight(1) == 2.0);
  CHECK(words.all_tags() == WordList::Tags{"JJ", "NN", "VA", "VV"});
  CHECK_THROWS(words.add(U"", {}, WordList::kNoWeight), std::invalid_argument);
}

TEST(lines_are_read_up_to_the_first_malformed_one) {
  WordList words;
  const std::string good = "# 词\n\n北京\tNR\n研究\tVV|NN\n打卡\t\t2.5\n去\n研究\tJJ\n";
  CHECK(words.add_lines(good, kMax) == good.size());
  CHECK(words.size() == 4);
  CHECK(words.tags(1) == WordList::Tags{"JJ", "NN", "VV"});
  CHECK(words.weight(2) == 2.5);
  CHECK(!words.has_weight(3));
  for (const char* bad : {"云 计算", "\tNN", "甲\tNN|", "甲\tN N", "甲\tNN\tmuch", "甲\tNN\t", "甲\tNN\t-1",
                          "甲\tNN\t0", "甲\tNN\t10001", "甲\tNN\t1\t2", "打卡\tNN", " # 词", "甲\tNN\t1e2",
                          "甲\tNN\t1.", "甲\tNN\t.5", "甲\u3000", "\u200B"}) {
    const std::string text = "乙\n" + std::string(bad) + "\n丙\n";
    CHECK(words.add_lines(text, kMax) == 4);
  }
  CHECK(words.size() == 5);
  CHECK(words.add_lines("丁", kMax) == 3);
  CHECK(words.find(U"丁") == 5);
}

TEST(matches_begin_and_end_at_units) {
  WordList words;
  CHECK(words.add_lines("iPhone手机\nPhone\niP\n", kMax) > 0);
  const std::vector<std::string> units{"用", "iPhone", "手", "机"};
  CHECK(match_units(words, units, {}, false) == std::vector<WordMatch>{{1, 4, 0, false}});
  CHECK(match_units(words, {}, {}, false).empty());
}

TEST(no_match_crosses_a_gap) {
  WordList words;
  CHECK(words.add_lines("甲乙\n乙\n丙丁\n", kMax) > 0);
  const auto units = characters(U"甲乙丙丁");
  const std::vector<std::int64_t> gap{1};
  CHECK(match_units(words, units, gap, true) == std::vector<WordMatch>{{1, 2, 1, true}, {2, 4, 2, true}});
  const std::vector<std::int64_t> end{2};
  CHECK(match_units(words, units, end, false) == std::vector<WordMatch>{{0, 2, 0, false}, {2, 4, 2, false}});
  const std::vector<std::int64_t> outside{4};
  CHECK_THROWS(match_units(words, units, outside, false), std::invalid_argument);
  const std::vector<std::string> empty{""};
  CHECK_THROWS(match_units(words, empty, {}, false), std::invalid_argument);
}

TEST(overlapping_matches_are_resolved_by_force_then_length_then_order) {
  WordList words;
  CHECK(words.add_lines("甲乙丙\t\t1\n丙丁\n丁戊\n戊己庚\t\t2\n甲乙\t\t3\n", kMax) > 0);
  CHECK(match_units(words, characters(U"甲乙丙丁戊己庚"), {}, false) ==
        std::vector<WordMatch>{{0, 2, 4, true}, {2, 4, 1, false}, {4, 7, 3, true}});
}
