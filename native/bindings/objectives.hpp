// What learners require of every objective, for its binding.
#pragma once

#include <tuple>

#include "bindings.hpp"
#include "duilian/learn/passes.hpp"

namespace duilian::bindings {

using namespace nb::literals;

/// The gradient of one example as a dense vector, for tests.
template <Objective M>
void bind_gradient(nb::class_<M>& objective) {
  objective.def_prop_ro("weights", &M::weights)
      .def(
          "gradient",
          [](const M& self, const Weights& weights, float scale, std::int64_t example) {
            auto found = dense_gradient(self, {view(weights), scale}, example);
            return std::make_tuple(found.loss, to_numpy(std::move(found.gradient)));
          },
          "weights"_a, "scale"_a, "example"_a);
}

template <Objective M>
void bind_adagrad(nb::class_<M>& objective) {
  objective.def(
      "adagrad_pass",
      [](const M& self, const Weights& weights, const Weights& squares, float rate,
         const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
        const AdaGradRule rule{view(weights), view(squares), rate};
        return without_gil([&] { return adagrad_pass(self, rule, view(order), {batch, threads}); });
      },
      "weights"_a, "squares"_a, "rate"_a, "order"_a, "batch"_a, "threads"_a);
}

}  // namespace duilian::bindings
