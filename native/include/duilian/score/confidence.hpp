// What a probability is worth: a rising curve between log odds, from what a model says to what is true.
#pragma once

#include <span>
#include <vector>

namespace duilian {

class ConfidenceCurve {
 public:
  /// Points of the curve: `said` rises, `is_true` never falls. Throws std::invalid_argument if they do not.
  ConfidenceCurve(std::vector<double> said, std::vector<double> is_true);

  [[nodiscard]] float operator()(float p) const;
  void apply(std::span<float> p) const;

 private:
  std::vector<double> said_;
  std::vector<double> true_;
  float lowest_ = 0.0F, highest_ = 1.0F;  // its ends, where most probabilities lie
};

}  // namespace duilian
