// Exponentiated gradient on the dual of a log-linear chain (Collins et al. 2008); Li et al. (2014) train
// their tagger with it. Every sentence i has a distribution α_i over label sequences: a chain with scores
// θ_i. The weights w = 1/C Σ_i (counts of gold - expected counts under α_i) minimise
//   Σ_i -log p(gold_i) + C/2 ‖w‖².
// A step takes one sentence and moves θ_i towards the scores under w,
//   θ_i ← (1 - η) θ_i + η score_w,
// then updates w by the change in expected counts. A step that would lower the dual is repeated with half of
// η.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "duilian/score/tagging.hpp"

namespace duilian {

class ExponentiatedGradient {
 public:
  /// C is `penalty`. Throws std::invalid_argument if a sentence is not fully annotated.
  ExponentiatedGradient(const TaggerLayout& layout, const TaggingData& data, double penalty);

  void pass(std::span<const std::int64_t> order);

  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  /// Σ_i entropy(α_i) - C/2 ‖w‖²; never above the primal loss, and equal to it at the optimum.
  [[nodiscard]] double dual() const;

 private:
  struct Point {
    std::vector<double> state;      // [T][stride]  θ of the state parts, without start and stop
    std::vector<float> transition;  // [L + 1][L + 1]  θ of the transitions, the same at every position
    double rate = 0.5;              // η of this sentence
  };
  struct Expectation {
    UniformMarginals found;
    std::vector<double> transition;  // [L + 1][L + 1]
    double entropy = 0.0;
  };
  using Changes = std::vector<std::pair<std::int64_t, double>>;  // (weight, change), each weight once

  void step(std::int64_t sentence);
  [[nodiscard]] Expectation expect(std::int64_t sentence, const Point& point);
  [[nodiscard]] Point move(std::int64_t sentence, const Point& point, double rate);
  [[nodiscard]] Changes changes(std::int64_t sentence, const Expectation& from, const Expectation& to);
  [[nodiscard]] Expectation gold(std::int64_t sentence) const;
  void add(const Changes& changes);

  const TaggerLayout& layout_;
  const TaggingData& data_;
  double penalty_;
  std::vector<double> weights_;
  std::vector<float> shown_;  // weights_ in single precision, for scoring
  std::vector<Point> point_;
  std::vector<double> entropy_;
  std::vector<double> scratch_;  // [weights]  zero between calls
  UniformWorkspace work_;
};

}  // namespace duilian
