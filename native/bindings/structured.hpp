// What the passive-aggressive learner asks of every structured model, for its binding.
#pragma once

#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "duilian/learn/passes.hpp"

namespace duilian::bindings {

using namespace nb::literals;

using Weights = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lag = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// What learners of means carry from pass to pass.
struct PerceptronState {
  std::int64_t rounds;
};

[[nodiscard]] inline std::span<float> view(const Weights& weights, std::int64_t expected) {
  if (weights.size() != static_cast<std::size_t>(expected))
    throw std::invalid_argument("the weights do not fit the model");
  return {weights.data(), weights.size()};
}

/// The same for every structured model: one pass, and what a single answer says.
template <StructuredModel M>
void bind_structure(nb::class_<M>& structure) {
  structure.def_prop_ro("weights", &M::weights)
      .def(
          "answers", [](const M& self, std::int64_t example) { return self.answers(example); }, "example"_a)
      .def(
          "difference",
          [](const M& self, const Weights& weights, std::int64_t example, std::size_t answer) {
            typename M::Work work;
            std::vector<Delta> found;
            const WeightView shown{view(weights, self.weights()), 1.0F};
            const double cost = self.respond(shown, example, answer, work, found);
            std::vector<double> dense(static_cast<std::size_t>(self.weights()), 0.0);
            for (const Delta& delta : found) dense[delta.weight] += delta.value;
            return std::make_tuple(cost, to_numpy(std::move(dense)));
          },
          "weights"_a, "example"_a, "answer"_a)
      .def(
          "passive_aggressive_pass",
          [](const M& self, const Weights& weights, const Lag& lag, double aggressiveness,
             PerceptronState& state, const Input<std::int64_t>& order) {
            const PassiveAggressiveRule rule{
                view(weights, self.weights()), {lag.data(), lag.size()}, aggressiveness, &state.rounds};
            return without_gil(
                [&] { return passive_aggressive_pass(self, rule, {order.data(), order.size()}); });
          },
          "weights"_a, "lag"_a, "aggressiveness"_a, "state"_a, "order"_a);
}

}  // namespace duilian::bindings
