// Tests lines in and lines out: small taggers with known answers, hostile lines, and the same bytes for any
// number of threads.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/text/characters.hpp"
#include "random.hpp"
#include "random_predictor.hpp"

using namespace duilian;
using namespace testing;

namespace {

using namespace std::string_literals;

/// A tagger that gives every listed unit its label, and all others 0.
[[nodiscard]] Predictor lexicon(std::int32_t labels, Succession rules,
                                const std::vector<std::pair<std::string, std::int32_t>>& entries) {
  const TemplateSet templates = parse_templates("w[0]");
  TaggingData data;
  std::vector<std::uint64_t> keys;
  for (std::size_t row = 0; row < entries.size(); ++row) {
    Sentences one(Folding(), {});
    one.add(std::vector<std::string>{entries[row].first}, {});
    keys.push_back(count_keys(templates, one, 1).at(0));
    data.features.value.push_back(static_cast<std::uint32_t>(row));
    data.features.first.push_back(static_cast<std::int64_t>(row) + 1);
    data.label.push_back(entries[row].second);
    data.first.push_back(static_cast<std::int64_t>(row) + 1);
  }
  const TaggerLayout layout =
      lay_out_tagger(labels, std::move(rules), static_cast<std::int64_t>(keys.size()), data, 100);
  std::vector<float> weights(static_cast<std::size_t>(layout.weights()), 5.0F);
  std::fill_n(weights.begin(), layout.transitions(), 0.0F);
  return {labels, layout.rules, compile_weights(layout, weights, keys, 0.0F), templates, Folding()};
}

/// Tags words N, except 爱 and 去, which are V.
[[nodiscard]] Predictor word_tagger() { return lexicon(2, {}, {{"爱", 1}, {"去", 1}}); }

[[nodiscard]] LineOptions word_options() { return {true, {}, {"N", "V"}, {1, 1}, " ", "/"}; }

enum Letter : std::int32_t { E, S, B, I };

/// Labels in the order E S B I; 中 begins a word, 国 continues it, 人 ends it, all others stand alone.
[[nodiscard]] Predictor segmenter() {
  return lexicon(4, testing::boundary_rules(1, false),
                 {{"中", B}, {"国", I}, {"人", E}, {"a", S}, {"。", S}, {"1", S}});
}

[[nodiscard]] LineOptions segment_options() { return {false, {}, {"", "", "", ""}, {0, 1, 1, 0}, " ", ""}; }

[[nodiscard]] std::string tag_words(const std::string& text) {
  return tag_lines(word_tagger(), text, word_options(), 1);
}
[[nodiscard]] std::string segment(const std::string& text) {
  return tag_lines(segmenter(), text, segment_options(), 1);
}

/// Pieces of valid text, blanks and line breaks.
[[nodiscard]] std::string random_lines(testing::Random& random, std::int32_t pieces) {
  const std::vector<std::string> kinds = {"中",         "国",      "人",     "a",    "1",    "。",
                                          " ",          "\u3000",  "\t",     "\n",   "\r\n", "\r",
                                          "\U00020000", "e\u0301", "\u0301", "\n\n", "？！”"};
  std::string out;
  for (; pieces > 0; --pieces) {
    out += kinds[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(kinds.size())))];
  }
  return out;
}

[[nodiscard]] std::string without_blanks(const std::string& text) {
  std::u32string out;
  for (const char32_t c : decode_utf8(text)) {
    if (c == U'\n' || char_class(c) != CharClass::space) out.push_back(c);
  }
  return encode_utf8(out);
}

}  // namespace

TEST(lines_of_words_are_tagged) {
  CHECK(tag_words("我 爱 北京\n去 吧\n") == "我/N 爱/V 北京/N\n去/V 吧/N\n");
  CHECK(tag_words("我  爱\t北京 \n") == "我/N 爱/V 北京/N\n");
  CHECK(tag_words(" \u3000爱\u00A0去") == "爱/V 去/V");
  CHECK(tag_words("好。对") == "好。对/N");  // neither words nor sentences are cut
}

TEST(lines_of_text_are_cut_into_words) {
  CHECK(segment("中国人a。\n") == "中国人 a 。\n");
  CHECK(segment("中人中人") == "中人 中人");
  CHECK(segment("a。a。a\n") == "a 。 a 。 a\n");
}

TEST(a_blank_ends_a_word) {
  CHECK(segment("中 人\n") == "中 人\n");
  CHECK(segment("中国 人") == "中国 人");
  CHECK(segment("中\u3000国人a") == "中 国人 a");
  CHECK(segment("  中人  ") == "中人");
}

TEST(protected_spans_are_not_cut) {
  CHECK(segment("。aa。11。") == "。 aa 。 11 。");
  CHECK(segment("。11人。") == "。 11人 。");  // a number may be part of a longer word
  CHECK(segment("中国11%人") == "中国 11% 人");
  CHECK(segment("看http://a.cn/?a！人") == "看 http://a.cn/?a ！ 人");
}

TEST(raw_text_has_tags_at_the_ends_of_words) {
  LineOptions options = segment_options();
  options.name = {"E", "S", "B", "I"};
  options.before_tag = "_";
  options.between = " | ";
  CHECK(tag_lines(segmenter(), "中国人a。\n。", options, 1) == "中国人_E | a_S | 。_S\n。_S");
}

TEST(line_breaks_are_kept) {
  for (const std::string& text : {""s, "\n"s, "\r\n"s, "\n\n\n"s, "\r\n\r\n"s, "\n\r\n"s}) {
    CHECK(tag_words(text) == text);
    CHECK(segment(text) == text);
  }
  CHECK(tag_words("爱\r\n\r\n去\r\n吧") == "爱/V\r\n\r\n去/V\r\n吧/N");
  CHECK(segment("中人\r\n\r\n1\n") == "中人\r\n\r\n1\n");
  CHECK(segment(" \n\u3000\r\n") == "\n\r\n");
  CHECK(tag_words("a\rb\n") == "a/N b/N\n");  // inside a line, it is a blank
}

TEST(errors_name_lines_that_are_not_utf8) {
  for (const bool has_words : {false, true}) {
    const auto tag = [&](const std::string& text) { return has_words ? tag_words(text) : segment(text); };
    CHECK_THROWS_WITH(tag("\xFF"), std::invalid_argument, "1: byte 0 is not UTF-8");
    CHECK_THROWS_WITH(tag("中\n\n中\xE4\xB8\n中"), std::invalid_argument, "3: byte 3 is not UTF-8");
  }
  std::string many;
  for (int n = 0; n < 999; ++n) many += "中人\n";
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    CHECK_THROWS_WITH(tag_lines(segmenter(), many + "\x80\n" + many, segment_options(), threads),
                      std::invalid_argument, "1000: byte 0 is not UTF-8");
  }
}

TEST(only_blanks_are_lost_or_added) {
  testing::for_each_seed(150, [](testing::Random& random) {
    const std::string text = random_lines(random, random.below(60));
    CHECK(without_blanks(segment(text)) == without_blanks(text));
    const std::string once = segment(text);
    CHECK(std::count(once.begin(), once.end(), '\n') == std::count(text.begin(), text.end(), '\n'));
  });
}

TEST(lines_are_the_same_for_any_number_of_threads) {
  testing::for_each_seed(6, [](testing::Random& random) {
    const PredictorCase x(random, testing::RuleKind::blocks, 30);
    const Predictor predictor = x.compile();
    const auto labels = static_cast<std::size_t>(predictor.labels());
    LineOptions options{false, {true, true}, std::vector<std::string>(labels), {}, " ", "/"};
    for (std::size_t l = 0; l < labels; ++l) {
      options.name[l] = "t"s + std::to_string(l % (labels / 4));
      options.starts.push_back(l >= labels / 4 && l < 3 * (labels / 4) ? 1 : 0);
    }
    const std::string text = random_lines(random, 3000);
    for (const bool has_words : {false, true}) {
      options.has_words = has_words;
      if (has_words) options.starts.assign(labels, 1);
      const std::string alone = tag_lines(predictor, text, options, 1);
      CHECK(alone == tag_lines(predictor, text, options, 2));
      CHECK(alone == tag_lines(predictor, text, options, 3));
      CHECK(alone.size() > text.size());
    }
  });
}

TEST(bad_line_options_are_refused) {
  LineOptions options = word_options();
  options.name.pop_back();
  CHECK_THROWS_WITH(tag_lines(word_tagger(), "", options, 1), std::invalid_argument,
                    "the options do not match");
  options = word_options();
  options.starts.push_back(1);
  CHECK_THROWS_WITH(tag_lines(word_tagger(), "", options, 1), std::invalid_argument,
                    "the options do not match");
  CHECK_THROWS(tag_lines(word_tagger(), "", word_options(), 0), std::invalid_argument);
  CompiledWeights weights;
  weights.slot = {kNoSlot};
  weights.transition.assign(9, 0.0F);
  const Predictor with_column(2, {}, weights, parse_templates("@pos[0]"), Folding());
  CHECK_THROWS_WITH(tag_lines(with_column, "a", word_options(), 1), std::invalid_argument,
                    "the templates need columns");
}

TEST(errors_name_a_line_without_a_legal_path) {
  CompiledWeights weights;
  weights.slot = {kNoSlot};
  weights.transition.assign(9, 0.0F);
  const Predictor never(2, {2, std::vector<std::uint8_t>(9, 0)}, weights, parse_templates("w[0]"), Folding());
  CHECK_THROWS_WITH(tag_lines(never, "\na", word_options(), 1), std::invalid_argument,
                    "2: no path through the lattice is legal");
}
