#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/learn/decode.hpp"
#include "duilian/score/score.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Weights = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] std::span<float> view(const Weights& weights) { return {weights.data(), weights.size()}; }

}  // namespace

void bind_model(nb::module_& m) {
  nb::enum_<JointFeatures>(m, "JointFeatures")
      .value("none", JointFeatures::none)
      .value("correct", JointFeatures::correct)
      .value("possible", JointFeatures::possible);

  nb::class_<Example>(m, "Example")
      .def(
          "__init__",
          [](Example* self, std::int64_t first_unit, const Lattice& possible, const Lattice& correct) {
            new (self) Example{first_unit, possible, correct};
          },
          "first_unit"_a, "possible"_a, "correct"_a);

  nb::class_<Part>(m, "Part")
      .def_ro("labels", &Part::labels)
      .def_ro("state_at", &Part::state_at)
      .def_prop_ro("edge", &Part::edge)
      .def_prop_ro(
          "first", [](const Part& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const Part& self) { return to_numpy(self.label); }, nb::rv_policy::move)
      .def("transition", &Part::transition, "before"_a, "after"_a);

  nb::class_<Model>(m, "Model")
      .def_ro("weights", &Model::weights)
      .def_ro("tags", &Model::tags)
      .def(
          "separate", [](const Model& self, std::size_t side) { return self.separate.at(side); }, "side"_a)
      .def("joint", [](const Model& self) { return self.joint.value(); })
      .def(
          "find_bundle",
          [](const Model& self, const std::vector<TagId>& tags) { return self.bundles.find(tags); }, "tags"_a)
      .def_prop_ro(
          "bundles", [](const Model& self) { return to_numpy(self.bundles.bundles(), self.tags.size()); },
          nb::rv_policy::move);

  m.def(
      "lay_out_model",
      [](std::vector<std::int32_t> tags, std::vector<Succession> successions, std::int64_t rows,
         const FeatureRows& features, const std::vector<Example>& examples, JointFeatures joint) {
        return lay_out_model(std::move(tags), std::move(successions), rows, features, examples, joint);
      },
      "tags"_a, "successions"_a, "rows"_a, "features"_a, "examples"_a, "joint"_a,
      nb::call_guard<nb::gil_scoped_release>());

  m.def(
      "decode",
      [](const Model& model, const Weights& weights, const FeatureRows& features,
         const std::vector<std::int64_t>& first_units, const std::vector<Lattice>& lattices,
         bool by_marginals, std::size_t threads) {
        auto found = without_gil([&] {
          return decode_all(model, {view(weights)}, features, first_units, lattices, {by_marginals, threads});
        });
        std::vector<Array<TagId, 2>> out;
        for (auto& tags : found) out.push_back(to_numpy(std::move(tags), model.tags.size()));
        return out;
      },
      "model"_a, "weights"_a, "features"_a, "first_units"_a, "lattices"_a, "by_marginals"_a, "threads"_a);
}

}  // namespace duilian::bindings
