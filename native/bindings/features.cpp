// Sentences, templates, the features that templates yield, and the index that numbers them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] std::vector<std::u32string> decode(const std::vector<std::string>& words) {
  std::vector<std::u32string> out;
  for (const std::string& word : words) out.push_back(decode_utf8(word));
  return out;
}

[[nodiscard]] std::vector<std::string> encode(const std::vector<std::u32string>& words) {
  std::vector<std::string> out;
  for (const std::u32string& word : words) out.push_back(encode_utf8(word));
  return out;
}

/// [columns][units]  what templates see of units that are already folded.
[[nodiscard]] std::vector<std::vector<std::string>> codes_of(const Dictionary& dictionary,
                                                             const std::vector<std::string>& units) {
  std::u32string characters;
  std::vector<std::int64_t> end;
  for (const std::string& unit : units) {
    characters += decode_utf8(unit);
    end.push_back(static_cast<std::int64_t>(characters.size()));
  }
  Dictionary::Work work;
  Dictionary::Columns columns;
  dictionary.look_up(characters, end, work, columns);
  std::vector<std::vector<std::string>> out;
  for (const auto& column : columns) {
    out.emplace_back();
    for (const CodeText* value : column) out.back().push_back(encode_utf8(value->text));
  }
  return out;
}

void bind_dictionary(nb::module_& m) {
  nb::class_<Dictionary>(m, "Dictionary")
      .def(
          "__init__",
          [](Dictionary* self, const Input<std::uint32_t>& alphabet, const Input<std::uint16_t>& symbol,
             const Input<std::uint8_t>& flags, const Input<std::uint32_t>& frequency,
             const Input<std::uint8_t>& tag, std::vector<std::string> tags) {
            new (self) Dictionary({to_vector(alphabet), to_vector(symbol), to_vector(flags),
                                   to_vector(frequency), to_vector(tag), std::move(tags)});
          },
          "alphabet"_a, "symbol"_a, "flags"_a, "frequency"_a, "tag"_a, "tags"_a)
      .def_static(
          "of_words",
          [](const std::vector<std::string>& words, const Input<std::uint32_t>& frequency,
             const Input<std::uint8_t>& tag, std::vector<std::string> tags) {
            return without_gil([&] {
              return Dictionary(make_trie(decode(words), view(frequency), view(tag), std::move(tags)));
            });
          },
          "words"_a, "frequency"_a, "tag"_a, "tags"_a)
      .def("__len__", &Dictionary::size)
      .def_prop_ro("bytes", &Dictionary::bytes)
      .def_prop_ro("tags", [](const Dictionary& self) { return self.arrays().tags; })
      .def("words", [](const Dictionary& self) { return encode(self.words()); })
      .def("mixed_words", [](const Dictionary& self) { return encode(self.mixed_words()); })
      .def(
          "arrays",
          [](const Dictionary& self) {
            const DictionaryArrays& kept = self.arrays();
            return std::make_tuple(to_numpy(kept.alphabet), to_numpy(kept.symbol), to_numpy(kept.flags),
                                   to_numpy(kept.frequency), to_numpy(kept.tag));
          },
          nb::rv_policy::move)
      .def("codes", &codes_of, "units"_a);
  nb::class_<Reading>(m, "Reading")
      .def(nb::init<Folding>(), "folding"_a)
      .def(nb::init<Folding, Dictionary, double>(), "folding"_a, "dictionary"_a, "blind"_a);
  nb::implicitly_convertible<Folding, Reading>();
}

/// [units][2]  where each begins and ends.
using Spans = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

void bind_sentences(nb::module_& m) {
  nb::class_<Sentences>(m, "Sentences")
      .def(nb::init<Reading, std::vector<std::string>>(), "reading"_a, "columns"_a)
      .def(
          "add",
          [](Sentences& self, const std::vector<std::string>& units,
             const std::vector<std::vector<std::string>>& columns) { self.add(units, columns); },
          "units"_a, "columns"_a)
      .def(
          "add_texts",
          [](Sentences& self, const nb::typed<nb::list, nb::str>& texts, const Spans& spans,
             const Input<std::int64_t>& first, const Input<std::int64_t>& text) {
            const auto characters = characters_of(texts);
            without_gil([&] { self.add_texts(characters, view(spans), view(first), view(text)); });
          },
          "texts"_a, "spans"_a, "first"_a, "text"_a)
      .def("__len__", &Sentences::size)
      .def_prop_ro("units", &Sentences::units)
      .def_prop_ro(
          "first", [](const Sentences& self) { return to_numpy(self.first()); }, nb::rv_policy::move);
}

void bind_templates(nb::module_& m) {
  nb::class_<TemplateSet>(m, "TemplateSet")
      .def(nb::init<>())
      .def_prop_ro("columns", &TemplateSet::given_columns)
      .def_prop_ro("needs_dictionary", &TemplateSet::needs_dictionary)
      .def_ro("has_transitions", &TemplateSet::has_transitions)
      .def("__len__", [](const TemplateSet& self) { return self.templates.size(); })
      .def_prop_ro("texts", &TemplateSet::texts);
  m.def("parse_templates", [](const std::string& text) { return parse_templates(text); }, "text"_a);
}

void bind_index(nb::module_& m) {
  nb::class_<FeatureIndex>(m, "FeatureIndex")
      .def(
          "__init__",
          [](FeatureIndex* self, const Input<std::uint64_t>& keys) { new (self) FeatureIndex(view(keys)); },
          "keys"_a)
      .def("__len__", &FeatureIndex::size)
      .def(
          "find_all",
          [](const FeatureIndex& self, const Input<std::uint64_t>& keys) {
            return to_numpy(self.find_all(view(keys)));
          },
          "keys"_a)
      .def("find", &FeatureIndex::find_known, "key"_a)
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
      .def_prop_ro(
          "rows", [](const FeatureRows& self) { return to_numpy(self.value); }, nb::rv_policy::move)
      .def_prop_ro(
          "strength", [](const FeatureRows& self) { return to_numpy(self.strength); }, nb::rv_policy::move);
}

void bind_extraction(nb::module_& m) {
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
        FeatureKeys keys = extract_keys(templates, sentences);
        return std::make_tuple(to_numpy(std::move(keys.first)), to_numpy(std::move(keys.value)));
      },
      "templates"_a, "sentences"_a);
  m.def(
      "extract_rows",
      [](const TemplateSet& templates, const Sentences& sentences, const FeatureIndex& index,
         std::size_t threads) { return extract_rows(templates, sentences, index, threads); },
      "templates"_a, "sentences"_a, "index"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("describe_features", &describe_features, "templates"_a, "sentences"_a, "sentence"_a);
}

}  // namespace

void bind_features(nb::module_& m) {
  bind_dictionary(m);
  bind_sentences(m);
  bind_templates(m);
  bind_index(m);
  bind_extraction(m);
}

}  // namespace duilian::bindings
