// Applies the curve that calibrates probabilities (see confidence.hpp).
#include "duilian/score/confidence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

namespace duilian {

namespace {

constexpr double kMinDistance = 1e-6;  // probabilities are kept this far from 0 and 1

[[nodiscard]] float probability(double log_odds) {
  return static_cast<float>(1.0 / (1.0 + std::exp(-log_odds)));
}

}  // namespace

ConfidenceCurve::ConfidenceCurve(std::vector<double> said, std::vector<double> is_true)
    : said_(std::move(said)), true_(std::move(is_true)) {
  const auto is_finite = [](double each) { return std::isfinite(each); };
  const bool rises = std::adjacent_find(said_.begin(), said_.end(), std::greater_equal<>()) == said_.end() &&
                     std::is_sorted(true_.begin(), true_.end());
  if (said_.empty() || said_.size() != true_.size() || !rises ||
      !std::all_of(said_.begin(), said_.end(), is_finite) ||
      !std::all_of(true_.begin(), true_.end(), is_finite))
    throw std::invalid_argument("the points of a confidence curve must be finite and must rise");
  lowest_ = probability(true_.front());
  highest_ = probability(true_.back());
}

float ConfidenceCurve::operator()(float p) const {
  const double clipped = std::clamp(static_cast<double>(p), kMinDistance, 1.0 - kMinDistance);
  const double x = std::log(clipped / (1.0 - clipped));
  if (!(x > said_.front())) return lowest_;
  if (x >= said_.back()) return highest_;
  const auto k = static_cast<std::size_t>(std::upper_bound(said_.begin(), said_.end(), x) - said_.begin());
  const double slope = (true_[k] - true_[k - 1]) / (said_[k] - said_[k - 1]);
  return probability(slope * (x - said_[k - 1]) + true_[k - 1]);
}

void ConfidenceCurve::apply(std::span<float> p) const {
  float last = -1.0F;
  float found = 0.0F;
  for (float& each : p) {  // certain words come in runs
    if (each != last) found = (*this)(each);
    last = each;
    each = found;
  }
}

}  // namespace duilian
