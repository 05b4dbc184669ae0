// The coupled tagger in training: pruning, shape, data, layout, dev sets.
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/coupled/tagging.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_pruning(nb::module_& m) {
  nb::class_<Pruning>(m, "Pruning")
      .def(
          "__init__",
          [](Pruning* self, std::int32_t max_candidates, double candidate_mass, double negligible_share,
             double coarse_window) {
            const Pruning built{max_candidates, candidate_mass, negligible_share, coarse_window};
            check(built);
            new (self) Pruning(built);
          },
          "max_candidates"_a, "candidate_mass"_a, "negligible_share"_a, "coarse_window"_a)
      .def_ro("max_candidates", &Pruning::max_candidates)
      .def_ro("candidate_mass", &Pruning::candidate_mass)
      .def_ro("negligible_share", &Pruning::negligible_share)
      .def_ro("coarse_window", &Pruning::coarse_window);
  nb::enum_<Decoding>(m, "Decoding").value("marginals", Decoding::marginals).value("path", Decoding::path);
}

void bind_shape(nb::module_& m) {
  nb::class_<CoupledShape>(m, "CoupledShape")
      .def(
          "__init__",
          [](CoupledShape* self, std::vector<std::int32_t> labels, std::vector<Succession> rules,
             std::vector<SideMapping> mappings) {
            new (self) CoupledShape(make_shape(std::move(labels), std::move(rules), std::move(mappings)));
          },
          "labels"_a, "rules"_a, "mappings"_a)
      .def_ro("labels", &CoupledShape::labels)
      .def_prop_ro("parts", [](const CoupledShape& self) { return self.joint.size(); })
      .def(
          "part_sides", [](const CoupledShape& self, std::size_t part) { return self.joint.at(part).sides; },
          "part"_a)
      .def(
          "part_linked",
          [](const CoupledShape& self, std::size_t part) { return self.joint.at(part).linked; }, "part"_a)
      .def(
          "part_bundles",
          [](const CoupledShape& self, std::size_t part) {
            const JointPart& found = self.joint.at(part);
            return to_numpy(found.bundles.bundles(), found.sides.size());
          },
          "part"_a, nb::rv_policy::move)
      .def(
          "add_part",
          [](CoupledShape& self, std::vector<std::int32_t> sides, const Input<std::int32_t>& bundles,
             std::int32_t linked) { add_joint_part(self, std::move(sides), view(bundles), linked); },
          "sides"_a, "bundles"_a, "linked"_a);
}

void bind_layout(nb::module_& m) {
  nb::class_<CoupledData>(m, "CoupledData")
      .def(
          "__init__",
          [](CoupledData* self, const FeatureRows& features, const Input<std::int64_t>& first,
             const Input<std::int32_t>& side, const Input<std::int32_t>& label, const TagSets& sets,
             std::vector<TagSets> candidates, std::vector<TagSets> held) {
            new (self) CoupledData{features, to_vector(first),      to_vector(side), to_vector(label),
                                   sets,     std::move(candidates), std::move(held)};
          },
          "features"_a, "first"_a, "side"_a, "label"_a, "sets"_a, "candidates"_a, "held"_a);

  nb::class_<CoupledLayout>(m, "CoupledLayout")
      .def_ro("weights", &CoupledLayout::weights)
      .def_ro("shape", &CoupledLayout::shape)
      .def_ro("side_at", &CoupledLayout::side_at)
      .def_ro("joint_transition_at", &CoupledLayout::joint_transition_at)
      .def_ro("joint_state_at", &CoupledLayout::joint_state_at)
      .def(
          "side",
          [](const CoupledLayout& self, std::size_t k) -> const TaggerLayout& { return self.separate.at(k); },
          "side"_a, nb::rv_policy::reference_internal)
      .def(
          "ranges",
          [](const CoupledLayout& self, const Input<std::uint8_t>& is_used) {
            return to_numpy(weight_ranges(self, view(is_used)));
          },
          "is_used"_a)
      .def_prop_ro(
          "joint_first", [](const CoupledLayout& self) { return to_numpy(self.joint_first); },
          nb::rv_policy::move)
      .def_prop_ro(
          "joint_label", [](const CoupledLayout& self) { return to_numpy(self.joint_label); },
          nb::rv_policy::move);
  m.def(
      "lay_out_coupled",
      [](CoupledShape shape, std::vector<TaggerLayout> separate, const CoupledData& data,
         const std::vector<TagSets>& latent, const std::vector<std::vector<std::int32_t>>& parts,
         std::int64_t min_count, std::int32_t max_linked, std::int32_t max_bundles) {
        return without_gil([&] {
          return lay_out_coupled(std::move(shape), std::move(separate), data, latent, parts,
                                 {min_count, max_linked, max_bundles});
        });
      },
      "shape"_a, "separate"_a, "data"_a, "latent"_a, "parts"_a, "min_count"_a, "max_linked"_a,
      "max_bundles"_a);
}

void bind_tagging(nb::module_& m) {
  m.def(
      "tag_coupled",
      [](const CoupledLayout& layout, const Weights& weights, const FeatureRows& features,
         const Input<std::int64_t>& first, const std::vector<TagSets>& candidates,
         const std::vector<TagSets>& allowed, Pruning pruning, Decoding decoding, double bundle_gap,
         bool with_candidates, std::size_t threads) {
        return without_gil([&] {
          return tag_coupled(layout, {view(weights)}, features, view(first), candidates, allowed,
                             {pruning, decoding, bundle_gap}, with_candidates, threads);
        });
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "candidates"_a, "allowed"_a, "pruning"_a,
      "decoding"_a, "bundle_gap"_a, "with_candidates"_a, "threads"_a);
  m.def(
      "tag_candidates",
      [](const TaggerLayout& layout, const Weights& weights, const FeatureRows& features,
         const Input<std::int64_t>& first, Pruning pruning, std::size_t threads) {
        return without_gil(
            [&] { return tag_candidates(layout, {view(weights)}, features, view(first), pruning, threads); });
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "pruning"_a, "threads"_a);
}

}  // namespace

void bind_coupled(nb::module_& m) {
  bind_pruning(m);
  bind_shape(m);
  bind_layout(m);
  bind_tagging(m);
}

}  // namespace duilian::bindings
