// Tests columns of texts as Arrow stores them: counting in place, and cutting words out.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "duilian/text/utf8_column.hpp"

using namespace duilian;
using namespace testing;

namespace {

using Offsets = std::vector<std::int64_t>;
using Places = std::vector<std::int32_t>;

const std::string kBytes = "他去a\U0001F600。\xED\xA0\x80";  // the last three bytes are a lone surrogate

[[nodiscard]] std::vector<std::string> cut(const Offsets& offset, const Places& start, const Places& end,
                                           const Offsets& first) {
  const WordBytes found = cut_words({kBytes, offset}, {start, end, first});
  std::vector<std::string> words;
  for (std::size_t w = 0; w + 1 < found.offset.size(); ++w)
    words.emplace_back(found.bytes.begin() + found.offset[w], found.bytes.begin() + found.offset[w + 1]);
  return words;
}

}  // namespace

TEST(characters_are_counted_for_each_text) {
  CHECK(count_characters({kBytes, Offsets{0, 6, 6, 7, 14, 17}}) == Offsets({2, 0, 1, 2, -1}));
  CHECK(count_characters({kBytes, Offsets{0, 5}}) == Offsets({-1}));
  CHECK_THROWS((void)count_characters({kBytes, Offsets{0, 18}}), std::invalid_argument);
  CHECK_THROWS((void)count_characters({kBytes, Offsets{3, 0}}), std::invalid_argument);
  CHECK_THROWS((void)count_characters({kBytes, Offsets{}}), std::invalid_argument);
}

TEST(words_are_cut_by_characters) {
  CHECK(cut({0, 11, 11, 14}, {0, 2, 0}, {1, 4, 1}, {0, 2, 2, 3}) ==
        std::vector<std::string>({"他", "a\U0001F600", "。"}));
  CHECK(cut({3, 6}, {0}, {1}, {0, 1}) == std::vector<std::string>({"去"}));
  CHECK(cut({0}, {}, {}, {0}).empty());
}

TEST(words_outside_their_text_are_refused) {
  CHECK_THROWS((void)cut({0, 6}, {1}, {3}, {0, 1}), std::invalid_argument);
  CHECK_THROWS((void)cut({0, 6}, {1, 0}, {2, 1}, {0, 2}), std::invalid_argument);
  CHECK_THROWS((void)cut({0, 6}, {1}, {2}, {0, 2}), std::invalid_argument);
  CHECK_THROWS((void)cut({0, 6}, {0}, {1}, {1}), std::invalid_argument);
}
