// The inner loops of chains: small dense matrices times vectors, in double precision. Each is compiled for
// the baseline of the architecture and, on x86-64, for AVX2 + FMA; kernels() is the set that this machine can
// run. The two sets agree to a relative 1e-12: they sum in the same order and differ only in fused
// multiply-adds. Coarse scores are whole numbers, so all sets find the same; for them there is a third set,
// for AVX-512, whose vectors are twice as long.
//
// Rows are padded: a matrix [n][m] has stride padded(m), and the padding holds 0 (or -inf for max_plus), so
// no kernel needs a remainder loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace duilian {

inline constexpr std::size_t kLanes = 4;
[[nodiscard]] constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// Transitions label i0 + k → label j0 + k for k < size; their scores begin at `at` in the array of
/// diagonals.
struct Diagonal {
  std::size_t i0 = 0;
  std::size_t j0 = 0;
  std::size_t size = 0;
  std::size_t at = 0;
};

// Coarse scores; see coarse.hpp.
using CoarseScore = std::int16_t;
inline constexpr std::size_t kCoarseLanes = 16;     // in the vectors of most sets
inline constexpr std::size_t kMaxCoarseLanes = 32;  // in those of any set; rows are padded to a multiple
// The score of a forbidden label before scores are made relative to the best of their unit.
inline constexpr CoarseScore kCoarseForbidden = -32768;
inline constexpr CoarseScore kCoarseDead = -16000;  // unreachable
inline constexpr CoarseScore kCoarseLow = -8000;    // no single score is worse

/// Transitions between rows of `vectors` vectors: a core with all pairs of some labels, and diagonals that
/// lead from each lane to one at a constant distance. So that a vector may be read at any such distance, rows
/// have kMaxCoarseLanes dead scores on both sides.
struct CoarseMatrix {
  struct Diagonal {
    std::int32_t other;  // how far away the lanes at the other end are
    std::uint32_t arc;   // the vector of its scores, dead where it has none
  };
  struct Vector {
    bool is_column;                // whether it is among the core's columns
    std::uint16_t into, into_end;  // diagonals that lead to it
    std::uint16_t out, out_end;    // diagonals that lead from it
  };
  std::size_t vectors = 0;
  const Vector* vector = nullptr;
  const Diagonal* diagonal = nullptr;
  const CoarseScore* arc = nullptr;
  std::size_t row0 = 0, rows = 0;     // lanes that the core leads from, whole vectors
  std::size_t col0 = 0, cols = 0;     // lanes that it leads to, likewise
  const CoarseScore* core = nullptr;  // [rows][cols]
};

struct Kernels {
  const char* name;
  /// y[j] = Σ_i x[i] m[i][j]
  void (*times_matrix)(const double* x, const double* m, std::size_t rows, std::size_t stride, double* y);
  /// The same over selected rows: y[j] = Σ_k x[row[k]] m[row[k]][j]
  void (*times_rows)(const double* x, const std::uint32_t* row, std::size_t count, const double* m,
                     std::size_t stride, double* y);
  /// y[j] = max_i (x[i] + m[i][j])
  void (*max_plus)(const double* x, const double* m, std::size_t rows, std::size_t stride, double* y);
  /// c[i][j] += Σ_t a[t][i] b[t][j] for `count` rows of a and b, `a_step` and `b_step` apart; c is
  /// [rows][stride]
  void (*add_outer)(const double* a, std::size_t a_step, const double* b, std::size_t b_step,
                    std::size_t count, std::size_t rows, std::size_t stride, double* c);
  /// y[k] += x[k] m[k], and y[k] = max(y[k], x[k] + m[k])
  void (*add_products)(const double* x, const double* m, std::size_t n, double* y);
  void (*raise_sums)(const double* x, const double* m, std::size_t n, double* y);
  /// y[j] = e^(x[j] - shift); exactly 0 below e^-708
  void (*exponentials)(const double* x, double shift, std::size_t n, double* y);
  /// max_j x[j], n >= 1
  double (*peak)(const double* x, std::size_t n);
  /// The first index of max_j x[j]; of max_j (x[j] + m[j]), which is stored in `sum`; n >= 1
  std::size_t (*peak_place)(const double* x, std::size_t n);
  std::size_t (*peak_sum_place)(const double* x, const double* m, std::size_t n, double* sum);
  /// Writes the indices with x[j] >= threshold to `place` [n], ascending; returns how many there are
  std::size_t (*at_least)(const double* x, std::size_t n, double threshold, std::uint32_t* place);
  /// y[j] *= x[j]; returns Σ_j y[j]; `smallest` receives the minimum of the first n
  double (*multiply)(const double* x, std::size_t n, std::size_t stride, double* y, double* smallest);
  /// Coarse scores (coarse.hpp), in padded rows of n = stride; the number of lanes in a vector.
  std::size_t coarse_lanes;
  /// to[j] += Σ_k rows[k][j]
  void (*coarse_add_rows)(const CoarseScore* const* rows, std::size_t count, std::size_t n, CoarseScore* to);
  /// Makes a unit's scores relative to the best of them; then after[j] = start[j] + state[j], relative to the
  /// best, which is returned: kCoarseDead or less if nothing is left
  CoarseScore (*coarse_start)(const CoarseScore* start, CoarseScore* state, std::size_t n,
                              CoarseScore* after);
  /// The same with after[j] = state[j] + max_i (before[i] + m[i][j]), over selected rows of the core
  CoarseScore (*coarse_forward)(const CoarseMatrix& m, const CoarseScore* before, const std::uint16_t* row,
                                std::size_t count, CoarseScore* state, CoarseScore* after);
  /// before[i] = max_j (m[i][j] + state[j] + after[j]), likewise
  CoarseScore (*coarse_backward)(const CoarseMatrix& m, const CoarseScore* state, const CoarseScore* after,
                                 const std::uint16_t* row, std::size_t count, CoarseScore* message,
                                 CoarseScore* before);
  /// Like at_least; writes up to kMaxCoarseLanes numbers beyond the last place; `next` receives the highest
  /// score below the threshold, or kCoarseForbidden
  std::size_t (*coarse_at_least)(const CoarseScore* x, std::size_t n, CoarseScore threshold,
                                 std::uint16_t* place, CoarseScore& next);
  /// sum[j] = a[j] + b[j]; returns the highest
  CoarseScore (*coarse_sums)(const CoarseScore* a, const CoarseScore* b, std::size_t n, CoarseScore* sum);
};

/// All sets that this machine can run, the slowest first.
[[nodiscard]] std::span<const Kernels* const> all_kernels();
/// The fastest of them, unless DUILIAN_KERNELS in the environment names another, `baseline` or `avx2`.
[[nodiscard]] const Kernels& kernels();
[[nodiscard]] const Kernels& baseline_kernels();

}  // namespace duilian
