// What a learner sees of a model: numbered examples, each with a loss and a direction. So a learner is one
// file and knows no lattice, and a new model needs no new learner.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

/// A change of one weight.
struct Delta {
  std::uint32_t weight;
  float value;
};

/// Downhill for one example. The first weights of a model (its transitions) change in nearly every example and
/// come as a dense block; the others as a list, in which a weight may stand several times.
struct Gradient {
  std::vector<double> dense;
  std::vector<Delta> sparse;
};

/// Weights as a learner keeps them: the model's are `scale` times these (lazy regularisation shrinks scale).
struct WeightView {
  std::span<const float> value;
  float scale = 1.0F;

  [[nodiscard]] float operator[](std::int64_t k) const { return scale * value[k]; }
};

/// prepare() computes once per batch what all examples share; add_gradient() gives the loss of example i and
/// fills `out`, whose dense block has dense() zeros.
template <class M>
concept Objective = requires(const M& model, WeightView weights, std::int64_t i, typename M::Prepared& prepared,
                             typename M::Work& work, Gradient& out) {
  { model.weights() } -> std::convertible_to<std::int64_t>;
  { model.dense() } -> std::convertible_to<std::int64_t>;
  { model.prepare(weights) } -> std::same_as<typename M::Prepared>;
  { model.add_gradient(prepared, weights, i, work, out) } -> std::convertible_to<double>;
};

}  // namespace duilian
