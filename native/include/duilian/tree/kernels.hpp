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

/// RowProducts may read and write so many values less one beyond a row, and read as many before it.
inline constexpr std::size_t kSpanLanes = 8;

/// Which factors matter at x: all; the first x + 1; or the first size - x. The others are zero.
enum class Taper : std::uint8_t { kNone, kRising, kFalling };

/// For all x < size: out[x] ⊕= ⊕_{k < count} a[x + k · a_step] ⊗ b[x + k · b_step].
struct RowProducts {
  const double* a;
  std::ptrdiff_t a_step;
  const double* b;
  std::ptrdiff_t b_step;
  std::size_t count, size;
  Taper taper;
  double* out;

  /// The factors that matter at x, or at any of the first few from x on.
  [[nodiscard]] std::size_t count_at(std::size_t x, std::size_t lanes = 1) const {
    const std::size_t most = taper == Taper::kRising    ? x + lanes
                             : taper == Taper::kFalling ? size - x
                                                        : count;
    return most < count ? most : count;
  }
};

struct TreeKernels {
  /// RowProducts with sums of products.
  void (*add_products)(const RowProducts& row);
  /// The same with maxima of sums.
  void (*raise_to_sums)(const RowProducts& row);
  /// out[k] += Σ_r weights[rows[r] + k] for k < size, row by row.
  void (*add_rows)(const float* weights, const std::uint32_t* rows, std::size_t count, std::size_t size,
                   float* out);
  /// score[j] += the weights of the features of arc j, in order: each first at its own place, then at `near`.
  /// `table` has 2^(32 - shift) weights, at least 16; `score` may be written up to kArcLanes beyond the row.
  void (*add_arc_weights)(const ArcRow& row, const float* table, std::uint32_t shift, float* score);
};

[[nodiscard]] const TreeKernels& tree_kernels();
[[nodiscard]] const TreeKernels& baseline_tree_kernels();

}  // namespace duilian
