// Two taggers that share weights through a loose mapping, in training and compiled.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "duilian/multitask/predictor.hpp"
#include "duilian/multitask/training.hpp"
#include "structured.hpp"

namespace duilian::bindings {

using namespace nb::literals;

void bind_multitask(nb::module_& m) {
  nb::class_<LabelMap>(m, "LabelMap")
      .def(
          "__init__",
          [](LabelMap* self, const Input<std::int32_t>& first, const Input<std::int32_t>& to, bool is_mean) {
            new (self) LabelMap{to_vector(first), to_vector(to), is_mean};
          },
          "first"_a, "to"_a, "is_mean"_a);

  nb::class_<MultitaskTraining> training(m, "MultitaskTraining");
  training
      .def(
          "__init__",
          [](MultitaskTraining* self, const TaggerLayout& layout_a, const TaggerLayout& layout_b,
             const LabelMap& map_a, const LabelMap& map_b, bool is_best, const FeatureRows& features,
             const Input<std::int64_t>& first, const Input<std::int32_t>& side,
             const Input<std::int32_t>& label) {
            new (self) MultitaskTraining({layout_a, layout_b}, {map_a, map_b},
                                         is_best ? Expansion::best : Expansion::all,
                                         {features, to_vector(first), to_vector(side), to_vector(label)});
          },
          "layout_a"_a, "layout_b"_a, "map_a"_a, "map_b"_a, "is_best"_a, "features"_a, "first"_a, "side"_a,
          "label"_a)
      .def(
          "tag",
          [](const MultitaskTraining& self, const Input<float>& weights, std::size_t side,
             const FeatureRows& features, const Input<std::int64_t>& first, std::size_t threads) {
            return to_numpy(
                without_gil([&] { return self.tag({view(weights)}, side, features, view(first), threads); }));
          },
          "weights"_a, "side"_a, "features"_a, "first"_a, "threads"_a)
      .def(
          "compile",
          [](const MultitaskTraining& self, const Input<float>& weights, std::size_t side,
             const Input<std::uint64_t>& keys, float min_weight) {
            return without_gil([&] { return self.compile(view(weights), side, view(keys), min_weight); });
          },
          "weights"_a, "side"_a, "keys"_a, "min_weight"_a);
  bind_structure(training);

  nb::class_<BestExpansionPredictor>(m, "BestExpansionPredictor")
      .def(nb::init<std::int32_t, const Succession&, CompiledWeights, std::int32_t, const Succession&,
                    CompiledWeights, const LabelMap&, const TemplateSet&, const Reading&>(),
           "labels"_a, "rules"_a, "weights"_a, "other_labels"_a, "other_rules"_a, "other_weights"_a, "map"_a,
           "templates"_a, "reading"_a)
      .def("predict", &predict_labels<BestExpansionPredictor>, "sentences"_a, "constraints"_a, "threads"_a)
      .def("tag_lines", &tag_bytes<BestExpansionPredictor>, "text"_a, "options"_a, "threads"_a);
}

}  // namespace duilian::bindings
