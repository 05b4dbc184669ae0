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

inline void store(double* p, V x) { *reinterpret_cast<V*>(p) = x; }

template <class Join>
inline void join_products(const RowProducts& row, Join join) {
  for (Size x = 0; x < row.size; x += kSpanLanes) {
    Size count = row.count;  // as count_at says, which must not be inlined here
    if (row.taper == Taper::kRising && x + kSpanLanes < count) count = x + kSpanLanes;
    if (row.taper == Taper::kFalling && row.size - x < count) count = row.size - x;
    const double *a = row.a + x, *b = row.b + x;
    V low = load(row.out + x), high = load(row.out + x + 4);
    for (Size k = 0; k < count; ++k, a += row.a_step, b += row.b_step) {
      low = join(low, load(a), load(b));
      high = join(high, load(a + 4), load(b + 4));
    }
    store(row.out + x, low);
    store(row.out + x + 4, high);
  }
}

void add_products(const RowProducts& row) {
  join_products(row, [](V sum, V a, V b) { return sum + a * b; });
}

void raise_to_sums(const RowProducts& row) {
  join_products(row, [](V top, V a, V b) { return larger(a + b, top); });
}

using F [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;

inline F load(const float* p) { return *reinterpret_cast<const F*>(p); }

/// Forty floats at a time, which stay in registers; then eight, then one.
void add_rows(const float* weights, const std::uint32_t* rows, Size count, Size size, float* out) {
  Size k = 0;
  for (; k + 40 <= size; k += 40) {
    F a = load(out + k), b = load(out + k + 8), c = load(out + k + 16), d = load(out + k + 24);
    F e = load(out + k + 32);
    for (Size r = 0; r < count; ++r) {
      const float* from = weights + rows[r] + k;
      a += load(from), b += load(from + 8), c += load(from + 16), d += load(from + 24), e += load(from + 32);
    }
    F* to = reinterpret_cast<F*>(out + k);
    to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e;
  }
  for (; k + 8 <= size; k += 8) {
    F a = load(out + k);
    for (Size r = 0; r < count; ++r) a += load(weights + rows[r] + k);
    *reinterpret_cast<F*>(out + k) = a;
  }
  for (; k < size; ++k) {
    float sum = out[k];
    for (Size r = 0; r < count; ++r) sum += weights[rows[r] + k];
    out[k] = sum;
  }
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
  static constexpr TreeKernels kSet{add_products, raise_to_sums, add_rows, add_arc_weights};
  return kSet;
}

}  // namespace duilian::DUILIAN_TREE_KERNELS
