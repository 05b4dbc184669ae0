// The arcs that a search may use: all, those that pruning left, or those that agree with a partial tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/eisner.hpp"

namespace duilian {

/// The allowed arcs of a sentence, numbered; heads and dependents of each word are in ascending order.
class ArcSet {
 public:
  static constexpr std::int32_t kNone = -1;

  /// `allowed[h * (words + 1) + m]` says whether h may be the head of m.
  void reset(std::int32_t words, std::span<const std::uint8_t> allowed) {
    words_ = words;
    const auto side = static_cast<std::size_t>(words) + 1;
    number_.assign(side * side, kNone);
    before_.resize(std::max(before_.size(), side * side));
    dependent_.clear();
    first_dependent_.assign(side + 1, 0);
    first_.assign(side + 1, 0);
    for (std::int32_t h = 0; h <= words; ++h) {
      const std::int32_t begin = first_dependent_[h];
      for (std::int32_t m = 0; m <= words; ++m) {
        before_[place(h, m)] = static_cast<std::int32_t>(dependent_.size()) - begin;
        if (allowed[place(h, m)] == 0 || m == 0 || h == m) continue;
        dependent_.push_back(m);
        ++first_[m + 1];
      }
      first_dependent_[h + 1] = static_cast<std::int32_t>(dependent_.size());
    }
    for (std::size_t m = 0; m < side; ++m) first_[m + 1] += first_[m];
    next_.assign(first_.begin(), first_.end());
    head_.resize(dependent_.size());
    for (std::int32_t h = 0; h <= words; ++h) {
      for (const std::int32_t m : dependents(h)) {
        const std::int32_t arc = next_[m]++;
        number_[place(h, m)] = arc;
        head_[arc] = h;
      }
    }
  }

  [[nodiscard]] std::int32_t words() const { return words_; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(head_.size()); }
  /// The number of an arc, or kNone if it is not allowed. Arcs of the same dependent have consecutive
  /// numbers.
  [[nodiscard]] std::int32_t number(std::int32_t h, std::int32_t m) const { return number_[place(h, m)]; }
  [[nodiscard]] std::int32_t head(std::int32_t arc) const { return head_[arc]; }
  [[nodiscard]] std::int32_t first_into(std::int32_t m) const { return first_[m]; }
  [[nodiscard]] std::int32_t end_into(std::int32_t m) const { return first_[m + 1]; }
  [[nodiscard]] std::span<const std::int32_t> dependents(std::int32_t h) const {
    return {dependent_.data() + first_dependent_[h], static_cast<std::size_t>(count_dependents(h))};
  }
  [[nodiscard]] std::int32_t count_dependents(std::int32_t h) const {
    return first_dependent_[h + 1] - first_dependent_[h];
  }
  /// How many dependents of h precede word m; this is the rank of m if it is one of them.
  [[nodiscard]] std::int32_t rank(std::int32_t h, std::int32_t m) const { return before_[place(h, m)]; }

 private:
  [[nodiscard]] std::size_t place(std::int32_t h, std::int32_t m) const {
    return static_cast<std::size_t>(h) * static_cast<std::size_t>(words_ + 1) + static_cast<std::size_t>(m);
  }

  std::int32_t words_ = 0;
  std::vector<std::int32_t> number_;           // [words + 1][words + 1]
  std::vector<std::int32_t> head_;             // [arcs]
  std::vector<std::int32_t> first_;            // [words + 2]  arcs into a word
  std::vector<std::int32_t> next_;             // [words + 2]  scratch
  std::vector<std::int32_t> dependent_;        // [arcs]
  std::vector<std::int32_t> first_dependent_;  // [words + 2]
  std::vector<std::int32_t> before_;           // [words + 1][words + 1]
};

}  // namespace duilian
