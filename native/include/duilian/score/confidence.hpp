// Calibrates probabilities: a monotone curve in log odds maps what a model claims to how often it is right.
#pragma once

#include <span>
#include <vector>

namespace duilian {

class ConfidenceCurve {
 public:
  /// Points of the curve in log odds: `said` must rise strictly, `is_true` must not fall. Throws
  /// std::invalid_argument otherwise.
  ConfidenceCurve(std::vector<double> said, std::vector<double> is_true);

  [[nodiscard]] float operator()(float p) const;
  void apply(std::span<float> p) const;

 private:
  std::vector<double> said_;
  std::vector<double> true_;
  float lowest_ = 0.0F, highest_ = 1.0F;  // values at both ends, where most probabilities lie
};

}  // namespace duilian
