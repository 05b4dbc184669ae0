// Linear maps of rows of numbers, arranged for the kernels of neural networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/neural/kernels.hpp"

namespace duilian {

/// A matrix as it was trained: [rows][columns].
struct TrainedMatrix {
  std::span<const float> value;
  std::size_t rows = 0;
  std::size_t columns = 0;

  [[nodiscard]] float at(std::size_t row, std::size_t column) const { return value[row * columns + column]; }
};

/// y = W x + b: `weight` is [outputs][inputs].
struct TrainedMap {
  TrainedMatrix weight;
  std::span<const float> bias;
};

/// A matrix [depth][columns] in panels, zero where nothing is set.
class Panels {
 public:
  void reset(std::size_t depth, std::size_t columns);
  void set(std::size_t k, std::size_t j, float value) { values_[place(k, j)] = value; }
  /// Sets a whole column to depth() numbers.
  void set_column(std::size_t j, const float* values) {
    float* to = &values_[place(0, j)];
    for (std::size_t k = 0; k < depth_; ++k) to[k * kPanel] = values[k];
  }
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }  // a multiple of kPanel

  /// Stores whole numbers if each column is made of numbers of one byte and a scale, as in most model files.
  /// Products are faster then, and rows of the other factor are rounded to multiples of 1 / kWhole of the
  /// largest.
  /// With a given scale, all columns have it.
  [[nodiscard]] bool make_whole(float given = 0.0F);
  /// c += a · this, for `rows` rows; c has at least columns() numbers in a row.
  void add_product(const float* a, std::size_t a_stride, std::size_t rows, float* c,
                   std::size_t c_stride) const;

 private:
  [[nodiscard]] const float* begin() const { return values_.data() + shift_; }
  [[nodiscard]] std::size_t place(std::size_t k, std::size_t j) const {
    return shift_ + (j / kPanel * depth_ + k) * kPanel + j % kPanel;
  }

  std::size_t depth_ = 0, columns_ = 0, shift_ = 0, whole_shift_ = 0;
  std::vector<float> values_;
  std::vector<std::int16_t> whole_;  // [columns / kPanel][pairs][kPanel][2], or empty
  std::vector<float> scale_;         // [columns]
};

/// Where padded parts of a row begin: output or input `k` of the trained map is at (k / part) * room + k %
/// part.
struct Spread {
  std::size_t part;
  std::size_t room;

  [[nodiscard]] std::size_t operator()(std::size_t k) const { return k / part * room + k % part; }
};

/// A map with its bias, for rows with padding.
class Linear {
 public:
  Linear() = default;
  Linear(const TrainedMap& trained, const Spread& inputs, const Spread& outputs);
  /// A matrix [inputs + 1][outputs] whose last row is the bias; output j is at place[j].
  Linear(const TrainedMatrix& trained, const std::vector<std::size_t>& place);

  [[nodiscard]] std::size_t outputs() const { return panels_.columns(); }
  /// out[r] = W rows[r] + b; `out` is resized to [count][outputs()].
  void apply(const float* rows, std::size_t stride, std::size_t count, std::vector<float>& out) const;

 private:
  Panels panels_;
  std::vector<float> bias_;
  std::vector<float> input_scale_;  // of each input before the product, if not empty
};

}  // namespace duilian
