// Compares a dictionary's columns with brute force; checks its trie and its arrays.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/features/dictionary.hpp"
#include "duilian/features/sentences.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

struct Entry {
  std::uint32_t frequency;
  std::uint8_t tag;
};
using Words = std::map<std::u32string, Entry>;  // in trie order
const std::vector<std::string> kTags = {"n", "v"};

[[nodiscard]] Dictionary made_of(const Words& words) {
  std::vector<std::u32string> texts;
  std::vector<std::uint32_t> frequency;
  std::vector<std::uint8_t> tag;
  for (const auto& [word, entry] : words) {
    texts.push_back(word);
    frequency.push_back(entry.frequency);
    tag.push_back(entry.tag);
  }
  return Dictionary(make_trie(texts, frequency, tag, kTags));
}

[[nodiscard]] std::u32string random_text(testing::Random& random, std::int32_t longest) {
  std::u32string out;
  for (std::int32_t n = 1 + random.below(longest); n > 0; --n) out += U"中国人\U00020000"[random.below(4)];
  return out;
}

[[nodiscard]] Words random_words(testing::Random& random) {
  Words out;
  for (std::int32_t n = random.below(20); n > 0; --n) {
    const auto frequency = static_cast<std::uint32_t>(1 + random.below(30));
    out[random_text(random, 7)] = {frequency, static_cast<std::uint8_t>(random.below(2))};
  }
  return out;
}

struct Codes {
  std::vector<std::u32string> lengths;
  std::vector<std::u32string> path;
  bool operator==(const Codes&) const = default;
};

/// Treats every character as a unit.
[[nodiscard]] Codes codes_of(const Dictionary& dictionary, const std::u32string& text) {
  std::vector<std::int64_t> end;
  for (std::size_t t = 1; t <= text.size(); ++t) end.push_back(static_cast<std::int64_t>(t));
  Dictionary::Work work;
  Dictionary::Columns columns;
  dictionary.look_up(text, end, work, columns);
  Codes out;
  for (const CodeText* value : columns[0]) out.lengths.push_back(value->text);
  for (const CodeText* value : columns[1]) out.path.push_back(value->text);
  return out;
}

/// The same lengths, by trying every word at every place.
[[nodiscard]] std::vector<std::u32string> naive_lengths(const Words& words, const std::u32string& text) {
  std::vector<std::array<std::size_t, 3>> longest(text.size());
  for (std::size_t a = 0; a < text.size(); ++a) {
    for (std::size_t n = 2; a + n <= text.size(); ++n) {
      if (words.find(text.substr(a, n)) == words.end()) continue;
      const std::size_t shown = std::min<std::size_t>(n, 5);
      longest[a][0] = std::max(longest[a][0], shown);
      for (std::size_t t = a + 1; t + 1 < a + n; ++t) longest[t][1] = std::max(longest[t][1], shown);
      longest[a + n - 1][2] = std::max(longest[a + n - 1][2], shown);
    }
  }
  std::vector<std::u32string> out;
  for (const auto& lengths : longest) {
    out.emplace_back();
    for (const std::size_t n : lengths) out.back() += static_cast<char32_t>(U'0' + n);
  }
  return out;
}

/// The cost of the segmentation that the codes show.
[[nodiscard]] double cost_of(const Words& words, const std::u32string& text,
                             const std::vector<std::u32string>& path) {
  double total = 0.0, cost = 0.0;
  for (const auto& [word, entry] : words) total += entry.frequency;
  for (std::size_t a = 0; a < text.size();) {
    std::size_t b = a + 1;
    while (b < text.size() && (path[b][0] == U'I' || path[b][0] == U'E')) ++b;
    const auto known = words.find(text.substr(a, b - a));
    CHECK((path[a] == U"O") == (known == words.end()));
    if (total > 0.0)
      cost += std::log(total) - (known == words.end() ? 0.0 : std::log(known->second.frequency));
    a = b;
  }
  return cost;
}

/// The lowest cost of any segmentation into words and single units.
[[nodiscard]] double least_cost(const Words& words, const std::u32string& text) {
  double total = 0.0;
  for (const auto& [word, entry] : words) total += entry.frequency;
  std::vector<double> best(text.size() + 1, 0.0);
  for (std::size_t a = text.size(); a-- > 0 && total > 0.0;) {
    best[a] = std::log(total) + best[a + 1];
    for (const auto& [word, entry] : words) {
      if (text.compare(a, word.size(), word) == 0)
        best[a] = std::min(best[a], std::log(total) - std::log(entry.frequency) + best[a + word.size()]);
    }
  }
  return best[0];
}

}  // namespace

TEST(a_trie_keeps_its_words_and_survives_a_round_trip) {
  testing::Random random(3);
  for (int round = 0; round < 200; ++round) {
    const Words words = random_words(random);
    const Dictionary found = made_of(words);
    std::vector<std::u32string> texts = found.words();
    CHECK(texts.size() == words.size() && found.size() == words.size());
    CHECK(Dictionary(found.arrays()).arrays() == found.arrays());
    std::sort(texts.begin(), texts.end());
    CHECK(std::equal(texts.begin(), texts.end(), words.begin(), words.end(),
                     [](const auto& text, const auto& word) { return text == word.first; }));
  }
}

TEST(words_of_letters_and_han_are_told_apart) {
  Words words;
  for (const char32_t* each : {U"K歌", U"T恤", U"中国", U"ok", U"卡拉OK", U"21世纪", U"Ｂ超"})
    words[each] = {1, 0};
  std::vector<std::u32string> found = made_of(words).mixed_words();
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::u32string>{U"K歌", U"T恤", U"卡拉OK", U"Ｂ超"});
  CHECK(made_of({}).mixed_words().empty());
}

TEST(codes_match_brute_force) {
  testing::Random random(4);
  for (int round = 0; round < 500; ++round) {
    const Words words = random_words(random);
    const std::u32string text = random_text(random, 12);
    const Codes found = codes_of(made_of(words), text);
    CHECK(found.lengths == naive_lengths(words, text));
    // The cost of each word is rounded to 1/1024.
    CHECK(std::abs(cost_of(words, text, found.path) - least_cost(words, text)) < 0.0005 * 2.0 * 12.0);
  }
}

TEST(damaged_arrays_are_refused_or_still_a_trie) {
  testing::Random random(5);
  std::int32_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    DictionaryArrays arrays = made_of(random_words(random)).arrays();
    if (arrays.flags.empty()) continue;
    const auto place = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(arrays.flags.size())));
    if (random.below(2) == 0) {
      arrays.flags[place] ^= static_cast<std::uint8_t>(1U << static_cast<unsigned>(random.below(4)));
    } else {
      arrays.symbol[place] = static_cast<std::uint16_t>(random.below(6));
    }
    try {
      const Dictionary found(arrays);
      CHECK(found.words().size() == found.size());
      CHECK(!codes_of(found, random_text(random, 12)).path.empty());
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST(lists_that_make_no_trie_are_refused) {
  const std::vector<std::u32string> words = {U"中", U"国"}, falling = {U"国", U"中"}, empty = {U"", U"国"};
  const std::vector<std::uint32_t> frequency = {1, 1};
  const std::vector<std::uint8_t> tag = {0, 0};
  CHECK_THROWS(make_trie(falling, frequency, tag, kTags), std::invalid_argument);
  CHECK_THROWS(make_trie(empty, frequency, tag, kTags), std::invalid_argument);
  CHECK_THROWS(make_trie(words, {}, tag, kTags), std::invalid_argument);
  const std::vector<std::u32string> endless = {std::u32string(Dictionary::kMaxLength + 1, U'中'), U"国"};
  CHECK_THROWS(make_trie(endless, frequency, tag, kTags), std::invalid_argument);
}

TEST(a_dictionary_finds_cased_letters_in_lower_case) {
  Sentences sentences(
      Reading(Folding(true, {}, Letters::cased), made_of({{U"t恤", {3, 0}}, {U"check", {2, 0}}})), {});
  sentences.add(std::vector<std::string>{"Ｔ", "恤", "CHECK", "check", "checks"}, {});
  CHECK(sentences.column(1, 0) == U"Bn" && sentences.column(1, 2) == U"Sn" &&
        sentences.column(1, 3) == U"Sn");
  CHECK(sentences.column(1, 4) == U"O" && sentences.text().at(2) == U"ENG" &&
        sentences.text().at(3) == U"eng");
}

TEST(sentences_have_the_columns_of_their_dictionary) {
  const Reading reading(Folding(true, {}), made_of({{U"T恤", {3, 0}}}));
  Sentences sentences(reading, {"pos"});
  const std::vector<std::string> units = {"Ｔ", "恤"};
  const std::vector<std::vector<std::string>> columns = {{"a", "b"}};
  sentences.add(units, columns);
  sentences.add(units, columns);
  CHECK(sentences.column_names() == std::vector<std::string>({"pos", "lx", "jg"}));
  CHECK(sentences.column(0, 1) == U"b" && sentences.column(1, 0) == U"200" &&
        sentences.column(1, 3) == U"002");
  CHECK(sentences.column(2, 2) == U"Bn" && sentences.column_hash(2, 2) == hash_text(U"Bn"));
  CHECK_THROWS(Sentences(reading, {"jg"}), std::invalid_argument);
}
