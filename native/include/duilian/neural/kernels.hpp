// The inner loops of neural networks, in single precision. Like those of chains (chain/kernels.hpp), they are
// compiled for several instruction sets. Every sum has one order, whatever the number of rows, so that a
// sentence has the same answer in any company; sets with fused multiply-adds agree with each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace duilian {

/// Columns of a panel: a matrix is stored as [columns / kPanel][depth][kPanel].
inline constexpr std::size_t kPanel = 64;
/// Vectors of numbers are padded to a multiple of this.
inline constexpr std::size_t kNeuralLanes = 16;

/// Rows of numbers as whole ones up to kWhole, for products with weights of one byte: no sum of up to
/// kMostWhole products overflows.
inline constexpr float kWhole = 8191.0F;
inline constexpr std::size_t kMostWhole = 2064;

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct NeuralKernels {
  const char* name;
  /// c[i][j] += Σ_k a[i][k] b[k][j]; b is in panels, and `columns` is a multiple of kPanel.
  void (*add_product)(const float* a, std::size_t a_stride, std::size_t rows, const float* b,
                      std::size_t depth, std::size_t columns, float* c, std::size_t c_stride);
  /// y[k] = x[k] / scale as whole numbers up to kWhole; returns the scale.
  float (*to_whole)(const float* x, std::size_t n, std::int16_t* y);
  /// The same product of whole numbers, exact: c[i][j] += scale[i] weight_scale[j] Σ_k a[i][k] b[k][j]; rows
  /// of a are `pairs` pairs, and a panel of b is [pairs][kPanel][2].
  void (*add_whole_product)(const std::int16_t* a, std::size_t pairs, std::size_t rows, const float* scale,
                            const std::int16_t* b, std::size_t columns, const float* weight_scale, float* c,
                            std::size_t c_stride);
  /// y[j] = Σ_k x[k] m[k][j]; `columns` is a multiple of kNeuralLanes, and rows follow each other.
  void (*times_rows)(const float* x, const float* m, std::size_t depth, std::size_t columns, float* y);
  /// One step of `size` cells of an LSTM; gates are [4][size]: in, forget, new, out.
  void (*step_cells)(const float* gates, std::size_t size, float* cell, float* out);
  /// x[k] *= slope where x[k] < 0; n is a multiple of kNeuralLanes.
  void (*leak)(float slope, std::size_t n, float* x);
};

/// The set for this machine, chosen like those of chains.
[[nodiscard]] const NeuralKernels& neural_kernels();
/// All sets that this machine can run, the slowest first.
[[nodiscard]] std::span<const NeuralKernels* const> all_neural_kernels();

}  // namespace duilian
