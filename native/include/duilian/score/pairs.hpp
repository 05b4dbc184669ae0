// Collects which features occur with which labels, as the compressed rows of a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace duilian {

/// (feature row, label) pairs; duplicates are removed before they fill the memory.
class PairSet {
 public:
  void add(std::uint32_t row, std::int32_t label) {
    pairs_.push_back((static_cast<std::uint64_t>(row) << 32U) | static_cast<std::uint32_t>(label));
    if (pairs_.size() > limit_) compact();
  }

  /// Row r gets the labels [first[r], first[r + 1]), ascending.
  template <class Label>
  void write_to(std::int64_t rows, std::vector<std::int64_t>& first, std::vector<Label>& label) {
    compact();
    first.assign(static_cast<std::size_t>(rows) + 1, 0);
    label.reserve(pairs_.size());
    for (const std::uint64_t pair : pairs_) {
      ++first[(pair >> 32U) + 1];
      label.push_back(static_cast<Label>(pair & 0xFFFFFFFFU));
    }
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) first[r + 1] += first[r];
  }

 private:
  void compact() {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    limit_ = std::max(limit_, 2 * pairs_.size());
  }
  std::vector<std::uint64_t> pairs_;
  std::size_t limit_ = std::size_t{1} << 22U;
};

}  // namespace duilian
