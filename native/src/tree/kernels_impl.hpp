// The source of the kernels, compiled once per instruction set: the including file names the namespace and
// sets the compiler's flags. It uses no standard templates, because an inline function compiled with AVX2
// must not leak into the baseline.

#include "duilian/tree/kernels.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace duilian::DUILIAN_TREE_KERNELS {
namespace {

using Size = decltype(sizeof 0);
using V [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

inline V load(const double* p) { return *reinterpret_cast<const V*>(p); }
inline V spread(double x) { return V{x, x, x, x}; }
inline V larger(V a, V b) { return a > b ? a : b; }

double largest_sum(const double* x, const double* y, Size n) {
  V high = spread(-__builtin_inf());
  Size k = 0;
  for (; k + 4 <= n; k += 4) high = larger(load(x + k) + load(y + k), high);
  double highest = high[0];
  for (Size lane = 1; lane < 4; ++lane) highest = high[lane] > highest ? high[lane] : highest;
  for (; k < n; ++k) highest = x[k] + y[k] > highest ? x[k] + y[k] : highest;
  return highest;
}

double inner_product(const double* x, const double* y, Size n) {
  V sum = spread(0.0);
  Size k = 0;
  for (; k + 4 <= n; k += 4) sum += load(x + k) * load(y + k);
  double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; k < n; ++k) total += x[k] * y[k];
  return total;
}

void add_scaled(double scale, const double* x, Size n, double* y) {
  Size k = 0;
  for (; k + 4 <= n; k += 4) *reinterpret_cast<V*>(y + k) = load(y + k) + spread(scale) * load(x + k);
  for (; k < n; ++k) y[k] += scale * x[k];
}

#ifdef __AVX2__

inline __m256i load_integers(const std::uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

/// Eight arcs at a time. Those beyond the row have arbitrary keys, but no key leads outside the table.
void add_arc_weights(const ArcRow& row, const float* table, std::uint32_t shift, float* score) {
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(shift));
  const __m256i near = _mm256_set1_epi32(static_cast<int>(row.near));
  const __m256i places = _mm256_set1_epi32(15);
  for (Size j = 0; j < row.count; j += kArcLanes) {
    const __m256i far = _mm256_and_si256(load_integers(row.far + j), places);
    __m256 sum = _mm256_loadu_ps(score + j);
    for (Size k = 0; k < row.features; ++k) {
      const __m256i own = _mm256_set1_epi32(static_cast<int>(row.own[k]));
      const __m256i key = _mm256_add_epi32(own, load_integers(row.other + k * row.stride + j));
      const __m256i place = _mm256_srl_epi32(key, by);
      sum = _mm256_add_ps(sum, _mm256_i32gather_ps(table, _mm256_xor_si256(place, far), 4));
      sum = _mm256_add_ps(sum, _mm256_i32gather_ps(table, _mm256_xor_si256(place, near), 4));
    }
    _mm256_storeu_ps(score + j, sum);
  }
}

#else

void add_arc_weights(const ArcRow& row, const float* table, std::uint32_t shift, float* score) {
  for (Size j = 0; j < row.count; ++j) {
    float sum = score[j];
    for (Size k = 0; k < row.features; ++k) {
      const std::uint32_t place = (row.own[k] + row.other[k * row.stride + j]) >> shift;
      sum += table[place ^ row.far[j]];
      sum += table[place ^ row.near];
    }
    score[j] = sum;
  }
}

#endif

}  // namespace

const TreeKernels& set() {
  static constexpr TreeKernels kSet{largest_sum, inner_product, add_scaled, add_arc_weights};
  return kSet;
}

}  // namespace duilian::DUILIAN_TREE_KERNELS
