// A model as learners see it: numbered examples, each with a loss and a gradient. So a learner knows nothing
// about lattices, and a new model needs no new learner.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "duilian/concat.hpp"

namespace duilian {

/// How far apart array elements written by different threads are, so that they share no cache line.
inline constexpr std::size_t kCacheSeparation = 128;

/// A change of one weight.
struct Delta {
  std::uint32_t weight;
  float value;
};

/// A change in the probability of a label.
struct LabelChange {
  std::int32_t label;
  float value;
};

/// The descent direction of one example, in the form that suits its model. The first weights of a model (its
/// transitions) change in nearly every example and come as a dense block. The others come either as a list,
/// in which a weight may occur several times, or as changes of label probabilities, from which the model
/// derives them.
struct alignas(kCacheSeparation) Gradient {
  std::vector<double> dense;
  std::vector<Delta> sparse;
  std::vector<std::int32_t> active;       // positions whose probabilities change
  std::vector<float> change;              // [active][labels]; models with many labels use instead:
  std::vector<LabelChange> label_change;  // only the nonzero changes, in groups
  std::vector<std::int64_t> group;        // [active × groups + 1]  where each group begins
};

/// Weights as a learner stores them: the model's weights are `scale` times these, for lazy regularisation.
struct WeightView {
  std::span<const float> value;
  float scale = 1.0F;

  [[nodiscard]] float operator[](std::int64_t k) const { return scale * value[k]; }
};

/// The weights that one of several threads updates, so that no two threads collide. Blocks of weights fall
/// into 64 classes, and a share is a set of classes, because a division per block would cost more than the
/// update.
class Share {
 public:
  Share() = default;
  Share(std::size_t thread, std::size_t threads) : classes_(0) {
    for (std::size_t c = 0; c < 64; ++c) {
      if (c % threads == thread) classes_ |= std::uint64_t{1} << c;
    }
  }
  [[nodiscard]] bool has(std::uint64_t block) const { return ((classes_ >> (block & 63U)) & 1U) != 0; }
  /// Whether any of its blocks is congruent to `remainder` modulo `divisor`, which divides 64.
  [[nodiscard]] bool has_of(std::size_t remainder, std::size_t divisor) const {
    for (std::size_t c = remainder; c < 64; c += divisor) {
      if (has(c)) return true;
    }
    return false;
  }

 private:
  std::uint64_t classes_ = ~std::uint64_t{0};
};

/// How a weight follows its gradient: one at a time, or a row of neighbours times a strength.
template <class R>
concept ChangeRule = requires(R& rule, std::uint32_t weight, float value, std::span<const float> row) {
  rule.change(weight, value);
  rule.change_row(weight, row, value);
  rule.prefetch(weight);
};

/// The rule for the weights of a block, if it keeps blocks apart.
template <class R>
[[nodiscard]] decltype(auto) rule_of_block(R& rule, std::uint64_t block) {
  if constexpr (requires { rule.of_block(block); })
    return rule.of_block(block);
  else
    return (rule);
}

/// Only collects changes, for tests and for inspecting a gradient.
struct Collector {
  std::vector<Delta>& out;
  void change(std::uint32_t weight, float g) { out.push_back({weight, g}); }
  void prefetch(std::uint32_t) const {}
  void change_row(std::uint32_t first, std::span<const float> row, float strength) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != 0.0F) out.push_back({first + static_cast<std::uint32_t>(k), strength * row[k]});
    }
  }
};

/// prepare() computes what all examples of a batch share. compute() returns the loss of example i and fills
/// `out`, whose dense block has dense() zeros. apply() passes this share of the remaining gradient to a rule.
template <class M>
concept Objective =
    requires(const M& model, WeightView weights, std::int64_t i, typename M::Prepared& prepared,
             typename M::Work& work, Gradient& out, Collector& rule) {
      { model.weights() } -> std::convertible_to<std::int64_t>;
      { model.dense() } -> std::convertible_to<std::int64_t>;
      { model.prepare(weights) } -> std::same_as<typename M::Prepared>;
      { model.compute(prepared, weights, i, work, out) } -> std::convertible_to<double>;
      model.apply(i, out, Share{}, rule);
    };

/// Scores of one example, in two parts: one from each half of the weights.
inline constexpr std::size_t kHalves = 2;
using HalfScores = std::array<std::vector<double>, kHalves>;

/// An objective that can score an example from one half of the weights at a time. A thread that scores with
/// the same weights that it updates has them in its own cache. The halves are fixed and always added in the
/// same order, so the number of threads does not affect the sum.
template <class M>
concept ScoredInHalves = Objective<M> && requires(const M& model, WeightView weights, std::int64_t i,
                                                  std::size_t half, typename M::Prepared& prepared,
                                                  typename M::Work& work, HalfScores& scores, Gradient& out) {
  model.score_half(weights, i, half, scores[half]);
  { model.compute_scored(prepared, weights, i, scores, work, out) } -> std::convertible_to<double>;
};

/// An objective that knows the length of its examples.
template <class M>
concept Measured = Objective<M> && requires(const M& model, std::int64_t i) {
  { model.length(i) } -> std::convertible_to<std::int64_t>;
};

/// The loss of example i, and its gradient with all entries moved to `sparse`.
template <Objective M>
double add_gradient(const M& model, typename M::Prepared& prepared, WeightView weights, std::int64_t i,
                    typename M::Work& work, Gradient& out) {
  const double loss = model.compute(prepared, weights, i, work, out);
  std::vector<Delta> entries;
  Collector collector{entries};
  model.apply(i, out, Share{}, collector);
  out.sparse = std::move(entries);
  return loss;
}

/// Throws std::invalid_argument unless the model has this many weights.
template <class M>
void check_weights(const M& model, std::size_t count) {
  if (count != static_cast<std::size_t>(model.weights()))
    throw std::invalid_argument(
        concat("the weights do not match the model: expected ", model.weights(), ", found ", count));
}

struct DenseGradient {
  double loss;
  std::vector<double> gradient;  // [weights]
};

/// The loss and the dense gradient, for tests.
template <Objective M>
[[nodiscard]] DenseGradient dense_gradient(const M& model, WeightView weights, std::int64_t i) {
  check_weights(model, weights.value.size());
  typename M::Work work;
  Gradient found;
  found.dense.resize(static_cast<std::size_t>(model.dense()));
  auto prepared = model.prepare(weights);
  const double loss = add_gradient(model, prepared, weights, i, work, found);
  found.dense.resize(static_cast<std::size_t>(model.weights()));
  for (const Delta& delta : found.sparse) found.dense[delta.weight] += delta.value;
  return {loss, std::move(found.dense)};
}

}  // namespace duilian
