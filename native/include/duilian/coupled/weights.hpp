// The weights of a coupled tagger as a model file has them: compiled from those of training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/layout.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

/// Labels of the table: with a pruner its sides' labels, then the model's sides', then the joint ones.
/// Transitions in the same order, each [L + 1][L + 1].
struct CoupledWeights {
  WeightTable table;
  std::vector<float> transition;
  bool has_pruner = false;
};

/// Compiles each of several sets of weights. State weights whose size is below `least` in all of them are
/// dropped: the tables have the same slots and labels. `pruner`: the weights of plain taggers over the same
/// features, one per side, that prune instead of the model's own; or none.
[[nodiscard]] std::vector<CoupledWeights> compile_coupled(const CoupledLayout& layout,
                                                          std::span<const std::span<const float>> weights,
                                                          std::span<const std::span<const float>> pruner,
                                                          std::span<const std::uint64_t> keys, float least);

/// How many labels each side has in the table.
[[nodiscard]] std::vector<std::int32_t> side_blocks(const CoupledShape& shape, bool has_pruner);
[[nodiscard]] std::int32_t side_label_count(const CoupledShape& shape, bool has_pruner);

}  // namespace duilian
