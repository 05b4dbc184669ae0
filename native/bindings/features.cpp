#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

void bind_features(nb::module_& m) {
  nb::class_<Sentences>(m, "Sentences")
      .def(nb::init<Folding, std::vector<std::string>>(), "folding"_a, "columns"_a)
      .def(
          "add",
          [](Sentences& self, const std::vector<std::string>& units,
             const std::vector<std::vector<std::string>>& columns) { self.add(units, columns); },
          "units"_a, "columns"_a)
      .def("__len__", &Sentences::size)
      .def_prop_ro("units", &Sentences::units)
      .def_prop_ro(
          "first", [](const Sentences& self) { return to_numpy(self.first()); }, nb::rv_policy::move);

  nb::class_<TemplateSet>(m, "TemplateSet")
      .def(nb::init<>())
      .def_ro("columns", &TemplateSet::columns)
      .def_ro("has_transitions", &TemplateSet::has_transitions)
      .def("__len__", [](const TemplateSet& self) { return self.templates.size(); })
      .def_prop_ro("texts", [](const TemplateSet& self) {
        std::vector<std::string> texts;
        for (const Template& each : self.templates) texts.push_back(each.text);
        return texts;
      });
  m.def("parse_templates", [](const std::string& text) { return parse_templates(text); }, "text"_a);

  nb::class_<FeatureIndex>(m, "FeatureIndex")
      .def(
          "__init__",
          [](FeatureIndex* self, const Input<std::uint64_t>& keys) {
            new (self) FeatureIndex(std::span(keys.data(), keys.size()));
          },
          "keys"_a)
      .def("__len__", &FeatureIndex::size)
      .def(
          "find_all",
          [](const FeatureIndex& self, const Input<std::uint64_t>& keys) {
            std::vector<std::uint32_t> rows;
            for (std::size_t k = 0; k < keys.size(); ++k) rows.push_back(self.find(keys(k)));
            return to_numpy(std::move(rows));  // 2^32 - 1 where there is none
          },
          "keys"_a)
      .def(
          "find",
          [](const FeatureIndex& self, std::uint64_t key) -> std::optional<std::uint32_t> {
            const std::uint32_t row = self.find(key);
            return row == kNoRow ? std::nullopt : std::optional(row);
          },
          "key"_a)
      .def_prop_ro("bytes", &FeatureIndex::bytes)
      .def_prop_ro(
          "keys", [](const FeatureIndex& self) { return to_numpy(self.keys()); }, nb::rv_policy::move);

  nb::class_<FeatureRows>(m, "FeatureRows")
      .def(
          "__init__",
          [](FeatureRows* self, const Input<std::int64_t>& first, const Input<std::uint32_t>& rows,
             const Input<float>& strength) {
            FeatureRows built{{to_vector(first), to_vector(rows)}, to_vector(strength)};
            check(built);
            new (self) FeatureRows(std::move(built));
          },
          "first"_a, "rows"_a, "strength"_a)
      .def_prop_ro(
          "first", [](const FeatureRows& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro("rows", [](const FeatureRows& self) { return to_numpy(self.value); }, nb::rv_policy::move);

  m.def(
      "count_keys",
      [](const TemplateSet& templates, const Sentences& sentences, std::uint32_t least) {
        return to_numpy(without_gil([&] { return count_keys(templates, sentences, least); }));
      },
      "templates"_a, "sentences"_a, "least"_a);
  m.def(
      "index_features",
      [](const TemplateSet& templates, const Sentences& sentences, std::uint32_t least, std::size_t threads) {
        auto found = without_gil([&] { return index_features(templates, sentences, least, threads); });
        return std::make_tuple(to_numpy(std::move(found.keys)), std::move(found.rows));
      },
      "templates"_a, "sentences"_a, "least"_a, "threads"_a);
  m.def(
      "extract_keys",
      [](const TemplateSet& templates, const Sentences& sentences) {
        FeatureKeys keys;
        extract_keys(templates, sentences, 0, sentences.size(), keys);
        return std::make_tuple(to_numpy(std::move(keys.first)), to_numpy(std::move(keys.value)));
      },
      "templates"_a, "sentences"_a);
  m.def(
      "extract_rows",
      [](const TemplateSet& templates, const Sentences& sentences, const FeatureIndex& index,
         std::size_t threads) { return extract_rows(templates, sentences, index, threads); },
      "templates"_a, "sentences"_a, "index"_a, "threads"_a = 1, nb::call_guard<nb::gil_scoped_release>());
  // For features that do not come from templates.
  m.def(
      "hash_texts",
      [](const std::vector<std::string>& texts) {
        std::vector<std::uint64_t> keys;
        for (const std::string& text : texts) keys.push_back(hash_text(decode_utf8(text)));
        return to_numpy(std::move(keys));
      },
      "texts"_a);
  m.def("describe_features", &describe_features, "templates"_a, "sentences"_a, "sentence"_a);
}

}  // namespace duilian::bindings
