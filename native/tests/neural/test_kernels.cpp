// Compares all sets of kernels of neural networks with plain loops in double precision.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "duilian/neural/kernels.hpp"
#include "duilian/neural/linear.hpp"
#include "random.hpp"

namespace {

using duilian::all_neural_kernels;
using duilian::kNeuralLanes;
using duilian::kPanel;
using duilian::NeuralKernels;
using testing::Random;

constexpr double kTolerance = 1e-5;

[[nodiscard]] std::vector<float> random_values(Random& random, std::size_t count, double most = 1.0) {
  std::vector<float> out(count);
  for (float& each : out) each = static_cast<float>(random.real(-most, most));
  return out;
}
[[nodiscard]] std::size_t size_of(Random& random, std::int32_t most) {
  return static_cast<std::size_t>(1 + random.below(most));
}

TEST(products_equal_plain_loops) {
  testing::for_each_seed(60, [](Random& random) {
    const std::size_t rows = size_of(random, 20), depth = size_of(random, 40);
    const std::size_t columns = kPanel * size_of(random, 3);
    const std::vector<float> a = random_values(random, rows * depth),
                             b = random_values(random, depth * columns);
    const std::vector<float> start = random_values(random, rows * columns);
    std::vector<float> first;
    for (const NeuralKernels* set : all_neural_kernels()) {
      std::vector<float> c = start, row = start;
      set->add_product(a.data(), depth, rows, b.data(), depth, columns, c.data(), columns);
      for (std::size_t i = 0; i < rows; ++i) {
        // A row has the same sums alone.
        set->add_product(&a[i * depth], depth, 1, b.data(), depth, columns, &row[i * columns], columns);
        for (std::size_t j = 0; j < columns; ++j) {
          double wanted = start[i * columns + j];
          for (std::size_t k = 0; k < depth; ++k)
            wanted += double{a[i * depth + k]} * b[(j / kPanel * depth + k) * kPanel + j % kPanel];
          CHECK_NEAR(c[i * columns + j], wanted, kTolerance);
        }
      }
      CHECK(c == row);
    }
  });
}

TEST(rows_times_a_vector_equal_plain_loops) {
  testing::for_each_seed(60, [](Random& random) {
    const std::size_t depth = size_of(random, 40), columns = kNeuralLanes * size_of(random, 4);
    const std::vector<float> x = random_values(random, depth), m = random_values(random, depth * columns);
    for (const NeuralKernels* set : all_neural_kernels()) {
      std::vector<float> y(columns);
      set->times_rows(x.data(), m.data(), depth, columns, y.data());
      for (std::size_t j = 0; j < columns; ++j) {
        double wanted = 0.0;
        for (std::size_t k = 0; k < depth; ++k) wanted += double{x[k]} * m[k * columns + j];
        CHECK_NEAR(y[j], wanted, kTolerance);
      }
    }
  });
}

[[nodiscard]] double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(cells_and_rectifiers_equal_plain_loops) {
  testing::for_each_seed(60, [](Random& random) {
    const std::size_t size = kNeuralLanes * size_of(random, 3);
    const double most = random.chance(0.3) ? 1000.0 : 8.0;
    const std::vector<float> gates = random_values(random, 4 * size, most),
                             start = random_values(random, size);
    for (const NeuralKernels* set : all_neural_kernels()) {
      std::vector<float> cell = start, out(size), leaked = start;
      set->step_cells(gates.data(), size, cell.data(), out.data());
      set->leak(0.1F, size, leaked.data());
      for (std::size_t k = 0; k < size; ++k) {
        const double now =
            sigmoid(gates[size + k]) * start[k] + sigmoid(gates[k]) * std::tanh(gates[2 * size + k]);
        CHECK_NEAR(cell[k], now, kTolerance);
        CHECK_NEAR(out[k], sigmoid(gates[3 * size + k]) * std::tanh(now), kTolerance);
        CHECK_NEAR(leaked[k], start[k] < 0 ? 0.1 * start[k] : start[k], kTolerance);
      }
    }
  });
}

}  // namespace
