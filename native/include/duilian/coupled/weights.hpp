// The weights of a coupled tagger as a model file has them: compiled from those of training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/layout.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

/// Labels of the table: those of the pruners, for sides that have one; then those of the model's sides; then
/// the joint ones. Transitions in the same order, each [L + 1][L + 1].
struct CoupledWeights {
  WeightTable table;
  std::vector<float> transition;
  std::vector<std::int32_t> pruned_sides;  // those with a pruner, ascending
};

/// Compiles each of several sets of weights. State weights whose size is below `min_weight` in all of them
/// are dropped: the tables have the same slots and labels. `pruner`: for each side the weights of a baseline
/// tagger over the same features, which prunes instead of the model's own weights, or nothing; may be empty.
[[nodiscard]] std::vector<CoupledWeights> compile_coupled(const CoupledLayout& layout,
                                                          std::span<const std::span<const float>> weights,
                                                          std::span<const std::span<const float>> pruner,
                                                          std::span<const std::uint64_t> keys,
                                                          float min_weight);

/// How many labels each block of the table has. Throws std::invalid_argument if there is no such side.
[[nodiscard]] std::vector<std::int32_t> side_blocks(const CoupledShape& shape,
                                                    std::span<const std::int32_t> pruned_sides);
[[nodiscard]] std::int32_t side_label_count(const CoupledShape& shape,
                                            std::span<const std::int32_t> pruned_sides);

/// Throws std::invalid_argument unless weights from a file fit a shape: all of them are checked here, before
/// anything is built from them.
void check(const CoupledWeights& weights, const CoupledShape& shape);

}  // namespace duilian
