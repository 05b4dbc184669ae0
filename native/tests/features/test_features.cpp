// Tests templates, the features they yield, and the tables that number them.
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/features/index.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/features/templates.hpp"
#include "duilian/text/characters.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using Texts = std::vector<std::string>;

constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();

/// 他 / 爱 / 3G / 天天向上 / 。 with a column of tags.
[[nodiscard]] Sentences small_sentences() {
  Sentences out(Folding(), {"pos"});
  out.add(Texts{"他", "爱", "3G", "天天向上", "。"}, std::vector<Texts>{{"PN", "VV", "NN", "VV", "PU"}});
  return out;
}

/// The features of one unit of that sentence.
[[nodiscard]] Texts features(const std::string& templates, std::size_t unit) {
  return describe_features(parse_templates(templates), small_sentences(), 0).at(unit);
}

[[nodiscard]] FeatureKeys keys_of(const TemplateSet& templates, const Sentences& sentences) {
  FeatureKeys out;
  extract_keys(templates, sentences, 0, sentences.size(), out);
  return out;
}

void check_syntax(const char* text, const char* message) {
  CHECK_THROWS_WITH(parse_templates(text), TemplateSyntaxError, message);
}

[[nodiscard]] Sentences random_sentences(testing::Random& random) {
  const Texts words = {"中", "国", "中国", "aa", "1", "。", "\U00020000", "国国"};
  Sentences out(Folding(), {});
  for (std::int32_t n = random.below(6); n > 0; --n) {
    Texts units;
    for (std::int32_t k = random.below(8); k > 0; --k) units.push_back(words[random.below(8)]);
    out.add(units, {});
  }
  return out;
}

/// Few distinct keys, so that many recur, and the two that a table might mistake for an empty slot.
[[nodiscard]] std::vector<std::uint64_t> random_keys(std::size_t count, std::uint64_t distinct) {
  testing::Random random(11);
  std::vector<std::uint64_t> out = {0, kHighest, 0};
  while (out.size() < count) out.push_back(testing::Random(random.bits() % distinct).bits());
  return out;
}

constexpr const char* kTemplates =
    "w[0]\nw[-1] w[0]\nc[0,0]\nc[0,*]\nrepeat[0]\nprefix[0,1..2]\ntype[1]\nlen[0] bias\nw[2] if not "
    "single[0]";

}  // namespace

TEST(templates_are_read) {
  const TemplateSet set =
      parse_templates("# a comment\n\n  w[-1]   w[0]  # two words\nt[-1]\n@pos[0] @ner[-1]\r\nbias");
  CHECK(set.has_transitions);
  CHECK(set.columns == Texts{"pos", "ner"});
  CHECK(set.templates.size() == 3);
  CHECK(set.templates[0].text == "w[-1] w[0]");
  CHECK(set.templates[0].atoms.size() == 2 && set.templates[0].atoms[0].offset == -1);
  CHECK(set.templates[1].text == "@pos[0] @ner[-1]");
  CHECK(!parse_templates("w[0]").has_transitions);
}

TEST(template_errors_say_where) {
  check_syntax("", "1:1: ");
  check_syntax("# only a comment\n\n", "1:1: ");
  check_syntax("t[-1]", "1:1: ");
  check_syntax("word[0]", "1:1: unknown atom 'word'");
  check_syntax("w[0]\n\n  nothing[0]", "3:3: unknown atom 'nothing'");
  check_syntax("w(0)", "1:2: expected '['");
  check_syntax("w[", "1:3: expected a whole number, found the end of the line");
  check_syntax("w[x]", "1:3: expected a whole number, found 'x'");
  check_syntax("w[0", "1:4: expected ']'");
  check_syntax("w[33]", "1:3: the offset 33");
  check_syntax("w[0] w[-33]", "1:8: the offset -33");
  check_syntax("w[99999999999]", "1:3: ");
  check_syntax("c[0]", "1:4: expected ','");
  check_syntax("c[0,]", "1:5: expected a whole number");
  check_syntax("same[0]", "1:7: expected ','");
  check_syntax("w[0] ,", "1:6: expected an atom");
  check_syntax("@[0]", "1:1: a column needs a name");
}

TEST(template_errors_cover_lengths_and_counts) {
  check_syntax("prefix[0,0]", "1:10: lengths");
  check_syntax("suffix[0,3..2]", "1:10: lengths");
  check_syntax("prefix[0,1.2]", "1:12: expected '.'");
  check_syntax("c[0,*] repeat[0]", "1:8: only one atom");
  check_syntax("prefix[0,1..2] suffix[0,1..2]", "1:16: only one atom");
  check_syntax("w[0] w[1] w[2] w[3] w[4] w[5] w[6] w[7] w[8]", "1:41: a template has at most 8 atoms");
  check_syntax("w[0]\nw[0]   # again", "2:1: the template 'w[0]' occurs twice");
  check_syntax("w[0]  w[1]\nw[0] w[1]", "2:1: ");
}

TEST(template_errors_cover_conditions_and_transitions) {
  check_syntax("if single[0]", "1:1: a condition needs atoms");
  check_syntax("w[0] if", "1:8: expected a condition");
  check_syntax("w[0] if long[0]", "1:9: expected a condition");
  check_syntax("w[0] if not not single[0]", "1:13: expected a condition");
  check_syntax("w[0] if single[0] or single[1]", "1:19: expected 'and'");
  check_syntax("w[0] if type[0]", "1:16: expected '='");
  check_syntax("w[0] if type[0]=kanji", "1:17: unknown character type 'kanji'");
  check_syntax("w[0] if single[99]", "1:16: the offset 99");
  check_syntax("t[0]", "1:3: only the previous tag");
  check_syntax("w[0] t[-1]", "1:8: t[-1] must be alone");
  check_syntax("t[-1] w[0]", "1:3: t[-1] must be alone");
}

TEST(template_errors_show_whole_characters) {
  check_syntax("w[中]", "1:3: expected a whole number, found '中'");
  check_syntax("w中", "1:2: expected '[', found '中'");
  check_syntax("w[0\U00020000", "1:4: expected ']', found '\U00020000'");
  check_syntax("w[0] 中[0]", "1:6: expected an atom");
  for (const char* text : {"w[中]", "w中", "c[0中", "c[0,é]", "prefix[0,1.中]", "w[0] 中", "w[0] if 中[0]",
                           "@中[0]", "w[0] if type[0]=中", "w[0] if single[0] 中", "t[中]", "t中"}) {
    const auto parse = [&] { static_cast<void>(parse_templates(text)); };
    const std::string message = testing::thrown_message<TemplateSyntaxError>(__FILE__, __LINE__, text, parse);
    CHECK(encode_utf8(decode_utf8(message)) == message);
  }
}

TEST(extreme_offsets_are_refused) {
  check_syntax("w[-2147483648]", "1:3: the offset -2147483648");
  check_syntax("w[2147483647]", "1:3: the offset 2147483647");
  check_syntax("w[-2147483649]", "1:3: expected a whole number");
  check_syntax("same[0,-2147483648]", "1:8: the offset -2147483648");
  check_syntax("w[0] if same[-2147483648,0]", "1:14: the offset -2147483648");
  // The index of a character is not an offset: any value is allowed, even one beyond the word.
  CHECK(features("c[0,-2147483648]\nc[0,2147483647]\ntype[0,-2147483648]\nprefix[0,2147483647]", 3).empty());
}

TEST(words_and_their_neighbours) {
  CHECK(features("w[0]\nx[1]\nw[-1] w[0]", 0) == Texts{"w[0]=他", "x[1]=爱", "w[-1] w[0]=<s> 他"});
  CHECK(features("w[1]\nw[2]\nw[-4]", 4) == Texts{"w[1]=</s>", "w[2]=</s>", "w[-4]=他"});
  CHECK(features("bias\nbias w[0]", 1) == Texts{"bias", "bias w[0]=爱"});
  CHECK(features("@pos[0]\n@pos[-1] @pos[0]", 0) == Texts{"@pos[0]=PN", "@pos[-1] @pos[0]=<s> PN"});
}

TEST(characters_of_words) {
  CHECK(features("c[0,0]\nc[0,-1]\nc[0,1]\nc[0,4]\nc[0,-5]", 3) ==
        Texts{"c[0,0]=天", "c[0,-1]=上", "c[0,1]=天"});
  CHECK(features("c[0,*]\nrepeat[0]", 3) == Texts{"c[0,*]=天", "c[0,*]=向", "repeat[0]=天"});
  CHECK(features("c[0,*]\nrepeat[0]", 0).empty());
  CHECK(features("c[-1,0]\nc[-1,-1]\nc[-1,1]", 0) == Texts{"c[-1,0]=<s>", "c[-1,-1]=<s>"});
  CHECK(features("w[0] c[0,*] c[1,0]", 3) ==
        Texts{"w[0] c[0,*] c[1,0]=天天向上 天 。", "w[0] c[0,*] c[1,0]=天天向上 向 。"});
}

TEST(prefixes_and_suffixes) {
  CHECK(features("prefix[0,2]\nsuffix[0,3]\nprefix[0,5]", 3) ==
        Texts{"prefix[0,2]=天天", "suffix[0,3]=天向上"});
  CHECK(features("prefix[0,1..9]", 2) == Texts{"prefix[0,1..9]=3", "prefix[0,1..9]=3G"});
  CHECK(features("suffix[0,2..3]", 3) == Texts{"suffix[0,2..3]=向上", "suffix[0,2..3]=天向上"});
  CHECK(features("prefix[1,1]\nsuffix[1,1..2]", 4) == Texts{"prefix[1,1]=</s>", "suffix[1,1..2]=</s>"});
}

TEST(types_lengths_and_sameness) {
  CHECK(features("type[0]\ntype[0,0]\ntype[0,1]\ntype[0,2]", 2) ==
        Texts{"type[0]=mixed", "type[0,0]=digit", "type[0,1]=letter"});
  CHECK(features("type[0]\ntype[1]\ntype[1,0]\ntype[1,1]", 4) ==
        Texts{"type[0]=punct", "type[1]=edge", "type[1,0]=edge"});
  CHECK(features("len[0]\nlen[-1]\nlen[9]", 3) == Texts{"len[0]=4", "len[-1]=2", "len[9]=1"});
  CHECK(features("same[0,0]\nsame[0,1]\nsame[-1,-2]", 0) ==
        Texts{"same[0,0]=yes", "same[0,1]=no", "same[-1,-2]=yes"});
}

TEST(conditions_select_features) {
  CHECK(features("w[0] if single[0]", 0).size() == 1);
  CHECK(features("w[0] if single[0]", 3).empty());
  CHECK(features("w[0] if not single[0]", 3) == Texts{"w[0] if not single[0]=天天向上"});
  CHECK(features("w[0] if single[0] and type[1]=han", 0).size() == 1);
  CHECK(features("w[0] if single[0] and type[1]=han", 1).empty());
  CHECK(features("w[0] if type[-1]=edge", 0).size() == 1);
  CHECK(features("w[0] if same[-1,-2]", 0).size() == 1);
  CHECK(features("w[0] if not same[0,1]", 0).size() == 1);
}

TEST(folding_applies_to_words_but_not_to_columns) {
  Sentences sentences(Folding(true, {}), {"pos"});
  sentences.add(Texts{"Ａ１"}, std::vector<Texts>{{"Ａ"}});
  const auto found = describe_features(parse_templates("w[0] @pos[0]\ntype[0,1]"), sentences, 0);
  CHECK(found.at(0) == Texts{"w[0] @pos[0]=A1 Ａ", "type[0,1]=digit"});
}

TEST(bad_sentences_are_refused) {
  Sentences sentences(Folding(), {"pos"});
  CHECK_THROWS(sentences.add(Texts{"a"}, {}), std::invalid_argument);
  CHECK_THROWS(sentences.add(Texts{"a"}, std::vector<Texts>{{"X", "Y"}}), std::invalid_argument);
  const Sentences plain(Folding(), {});
  CHECK_THROWS(check_columns(parse_templates("@pos[0]"), plain), std::invalid_argument);
  CHECK_THROWS(describe_features(parse_templates("w[0]"), plain, 0), std::invalid_argument);
  CHECK_THROWS(check(FeatureRows{{{0, 2, 1}, {0}}, {}}), std::invalid_argument);
  CHECK_THROWS(check(FeatureRows{{{0, 2}, {0}}, {}}), std::invalid_argument);
  check(FeatureRows{{{0, 0, 1}, {5}}, {}});
}

TEST(keys_depend_only_on_template_and_values) {
  const TemplateSet alone = parse_templates("w[0] w[1]");
  const TemplateSet among = parse_templates("bias\n# before\nw[0]   w[1]\nlen[0]");
  const FeatureKeys a = keys_of(alone, small_sentences());
  const FeatureKeys b = keys_of(among, small_sentences());
  for (std::size_t u = 0; u < 5; ++u) CHECK(a.value[u] == b.value[3 * u + 1]);
  CHECK(hash_text(U"中国") != hash_text(U"国中"));
  CHECK(mix(1, 2) != mix(2, 1));
  CHECK(keys_of(parse_templates("w[0]"), small_sentences()).value !=
        keys_of(parse_templates("x[0]"), small_sentences()).value);
}

TEST(keys_are_the_same_on_every_machine) {
  // Model files contain keys: if these numbers change, old models become invalid.
  CHECK(hash_text(U"") == 0x2545F4914F6CDD1DU);
  CHECK(hash_text(U"中国") == 0x7EAADAA14C292582U);
  CHECK(keys_of(parse_templates("w[0] w[1]"), small_sentences()).value.front() == 0x577A279EC624C290U);
}

TEST(keys_differ_exactly_when_descriptions_do) {
  testing::for_each_seed(200, [](testing::Random& random) {
    const TemplateSet templates = parse_templates(kTemplates);
    const Sentences sentences = random_sentences(random);
    const FeatureKeys keys = keys_of(templates, sentences);
    std::unordered_map<std::uint64_t, std::string> text_of;
    std::unordered_map<std::string, std::uint64_t> key_of;
    std::size_t at = 0;
    for (std::int64_t s = 0; s < sentences.size(); ++s) {
      for (const Texts& unit : describe_features(templates, sentences, s)) {
        for (const std::string& text : unit) {
          CHECK(text_of.try_emplace(keys.value.at(at), text).first->second == text);
          CHECK(key_of.try_emplace(text, keys.value.at(at)).first->second == keys.value.at(at));
          ++at;
        }
      }
    }
    CHECK(at == keys.value.size());
  });
}

TEST(tables_number_keys_like_a_map) {
  KeyTable table;
  CHECK(table.find(0) == kNoRow);
  std::unordered_map<std::uint64_t, std::uint32_t> map;
  for (const std::uint64_t key : random_keys(100000, 60000)) {
    const auto [entry, is_new] = map.try_emplace(key, static_cast<std::uint32_t>(map.size()));
    CHECK(table.insert(key) == entry->second);
    CHECK(table.size() == map.size());
  }
  for (const auto& [key, row] : map) CHECK(table.find(key) == row);
  for (const std::uint64_t key : random_keys(1000, kHighest))
    CHECK((table.find(key) == kNoRow) != map.contains(key));
}

TEST(tables_cope_with_consecutive_keys) {
  KeyTable table;
  table.reserve(5000);
  const std::size_t bytes = table.bytes();
  for (std::uint64_t key = 0; key < 5000; ++key) CHECK(table.insert(kHighest - key) == key);
  CHECK(table.bytes() == bytes);
  for (std::uint64_t key = 0; key < 5000; ++key)
    CHECK(table.find(kHighest - key) == key && table.find(key) == kNoRow);
}

TEST(indexes_keep_the_order_of_their_keys) {
  std::vector<std::uint64_t> keys = {kHighest, 0};
  for (std::uint64_t n = 0; n < 100000; ++n) keys.push_back(testing::Random(n).bits());
  const FeatureIndex index(keys);
  CHECK(index.size() == keys.size() && index.keys() == keys);
  for (std::size_t row = 0; row < keys.size(); ++row) CHECK(index.find(keys[row]) == row);
  CHECK(FeatureIndex({}).find(0) == kNoRow);
  const std::vector<std::uint64_t> twice = {3, 0, 3};
  CHECK_THROWS(FeatureIndex(twice), std::invalid_argument);
}

TEST(counters_keep_frequent_keys) {
  KeyCounter counter;
  for (const std::uint64_t key : {7, 0, 7, 5, 0, 7, 9}) counter.add(key);
  counter.add(kHighest);
  using Keys = std::vector<std::uint64_t>;
  CHECK(counter.frequent(0) == Keys{7, 0, 5, 9, kHighest});
  CHECK(counter.frequent(1) == counter.frequent(0));
  CHECK(counter.frequent(2) == Keys{7, 0});
  CHECK(counter.frequent(3) == Keys{7});
  CHECK(counter.frequent(4).empty());
}

TEST(rows_are_the_known_keys) {
  testing::for_each_seed(200, [](testing::Random& random) {
    const TemplateSet templates = parse_templates(kTemplates);
    const Sentences sentences = random_sentences(random);
    const FeatureIndex index(count_keys(templates, sentences, 2));
    const FeatureKeys keys = keys_of(templates, sentences);
    FeatureRows wanted;
    for (std::size_t u = 0; u + 1 < keys.first.size(); ++u) {
      for (std::int64_t k = keys.first[u]; k < keys.first[u + 1]; ++k) {
        if (index.find(keys.value[k]) != kNoRow) wanted.value.push_back(index.find(keys.value[k]));
      }
      wanted.first.push_back(static_cast<std::int64_t>(wanted.value.size()));
    }
    FeatureKeys scratch;
    FeatureRows found;
    const std::int64_t middle = sentences.size() / 2;
    extract_rows(templates, sentences, 0, middle, index, scratch, found);
    extract_rows(templates, sentences, middle, sentences.size(), index, scratch, found);
    check(found);
    CHECK(found.first == wanted.first && found.value == wanted.value);
  });
}

TEST(rows_are_the_same_for_any_threads_and_way_of_indexing) {
  testing::for_each_seed(100, [](testing::Random& random) {
    const TemplateSet templates = parse_templates(kTemplates);
    const Sentences sentences = random_sentences(random);
    for (const std::uint32_t min_count : {1U, 2U, 5U}) {
      const auto keys = count_keys(templates, sentences, min_count);
      const FeatureIndex index(keys);
      FeatureKeys scratch;
      FeatureRows rows;
      extract_rows(templates, sentences, 0, sentences.size(), index, scratch, rows);
      for (std::size_t threads = 1; threads <= 4; ++threads) {
        CHECK(count_keys(templates, sentences, min_count, threads) == keys);
        const FeatureRows alone = extract_rows(templates, sentences, index, threads);
        CHECK(alone.first == rows.first && alone.value == rows.value);
        const IndexedFeatures both = index_features(templates, sentences, min_count, threads);
        CHECK(both.keys == keys && both.rows.first == rows.first && both.rows.value == rows.value);
      }
    }
  });
}

TEST(counted_keys_match_a_map) {
  testing::for_each_seed(200, [](testing::Random& random) {
    const TemplateSet templates = parse_templates(kTemplates);
    const Sentences sentences = random_sentences(random);
    std::unordered_map<std::uint64_t, std::uint32_t> count;
    for (const std::uint64_t key : keys_of(templates, sentences).value) ++count[key];
    for (const std::uint32_t min_count : {1U, 2U, 5U}) {
      const auto found = count_keys(templates, sentences, min_count);
      std::size_t wanted = 0;
      for (const auto& [key, times] : count) wanted += times >= min_count ? 1 : 0;
      CHECK(found.size() == wanted);
      for (const std::uint64_t key : found) CHECK(count.at(key) >= min_count);
    }
  });
}
