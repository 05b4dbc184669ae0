// Linear maps in panels.
#include "duilian/neural/linear.hpp"

#include <algorithm>
#include <cstdint>

namespace duilian {

void Panels::reset(std::size_t depth, std::size_t columns) {
  depth_ = depth;
  columns_ = rounded_up(columns, kPanel);
  values_.assign(depth_ * columns_ + kLine, 0.0F);
  const auto address = reinterpret_cast<std::uintptr_t>(values_.data()) / sizeof(float);
  shift_ = (kLine - address % kLine) % kLine;
}

Linear::Linear(const TrainedMap& trained, const Spread& inputs, const Spread& outputs) {
  const TrainedMatrix& w = trained.weight;
  panels_.reset(inputs(w.columns - 1) + 1, outputs(w.rows - 1) + 1);
  bias_.assign(panels_.columns(), 0.0F);
  for (std::size_t j = 0; j < w.rows; ++j) {
    bias_[outputs(j)] = trained.bias[j];
    for (std::size_t k = 0; k < w.columns; ++k) panels_.set(inputs(k), outputs(j), w.at(j, k));
  }
}

Linear::Linear(const TrainedMatrix& trained, const std::vector<std::size_t>& place) {
  const std::size_t inputs = trained.rows - 1;
  panels_.reset(inputs, *std::max_element(place.begin(), place.end()) + 1);
  bias_.assign(panels_.columns(), 0.0F);
  for (std::size_t j = 0; j < place.size(); ++j) {
    bias_[place[j]] = trained.at(inputs, j);
    for (std::size_t k = 0; k < inputs; ++k) panels_.set(k, place[j], trained.at(k, j));
  }
}

void Linear::apply(const float* rows, std::size_t stride, std::size_t count, std::vector<float>& out) const {
  out.resize(count * outputs());
  for (std::size_t r = 0; r < count; ++r)
    std::copy(bias_.begin(), bias_.end(), out.begin() + static_cast<std::ptrdiff_t>(r * outputs()));
  panels_.add_product(rows, stride, count, out.data(), outputs());
}

}  // namespace duilian
