// The inner loops of trees. Like those of chains (chain/kernels.hpp), they are compiled for the baseline of
// the architecture and for AVX2 + FMA; both use the same set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duilian {

/// `ArcRow` arrays must be readable this far beyond `count`.
inline constexpr std::size_t kArcLanes = 8;

/// Features of the arcs between one word and a row of others: feature k of arc j has the key
/// own[k] + other[k * stride + j] and occurs twice, at place far[j] and at place `near`.
struct ArcRow {
  const std::uint32_t* own;
  const std::uint32_t* other;
  std::size_t stride;
  std::size_t features;
  const std::uint32_t* far;
  std::uint32_t near;
  std::size_t count;
};

struct TreeKernels {
  /// max_k x[k] + y[k], n >= 1
  double (*largest_sum)(const double* x, const double* y, std::size_t n);
  /// Σ_k x[k] y[k]
  double (*inner_product)(const double* x, const double* y, std::size_t n);
  /// y[k] += scale x[k]
  void (*add_scaled)(double scale, const double* x, std::size_t n, double* y);
  /// score[j] += the weights of the features of arc j, in order: each first at its own place, then at `near`.
  /// `table` has 2^(32 - shift) weights, at least 16; `score` may be written up to kArcLanes beyond the row.
  void (*add_arc_weights)(const ArcRow& row, const float* table, std::uint32_t shift, float* score);
};

[[nodiscard]] const TreeKernels& tree_kernels();
[[nodiscard]] const TreeKernels& baseline_tree_kernels();

}  // namespace duilian
