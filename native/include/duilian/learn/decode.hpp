// Decoding many sentences with several threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/score/score.hpp"

namespace duilian {

struct DecodeOptions {
  bool by_marginals;  // each side's most probable tag, else the best path
  std::size_t threads;
};

/// For every lattice the tags [T][sides]; lattice k begins at first_units[k] of the features.
[[nodiscard]] std::vector<std::vector<TagId>> decode_all(const Model& model, WeightView weights,
                                                         const FeatureRows& features,
                                                         std::span<const std::int64_t> first_units,
                                                         std::span<const Lattice> lattices,
                                                         DecodeOptions options);

}  // namespace duilian
