// Linear maps in panels.
#include "duilian/neural/linear.hpp"

#include <algorithm>
#include <cmath>

namespace duilian {

namespace {

constexpr std::size_t kLineBytes = 64;

/// Where the first whole cache line of a vector begins; vectors that straddle lines would be slow.
template <class T>
[[nodiscard]] std::size_t shift_of(const std::vector<T>& values) {
  constexpr std::size_t line = kLineBytes / sizeof(T);
  return (line - reinterpret_cast<std::uintptr_t>(values.data()) / sizeof(T) % line) % line;
}

}  // namespace

void Panels::reset(std::size_t depth, std::size_t columns) {
  depth_ = depth;
  columns_ = rounded_up(columns, kPanel);
  values_.assign(depth_ * columns_ + kLineBytes / sizeof(float), 0.0F);
  shift_ = shift_of(values_);
}

bool Panels::make_whole(float given) {
  constexpr float kMost = 127.0F, kNear = 1e-2F;
  if (depth_ > kMostWhole) return false;
  const std::size_t pairs = (depth_ + 1) / 2;
  std::vector<std::int16_t> whole(2 * pairs * columns_ + kLineBytes / sizeof(std::int16_t), 0);
  const std::size_t shift = shift_of(whole);
  std::vector<float> scale(columns_, given);
  for (std::size_t j = 0; j < columns_; ++j) {
    for (std::size_t k = 0; k < depth_ && given == 0.0F; ++k)
      scale[j] = std::max(scale[j], std::abs(values_[place(k, j)]) / kMost);
    for (std::size_t k = 0; k < depth_ && scale[j] > 0.0F; ++k) {
      const float steps = values_[place(k, j)] / scale[j], step = std::nearbyint(steps);
      if (std::abs(steps - step) > kNear || std::abs(step) > kMost) return false;
      whole[shift + 2 * ((j / kPanel * pairs + k / 2) * kPanel + j % kPanel) + k % 2] =
          static_cast<std::int16_t>(step);
    }
  }
  whole_ = std::move(whole), scale_ = std::move(scale), whole_shift_ = shift;
  values_ = {};
  return true;
}

void Panels::add_product(const float* a, std::size_t a_stride, std::size_t rows, float* c,
                         std::size_t c_stride) const {
  const NeuralKernels& use = neural_kernels();
  if (whole_.empty()) return use.add_product(a, a_stride, rows, begin(), depth_, columns_, c, c_stride);
  const std::size_t pairs = (depth_ + 1) / 2;
  thread_local std::vector<std::int16_t> row;
  thread_local std::vector<float> scale;
  row.resize(2 * pairs * rows), scale.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    row[2 * pairs * (r + 1) - 1] = 0;
    scale[r] = use.to_whole(a + r * a_stride, depth_, &row[2 * pairs * r]);
  }
  use.add_whole_product(row.data(), pairs, rows, scale.data(), whole_.data() + whole_shift_, columns_,
                        scale_.data(), c, c_stride);
}

Linear::Linear(const TrainedMap& trained, const Spread& inputs, const Spread& outputs) {
  const TrainedMatrix& w = trained.weight;
  panels_.reset(inputs(w.columns - 1) + 1, outputs(w.rows - 1) + 1);
  bias_.assign(panels_.columns(), 0.0F);
  for (std::size_t j = 0; j < w.rows; ++j) {
    bias_[outputs(j)] = trained.bias[j];
    for (std::size_t k = 0; k < w.columns; ++k) panels_.set(inputs(k), outputs(j), w.at(j, k));
  }
  (void)panels_.make_whole();
}

Linear::Linear(const TrainedMatrix& trained, const std::vector<std::size_t>& place) {
  const std::size_t inputs = trained.rows - 1;
  panels_.reset(inputs, *std::max_element(place.begin(), place.end()) + 1);
  bias_.assign(panels_.columns(), 0.0F);
  for (std::size_t j = 0; j < place.size(); ++j) {
    bias_[place[j]] = trained.at(inputs, j);
    for (std::size_t k = 0; k < inputs; ++k) panels_.set(k, place[j], trained.at(k, j));
  }
  Panels whole;
  whole.reset(inputs, panels_.columns());
  input_scale_.assign(inputs, 0.0F);
  for (std::size_t k = 0; k < inputs; ++k) {
    float& scale = input_scale_[k];
    for (std::size_t j = 0; j < place.size(); ++j)
      scale = std::max(scale, std::abs(trained.at(k, j)) / 127.0F);
    for (std::size_t j = 0; j < place.size() && scale > 0.0F; ++j)
      whole.set(k, place[j], trained.at(k, j) / scale);
  }
  // Each row of the matrix has a scale in a file, so the inputs are multiplied by it first.
  if (whole.make_whole(1.0F))
    panels_ = std::move(whole);
  else
    input_scale_.clear();
}

void Linear::apply(const float* rows, std::size_t stride, std::size_t count, std::vector<float>& out) const {
  out.resize(count * outputs());
  for (std::size_t r = 0; r < count; ++r)
    std::copy(bias_.begin(), bias_.end(), out.begin() + static_cast<std::ptrdiff_t>(r * outputs()));
  if (input_scale_.empty()) return panels_.add_product(rows, stride, count, out.data(), outputs());
  thread_local std::vector<float> scaled;
  scaled.resize(count * input_scale_.size());
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t k = 0; k < input_scale_.size(); ++k)
      scaled[r * input_scale_.size() + k] = rows[r * stride + k] * input_scale_[k];
  panels_.add_product(scaled.data(), input_scale_.size(), count, out.data(), outputs());
}

}  // namespace duilian
