// Text: folding, character classes, units, sentences, protected spans.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/fold.hpp"
#include "duilian/text/search_words.hpp"
#include "duilian/text/segment.hpp"
#include "duilian/text/split.hpp"
#include "duilian/text/utf8_column.hpp"
#include "duilian/text/whole.hpp"
#include "word_columns.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] Array<std::int64_t, 2> to_pairs(const std::vector<Span>& spans) {
  std::vector<std::int64_t> flat;
  flat.reserve(spans.size() * 2);
  for (const Span& span : spans) flat.insert(flat.end(), {span.begin, span.end});
  return to_numpy(std::move(flat), 2);
}

using NamedSpan = std::tuple<std::int64_t, std::int64_t, std::string>;

[[nodiscard]] std::vector<NamedSpan> named(const std::vector<WholeSpan>& spans) {
  std::vector<NamedSpan> out;
  out.reserve(spans.size());
  for (const WholeSpan& each : spans)
    out.emplace_back(each.span.begin, each.span.end, encode_utf8(whole_kind_name(each.kind)));
  return out;
}

[[nodiscard]] std::u32string to_characters(nb::handle text) {
  if (!nb::isinstance<nb::str>(text)) throw nb::type_error("a text must be a string");
  const Py_ssize_t length = PyUnicode_GetLength(text.ptr());
  std::u32string out(static_cast<std::size_t>(length), U'\0');
  // The buffer has room for `length` characters; a Py_UCS4 is a char32_t.
  if (PyUnicode_AsUCS4(text.ptr(), reinterpret_cast<Py_UCS4*>(out.data()), length, 0) == nullptr)
    nb::raise_python_error();
  std::uint32_t surrogates = 0;
  for (const char32_t c : out) surrogates += static_cast<std::uint32_t>((c & 0xFFFFF800U) == 0xD800U);
  if (surrogates != 0) throw nb::type_error("a text has a lone surrogate");
  return out;
}

void bind_characters(nb::module_& m) {
  nb::class_<Folding>(m, "Folding")
      .def(
          "__init__",
          [](Folding* self, bool folds_width,
             const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs, int letters) {
            const std::vector<std::pair<char32_t, char32_t>> codes(pairs.begin(), pairs.end());
            new (self) Folding(folds_width, codes, static_cast<Letters>(letters));
          },
          "folds_width"_a, "pairs"_a, "letters"_a)
      .def(
          "fold",
          [](const Folding& self, const std::string& text) { return encode_utf8(self(decode_utf8(text))); },
          "text"_a);
  m.def("char_types", [](const std::string& text) { return char_types(text); }, "text"_a);
}

void bind_units(nb::module_& m) {
  m.def(
      "split_units",
      [](const std::string& text, bool joins_letters, bool joins_digits) {
        return to_pairs(
            without_gil([&] { return split_units(decode_utf8(text), {joins_letters, joins_digits}); }));
      },
      "text"_a, "joins_letters"_a, "joins_digits"_a);
  m.def(
      "split_words",
      [](const std::vector<std::string>& words, bool joins_letters, bool joins_digits) {
        WordUnits found = split_words(words, {joins_letters, joins_digits});
        return std::make_tuple(std::move(found.unit), std::move(found.count));
      },
      "words"_a, "joins_letters"_a, "joins_digits"_a);
}

void bind_sentences(nb::module_& m) {
  m.def(
      "whole_spans",
      [](const std::string& text) {
        return named(without_gil([&] { return find_whole_spans(decode_utf8(text)); }));
      },
      "text"_a);
  m.def(
      "split_texts",
      [](const nb::typed<nb::list, nb::str>& texts, std::pair<bool, bool> joins, bool is_one_sentence,
         const std::vector<bool>& whole) {
        const auto characters = characters_of(texts);
        SplitTexts found = without_gil([&] {
          return split_texts(characters, {{joins.first, joins.second}, is_one_sentence, whole_kinds(whole)});
        });
        return std::make_tuple(to_pairs(found.unit), to_numpy(std::move(found.first)),
                               to_numpy(std::move(found.text)), to_numpy(std::move(found.known)),
                               named(found.whole));
      },
      "texts"_a, "joins"_a, "is_one_sentence"_a, "whole"_a);
  m.def(
      "with_ends", [](const Input<std::uint16_t>& known) { return to_numpy(with_ends(view(known))); },
      "known"_a);
  m.def(
      "split_sentences",
      [](const std::string& text) {
        return to_pairs(without_gil([&] { return split_sentences(decode_utf8(text)); }));
      },
      "text"_a);
}

/// The words [start, end) of a text.
[[nodiscard]] nb::object cut(nb::handle text, std::span<const std::int32_t> start,
                             std::span<const std::int32_t> end) {
  const nb::object words = nb::steal(PyList_New(static_cast<Py_ssize_t>(start.size())));
  for (std::size_t k = 0; words.is_valid() && k < start.size(); ++k) {
    PyObject* word = PyUnicode_Substring(text.ptr(), start[k], end[k]);
    if (word == nullptr) nb::raise_python_error();
    PyList_SetItem(words.ptr(), static_cast<Py_ssize_t>(k), word);  // takes ownership of the word
  }
  if (!words.is_valid()) nb::raise_python_error();
  return words;
}

/// The words of each text, as strings; `first` has the number of words before each text.
[[nodiscard]] nb::list cut_texts(const nb::list& texts, std::span<const std::int32_t> start,
                                 std::span<const std::int32_t> end, std::span<const std::int64_t> first) {
  const auto words = static_cast<std::int64_t>(start.size());
  if (end.size() != start.size() || first.size() != texts.size() + 1 || first.front() != 0 ||
      first.back() != words || !std::is_sorted(first.begin(), first.end()))
    throw std::invalid_argument("the words do not match the texts");
  nb::list out;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const nb::object text = texts[k];
    if (!nb::isinstance<nb::str>(text)) throw nb::type_error("a text must be a string");
    const auto at = static_cast<std::size_t>(first[k]);
    const auto count = static_cast<std::size_t>(first[k + 1]) - at;
    out.append(cut(text, start.subspan(at, count), end.subspan(at, count)));
  }
  return out;
}

void bind_words(nb::module_& m) {
  m.def(
      "words_of_labels",
      [](const std::pair<Input<std::uint8_t>, Input<std::uint8_t>>& edges, const Matrix<std::int64_t>& spans,
         const Input<std::int64_t>& sentence, const Input<std::uint16_t>& known,
         const Input<std::int32_t>& label, const std::optional<Input<float>>& p) {
        const std::span<const float> sure = p ? view(*p) : std::span<const float>();
        const std::span<const std::int64_t> flat(spans.data(), spans.size());
        WordColumns found = without_gil([&] {
          return words_of_labels({view(edges.first), view(edges.second)},
                                 {flat, view(sentence), view(known), view(label), sure});
        });
        return columns_of(std::move(found));
      },
      "edges"_a, "spans"_a, "sentence"_a, "known"_a, "label"_a, "p"_a.none());
  m.def(
      "spaced_texts",
      [](const nb::typed<nb::list, nb::str>& texts, const Input<std::int32_t>& start,
         const Input<std::int32_t>& end, const Input<std::int64_t>& first) {
        const auto characters = characters_of(texts);
        return without_gil([&] { return spaced_texts(characters, view(start), view(end), view(first)); });
      },
      "texts"_a, "start"_a, "end"_a, "first"_a);
  m.def(
      "cut_texts",
      [](const nb::typed<nb::list, nb::str>& texts, const Input<std::int32_t>& start,
         const Input<std::int32_t>& end,
         const Input<std::int64_t>& first) -> nb::typed<nb::list, nb::typed<nb::list, nb::str>> {
        return cut_texts(texts, view(start), view(end), view(first));
      },
      "texts"_a, "start"_a, "end"_a, "first"_a);
}

[[nodiscard]] Utf8Column column_of(const Input<std::uint8_t>& bytes, const Input<std::int64_t>& offset) {
  return {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, view(offset)};
}

void bind_columns(nb::module_& m) {
  m.def(
      "count_characters",
      [](const Input<std::uint8_t>& bytes, const Input<std::int64_t>& offset) {
        return to_numpy(without_gil([&] { return count_characters(column_of(bytes, offset)); }));
      },
      "bytes"_a, "offset"_a);
  m.def(
      "cut_words",
      [](const Input<std::uint8_t>& bytes, const Input<std::int64_t>& offset,
         const Input<std::int32_t>& start, const Input<std::int32_t>& end, const Input<std::int64_t>& first) {
        WordBytes found = without_gil(
            [&] { return cut_words(column_of(bytes, offset), {view(start), view(end), view(first)}); });
        return std::make_tuple(to_numpy(std::move(found.offset)), to_numpy(std::move(found.bytes)));
      },
      "bytes"_a, "offset"_a, "start"_a, "end"_a, "first"_a);
}

using Columns = std::vector<std::pair<Input<std::int32_t>, Input<std::int32_t>>>;

/// The terms of the words, and a row of start, end, position, length and standards for each.
[[nodiscard]] auto found_words(const std::string& text, const Columns& words, bool with_parts,
                               const Folding* folding) {
  std::vector<StandardWords> standards;
  for (const auto& [start, end] : words) standards.push_back({view(start), view(end)});
  SearchTerms found = without_gil([&] { return search_terms(text, standards, with_parts, folding); });
  return std::make_tuple(std::move(found.term), to_numpy(std::move(found.row), 5));
}

}  // namespace

std::vector<std::u32string> characters_of(const nb::list& texts) {
  std::vector<std::u32string> out;
  out.reserve(texts.size());
  for (const nb::handle text : texts) out.push_back(to_characters(text));
  return out;
}

void bind_text(nb::module_& m) {
  bind_columns(m);
  bind_words(m);
  m.def("search_words", &found_words, "text"_a, "words"_a, "with_parts"_a, "folding"_a.none());
  bind_characters(m);
  bind_units(m);
  bind_sentences(m);
}

}  // namespace duilian::bindings
