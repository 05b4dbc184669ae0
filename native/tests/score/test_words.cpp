// Tests words from labels, by hand.
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/score/words.hpp"
#include "duilian/text/split.hpp"

using namespace duilian;
using namespace testing;

namespace {

// Labels E, S, B, I.
const std::vector<std::uint8_t> kStarts = {0, 1, 1, 0};
const std::vector<std::uint8_t> kEnds = {1, 1, 0, 0};
const std::vector<std::int64_t> kSpans = {0, 1, 1, 2, 3, 4, 5, 6, 6, 7};

}  // namespace

TEST(words_end_where_labels_say) {
  const std::vector<std::int64_t> sentence = {0, 3, 3, 5};
  const std::vector<std::int32_t> label = {2, 0, 1, 2, 0};  // BE S | | BE
  const std::vector<std::uint16_t> known(5, 0);
  const std::vector<float> p = {0.5F, 0.25F, 1.0F, 0.75F, 0.875F};
  const WordColumns found = words_of_labels({kStarts, kEnds}, {kSpans, sentence, known, label, p});
  CHECK(found.first == std::vector<std::int32_t>({0, 2, 3}));
  CHECK(found.start == std::vector<std::int32_t>({0, 3, 5}));
  CHECK(found.end == std::vector<std::int32_t>({2, 4, 7}));
  CHECK(found.label == std::vector<std::int32_t>({2, 1, 2}));
  CHECK(found.sentence == std::vector<std::int32_t>({0, 2, 2, 3}));
  CHECK(found.p == std::vector<float>({0.25F, 1.0F, 0.75F}));
}

TEST(words_end_at_white_space_and_at_the_end_of_a_sentence) {
  const std::vector<std::int64_t> sentence = {0, 4, 5};
  const std::vector<std::int32_t> label = {2, 3, 3, 3, 0};  // one word by the labels alone
  const std::vector<std::uint16_t> known = {0, 0, kGap | kApart, kGap, 0};
  const WordColumns found = words_of_labels({kStarts, kEnds}, {kSpans, sentence, known, label, {}});
  CHECK(found.first == std::vector<std::int32_t>({0, 2, 4}));
  CHECK(found.sentence == std::vector<std::int32_t>({0, 2, 3}));
  CHECK(found.p.empty());
}

TEST(inconsistent_arrays_are_refused) {
  const std::vector<std::int64_t> sentence = {0, 5};
  const std::vector<std::int32_t> label(5, 1);
  const std::vector<std::uint16_t> known(5, 0);
  const std::vector<std::int32_t> wrong = {1, 1, 4, 1, 1};
  const std::vector<std::int64_t> early = {0, 4};
  const std::vector<float> p(4, 1.0F);
  CHECK_THROWS((void)words_of_labels({kStarts, kEnds}, {kSpans, sentence, known, wrong, {}}),
               std::invalid_argument);
  CHECK_THROWS((void)words_of_labels({kStarts, kEnds}, {kSpans, early, known, label, {}}),
               std::invalid_argument);
  CHECK_THROWS((void)words_of_labels({kStarts, kEnds}, {kSpans, sentence, known, label, p}),
               std::invalid_argument);
}

TEST(words_are_spaced_and_nothing_is_lost) {
  const std::vector<std::int32_t> start = {1, 3, 5, 9};
  const std::vector<std::int32_t> end = {3, 4, 6, 10};
  // White space before the words stays; a single blank is padded; invisible characters stay with their word.
  CHECK(spaced(U" ab"
               U"c"
               U" d"
               U"\u200b \u200b"
               U"e\n",
               start, end) == U" ab  c  d\u200b  \u200be\n");
  CHECK(spaced(U"a\u200bb", std::vector<std::int32_t>({0, 2}), std::vector<std::int32_t>({1, 3})) ==
        U"a\u200b  b");
  CHECK(spaced(U"a \t\u200b b", std::vector<std::int32_t>({0, 5}), std::vector<std::int32_t>({1, 6})) ==
        U"a \t\u200b b");
  CHECK(spaced(U" ", {}, {}) == U" ");
  CHECK_THROWS((void)spaced(U"ab", std::vector<std::int32_t>({1}), std::vector<std::int32_t>({3})),
               std::invalid_argument);
  const std::vector<std::u32string> texts = {U"ab", U"", U"c"};
  const std::vector<std::int32_t> from = {0, 1, 0};
  const std::vector<std::int32_t> to = {1, 2, 1};
  CHECK(spaced_texts(texts, from, to, std::vector<std::int64_t>({0, 2, 2, 3})) ==
        std::vector<std::string>({"a  b", "", "c"}));
  CHECK_THROWS((void)spaced_texts(texts, from, to, std::vector<std::int64_t>({0, 2, 2, 2})),
               std::invalid_argument);
}
