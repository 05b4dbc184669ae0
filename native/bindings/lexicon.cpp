// A user's words: the list, and where they occur in texts and sentences.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/lexicon/lookup.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_lookup(nb::class_<WordList>& words) {
  words
      .def(
          "find_all",
          [](const WordList& self, const std::vector<std::string>& wanted) {
            return to_numpy(without_gil([&] { return find_entries(self, wanted); }));
          },
          "words"_a)
      .def(
          "occurrences",
          [](const WordList& self, const std::string& text) {
            return to_numpy(without_gil([&] { return find_occurrences(self, text); }), 3);
          },
          "text"_a)
      .def(
          "starts",
          [](const WordList& self, const std::string& text) {
            return to_numpy(without_gil([&] { return self.find_starts(decode_utf8(text)); }));
          },
          "text"_a)
      .def(
          "matches",
          [](const WordList& self, const std::vector<std::vector<std::string>>& sentences,
             const std::vector<std::vector<std::int64_t>>& gaps, bool prefers) {
            return to_numpy(without_gil([&] { return match_sentences(self, sentences, gaps, prefers); }), 5);
          },
          "sentences"_a, "gaps"_a, "prefers"_a);
}

}  // namespace

void bind_lexicon(nb::module_& m) {
  nb::class_<WordList> words(m, "WordList");
  words.def(nb::init<>())
      .def("__len__", &WordList::size)
      .def(
          "add",
          [](WordList& self, const std::string& word, WordList::Tags tags, double weight) {
            return self.add(decode_utf8(word), std::move(tags), weight);
          },
          "word"_a, "tags"_a, "weight"_a)
      .def(
          "add_lines",
          [](WordList& self, const nb::bytes& lines, std::size_t begin, double max_weight) {
            const std::string_view shown = view(lines);
            return without_gil([&] { return self.add_lines(shown, begin, max_weight); });
          },
          "lines"_a, "begin"_a, "max_weight"_a)
      .def(
          "word",
          [](const WordList& self, std::size_t entry) { return encode_utf8(self.word(self.checked(entry))); },
          "entry"_a)
      .def(
          "tags", [](const WordList& self, std::size_t entry) { return self.tags(self.checked(entry)); },
          "entry"_a)
      .def(
          "weight", [](const WordList& self, std::size_t entry) { return self.weight(self.checked(entry)); },
          "entry"_a)
      .def("all_tags", &WordList::all_tags)
      .def("sorted", [](const WordList& self) { return to_numpy(self.sorted()); }, nb::rv_policy::move);
  bind_lookup(words);
}

}  // namespace duilian::bindings
