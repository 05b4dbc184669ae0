// The learners of taggers: objectives and structures with their passes.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "duilian/learn/exponentiated.hpp"
#include "objectives.hpp"
#include "structured.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// What stochastic gradient descent carries from pass to pass.
struct SgdState {
  std::int64_t steps;
  double scale;
};

template <Objective M>
void bind_sgd(nb::class_<M>& objective) {
  objective.def_prop_ro("dense", &M::dense)
      .def(
          "sgd_pass",
          [](const M& self, const Weights& weights, SgdState& state, double lambda, double t0,
             const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
            const SgdRule rule{view(weights), lambda, t0, &state.steps, &state.scale};
            return without_gil([&] { return sgd_pass(self, rule, view(order), {batch, threads}); });
          },
          "weights"_a, "state"_a, "lambda_"_a, "t0"_a, "order"_a, "batch"_a, "threads"_a);
}

void bind_structures(nb::module_& m) {
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
}

void bind_touched(nb::module_& m) {
  nb::class_<KeptWeights>(m, "KeptWeights")
      .def(
          "__init__",
          [](KeptWeights* self, bool is_mean, std::int32_t iterations, const Input<std::uint32_t>& weight,
             const Input<float>& value) {
            new (self) KeptWeights(make_kept(is_mean, iterations, to_vector(weight), to_vector(value)));
          },
          "is_mean"_a, "iterations"_a, "weight"_a, "value"_a)
      .def_ro("is_mean", &KeptWeights::is_mean)
      .def_ro("iterations", &KeptWeights::iterations)
      .def_prop_ro(
          "weight", [](const KeptWeights& self) { return to_numpy(self.weight); }, nb::rv_policy::move)
      .def_prop_ro(
          "value", [](const KeptWeights& self) { return to_numpy(self.value); }, nb::rv_policy::move);

  nb::class_<TouchedWeights>(m, "TouchedWeights")
      .def(nb::init<>())
      .def("__len__", &TouchedWeights::size)
      .def(
          "add",
          [](TouchedWeights& self, const Weights& weights) { without_gil([&] { self.add(view(weights)); }); },
          "weights"_a)
      .def(
          "write_mean",
          [](TouchedWeights& self, const Weights& weights, const Input<std::int64_t>& ranges,
             const Weights& out) {
            without_gil([&] { self.write_mean(view(weights), view(ranges), view(out)); });
          },
          "weights"_a, "ranges"_a, "out"_a)
      .def(
          "keep",
          [](TouchedWeights& self, const Weights& weights, bool is_mean) {
            return without_gil([&] { return self.keep(view(weights), is_mean); });
          },
          "weights"_a, "is_mean"_a)
      .def(
          "write",
          [](TouchedWeights& self, const Weights& weights, const KeptWeights& kept, const Weights& out) {
            without_gil([&] { self.write(view(weights), kept, view(out)); });
          },
          "weights"_a, "kept"_a, "out"_a)
      .def(
          "state",
          [](TouchedWeights& self, const Weights& weights) {
            TouchedState found = self.state(view(weights));
            return std::make_tuple(to_numpy(std::move(found.size)), to_numpy(std::move(found.weight)),
                                   to_numpy(std::move(found.value)), to_numpy(std::move(found.squares)),
                                   to_numpy(std::move(found.total)));
          },
          "weights"_a)
      .def(
          "take_up",
          [](TouchedWeights& self, const Input<std::int64_t>& size, const Input<std::uint32_t>& weight,
             const Input<float>& value, const Input<float>& squares, const Input<float>& total,
             std::int32_t iterations, const Weights& weights) {
            const TouchedState state{to_vector(size), to_vector(weight), to_vector(value), to_vector(squares),
                                     to_vector(total)};
            self.take_up(state, iterations, view(weights));
          },
          "size"_a, "weight"_a, "value"_a, "squares"_a, "total"_a, "iterations"_a, "weights"_a);
}

void bind_objectives(nb::module_& m) {
  nb::class_<SgdState>(m, "SgdState")
      .def(nb::init<std::int64_t, double>(), "steps"_a, "scale"_a)
      .def_rw("steps", &SgdState::steps)
      .def_rw("scale", &SgdState::scale);

  nb::class_<CoupledObjective> coupled(m, "CoupledObjective");
  coupled.def(nb::init<const CoupledLayout&, const CoupledData&, Pruning, double, bool>(), "layout"_a,
              "data"_a, "pruning"_a, "bundle_gap"_a, "learns_separate"_a, nb::keep_alive<1, 2>(),
              nb::keep_alive<1, 3>());
  bind_gradient(coupled);
  bind_adagrad(coupled);
  bind_sgd(coupled);
  coupled.def(
      "sparse_adagrad_pass",
      [](const CoupledObjective& self, const Weights& weights, TouchedWeights& touched, float rate,
         const Input<std::int64_t>& order, std::size_t batch, std::size_t threads) {
        const SparseAdaGradRule rule{view(weights), &touched, rate};
        return without_gil([&] { return sparse_adagrad_pass(self, rule, view(order), {batch, threads}); });
      },
      "weights"_a, "touched"_a, "rate"_a, "order"_a, "batch"_a, "threads"_a);

  nb::class_<TaggingObjective> tagging(m, "TaggingObjective");
  tagging.def(nb::init<const TaggerLayout&, const TaggingData&>(), "layout"_a, "data"_a,
              nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  bind_gradient(tagging);
  bind_adagrad(tagging);
  bind_sgd(tagging);

  nb::class_<DynamicObjective> dynamic(m, "DynamicObjective");
  dynamic.def(nb::init<const DynamicTraining&>(), "training"_a, nb::keep_alive<1, 2>());
  bind_gradient(dynamic);
  bind_adagrad(dynamic);

  nb::class_<MultitaskObjective> multitask(m, "MultitaskObjective");
  multitask.def(nb::init<const MultitaskTraining&>(), "training"_a, nb::keep_alive<1, 2>());
  bind_gradient(multitask);
  bind_adagrad(multitask);
}

void bind_exponentiated_gradient(nb::module_& m) {
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
            without_gil([&] { self.pass(view(order)); });
          },
          "order"_a);
}

}  // namespace

void bind_learn(nb::module_& m) {
  bind_structures(m);
  bind_touched(m);
  bind_objectives(m);
  bind_exponentiated_gradient(m);
}

}  // namespace duilian::bindings
