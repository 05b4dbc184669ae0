// A table of weights as a model file has it: features in the order of their slots, and no free slots.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/score/weight_table.hpp"

namespace duilian {

struct StoredTable {
  std::int64_t slots;
  std::span<const std::uint8_t> used;    // [slots / 8] a bit per slot, the highest of each byte first
  std::span<const std::uint32_t> check;  // [features] 32 bits of the key
  std::span<const std::uint16_t> size;   // [features] the number of entries
  std::span<const std::uint16_t> first;  // [features] the first label
  std::span<const std::uint16_t> step;   // [entries - features] label - label before - 1, modulo 2^15
};

/// The slots and labels of a WeightTable; its entries are in the order of the slots. Throws
/// std::invalid_argument if the arrays do not match. Whether labels exist and ascend is checked with the
/// table.
void unpack(const StoredTable& stored, std::vector<std::uint64_t>& slot, std::vector<std::uint16_t>& label);

/// Likewise with the weights, which are places in a codebook of 256 values.
[[nodiscard]] WeightTable unpack(const StoredTable& stored, std::span<const float> code,
                                 std::span<const std::uint8_t> place);

}  // namespace duilian
