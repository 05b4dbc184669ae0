#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// Throws std::invalid_argument unless the offsets rise from 0 to `last`.
void check_offsets(std::span<const std::int64_t> offsets, std::size_t last) {
  if (offsets.empty() || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
      static_cast<std::size_t>(offsets.back()) != last)
    throw std::invalid_argument("the places of units, sentences and texts do not fit together");
}

/// Adds sentences [first], the units of which are places in the texts; text k has the sentences from text[k]
/// on.
void add_texts(Sentences& sentences, const std::vector<std::string>& texts, const Matrix<std::int64_t>& spans,
               std::span<const std::int64_t> first, std::span<const std::int64_t> text) {
  if (spans.shape(1) != 2 || text.size() != texts.size() + 1)
    throw std::invalid_argument("the places of units, sentences and texts do not fit together");
  check_offsets(first, spans.shape(0));
  check_offsets(text, first.size() - 1);
  std::vector<Span> units;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const std::u32string decoded = decode_utf8(texts[k]);
    for (std::int64_t s = text[k]; s < text[k + 1]; ++s) {
      units.clear();
      for (std::int64_t u = first[s]; u < first[s + 1]; ++u)
        units.push_back({spans.data()[2 * u], spans.data()[2 * u + 1]});
      sentences.add(decoded, units);
    }
  }
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<Sentences>(m, "Sentences")
      .def(nb::init<Folding, std::vector<std::string>>(), "folding"_a, "columns"_a)
      .def(
          "add",
          [](Sentences& self, const std::vector<std::string>& units,
             const std::vector<std::vector<std::string>>& columns) { self.add(units, columns); },
          "units"_a, "columns"_a)
      .def(
          "add_texts",
          [](Sentences& self, const std::vector<std::string>& texts, const Matrix<std::int64_t>& spans,
             const Input<std::int64_t>& first, const Input<std::int64_t>& text) {
            without_gil([&] {
              add_texts(self, texts, spans, {first.data(), first.size()}, {text.data(), text.size()});
            });
          },
          "texts"_a, "spans"_a, "first"_a, "text"_a)
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
      [](const TemplateSet& templates, const Sentences& sentences, std::uint32_t min_count) {
        return to_numpy(without_gil([&] { return count_keys(templates, sentences, min_count); }));
      },
      "templates"_a, "sentences"_a, "min_count"_a);
  m.def(
      "index_features",
      [](const TemplateSet& templates, const Sentences& sentences, std::uint32_t min_count,
         std::size_t threads) {
        auto found = without_gil([&] { return index_features(templates, sentences, min_count, threads); });
        return std::make_tuple(to_numpy(std::move(found.keys)), std::move(found.rows));
      },
      "templates"_a, "sentences"_a, "min_count"_a, "threads"_a);
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
