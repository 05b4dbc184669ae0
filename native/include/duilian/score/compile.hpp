// Compiles rows of trained weights into a table with fast lookup.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/score/weight_table.hpp"

namespace duilian {

/// Fills `out`: row r has the key keys[r] and one value for each of the labels [first[r], first[r + 1]).
/// Values below `min_weight` in size are dropped, and so are rows without values.
inline void compile_rows(std::span<const std::int64_t> first, std::span<const std::uint16_t> label,
                         std::span<const float> value, std::span<const std::uint64_t> keys, float min_weight,
                         WeightTable& out) {
  std::vector<std::uint64_t> kept;
  std::vector<std::size_t> begins;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::size_t begin = out.label.size();
    for (auto k = static_cast<std::size_t>(first[row]); k < static_cast<std::size_t>(first[row + 1]); ++k) {
      if (value[k] != 0.0F && std::abs(value[k]) >= min_weight) out.add(label[k], value[k]);
    }
    if (!out.end_feature(begin)) continue;
    kept.push_back(keys[row]);
    begins.push_back(begin);
  }
  out.place(kept, begins);
}

}  // namespace duilian
