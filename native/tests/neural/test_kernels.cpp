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

TEST(whole_products_equal_plain_loops_and_all_sets_agree) {
  testing::for_each_seed(60, [](Random& random) {
    const std::size_t rows = size_of(random, 20), pairs = size_of(random, random.chance(0.1) ? 1032 : 40);
    const std::size_t columns = kPanel * size_of(random, 2);
    const double share = random.chance(0.2) ? 0.0 : 1.0;
    std::vector<std::int16_t> a(rows * pairs * 2), b(pairs * columns * 2);
    // Also the largest sums that there may be.
    for (std::int16_t& each : a)
      each = static_cast<std::int16_t>(share == 0.0 ? 8191 : random.below(16383) - 8191);
    for (std::int16_t& each : b)
      each = static_cast<std::int16_t>(share == 0.0 ? -127 : random.below(255) - 127);
    const std::vector<float> scale = random_values(random, rows),
                             weight_scale = random_values(random, columns);
    const std::vector<float> start = random_values(random, rows * columns);
    for (const NeuralKernels* set : all_neural_kernels()) {
      std::vector<float> c = start;
      set->add_whole_product(a.data(), pairs, rows, scale.data(), b.data(), columns, weight_scale.data(),
                             c.data(), columns);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          std::int64_t sum = 0;
          for (std::size_t k = 0; k < 2 * pairs; ++k)
            sum += std::int64_t{a[i * 2 * pairs + k]} *
                   b[2 * ((j / kPanel * pairs + k / 2) * kPanel + j % kPanel) + k % 2];
          const double product = static_cast<double>(sum) * scale[i] * weight_scale[j];
          CHECK_NEAR(c[i * columns + j], start[i * columns + j] + product, 1e-6 * (1.0 + std::abs(product)));
        }
      }
    }
  });
}

TEST(numbers_become_whole_ones) {
  testing::for_each_seed(60, [](Random& random) {
    const std::vector<float> x = random_values(random, size_of(random, 50), random.chance(0.1) ? 0.0 : 3.0);
    for (const NeuralKernels* set : all_neural_kernels()) {
      std::vector<std::int16_t> y(x.size());
      const float scale = set->to_whole(x.data(), x.size(), y.data());
      for (std::size_t k = 0; k < x.size(); ++k) {
        CHECK(std::abs(y[k]) <= 8191);
        CHECK_NEAR(y[k] * scale, x[k], 0.51 * static_cast<double>(scale));
      }
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
