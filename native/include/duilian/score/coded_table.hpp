// The weights of a tagger with up to four labels, such as a segmenter: a feature is a slot of 8 bytes with a
// check of its key and a code for each label's weight, so that a lookup reads one place in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "duilian/score/weight_table.hpp"

namespace duilian {

class CodedTable {
 public:
  static constexpr std::size_t kLabels = 4;

  /// Nothing if there are too many labels or different weights. The table must have been checked.
  [[nodiscard]] static std::optional<CodedTable> make(const WeightTable& table, std::size_t labels);

  void prefetch(std::uint64_t key) const { slots_.prefetch(key); }
  /// The codes of a feature, or kNoEntry.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const { return slots_.find(key); }
  /// Adds the weights with these codes to `score`.
  void add(std::uint32_t codes, double* score) const {
    if (codes == kNoEntry) return;
    for (std::size_t l = 0; l < kLabels; ++l) score[l] += weight_[(codes >> (8 * l)) & 0xFFU];
  }

 private:
  WeightTable slots_;  // without entries: codes stand in their places
  std::array<double, 256> weight_{};
};

}  // namespace duilian
