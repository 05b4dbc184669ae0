// What lies between two words of a sentence, for features of arcs: which tags, and how many verbs,
// conjunctions and punctuation marks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

/// Tags counted between two words: verbs, conjunctions and punctuation marks.
enum TagClass : std::uint8_t { kOther = 0, kVerb = 1, kConjunction = 2, kMark = 3 };

/// The words between any two words of a sentence: their tags, and how many verbs, conjunctions and marks.
class BetweenWords {
 public:
  void reset(std::span<const std::int32_t> tags, std::span<const std::uint8_t> classes);
  /// How many words there are, with the root.
  [[nodiscard]] std::size_t size() const { return tag_key_.size(); }
  /// How many words of a class are between them, at most 3.
  [[nodiscard]] std::int32_t count(TagClass which, std::int32_t i, std::int32_t j) const {
    const auto row = static_cast<std::size_t>(which - 1) * side_;
    const std::int32_t many =
        before_[row + static_cast<std::size_t>(j)] - before_[row + static_cast<std::size_t>(i) + 1];
    return many < 3 ? many : 3;
  }
  /// The last word j such that `many` words of a class are between i and j (3: at least three). Many must not
  /// exceed their number after i.
  [[nodiscard]] std::int32_t last_with(TagClass which, std::int32_t i, std::int32_t many) const {
    const auto k = static_cast<std::size_t>(which - 1);
    const auto next = static_cast<std::size_t>(before_[k * side_ + static_cast<std::size_t>(i) + 1] + many);
    return many < 3 && next < where_[k].size() ? where_[k][next] : static_cast<std::int32_t>(size()) - 1;
  }
  /// Calls visit(number of the tag, where it first occurs) once for each tag between i < j.
  template <class Visit>
  void for_each_tag(std::int32_t i, std::int32_t j, const Visit& visit) const {
    for (std::int32_t b = i + 1; b < j; ++b) {
      if (earlier_[static_cast<std::size_t>(b)] <= i) visit(tag_key_[static_cast<std::size_t>(b)], b);
    }
  }

 private:
  std::size_t side_ = 0;
  std::vector<std::uint32_t> tag_key_;              // [n + 1]  between_key of the tag
  std::vector<std::int32_t> earlier_;               // [n + 1]  previous place with the same tag
  std::vector<std::int32_t> before_;                // [3][n + 2]  words of a class before place p
  std::array<std::vector<std::int32_t>, 3> where_;  // words of each class
  std::vector<std::int32_t> last_;                  // [tags + 1]  scratch
};

/// Pseudo-random numbers for counts between two words, the same for all sentences.
struct BetweenKeys {
  std::array<std::array<std::uint32_t, 4>, 3> count;  // [class][how many]
};
[[nodiscard]] const BetweenKeys& between_keys();
/// That of a tag between two words.
[[nodiscard]] std::uint32_t between_key(std::int32_t tag);

}  // namespace duilian
