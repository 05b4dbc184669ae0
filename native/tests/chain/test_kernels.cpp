// Compares the two sets of kernels with each other, with plain loops and with the standard library.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "duilian/chain/kernels.hpp"
#include "duilian/chain/transitions.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

/// A matrix [rows][padded(cols)] and vectors for the kernels.
struct Matrix {
  std::size_t rows;
  std::size_t cols;
  std::size_t stride = padded(cols);
  std::vector<double> value = std::vector<double>(rows * stride, 0.0);

  void fill(testing::Random& random, double low, double high) {
    for (std::size_t k = 0; k < value.size(); ++k) {
      if (k % stride < cols) value[k] = random.real(low, high);
    }
  }
};

[[nodiscard]] bool agree(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return testing::is_near(x, y, 1e-12 * std::abs(x)); });
}

/// Calls test(kernels, rows, cols, random) for matrices of 1..70 rows and columns, with both sets.
template <class Test>
void for_each_size(const Test& test) {
  for (std::size_t n = 1; n <= 70; ++n) {
    for (const std::size_t m : {n, 71 - n, std::size_t{1}, std::size_t{40}, std::size_t{70}}) {
      testing::Random random(n * 100 + m);
      test(n, m, random);
    }
  }
}

constexpr double kExponentialError = 8 * 4e-16;

void check_exponentials(const Kernels& set, const std::vector<double>& x, double shift) {
  std::vector<double> y(x.size(), -1.0);
  set.exponentials(x.data(), shift, x.size(), y.data());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double at = x[j] - shift;
    const double wanted = at < -708.0 ? 0.0 : std::exp(at);
    CHECK_NEAR(y[j], wanted, kExponentialError * wanted);
  }
}

}  // namespace

TEST(both_kernel_sets_multiply_alike) {
  for_each_size([](std::size_t n, std::size_t m, testing::Random& random) {
    Matrix a{n, m};
    Matrix x{1, n};
    a.fill(random, 0.0, 1.0);
    x.fill(random, 0.0, 1.0);
    std::vector<double> fast(a.stride, -1.0);
    std::vector<double> baseline(a.stride, -1.0);
    kernels().times_matrix(x.value.data(), a.value.data(), n, a.stride, fast.data());
    baseline_kernels().times_matrix(x.value.data(), a.value.data(), n, a.stride, baseline.data());
    std::vector<double> wanted(a.stride, 0.0);
    for (std::size_t k = 0; k < a.value.size(); ++k)
      wanted[k % a.stride] += x.value[k / a.stride] * a.value[k];
    CHECK(agree(fast, baseline) && agree(wanted, baseline));
  });
}

TEST(both_kernel_sets_find_values_above_a_threshold) {
  for_each_size([](std::size_t n, std::size_t, testing::Random& random) {
    std::vector<double> x(n);
    for (double& each : x) each = random.real(0.0, 1.0);
    for (const double threshold : {x[n / 2], 0.9, 2.0, 0.0}) {
      std::vector<std::uint32_t> wanted;
      for (std::size_t k = 0; k < n; ++k) {
        if (x[k] >= threshold) wanted.push_back(static_cast<std::uint32_t>(k));
      }
      for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
        std::vector<std::uint32_t> found(n);
        found.resize(set->at_least(x.data(), n, threshold, found.data()));
        CHECK(found == wanted);
      }
    }
  });
}

TEST(both_kernel_sets_find_the_first_of_the_largest) {
  for_each_size([](std::size_t n, std::size_t, testing::Random& random) {
    std::vector<double> x(n);
    std::vector<double> m(n);
    for (std::size_t k = 0; k < n; ++k) {  // few distinct values: some are equal, some forbidden
      x[k] = random.chance(0.2) ? kForbidden : std::floor(random.real(0.0, 4.0));
      m[k] = std::floor(random.real(0.0, 3.0));
    }
    std::size_t plain = 0;
    std::size_t summed = 0;
    for (std::size_t k = 1; k < n; ++k) {
      if (x[k] > x[plain]) plain = k;
      if (x[k] + m[k] > x[summed] + m[summed]) summed = k;
    }
    for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
      double sum = 0.0;
      CHECK(set->peak(x.data(), n) == x[plain]);
      CHECK(set->peak_place(x.data(), n) == plain);
      CHECK(set->peak_sum_place(x.data(), m.data(), n, &sum) == summed);
      CHECK(sum == x[summed] + m[summed]);
    }
  });
}

TEST(both_kernel_sets_sum_over_some_rows_alike) {
  for_each_size([](std::size_t n, std::size_t m, testing::Random& random) {
    Matrix a{n, m};
    Matrix x{1, n};
    a.fill(random, 0.0, 1.0);
    x.fill(random, 0.0, 1.0);
    std::vector<std::uint32_t> row;
    std::vector<double> wanted(a.stride, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (random.chance(0.5)) continue;
      row.push_back(static_cast<std::uint32_t>(i));
      for (std::size_t j = 0; j < a.stride; ++j) wanted[j] += x.value[i] * a.value[i * a.stride + j];
    }
    std::vector<double> fast(a.stride, -1.0);
    std::vector<double> baseline(a.stride, -1.0);
    kernels().times_rows(x.value.data(), row.data(), row.size(), a.value.data(), a.stride, fast.data());
    baseline_kernels().times_rows(x.value.data(), row.data(), row.size(), a.value.data(), a.stride,
                                  baseline.data());
    CHECK(agree(fast, baseline) && agree(wanted, baseline));
  });
}

TEST(both_kernel_sets_maximise_alike) {
  for_each_size([](std::size_t n, std::size_t m, testing::Random& random) {
    Matrix a{n, m};
    Matrix x{1, n};
    a.fill(random, -100.0, 100.0);
    x.fill(random, -100.0, 100.0);
    for (double& score : a.value) score = random.chance(0.1) ? kForbidden : score;
    std::vector<double> fast(a.stride, -1.0);
    std::vector<double> baseline(a.stride, -1.0);
    kernels().max_plus(x.value.data(), a.value.data(), n, a.stride, fast.data());
    baseline_kernels().max_plus(x.value.data(), a.value.data(), n, a.stride, baseline.data());
    std::vector<double> wanted(a.stride, kForbidden);
    for (std::size_t k = 0; k < a.value.size(); ++k) {
      wanted[k % a.stride] = std::max(wanted[k % a.stride], x.value[k / a.stride] + a.value[k]);
    }
    CHECK(fast == baseline && wanted == baseline);
  });
}

TEST(both_kernel_sets_add_outer_products_alike) {
  for_each_size([](std::size_t n, std::size_t m, testing::Random& random) {
    const auto count = static_cast<std::size_t>(random.below(20));
    Matrix a{count, n};
    Matrix b{count, m};
    Matrix start{n, m};
    for (Matrix* x : {&a, &b, &start}) x->fill(random, 0.0, 1.0);
    std::vector<double> fast = start.value;
    std::vector<double> baseline = start.value;
    std::vector<double> wanted = start.value;
    kernels().add_outer(a.value.data(), a.stride, b.value.data(), b.stride, count, n, b.stride, fast.data());
    baseline_kernels().add_outer(a.value.data(), a.stride, b.value.data(), b.stride, count, n, b.stride,
                                 baseline.data());
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        wanted[k] += a.value[t * a.stride + k / b.stride] * b.value[t * b.stride + k % b.stride];
      }
    }
    CHECK(agree(fast, baseline) && agree(wanted, baseline));
  });
}

TEST(both_kernel_sets_multiply_vectors_alike) {
  for (std::size_t n = 1; n <= 70; ++n) {
    testing::Random random(n);
    Matrix x{1, n};
    Matrix y{1, n};
    x.fill(random, 0.5, 1.0);
    y.fill(random, 0.5, 1.0);
    std::vector<double> wanted;
    for (std::size_t j = 0; j < x.stride; ++j) wanted.push_back(x.value[j] * y.value[j]);
    for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
      std::vector<double> product = y.value;
      double smallest = -1.0;
      const double sum = set->multiply(x.value.data(), n, x.stride, product.data(), &smallest);
      CHECK(product == wanted);
      CHECK(smallest == *std::min_element(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(n)));
      const double total = std::accumulate(wanted.begin(), wanted.end(), 0.0);
      CHECK_NEAR(sum, total, 1e-12 * total);
    }
  }
}

TEST(exponentials_match_the_standard_library) {
  testing::Random random(1);
  std::vector<double> x = {0.0, -0.0, 1.0, -1.0, 708.0, -708.0, 0.5, 1e-300, -1e-17, 700.5, -707.999};
  for (int n = 0; n < 100000; ++n) x.push_back(random.real(-708.0, 708.0));
  for (int n = 0; n < 10000; ++n) x.push_back(random.real(-1.0, 1.0));
  for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
    check_exponentials(*set, x, 0.0);
    for (std::size_t n = 0; n < 10; ++n)
      check_exponentials(*set, {x.begin(), x.begin() + static_cast<int>(n)}, 0.25);
  }
}

TEST(tiny_exponentials_are_zero) {
  const std::vector<double> x = {
      -708.0000001, -709.0, -745.0, -1e4, -1e300, kForbidden, std::nextafter(-708.0, -1e9)};
  for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
    std::vector<double> y(x.size(), -1.0);
    set->exponentials(x.data(), 0.0, x.size(), y.data());
    for (const double e : y) CHECK(e == 0.0);
    set->exponentials(x.data(), 1e4, x.size(), y.data());
    for (const double e : y) CHECK(e == 0.0);
  }
}

TEST(both_kernel_sets_find_the_peak) {
  for (std::size_t n = 1; n <= 70; ++n) {
    testing::Random random(n);
    Matrix x{1, n};
    x.fill(random, -100.0, -1.0);
    x.value.resize(n);
    for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
      CHECK(set->peak(x.value.data(), n) == *std::max_element(x.value.begin(), x.value.end()));
    }
  }
}

TEST(both_kernel_sets_find_a_peak_among_the_forbidden) {
  for (std::size_t n = 1; n <= 20; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<double> x(n, kForbidden);
      for (const Kernels* set : {&kernels(), &baseline_kernels()})
        CHECK(set->peak(x.data(), n) == kForbidden);
      x[at] = -1e4;
      for (const Kernels* set : {&kernels(), &baseline_kernels()}) CHECK(set->peak(x.data(), n) == -1e4);
    }
  }
}

TEST(both_kernel_sets_find_the_smallest_product_anywhere) {
  for (std::size_t n = 1; n <= 20; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      // Wider than n: the padding is 0 and must not count as the smallest.
      std::vector<double> x(padded(n) + kLanes, 0.0);
      std::fill_n(x.begin(), n, 0.5);
      x[at] = 0.25;
      for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
        std::vector<double> y(x.size(), 1.0);
        double smallest = -1.0;
        CHECK_NEAR(set->multiply(x.data(), n, x.size(), y.data(), &smallest),
                   0.5 * static_cast<double>(n) - 0.25, 1e-12);
        CHECK(smallest == 0.25 && y == x);
      }
    }
  }
}

TEST(both_kernel_sets_treat_diagonals_alike) {
  for (std::size_t n = 0; n <= 70; ++n) {
    testing::Random random(n);
    std::vector<double> x(n), m(n), start(n), sums(n), highest(n);
    for (std::vector<double>* each : {&x, &m, &start}) {
      for (double& value : *each) value = random.real(-10.0, 10.0);
    }
    for (std::size_t k = 0; k < n; ++k) {
      sums[k] = start[k] + x[k] * m[k];
      highest[k] = std::max(start[k], x[k] + m[k]);
    }
    for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
      std::vector<double> y = start;
      set->add_products(x.data(), m.data(), n, y.data());
      for (std::size_t k = 0; k < n; ++k) CHECK_NEAR(y[k], sums[k], 1e-12 * (10.0 + std::abs(x[k] * m[k])));
      y = start;
      set->raise_sums(x.data(), m.data(), n, y.data());
      CHECK(y == highest);
    }
  }
}

TEST(forbidden_sums_raise_nothing) {
  const std::vector<double> x = {kForbidden, 1.0, kForbidden, 2.0, kForbidden};
  const std::vector<double> m = {1.0, kForbidden, kForbidden, 3.0, 4.0};
  for (const Kernels* set : {&kernels(), &baseline_kernels()}) {
    std::vector<double> y = {0.0, kForbidden, kForbidden, kForbidden, -7.0};
    set->raise_sums(x.data(), m.data(), y.size(), y.data());
    CHECK(y == std::vector<double>{0.0, kForbidden, kForbidden, 5.0, -7.0});
  }
}
