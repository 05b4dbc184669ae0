#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/score/tagging.hpp"

namespace duilian::bindings {

using namespace nb::literals;

void bind_tagger(nb::module_& m) {
  nb::class_<TaggingData>(m, "TaggingData")
      .def(
          "__init__",
          [](TaggingData* self, const FeatureRows& features, const Input<std::int64_t>& first,
             const Input<std::int32_t>& label, const TagSets& sets) {
            TaggingData built{features, to_vector(first), to_vector(label), sets};
            check(built);
            new (self) TaggingData(std::move(built));
          },
          "features"_a, "first"_a, "label"_a, "sets"_a);

  nb::class_<TaggerLayout>(m, "TaggerLayout")
      .def_ro("labels", &TaggerLayout::labels)
      .def_prop_ro("weights", &TaggerLayout::weights)
      .def_prop_ro("transitions", &TaggerLayout::transitions)
      .def_prop_ro("first", [](const TaggerLayout& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro("label", [](const TaggerLayout& self) { return to_numpy(self.label); }, nb::rv_policy::move);

  m.def("lay_out_tagger", &lay_out_tagger, "labels"_a, "rules"_a, "rows"_a, "data"_a, "full_from"_a,
        nb::call_guard<nb::gil_scoped_release>());

  m.def(
      "tag_units",
      [](const TaggerLayout& layout, nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu> weights,
         const FeatureRows& features, const Input<std::int64_t>& first, std::size_t threads) {
        return to_numpy(without_gil([&] {
          return tag_units(layout, {{weights.data(), weights.size()}}, features, {first.data(), first.size()}, threads);
        }));
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "threads"_a);
}

}  // namespace duilian::bindings
