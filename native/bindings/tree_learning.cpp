// The learners of parsers: the averaged perceptron, and the likelihood of the pruning model.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "objectives.hpp"
#include "structured.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

template <Objective M>
void bind_perceptron(nb::class_<M>& objective) {
  objective.def(
      "perceptron_pass",
      [](const M& self, const Weights& weights, const Lag& lag, PerceptronState& state,
         const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
        const PerceptronRule rule{view(weights), view(lag), &state.rounds};
        return without_gil([&] { return perceptron_pass(self, rule, view(order), {batch, threads}); });
      },
      "weights"_a, "lag"_a, "state"_a, "order"_a, "batch"_a, "threads"_a);
}

/// An objective that compares gold with the best answer of a parser.
template <Objective M, class Parser, class Data>
void bind_comparison(nb::module_& m, const char* name) {
  nb::class_<M> objective(m, name);
  objective.def(
      "__init__",
      [](M* self, const Parser& parser, const Data& data, const Input<std::uint8_t>& allowed,
         const Input<std::int32_t>& guessed, const ParseOptions& options) {
        new (self) M(parser, data, to_vector(allowed), to_vector(guessed), options);
      },
      "parser"_a, "data"_a, "allowed"_a, "guessed"_a, "options"_a, nb::keep_alive<1, 2>(),
      nb::keep_alive<1, 3>());
  bind_gradient(objective);
  bind_perceptron(objective);
}

}  // namespace

void bind_tree_learning(nb::module_& m) {
  nb::class_<PerceptronState>(m, "PerceptronState")
      .def(nb::init<std::int64_t>(), "rounds"_a)
      .def_rw("rounds", &PerceptronState::rounds);
  m.def(
      "mean_weights",
      [](const Input<float>& weights, const Input<double>& lag, std::int64_t rounds) {
        return to_numpy(mean_weights(view(weights), view(lag), rounds));
      },
      "weights"_a, "lag"_a, "rounds"_a);

  bind_comparison<TreeObjective, TreeParser, TreeData>(m, "TreeObjective");
  bind_comparison<JointObjective, JointParser, JointData>(m, "JointObjective");
  nb::class_<PruningObjective> pruning(m, "PruningObjective");
  pruning.def(nb::init<const TreeParser&, const TreeData&>(), "parser"_a, "data"_a, nb::keep_alive<1, 2>(),
              nb::keep_alive<1, 3>());
  bind_gradient(pruning);
  bind_adagrad(pruning);
}

}  // namespace duilian::bindings
