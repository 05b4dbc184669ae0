#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/coupled/predictor.hpp"
#include "duilian/coupled/tagging.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Weights = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] std::span<const float> view(const Weights& weights) { return {weights.data(), weights.size()}; }
[[nodiscard]] std::vector<std::span<const float>> views(const std::vector<Weights>& weights) {
  std::vector<std::span<const float>> out;
  for (const Weights& each : weights) out.push_back(view(each));
  return out;
}

}  // namespace

void bind_coupled(nb::module_& m) {
  nb::class_<Pruning>(m, "Pruning")
      .def(
          "__init__",
          [](Pruning* self, std::int32_t max_candidates, double candidate_mass, double negligible_share,
             double coarse_window) {
            if (max_candidates < 1 || !(candidate_mass > 0.0) ||
                !(negligible_share >= 0.0 && negligible_share < 1.0) || !(coarse_window >= 0.0))
              throw std::invalid_argument("pruning leaves no label");
            new (self) Pruning{max_candidates, candidate_mass, negligible_share, coarse_window};
          },
          "max_candidates"_a, "candidate_mass"_a, "negligible_share"_a = 0.0, "coarse_window"_a = 0.0);
  nb::enum_<Decoding>(m, "Decoding").value("marginals", Decoding::marginals).value("path", Decoding::path);

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
             std::int32_t linked) {
            add_joint_part(self, std::move(sides), {bundles.data(), bundles.size()}, linked);
          },
          "sides"_a, "bundles"_a, "linked"_a);

  nb::class_<CoupledData>(m, "CoupledData")
      .def(
          "__init__",
          [](CoupledData* self, const FeatureRows& features, const Input<std::int64_t>& first,
             const Input<std::int32_t>& side, const Input<std::int32_t>& label, const TagSets& sets,
             std::vector<TagSets> candidates) {
            new (self) CoupledData{features, to_vector(first),     to_vector(side), to_vector(label),
                                   sets,     std::move(candidates)};
          },
          "features"_a, "first"_a, "side"_a, "label"_a, "sets"_a, "candidates"_a);

  nb::class_<CoupledLayout>(m, "CoupledLayout")
      .def_ro("weights", &CoupledLayout::weights)
      .def_ro("shape", &CoupledLayout::shape)
      .def_ro("side_at", &CoupledLayout::side_at)
      .def_ro("joint_transition_at", &CoupledLayout::joint_transition_at)
      .def_ro("joint_state_at", &CoupledLayout::joint_state_at)
      .def(
          "side", [](const CoupledLayout& self, std::size_t k) { return self.separate.at(k); }, "side"_a)
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
         std::int64_t seen, std::int32_t linked, std::int32_t bundles) {
        return without_gil([&] {
          return lay_out_coupled(std::move(shape), std::move(separate), data, latent, parts,
                                 {seen, linked, bundles});
        });
      },
      "shape"_a, "separate"_a, "data"_a, "latent"_a, "parts"_a, "seen"_a, "linked"_a, "bundles"_a);

  nb::class_<CoupledAnswers>(m, "CoupledAnswers")
      .def(
          "label", [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.label.at(side)); },
          "side"_a, nb::rv_policy::move)
      .def(
          "p", [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.p.at(side)); },
          "side"_a, nb::rv_policy::move)
      .def(
          "candidates", [](const CoupledAnswers& self, std::size_t side) { return self.candidates.at(side); },
          "side"_a)
      .def(
          "candidate_p",
          [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.candidate_p.at(side)); },
          "side"_a, nb::rv_policy::move);
  m.def(
      "tag_coupled",
      [](const CoupledLayout& layout, const Weights& weights, const FeatureRows& features,
         const Input<std::int64_t>& first, const std::vector<TagSets>& candidates,
         const std::vector<TagSets>& allowed, Pruning pruning, Decoding decoding, double bundle_gap,
         bool with_candidates, std::size_t threads) {
        return without_gil([&] {
          return tag_coupled(layout, {view(weights)}, features, {first.data(), first.size()}, candidates,
                             allowed, {pruning, decoding, bundle_gap}, with_candidates, threads);
        });
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "candidates"_a, "allowed"_a, "pruning"_a,
      "decoding"_a, "bundle_gap"_a, "with_candidates"_a, "threads"_a);
  m.def(
      "tag_candidates",
      [](const TaggerLayout& layout, const Weights& weights, const FeatureRows& features,
         const Input<std::int64_t>& first, Pruning pruning, std::size_t threads) {
        return without_gil([&] {
          return tag_candidates(layout, {view(weights)}, features, {first.data(), first.size()}, pruning,
                                threads);
        });
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "pruning"_a, "threads"_a);

  nb::class_<CoupledWeights>(m, "CoupledWeights")
      .def(
          "__init__",
          [](CoupledWeights* self, const Input<std::uint64_t>& slot, const Input<std::uint16_t>& label,
             const Input<float>& weight, const Input<float>& transition,
             std::vector<std::int32_t> pruned_sides) {
            new (self) CoupledWeights{{to_vector(slot), to_vector(label), to_vector(weight)},
                                      to_vector(transition),
                                      std::move(pruned_sides)};
          },
          "slot"_a, "label"_a, "weight"_a, "transition"_a, "pruned_sides"_a)
      .def_prop_ro(
          "slot", [](const CoupledWeights& self) { return to_numpy(self.table.slot); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const CoupledWeights& self) { return to_numpy(self.table.label); }, nb::rv_policy::move)
      .def_prop_ro(
          "weight", [](const CoupledWeights& self) { return to_numpy(self.table.weight); },
          nb::rv_policy::move)
      .def_prop_ro(
          "transition", [](const CoupledWeights& self) { return to_numpy(self.transition); },
          nb::rv_policy::move)
      .def_ro("pruned_sides", &CoupledWeights::pruned_sides);
  m.def(
      "compile_coupled",
      [](const CoupledLayout& layout, const std::vector<Weights>& weights, const std::vector<Weights>& pruner,
         const Input<std::uint64_t>& keys, float min_weight) {
        return compile_coupled(layout, views(weights), views(pruner), {keys.data(), keys.size()}, min_weight);
      },
      "layout"_a, "weights"_a, "pruner"_a, "keys"_a, "min_weight"_a);

  nb::class_<CoupledPredictor>(m, "CoupledPredictor")
      .def(
          "__init__",
          [](CoupledPredictor* self, CoupledShape shape, std::shared_ptr<CoupledWeights> weights,
             TemplateSet templates, Folding folding, Pruning pruning, Decoding decoding, double bundle_gap) {
            new (self) CoupledPredictor(std::move(shape), std::move(weights), std::move(templates),
                                        std::move(folding), {pruning, decoding, bundle_gap});
          },
          "shape"_a, "weights"_a, "templates"_a, "folding"_a, "pruning"_a, "decoding"_a, "bundle_gap"_a)
      .def_prop_ro("weights", &CoupledPredictor::weights, nb::rv_policy::reference_internal)
      .def_prop_ro("shape", &CoupledPredictor::shape)
      .def(
          "predict",
          [](const CoupledPredictor& self, const Sentences& sentences, const std::vector<TagSets>& allowed,
             bool with_candidates, std::size_t threads) {
            return without_gil([&] { return predict(self, sentences, allowed, with_candidates, threads); });
          },
          "sentences"_a, "allowed"_a, "with_candidates"_a, "threads"_a)
      .def(
          "predict_constrained",
          [](const CoupledPredictor& self, const Sentences& sentences,
             const std::vector<Constraints>& constraints, bool with_candidates, std::size_t threads) {
            std::int64_t impossible = 0;
            auto found = without_gil([&] {
              return predict_constrained(self, sentences, constraints, with_candidates, threads, impossible);
            });
            return std::make_tuple(std::move(found), impossible);
          },
          "sentences"_a, "constraints"_a, "with_candidates"_a, "threads"_a)
      .def(
          "k_best",
          [](const CoupledPredictor& self, const Sentences& sentences, std::size_t side,
             const std::vector<Constraints>& constraints, std::size_t k) {
            double log_z = 0.0;
            auto found = without_gil([&] { return k_best(self, sentences, side, constraints, k, log_z); });
            std::vector<std::tuple<double, Array<std::int32_t>>> out;
            for (SideAnswer& each : found) out.emplace_back(each.score, to_numpy(std::move(each.label)));
            return std::make_tuple(log_z, std::move(out));
          },
          "sentences"_a, "side"_a, "constraints"_a, "k"_a)
      .def(
          "tag_lines",
          [](const CoupledPredictor& self, std::size_t side, std::vector<std::vector<std::uint8_t>> starts,
             const nb::bytes& text, const LineOptions& options, std::size_t threads) {
            const std::string_view shown(text.c_str(), text.size());
            const std::string out = without_gil([&] {
              return tag_lines(*label_model(self, side, std::move(starts)), shown, options, threads);
            });
            return nb::bytes(out.data(), out.size());
          },
          "side"_a, "starts"_a, "text"_a, "options"_a, "threads"_a)
      .def(
          "count_pairs",
          [](const CoupledPredictor& self, const Sentences& sentences, const std::vector<TagSets>& allowed,
             std::size_t side_a, std::size_t side_b, std::size_t threads) {
            return to_numpy(
                without_gil([&] { return count_pairs(self, sentences, allowed, side_a, side_b, threads); }),
                static_cast<std::size_t>(self.shape().labels.at(side_b)));
          },
          "sentences"_a, "allowed"_a, "side_a"_a, "side_b"_a, "threads"_a);
}

}  // namespace duilian::bindings
