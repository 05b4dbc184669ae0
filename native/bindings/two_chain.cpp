// Two coupled chains in training: shape, data, layout of weights, dev sets.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/two_chain/predictor.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] std::vector<Place> to_places(const std::vector<std::pair<Clique, std::int32_t>>& pairs) {
  std::vector<Place> out;
  for (const auto& [clique, offset] : pairs) out.push_back({clique, offset});
  return out;
}

void bind_enums(nb::module_& m) {
  nb::enum_<TwoChainMode>(m, "TwoChainMode")
      .value("joint", TwoChainMode::joint)
      .value("segment", TwoChainMode::segment)
      .value("tag", TwoChainMode::tag);
  nb::enum_<Clique>(m, "Clique")
      .value("letter", Clique::letter)
      .value("letters", Clique::letters)
      .value("tag", Clique::tag)
      .value("letter_tag", Clique::letter_tag)
      .value("tags", Clique::tags);
}

void bind_shape(nb::module_& m) {
  nb::class_<TwoChainShape>(m, "TwoChainShape")
      .def(
          "__init__",
          [](TwoChainShape* self, std::int32_t letters, std::int32_t tags, const Succession& rules,
             const std::vector<bool>& continues, bool has_edge,
             const std::vector<std::pair<Clique, std::int32_t>>& places) {
            new (self) TwoChainShape(
                {letters, tags, rules, {continues.begin(), continues.end()}, has_edge, to_places(places)});
          },
          "letters"_a, "tags"_a, "rules"_a, "continues"_a, "has_edge"_a, "places"_a)
      .def_prop_ro("clique_weights", &TwoChainShape::clique_weights)
      .def("first_slot", &TwoChainShape::first_slot, "place"_a);

  nb::class_<TwoChainPatterns>(m, "TwoChainPatterns")
      .def(
          "__init__",
          [](TwoChainPatterns* self, const TemplateSet& set, std::vector<PlaceSet> places) {
            new (self) TwoChainPatterns{set, std::move(places)};
          },
          "set"_a, "places"_a);
}

void bind_data(nb::module_& m) {
  nb::class_<TwoChainData>(m, "TwoChainData")
      .def(
          "__init__",
          [](TwoChainData* self, const TwoChainShape& shape, const FeatureRows& features,
             const Input<std::int64_t>& first, const Input<std::int32_t>& letter,
             const Input<std::int32_t>& tag) {
            TwoChainData built{features, to_vector(first), to_vector(letter), to_vector(tag)};
            check(built, shape);
            new (self) TwoChainData(std::move(built));
          },
          "shape"_a, "features"_a, "first"_a, "letter"_a, "tag"_a);

  nb::class_<TwoChainLayout>(m, "TwoChainLayout")
      .def_prop_ro("weights", &TwoChainLayout::weights)
      .def_prop_ro(
          "first", [](const TwoChainLayout& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "slot", [](const TwoChainLayout& self) { return to_numpy(self.slot); }, nb::rv_policy::move);
}

void bind_training(nb::module_& m) {
  m.def(
      "index_two_chain",
      [](const TwoChainShape& shape, const TwoChainPatterns& patterns, const Sentences& sentences,
         std::uint32_t min_count) {
        auto found = without_gil([&] { return index_two_chain(shape, patterns, sentences, min_count); });
        return std::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.places)),
                               std::move(found.rows));
      },
      "shape"_a, "patterns"_a, "sentences"_a, "min_count"_a);
  m.def("find_two_chain", &find_two_chain, "shape"_a, "patterns"_a, "sentences"_a, "index"_a,
        nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "lay_out_two_chain",
      [](const TwoChainShape& shape, const TwoChainData& data, const Input<PlaceSet>& places,
         std::int64_t full_from) {
        return without_gil([&] { return lay_out_two_chain(shape, data, view(places), full_from); });
      },
      "shape"_a, "data"_a, "places"_a, "full_from"_a);
  m.def(
      "label_two_chain",
      [](const TwoChainLayout& layout, const Input<float>& weights, const TwoChainData& data,
         TwoChainMode mode, std::size_t threads) {
        TwoChainLabels found =
            without_gil([&] { return label_two_chain(layout, {view(weights)}, data, mode, threads); });
        return std::make_tuple(to_numpy(std::move(found.letter)), to_numpy(std::move(found.tag)));
      },
      "layout"_a, "weights"_a, "data"_a, "mode"_a, "threads"_a);
}

}  // namespace

void bind_two_chain(nb::module_& m) {
  bind_enums(m);
  bind_shape(m);
  bind_data(m);
  bind_training(m);
}

}  // namespace duilian::bindings
