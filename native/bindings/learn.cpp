#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "duilian/learn/exponentiated.hpp"
#include "duilian/learn/passes.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "structured.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// What stochastic gradient descent carries from pass to pass.
struct SgdState {
  std::int64_t steps;
  double scale;
};

/// The gradient of one example with every entry written out, for tests.
template <Objective M>
void bind_gradient(nb::class_<M>& objective) {
  objective.def_prop_ro("weights", &M::weights)
      .def(
          "gradient",
          [](const M& self, const Weights& weights, float scale, std::int64_t example) {
            typename M::Work work;
            const WeightView shown{view(weights, self.weights()), scale};
            Gradient found;
            found.dense.resize(static_cast<std::size_t>(self.dense()));
            auto prepared = self.prepare(shown);
            const double loss = add_gradient(self, prepared, shown, example, work, found);
            found.dense.resize(static_cast<std::size_t>(self.weights()));
            for (const Delta& delta : found.sparse) found.dense[delta.weight] += delta.value;
            return std::make_tuple(loss, to_numpy(std::move(found.dense)));
          },
          "weights"_a, "scale"_a, "example"_a);
}

template <Objective M>
void bind_adagrad(nb::class_<M>& objective) {
  objective.def(
      "adagrad_pass",
      [](const M& self, const Weights& weights, const Weights& squares, float rate,
         const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
        AdaGradRule rule{view(weights, self.weights()), view(squares, self.weights()), rate};
        return without_gil([&] {
          return adagrad_pass(self, rule, std::span(order.data(), order.size()), {batch, threads});
        });
      },
      "weights"_a, "squares"_a, "rate"_a, "order"_a, "batch"_a, "threads"_a);
}

/// The learners' calls, the same for every kind of objective.
template <Objective M>
void bind_learning(nb::class_<M>& objective) {
  bind_gradient(objective);
  bind_adagrad(objective);
  objective.def_prop_ro("dense", &M::dense)
      .def(
          "sgd_pass",
          [](const M& self, const Weights& weights, SgdState& state, double lambda, double t0,
             const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
            SgdRule rule{view(weights, self.weights()), lambda, t0, &state.steps, &state.scale};
            return without_gil([&] {
              return sgd_pass(self, rule, std::span(order.data(), order.size()), {batch, threads});
            });
          },
          "weights"_a, "state"_a, "lambda_"_a, "t0"_a, "order"_a, "batch"_a, "threads"_a);
}

/// The calls of objectives that compare gold with a guess.
template <Objective M>
void bind_comparing(nb::class_<M>& objective) {
  bind_gradient(objective);
  objective.def(
      "perceptron_pass",
      [](const M& self, const Weights& weights, const Lag& lag, PerceptronState& state,
         const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
        if (lag.size() != weights.size()) throw std::invalid_argument("the weights do not fit the model");
        PerceptronRule rule{view(weights, self.weights()), {lag.data(), lag.size()}, &state.rounds};
        return without_gil([&] {
          return perceptron_pass(self, rule, std::span(order.data(), order.size()), {batch, threads});
        });
      },
      "weights"_a, "lag"_a, "state"_a, "order"_a, "batch"_a, "threads"_a);
}

void bind_tree_learning(nb::module_& m) {
  nb::class_<PerceptronState>(m, "PerceptronState")
      .def(nb::init<std::int64_t>(), "rounds"_a)
      .def_rw("rounds", &PerceptronState::rounds);
  nb::class_<TreeObjective> trees(m, "TreeObjective");
  trees.def(
      "__init__",
      [](TreeObjective* self, const TreeParser& parser, const TreeData& data,
         const Input<std::uint8_t>& allowed, const Input<std::int32_t>& guessed,
         const ParseOptions& options) {
        new (self) TreeObjective(parser, data, to_vector(allowed), to_vector(guessed), options);
      },
      "parser"_a, "data"_a, "allowed"_a, "guessed"_a, "options"_a, nb::keep_alive<1, 2>(),
      nb::keep_alive<1, 3>());
  bind_comparing(trees);
  nb::class_<JointObjective> joint(m, "JointObjective");
  joint.def(
      "__init__",
      [](JointObjective* self, const JointParser& parser, const JointData& data,
         const Input<std::uint8_t>& allowed, const Input<std::int32_t>& guessed,
         const ParseOptions& options) {
        new (self) JointObjective(parser, data, to_vector(allowed), to_vector(guessed), options);
      },
      "parser"_a, "data"_a, "allowed"_a, "guessed"_a, "options"_a, nb::keep_alive<1, 2>(),
      nb::keep_alive<1, 3>());
  bind_comparing(joint);
  m.def(
      "mean_weights",
      [](const Input<float>& weights, const Input<double>& lag, std::int64_t rounds) {
        return to_numpy(mean_weights({weights.data(), weights.size()}, {lag.data(), lag.size()}, rounds));
      },
      "weights"_a, "lag"_a, "rounds"_a);

  nb::class_<PruningObjective> pruning(m, "PruningObjective");
  pruning.def(nb::init<const TreeParser&, const TreeData&>(), "parser"_a, "data"_a, nb::keep_alive<1, 2>(),
              nb::keep_alive<1, 3>());
  bind_gradient(pruning);
  bind_adagrad(pruning);
}

}  // namespace

void bind_learn(nb::module_& m) {
  bind_tree_learning(m);
  nb::class_<TaggingStructure> plain(m, "TaggingStructure");
  plain.def(nb::init<const TaggerLayout&, const TaggingData&>(), "layout"_a, "data"_a, nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>());
  bind_structure(plain);

  nb::class_<TwoChainStructure> two(m, "TwoChainStructure");
  two.def(
      "__init__",
      [](TwoChainStructure* self, const TwoChainLayout& layout, const TwoChainData& data,
         std::vector<TwoChainMode> modes, double cost, bool is_per_label) {
        new (self) TwoChainStructure(layout, data, {std::move(modes), cost, is_per_label});
      },
      "layout"_a, "data"_a, "modes"_a, "cost"_a, "is_per_label"_a, nb::keep_alive<1, 2>(),
      nb::keep_alive<1, 3>());
  bind_structure(two);

  nb::class_<SgdState>(m, "SgdState")
      .def(nb::init<std::int64_t, double>(), "steps"_a, "scale"_a)
      .def_rw("steps", &SgdState::steps)
      .def_rw("scale", &SgdState::scale);

  nb::class_<CoupledObjective> coupled(m, "CoupledObjective");
  coupled.def(nb::init<const CoupledLayout&, const CoupledData&, Pruning, double, bool>(), "layout"_a,
              "data"_a, "pruning"_a, "bundle_gap"_a, "learns_separate"_a, nb::keep_alive<1, 2>(),
              nb::keep_alive<1, 3>());
  bind_learning(coupled);

  nb::class_<TaggingObjective> tagging(m, "TaggingObjective");
  tagging.def(nb::init<const TaggerLayout&, const TaggingData&>(), "layout"_a, "data"_a,
              nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  bind_learning(tagging);

  nb::class_<DynamicObjective> dynamic(m, "DynamicObjective");
  dynamic.def(nb::init<const DynamicTraining&>(), "training"_a, nb::keep_alive<1, 2>());
  bind_gradient(dynamic);
  bind_adagrad(dynamic);

  nb::class_<MultitaskObjective> multitask(m, "MultitaskObjective");
  multitask.def(nb::init<const MultitaskTraining&>(), "training"_a, nb::keep_alive<1, 2>());
  bind_gradient(multitask);
  bind_adagrad(multitask);

  nb::class_<ExponentiatedGradient>(m, "ExponentiatedGradient")
      .def(nb::init<const TaggerLayout&, const TaggingData&, double>(), "layout"_a, "data"_a, "penalty"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::call_guard<nb::gil_scoped_release>())
      .def("dual", &ExponentiatedGradient::dual)
      .def_prop_ro(
          "weights", [](const ExponentiatedGradient& self) { return to_numpy(self.weights()); },
          nb::rv_policy::move)
      .def(
          "run_pass",
          [](ExponentiatedGradient& self, const Input<std::int64_t>& order) {
            const nb::gil_scoped_release release;
            self.pass({order.data(), order.size()});
          },
          "order"_a);
}

}  // namespace duilian::bindings
