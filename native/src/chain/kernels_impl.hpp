// The source of the kernels, compiled once per instruction set: the including file names the namespace and
// sets the compiler's flags. It uses the compiler's vector types, which become SSE2, AVX2 or NEON, and no
// standard templates, because an inline function compiled with AVX2 must not leak into the baseline.

#include "duilian/chain/kernels.hpp"

namespace duilian::DUILIAN_KERNELS {
namespace {

using Size = decltype(sizeof 0);
// The attributes come before the =: otherwise clang takes the alignment for that of a vector and crashes.
using V [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
using I = long long __attribute__((vector_size(32)));

constexpr Size kBlock = 10;  // vectors of a row kept in registers: 40 labels

inline V load(const double* p) { return *reinterpret_cast<const V*>(p); }
inline void store(double* p, V v) { *reinterpret_cast<V*>(p) = v; }
inline V spread(double x) { return V{x, x, x, x}; }
inline V larger(V a, V b) { return a > b ? a : b; }
inline V smaller(V a, V b) { return a < b ? a : b; }

struct SumOfProducts {
  static V start() { return spread(0.0); }
  static V step(V acc, V x, V m) { return acc + x * m; }
};

struct MaxOfSums {
  static V start() { return spread(-__builtin_inf()); }
  static V step(V acc, V x, V m) { return larger(x + m, acc); }
};

/// N vectors of the row: y = step over i of (x[i], m[i]).
template <class Op, Size N>
void block(const double* x, const double* m, Size rows, Size stride, double* y) {
  V acc[N];
  for (Size v = 0; v < N; ++v) acc[v] = Op::start();
  for (Size i = 0; i < rows; ++i) {
    const V xi = spread(x[i]);
    const double* row = m + i * stride;
    for (Size v = 0; v < N; ++v) acc[v] = Op::step(acc[v], xi, load(row + 4 * v));
  }
  for (Size v = 0; v < N; ++v) store(y + 4 * v, acc[v]);
}

template <class Op, Size N = kBlock>
void last_block(Size vectors, const double* x, const double* m, Size rows, Size stride, double* y) {
  if constexpr (N > 0) {
    if (vectors == N) return block<Op, N>(x, m, rows, stride, y);
    return last_block<Op, N - 1>(vectors, x, m, rows, stride, y);
  }
}

template <class Op>
void combine(const double* x, const double* m, Size rows, Size stride, double* y) {
  Size vectors = stride / 4;
  for (; vectors > kBlock; vectors -= kBlock, m += 4 * kBlock, y += 4 * kBlock) {
    block<Op, kBlock>(x, m, rows, stride, y);
  }
  last_block<Op>(vectors, x, m, rows, stride, y);
}

template <Size N>
void block_of_rows(const double* x, const std::uint32_t* row, Size count, const double* m, Size stride,
                   double* y) {
  V acc[N];
  for (Size v = 0; v < N; ++v) acc[v] = spread(0.0);
  for (Size k = 0; k < count; ++k) {
    const V xi = spread(x[row[k]]);
    const double* from = m + row[k] * stride;
    for (Size v = 0; v < N; ++v) acc[v] += xi * load(from + 4 * v);
  }
  for (Size v = 0; v < N; ++v) store(y + 4 * v, acc[v]);
}

void times_rows(const double* x, const std::uint32_t* row, Size count, const double* m, Size stride,
                double* y) {
  Size vectors = stride / 4;
  for (; vectors >= 8; vectors -= 8, m += 32, y += 32) block_of_rows<8>(x, row, count, m, stride, y);
  for (; vectors >= 2; vectors -= 2, m += 8, y += 8) block_of_rows<2>(x, row, count, m, stride, y);
  if (vectors > 0) block_of_rows<1>(x, row, count, m, stride, y);
}

/// R rows of a and b at once, so that c is read and written once for R products.
template <Size R>
void outer_rows(const double* a, Size a_step, const double* b, Size b_step, Size rows, Size stride,
                double* c) {
  for (Size i = 0; i < rows; ++i) {
    V ai[R];
    for (Size r = 0; r < R; ++r) ai[r] = spread(a[r * a_step + i]);
    double* row = c + i * stride;
    for (Size j = 0; j < stride; j += 4) {
      V acc = load(row + j);
      for (Size r = 0; r < R; ++r) acc += ai[r] * load(b + r * b_step + j);
      store(row + j, acc);
    }
  }
}

void add_outer(const double* a, Size a_step, const double* b, Size b_step, Size count, Size rows, Size stride,
               double* c) {
  constexpr Size kRows = 8;
  for (; count >= kRows; count -= kRows, a += kRows * a_step, b += kRows * b_step) {
    outer_rows<kRows>(a, a_step, b, b_step, rows, stride, c);
  }
  for (; count > 0; --count, a += a_step, b += b_step) outer_rows<1>(a, a_step, b, b_step, rows, stride, c);
}

/// y[k] = step(y[k], x[k], m[k])
template <class Op>
void elementwise(const double* x, const double* m, Size n, double* y) {
  Size k = 0;
  for (; k + 4 <= n; k += 4) store(y + k, Op::step(load(y + k), load(x + k), load(m + k)));
  for (; k < n; ++k) {
    const V one = Op::step(spread(y[k]), spread(x[k]), spread(m[k]));
    y[k] = one[0];
  }
}

/// e^x, where x = n ln 2 + r with |r| <= ln 2 / 2: a Taylor polynomial of degree 12 in r (error below 2e-16),
/// and n added to the exponent bits.
inline V exponential(V x) {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93145751953125e-1;
  constexpr double kLn2Low = 1.42860682030941723212e-6;
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to an integer
  const I is_tiny = x < spread(-708.0);
  x = is_tiny ? spread(-708.0) : x;
  const V shifted = x * spread(kLog2E) + spread(kRound);
  const V n = shifted - spread(kRound);
  const V r = (x - n * spread(kLn2High)) - n * spread(kLn2Low);
  constexpr double kInverseFactorial[] = {
      1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
      1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,      0.5,           1.0,          1.0};
  V p = spread(1.0 / 479001600.0);
  for (const double c : kInverseFactorial) p = p * r + spread(c);
  const I bits = reinterpret_cast<I>(p) + (reinterpret_cast<I>(shifted) << 52);
  return is_tiny ? spread(0.0) : reinterpret_cast<V>(bits);
}

void exponentials(const double* x, double shift, Size n, double* y) {
  Size j = 0;
  for (; j + 4 <= n; j += 4) store(y + j, exponential(load(x + j) - spread(shift)));
  if (j == n) return;
  double rest[4] = {0.0, 0.0, 0.0, 0.0};
  for (Size k = j; k < n; ++k) rest[k - j] = x[k] - shift;
  const V e = exponential(load(rest));
  for (Size k = j; k < n; ++k) y[k] = e[k - j];
}

#include "maxima_impl.hpp"

double multiply(const double* x, Size n, Size stride, double* y, double* smallest) {
  V sum = spread(0.0);
  for (Size j = 0; j < stride; j += 4) {
    const V product = load(x + j) * load(y + j);
    store(y + j, product);
    sum += product;
  }
  V low = spread(y[0]);
  for (Size j = 0; j + 4 <= n; j += 4) low = smaller(load(y + j), low);
  double lowest = low[0];
  for (Size k = 1; k < 4; ++k) lowest = low[k] < lowest ? low[k] : lowest;
  for (Size j = n / 4 * 4; j < n; ++j) lowest = y[j] < lowest ? y[j] : lowest;
  *smallest = lowest;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

constexpr Size kLane = kCoarseLanes;
#include "coarse_impl.hpp"

}  // namespace

const Kernels& set() {
  static constexpr Kernels kSet{DUILIAN_KERNELS_NAME,
                                combine<SumOfProducts>,
                                times_rows,
                                combine<MaxOfSums>,
                                add_outer,
                                elementwise<SumOfProducts>,
                                elementwise<MaxOfSums>,
                                exponentials,
                                peak,
                                peak_place,
                                peak_sum_place,
                                at_least,
                                multiply,
                                kLane,
                                coarse_add_rows,
                                coarse_start,
                                coarse_forward,
                                coarse_backward,
                                coarse_at_least,
                                coarse_sums};
  return kSet;
}

}  // namespace duilian::DUILIAN_KERNELS
