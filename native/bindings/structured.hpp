// What the passive-aggressive learner requires of every structured model, for its binding.
#pragma once

#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "duilian/learn/passes.hpp"

namespace duilian::bindings {

using namespace nb::literals;

using Lag = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// What averaging learners carry from pass to pass.
struct PerceptronState {
  std::int64_t rounds;
};

/// The same for every structured model: one pass, and the effect of a single answer.
template <StructuredModel M>
void bind_structure(nb::class_<M>& structure) {
  structure.def_prop_ro("weights", &M::weights)
      .def(
          "answers", [](const M& self, std::int64_t example) { return self.answers(example); }, "example"_a)
      .def(
          "difference",
          [](const M& self, const Weights& weights, std::int64_t example, std::size_t answer) {
            auto found = dense_difference(self, view(weights), example, answer);
            return std::make_tuple(found.cost, to_numpy(std::move(found.difference)));
          },
          "weights"_a, "example"_a, "answer"_a)
      .def(
          "passive_aggressive_pass",
          [](const M& self, const Weights& weights, const Lag& lag, double aggressiveness,
             PerceptronState& state, const Input<std::int64_t>& order) {
            const PassiveAggressiveRule rule{view(weights), view(lag), aggressiveness, &state.rounds};
            return without_gil([&] { return passive_aggressive_pass(self, rule, view(order)); });
          },
          "weights"_a, "lag"_a, "aggressiveness"_a, "state"_a, "order"_a);
}

}  // namespace duilian::bindings
