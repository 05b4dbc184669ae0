// The coupled tagger compiled for tagging, and its answers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/coupled/predictor.hpp"
#include "word_columns.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] std::vector<std::span<const float>> views(const std::vector<Weights>& weights) {
  std::vector<std::span<const float>> out;
  for (const Weights& each : weights) out.push_back(view(each));
  return out;
}

void bind_answers(nb::class_<CoupledAnswers>& answers) {
  answers
      .def(
          "label", [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.label.at(side)); },
          "side"_a)
      .def(
          "p", [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.p.at(side)); },
          "side"_a)
      .def(
          "confidence",
          [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.confidence.at(side)); },
          "side"_a)
      .def(
          "candidates", [](const CoupledAnswers& self, std::size_t side) { return self.candidates.at(side); },
          "side"_a)
      .def(
          "candidate_p",
          [](const CoupledAnswers& self, std::size_t side) { return to_numpy(self.candidate_p.at(side)); },
          "side"_a);
}

void bind_curve(nb::module_& m) {
  nb::class_<ConfidenceCurve>(m, "ConfidenceCurve")
      .def(nb::init<std::vector<double>, std::vector<double>>(), "said"_a, "is_true"_a)
      .def(
          "__call__",
          [](const ConfidenceCurve& self, const Input<float>& p) {
            std::vector<float> found = to_vector(p);
            self.apply(found);
            return to_numpy(std::move(found));
          },
          "p"_a);
}

void bind_words(nb::class_<CoupledAnswers>& answers) {
  answers.def(
      "words",
      [](const CoupledAnswers& self, std::size_t side,
         const std::pair<Input<std::uint8_t>, Input<std::uint8_t>>& edges, const Matrix<std::int64_t>& spans,
         const Input<std::int64_t>& sentence, const Input<std::uint16_t>& known,
         const ConfidenceCurve* curve) {
        const SideWords how{side, {view(edges.first), view(edges.second)}, curve};
        const std::span<const std::int64_t> flat(spans.data(), spans.size());
        WordColumns found = without_gil(
            [&] { return words_of_side(self, how, {flat, view(sentence), view(known), {}, {}}); });
        return columns_of(std::move(found));
      },
      "side"_a, "edges"_a, "spans"_a, "sentence"_a, "known"_a, "curve"_a.none());
}

void bind_weights(nb::module_& m) {
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
         const Input<std::uint64_t>& keys, float min_weight, const Input<std::uint8_t>& is_wanted) {
        return without_gil([&] {
          return compile_coupled(layout, views(weights), views(pruner), view(keys), min_weight,
                                 view(is_wanted));
        });
      },
      "layout"_a, "weights"_a, "pruner"_a, "keys"_a, "min_weight"_a, "is_wanted"_a);
}

using Predictors = nb::class_<CoupledPredictor>;

void bind_predict(Predictors& predictor) {
  predictor
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
          "predict_flags",
          [](const CoupledPredictor& self, const Sentences& sentences,
             const std::vector<Constraints>& constraints, std::size_t side, const Input<std::uint8_t>& flags,
             std::size_t threads) {
            std::int64_t impossible = 0;
            auto found = without_gil([&] {
              return predict_flags(self, sentences, constraints, {side, view(flags)}, threads, impossible);
            });
            return std::make_tuple(to_numpy(std::move(found)), impossible);
          },
          "sentences"_a, "constraints"_a, "side"_a, "flags"_a, "threads"_a)
      .def(
          "side_probabilities",
          [](const CoupledPredictor& self, const Sentences& sentences, std::size_t side,
             std::size_t threads) {
            std::vector<double> found =
                without_gil([&] { return side_probabilities(self, sentences, side, threads); });
            return to_numpy(std::move(found), static_cast<std::size_t>(self.shape().labels.at(side)));
          },
          "sentences"_a, "side"_a, "threads"_a)
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
          "sentences"_a, "side"_a, "constraints"_a, "k"_a);
}

void bind_whole_texts(Predictors& predictor) {
  predictor
      .def(
          "tag_lines",
          [](const CoupledPredictor& self, std::size_t side, std::vector<std::vector<std::uint8_t>> starts,
             const nb::bytes& text, const LineOptions& options, std::size_t threads) {
            const std::string_view shown = view(text);
            return to_bytes(without_gil([&] {
              return tag_lines(*label_model(self, side, std::move(starts)), shown, options, threads);
            }));
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

}  // namespace

void bind_coupled_predictor(nb::module_& m) {
  bind_curve(m);
  nb::class_<CoupledAnswers> answers(m, "CoupledAnswers");
  bind_answers(answers);
  bind_words(answers);
  bind_weights(m);
  Predictors predictor(m, "CoupledPredictor");
  predictor
      .def(
          "__init__",
          [](CoupledPredictor* self, CoupledShape shape, std::shared_ptr<CoupledWeights> weights,
             TemplateSet templates, Reading reading, Pruning pruning, Decoding decoding, double bundle_gap) {
            new (self) CoupledPredictor(std::move(shape), std::move(weights), std::move(templates),
                                        std::move(reading), {pruning, decoding, bundle_gap});
          },
          "shape"_a, "weights"_a, "templates"_a, "reading"_a, "pruning"_a, "decoding"_a, "bundle_gap"_a)
      .def_prop_ro("weights", &CoupledPredictor::weights, nb::rv_policy::reference_internal)
      .def_prop_ro("shape", &CoupledPredictor::shape);
  bind_predict(predictor);
  bind_whole_texts(predictor);
}

}  // namespace duilian::bindings
