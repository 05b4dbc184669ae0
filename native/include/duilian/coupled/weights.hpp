// The weights of a coupled tagger as they are stored in a model file, compiled from those of training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/layout.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

/// Labels of the table: those of the pruners, for sides that have one; then those of the model's sides; then
/// the joint labels. Transitions come in the same order, each [L + 1][L + 1].
struct CoupledWeights {
  WeightTable table;
  std::vector<float> transition;
  std::vector<std::int32_t> pruned_sides;  // sides with a pruner, ascending
};

/// Compiles several sets of weights. State weights smaller in size than `min_weight` in all sets are dropped,
/// so the tables share their slots and labels. `pruner` has, for each side, the weights of a baseline tagger
/// over the same features that prunes instead of the model's own weights, or nothing; it may be empty.
/// `is_wanted` says which features to compile, for text that has no others; nothing: all.
[[nodiscard]] std::vector<CoupledWeights> compile_coupled(const CoupledLayout& layout,
                                                          std::span<const std::span<const float>> weights,
                                                          std::span<const std::span<const float>> pruner,
                                                          std::span<const std::uint64_t> keys,
                                                          float min_weight,
                                                          std::span<const std::uint8_t> is_wanted = {});

/// The number of labels in each block of the table. Throws std::invalid_argument if there is no such side.
[[nodiscard]] std::vector<std::int32_t> side_blocks(const CoupledShape& shape,
                                                    std::span<const std::int32_t> pruned_sides);
[[nodiscard]] std::int32_t side_label_count(const CoupledShape& shape,
                                            std::span<const std::int32_t> pruned_sides);

/// Throws std::invalid_argument unless weights from a file match a shape. Everything is checked here, before
/// anything is built from them.
void check(const CoupledWeights& weights, const CoupledShape& shape);

}  // namespace duilian
