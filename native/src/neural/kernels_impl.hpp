// The source of the kernels, compiled once per instruction set: the including file names the namespace and
// sets the compiler's flags. As in chain/kernels_impl.hpp, there are no standard templates.

#include "duilian/neural/kernels.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace duilian::DUILIAN_KERNELS {
namespace {

using Size = decltype(sizeof 0);
constexpr Size kLanes = DUILIAN_LANES;           // numbers in a vector
constexpr Size kBlockRows = DUILIAN_BLOCK_ROWS;  // of a product, kept in registers
constexpr Size kBlockVectors = DUILIAN_BLOCK_VECTORS;
static_assert(kPanel % (kLanes * kBlockVectors) == 0 && kNeuralLanes % kLanes == 0);

using V [[gnu::vector_size(kLanes * 4), gnu::aligned(4), gnu::may_alias]] = float;
using I = int __attribute__((vector_size(kLanes * 4)));

inline V load(const float* p) { return *reinterpret_cast<const V*>(p); }
inline void store(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
inline V spread(float x) { return V{} + x; }

/// R rows of c and some of the columns of a panel.
template <Size R>
inline void block(const float* a, Size a_stride, const float* b, Size depth, float* c, Size c_stride) {
  V sum[R][kBlockVectors];
  for (Size r = 0; r < R; ++r)
    for (Size v = 0; v < kBlockVectors; ++v) sum[r][v] = load(c + r * c_stride + v * kLanes);
  for (Size k = 0; k < depth; ++k, b += kPanel) {
    V from[kBlockVectors];
    for (Size v = 0; v < kBlockVectors; ++v) from[v] = load(b + v * kLanes);
    for (Size r = 0; r < R; ++r) {
      const V x = spread(a[r * a_stride + k]);
      for (Size v = 0; v < kBlockVectors; ++v) sum[r][v] += x * from[v];
    }
  }
  for (Size r = 0; r < R; ++r)
    for (Size v = 0; v < kBlockVectors; ++v) store(c + r * c_stride + v * kLanes, sum[r][v]);
}

template <Size R>
void last_rows(Size rows, const float* a, Size a_stride, const float* b, Size depth, float* c,
               Size c_stride) {
  if constexpr (R > 0) {
    if (rows == R) return block<R>(a, a_stride, b, depth, c, c_stride);
    return last_rows<R - 1>(rows, a, a_stride, b, depth, c, c_stride);
  }
}

void add_product(const float* a, Size a_stride, Size rows, const float* b, Size depth, Size columns, float* c,
                 Size c_stride) {
  constexpr Size kWidth = kLanes * kBlockVectors;
  for (Size j = 0; j < columns; j += kWidth) {
    const float* part = b + j / kPanel * depth * kPanel + j % kPanel;
    Size i = 0;
    for (; i + kBlockRows <= rows; i += kBlockRows)
      block<kBlockRows>(a + i * a_stride, a_stride, part, depth, c + i * c_stride + j, c_stride);
    last_rows<kBlockRows - 1>(rows - i, a + i * a_stride, a_stride, part, depth, c + i * c_stride + j,
                              c_stride);
  }
}

using Short = std::int16_t __attribute__((vector_size(kLanes * 2)));
using Pairs [[gnu::vector_size(kLanes * 4), gnu::aligned(2), gnu::may_alias]] = int;

/// sum + both products of each pair of 16-bit numbers.
inline I add_pairs(I sum, I a, I b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<I>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a),
                                                 reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return sum +
         reinterpret_cast<I>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return sum +
         reinterpret_cast<I>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return sum + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}

/// R rows of c and some of the columns of a panel.
template <Size R>
inline void whole_block(const std::int16_t* a, Size pairs, const float* scale, const std::int16_t* b,
                        const float* weight_scale, float* c, Size c_stride) {
  I sum[R][kBlockVectors] = {};
  for (Size k = 0; k < pairs; ++k, b += 2 * kPanel) {
    I from[kBlockVectors];
    for (Size v = 0; v < kBlockVectors; ++v) from[v] = *reinterpret_cast<const Pairs*>(b + 2 * v * kLanes);
    for (Size r = 0; r < R; ++r) {
      int pair;
      __builtin_memcpy(&pair, a + 2 * (r * pairs + k), sizeof pair);
      const I x = I{} + pair;
      for (Size v = 0; v < kBlockVectors; ++v) sum[r][v] = add_pairs(sum[r][v], x, from[v]);
    }
  }
  for (Size r = 0; r < R; ++r) {
    for (Size v = 0; v < kBlockVectors; ++v) {
      float* to = c + r * c_stride + v * kLanes;
      const V factor = spread(scale[r]) * load(weight_scale + v * kLanes);
      store(to, load(to) + __builtin_convertvector(sum[r][v], V) * factor);
    }
  }
}

template <Size R>
void last_whole_rows(Size rows, const std::int16_t* a, Size pairs, const float* scale, const std::int16_t* b,
                     const float* weight_scale, float* c, Size c_stride) {
  if constexpr (R > 0) {
    if (rows == R) return whole_block<R>(a, pairs, scale, b, weight_scale, c, c_stride);
    return last_whole_rows<R - 1>(rows, a, pairs, scale, b, weight_scale, c, c_stride);
  }
}

void add_whole_product(const std::int16_t* a, Size pairs, Size rows, const float* scale,
                       const std::int16_t* b, Size columns, const float* weight_scale, float* c,
                       Size c_stride) {
  constexpr Size kWidth = kLanes * kBlockVectors;
  for (Size j = 0; j < columns; j += kWidth) {
    const std::int16_t* part = b + 2 * (j / kPanel * pairs * kPanel + j % kPanel);
    Size i = 0;
    for (; i + kBlockRows <= rows; i += kBlockRows)
      whole_block<kBlockRows>(a + 2 * i * pairs, pairs, scale + i, part, weight_scale + j,
                              c + i * c_stride + j, c_stride);
    last_whole_rows<kBlockRows - 1>(rows - i, a + 2 * i * pairs, pairs, scale + i, part, weight_scale + j,
                                    c + i * c_stride + j, c_stride);
  }
}

float to_whole(const float* x, Size n, std::int16_t* y) {
  constexpr float kRound = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
  V most{};
  Size k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    const V v = load(x + k), size = v < V{} ? -v : v;
    most = size > most ? size : most;
  }
  float top = 0.0F;
  for (Size lane = 0; lane < kLanes; ++lane) top = most[lane] > top ? most[lane] : top;
  for (Size j = k; j < n; ++j) top = x[j] > top ? x[j] : -x[j] > top ? -x[j] : top;
  const float factor = top > 1e-30F ? kWhole / top : 0.0F;
  for (k = 0; k + kLanes <= n; k += kLanes) {
    const V shifted = load(x + k) * spread(factor) + spread(kRound);
    const I whole = reinterpret_cast<I>(shifted) - reinterpret_cast<I>(spread(kRound));
    const Short narrow = __builtin_convertvector(whole, Short);
    __builtin_memcpy(y + k, &narrow, sizeof narrow);
  }
  for (; k < n; ++k) {
    const V shifted = spread(x[k]) * spread(factor) + spread(kRound);
    y[k] = static_cast<std::int16_t>((reinterpret_cast<I>(shifted) - reinterpret_cast<I>(spread(kRound)))[0]);
  }
  return top / kWhole;
}

void times_rows(const float* x, const float* m, Size depth, Size columns, float* y) {
  for (Size j = 0; j < columns; j += kLanes) {
    V sum{};
    const float* from = m + j;
    for (Size k = 0; k < depth; ++k, from += columns) sum += spread(x[k]) * load(from);
    store(y + j, sum);
  }
}

/// e^x for -87 <= x <= 87, where x = n ln 2 + r with |r| <= ln 2 / 2: a Taylor polynomial of degree 7 in r,
/// and n added to the exponent bits.
inline V exponential(V x) {
  constexpr float kLimit = 87.0F;
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440054690583e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
  x = x < spread(-kLimit) ? spread(-kLimit) : x;
  x = x > spread(kLimit) ? spread(kLimit) : x;
  const V shifted = x * spread(kLog2E) + spread(kRound);
  const V n = shifted - spread(kRound);
  const V r = (x - n * spread(kLn2High)) - n * spread(kLn2Low);
  constexpr float kInverseFactorial[] = {1.0F / 720.0F, 1.0F / 120.0F, 1.0F / 24.0F, 1.0F / 6.0F,
                                         0.5F,          1.0F,          1.0F};
  V p = spread(1.0F / 5040.0F);
  for (const float c : kInverseFactorial) p = p * r + spread(c);
  return reinterpret_cast<V>(reinterpret_cast<I>(p) + (reinterpret_cast<I>(shifted) << 23));
}

inline V sigmoid(V x) { return spread(1.0F) / (spread(1.0F) + exponential(-x)); }
inline V tangent(V x) { return spread(1.0F) - spread(2.0F) / (exponential(x + x) + spread(1.0F)); }

void step_cells(const float* gates, Size size, float* cell, float* out) {
  for (Size k = 0; k < size; k += kLanes) {
    const V in = sigmoid(load(gates + k)), forget = sigmoid(load(gates + size + k));
    const V fresh = tangent(load(gates + 2 * size + k)), shown = sigmoid(load(gates + 3 * size + k));
    const V now = forget * load(cell + k) + in * fresh;
    store(cell + k, now);
    store(out + k, shown * tangent(now));
  }
}

void leak(float slope, Size n, float* x) {
  for (Size k = 0; k < n; k += kLanes) {
    const V v = load(x + k);
    store(x + k, v < V{} ? v * spread(slope) : v);
  }
}

}  // namespace

const NeuralKernels& set() {
  static constexpr NeuralKernels kSet{DUILIAN_KERNELS_NAME, add_product, to_whole, add_whole_product,
                                      times_rows,           step_cells,  leak};
  return kSet;
}

}  // namespace duilian::DUILIAN_KERNELS
