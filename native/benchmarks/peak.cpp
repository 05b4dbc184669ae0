// Measures the arithmetic peak of this machine for benchmarks/chain.py: multiply-adds and add-and-max steps
// per second, all in registers. No kernel of a chain can be faster.
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace {

using Vector = double __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 4;
constexpr std::size_t kRegisters = 12;  // enough to hide the latency of one operation
constexpr std::size_t kRounds = 2'000'000;

struct MultiplyAdd {
  static Vector step(Vector acc, Vector x, Vector m) { return acc * x + m; }
};
struct AddMax {
  static Vector step(Vector acc, Vector x, Vector m) {
    const Vector sum = acc + x;
    return sum > m ? sum : m;
  }
};

/// The same step on independent registers, over and over; the operands are hidden from the optimiser.
template <class Op>
double burst() {
  Vector acc[kRegisters];
  for (std::size_t v = 0; v < kRegisters; ++v) acc[v] = Vector{} + static_cast<double>(v);
  double a = 0.999;
  double b = 1e-3;
  asm volatile("" : "+m"(a), "+m"(b));
  const Vector x = Vector{} + a;
  const Vector m = Vector{} + b;
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t v = 0; v < kRegisters; ++v) acc[v] = Op::step(acc[v], x, m);
  }
  Vector sum{};
  for (std::size_t v = 0; v < kRegisters; ++v) sum += acc[v];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/// Operations per second in the fastest of several bursts.
template <class Op>
double peak() {
  double best = 1e9;
  for (int run = 0; run < 10; ++run) {
    const auto start = std::chrono::steady_clock::now();
    volatile double kept = burst<Op>();
    (void)kept;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() < best) best = took.count();
  }
  return static_cast<double>(kRounds * kRegisters * kLanes) / best;
}

}  // namespace

int main() {
  std::printf("%.0f %.0f\n", peak<MultiplyAdd>(), peak<AddMax>());
  return 0;
}
