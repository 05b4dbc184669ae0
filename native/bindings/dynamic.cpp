// Dynamic features: the words of an unfinished path, training with them, tagging with them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "duilian/dynamic/predictor.hpp"
#include "duilian/dynamic/training.hpp"
#include "duilian/text/characters.hpp"
#include "structured.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_words(nb::module_& m) {
  nb::class_<LabelWords>(m, "LabelWords")
      .def(
          "__init__",
          [](LabelWords* self, const std::vector<bool>& starts, const std::vector<bool>& ends,
             const std::vector<std::string>& tag) {
            new (self)
                LabelWords({starts.begin(), starts.end()}, {ends.begin(), ends.end()}, decode_all(tag));
          },
          "starts"_a, "ends"_a, "tag"_a);
  m.def(
      "word_template_columns",
      [](const TemplateSet& templates) { return WordTemplates(templates).columns(); }, "templates"_a);
  m.def(
      "word_keys",
      [](const TemplateSet& templates, const LabelWords& words, const Sentences& sentences,
         const Input<std::int32_t>& labels) {
        FeatureKeys found = word_keys(WordTemplates(templates), words, sentences, view(labels));
        return std::make_tuple(to_numpy(std::move(found.first)), to_numpy(std::move(found.value)));
      },
      "templates"_a, "words"_a, "sentences"_a, "labels"_a);
  m.def(
      "describe_words",
      [](const TemplateSet& templates, const LabelWords& words, const Sentences& sentences,
         const Input<std::int32_t>& labels) {
        return describe_words(WordTemplates(templates), words, sentences, view(labels));
      },
      "templates"_a, "words"_a, "sentences"_a, "labels"_a);
}

void bind_training(nb::module_& m) {
  nb::class_<DynamicTraining> training(m, "DynamicTraining");
  training
      .def(
          "__init__",
          [](DynamicTraining* self, std::int32_t labels, const Succession& rules, const LabelWords& words,
             const TemplateSet& templates, const TemplateSet& word_templates, const Sentences& sentences,
             const Input<std::int32_t>& label, std::uint32_t min_count, std::uint32_t min_word_count,
             std::int64_t full_from, double kind_gap, double path_gap, std::size_t threads) {
            std::vector<std::int32_t> kept = to_vector(label);
            const nb::gil_scoped_release release;
            new (self) DynamicTraining(labels, rules, words, templates, word_templates, sentences,
                                       std::move(kept), {min_count, min_word_count, full_from, threads},
                                       {.kind_gap = kind_gap, .path_gap = path_gap});
          },
          "labels"_a, "rules"_a, "words"_a, "templates"_a, "word_templates"_a, "sentences"_a, "label"_a,
          "min_count"_a, "min_word_count"_a, "full_from"_a, "kind_gap"_a, "path_gap"_a, "threads"_a,
          nb::keep_alive<1, 7>())
      .def_prop_ro("layout", &DynamicTraining::layout, nb::rv_policy::reference_internal)
      .def_prop_ro("unit_rows", &DynamicTraining::unit_rows)
      .def_prop_ro(
          "keys", [](const DynamicTraining& self) { return to_numpy(self.keys()); }, nb::rv_policy::move)
      .def("rows", &DynamicTraining::rows, "templates"_a, "sentences"_a, "threads"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "tag",
          [](const DynamicTraining& self, const Input<float>& weights, const Sentences& sentences,
             const FeatureRows& rows, std::size_t threads) {
            return to_numpy(without_gil([&] { return self.tag({view(weights)}, sentences, rows, threads); }));
          },
          "weights"_a, "sentences"_a, "rows"_a, "threads"_a);
  bind_structure(training);
}

void bind_predictor(nb::module_& m) {
  m.def(
      "compile_dynamic",
      [](const TaggerLayout& layout, const Input<float>& weights, const Input<std::uint64_t>& keys,
         std::size_t unit_rows, const LabelWords& words, float min_weight) {
        return compile_dynamic(layout, view(weights), view(keys), unit_rows, words, min_weight);
      },
      "layout"_a, "weights"_a, "keys"_a, "unit_rows"_a, "words"_a, "min_weight"_a);
  nb::class_<DynamicPredictor>(m, "DynamicPredictor")
      .def(
          "__init__",
          [](DynamicPredictor* self, std::int32_t labels, const Succession& rules,
             const CompiledWeights& weights, const TemplateSet& templates, const TemplateSet& word_templates,
             const Reading& reading, const LabelWords& words, std::size_t beam, double kind_gap,
             double path_gap) {
            new (self) DynamicPredictor(labels, rules, weights, templates, word_templates, reading, words,
                                        {beam, kind_gap, path_gap});
          },
          "labels"_a, "rules"_a, "weights"_a, "templates"_a, "word_templates"_a, "reading"_a, "words"_a,
          "beam"_a, "kind_gap"_a, "path_gap"_a)
      .def_prop_ro(
          "weights",
          [](const DynamicPredictor& self) -> const CompiledWeights& { return self.plain().weights(); })
      .def("predict", &predict_labels<DynamicPredictor>, "sentences"_a, "constraints"_a, "threads"_a)
      .def("tag_lines", &tag_bytes<DynamicPredictor>, "text"_a, "options"_a, "threads"_a);
}

}  // namespace

void bind_dynamic(nb::module_& m) {
  bind_words(m);
  bind_training(m);
  bind_predictor(m);
}

}  // namespace duilian::bindings
