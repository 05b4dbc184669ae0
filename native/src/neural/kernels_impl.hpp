// The source of the kernels, compiled once per instruction set: the including file names the namespace and
// sets the compiler's flags. As in chain/kernels_impl.hpp, there are no standard templates.

#include "duilian/neural/kernels.hpp"

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
  static constexpr NeuralKernels kSet{DUILIAN_KERNELS_NAME, add_product, times_rows, step_cells, leak};
  return kSet;
}

}  // namespace duilian::DUILIAN_KERNELS
