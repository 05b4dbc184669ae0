// The plain tagger: in training, compiled, and on lines of text.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/score/flat_segmenter.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_training(nb::module_& m) {
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
      .def_prop_ro(
          "first", [](const TaggerLayout& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const TaggerLayout& self) { return to_numpy(self.all_labels()); }, nb::rv_policy::move)
      .def_prop_ro(
          "listed", [](const TaggerLayout& self) { return to_numpy(self.label); }, nb::rv_policy::move);

  m.def(
      "lay_out_tagger",
      [](std::int32_t labels, const Succession& rules, std::int64_t rows, const TaggingData& data,
         std::int64_t full_from) {
        return without_gil([&] { return lay_out_tagger(labels, rules, rows, data, full_from); });
      },
      "labels"_a, "rules"_a, "rows"_a, "data"_a, "full_from"_a);
  m.def(
      "lay_out_tagger_for",
      [](std::int32_t labels, const Succession& rules, std::int64_t rows, const TaggingData& data,
         std::int64_t full_from, const Input<std::int64_t>& sentences) {
        return without_gil(
            [&] { return lay_out_tagger(labels, rules, rows, data, full_from, view(sentences)); });
      },
      "labels"_a, "rules"_a, "rows"_a, "data"_a, "full_from"_a, "sentences"_a);
  m.def(
      "copy_weights",
      [](const TaggerLayout& from, const Weights& weights, float share, const TaggerLayout& to,
         const Weights& out) {
        without_gil([&] { copy_weights(from, view(weights), share, to, view(out)); });
      },
      "layout"_a, "weights"_a, "share"_a, "whole"_a, "out"_a);
  m.def(
      "tag_units",
      [](const TaggerLayout& layout, const Weights& weights, const FeatureRows& features,
         const Input<std::int64_t>& first, std::size_t threads) {
        return to_numpy(
            without_gil([&] { return tag_units(layout, {view(weights)}, features, view(first), threads); }));
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "threads"_a);
}

void bind_weights(nb::module_& m) {
  nb::class_<CompiledWeights>(m, "CompiledWeights")
      .def(
          "__init__",
          [](CompiledWeights* self, const Input<std::uint64_t>& slot, const Input<std::uint16_t>& label,
             const Input<float>& weight, const Input<float>& transition) {
            new (self) CompiledWeights{{to_vector(slot), to_vector(label), to_vector(weight)},
                                       to_vector(transition)};
          },
          "slot"_a, "label"_a, "weight"_a, "transition"_a)
      .def_prop_ro(
          "slot", [](const CompiledWeights& self) { return to_numpy(self.slot); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const CompiledWeights& self) { return to_numpy(self.label); }, nb::rv_policy::move)
      .def_prop_ro(
          "weight", [](const CompiledWeights& self) { return to_numpy(self.weight); }, nb::rv_policy::move)
      .def_prop_ro(
          "transition", [](const CompiledWeights& self) { return to_numpy(self.transition); },
          nb::rv_policy::move);
  m.def(
      "compile_weights",
      [](const TaggerLayout& layout, const Input<float>& weights, const Input<std::uint64_t>& keys,
         float min_weight) { return compile_weights(layout, view(weights), view(keys), min_weight); },
      "layout"_a, "weights"_a, "keys"_a, "min_weight"_a);
}

void bind_constraints(nb::module_& m) {
  nb::class_<Constraints>(m, "Constraints")
      .def(
          "__init__",
          [](Constraints* self, const TagSets& allowed, const Input<std::int64_t>& unit,
             const Input<std::int32_t>& label, const Input<float>& score) {
            new (self) Constraints(make_constraints(allowed, view(unit), view(label), view(score)));
          },
          "allowed"_a, "unit"_a, "label"_a, "score"_a)
      .def(
          "restricted",
          [](const Constraints& self, const Input<std::uint16_t>& known,
             const Input<std::uint16_t>& barred_by) {
            return restricted(self, view(known), view(barred_by));
          },
          "known"_a, "barred_by"_a);
  m.def(
      "restrictions",
      [](const Input<std::uint16_t>& known, const std::vector<Input<std::uint16_t>>& barred_by) {
        std::vector<std::span<const std::uint16_t>> sides;
        for (const auto& side : barred_by) sides.push_back(view(side));
        return restrictions(view(known), sides);
      },
      "known"_a, "barred_by"_a);
}

void bind_lines(nb::module_& m) {
  nb::class_<LineOptions>(m, "LineOptions")
      .def(
          "__init__",
          [](LineOptions* self, bool has_words, std::pair<bool, bool> joins, std::vector<std::string> name,
             const std::vector<bool>& starts, std::string between, std::string before_tag) {
            new (self) LineOptions{has_words,          {joins.first, joins.second},
                                   std::move(name),    {starts.begin(), starts.end()},
                                   std::move(between), std::move(before_tag)};
          },
          "has_words"_a, "joins"_a, "name"_a, "starts"_a, "between"_a, "before_tag"_a)
      .def_ro("starts", &LineOptions::starts);
  m.def(
      "tag_rows",
      [](const Predictor& predictor, const nb::bytes& text, const std::vector<std::size_t>& field,
         const LineOptions& options, std::size_t threads) {
        const std::string_view shown = view(text);
        return to_bytes(without_gil([&] { return tag_rows(predictor, shown, field, options, threads); }));
      },
      "predictor"_a, "text"_a, "field"_a, "options"_a, "threads"_a);
}

void bind_flat(nb::module_& m) {
  m.def("flat_checksum", [](const nb::bytes& body) { return flat_checksum(view(body)); }, "body"_a);
  m.def(
      "cut_flat",
      [](const nb::bytes& file, const std::string& text) {
        std::vector<std::pair<std::int64_t, std::int64_t>> found;
        for (const Span& word : FlatSegmenter(view(file)).words(decode_utf8(text)))
          found.emplace_back(word.begin, word.end);
        return found;
      },
      "file"_a, "text"_a);
}

void bind_predictor(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor")
      .def(
          "__init__",
          [](Predictor* self, std::int32_t labels, Succession rules, std::shared_ptr<CompiledWeights> weights,
             TemplateSet templates, Reading reading) {
            new (self) Predictor(labels, std::move(rules), std::move(weights), std::move(templates),
                                 std::move(reading));
          },
          "labels"_a, "rules"_a, "weights"_a, "templates"_a, "reading"_a)
      .def_prop_ro("weights", &Predictor::weights)
      .def("tag_lines", &tag_bytes<Predictor>, "text"_a, "options"_a, "threads"_a)
      .def("predict", &predict_labels<Predictor>, "sentences"_a, "constraints"_a, "threads"_a)
      .def(
          "predict_marginals",
          [](const Predictor& self, const Sentences& sentences, const Constraints& constraints,
             std::size_t threads) {
            return to_numpy(
                without_gil([&] { return predict_marginals(self, sentences, constraints, threads); }),
                static_cast<std::size_t>(self.labels()));
          },
          "sentences"_a, "constraints"_a, "threads"_a)
      .def("chain", &constrained_chain, "sentences"_a, "constraints"_a, "sentence"_a);
}

}  // namespace

void bind_tagger(nb::module_& m) {
  bind_training(m);
  bind_weights(m);
  bind_constraints(m);
  bind_predictor(m);
  bind_lines(m);
  bind_flat(m);
}

}  // namespace duilian::bindings
