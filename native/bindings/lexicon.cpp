#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "duilian/lexicon/word_list.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] std::size_t checked(const WordList& self, std::size_t entry) {
  if (entry >= self.size()) throw std::out_of_range("there is no such entry");
  return entry;
}

/// [words] the entry of each, -1 for those that are none.
[[nodiscard]] std::vector<std::int64_t> find_all(const WordList& self,
                                                 const std::vector<std::string>& words) {
  std::vector<std::int64_t> out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    const std::uint32_t entry = self.find(decode_utf8(word));
    out.push_back(entry == WordList::kNone ? -1 : static_cast<std::int64_t>(entry));
  }
  return out;
}

/// [matches][5] sentence, start, end, entry, whether it is a preference.
[[nodiscard]] std::vector<std::int64_t> match_all(const WordList& self,
                                                  const std::vector<std::vector<std::string>>& sentences,
                                                  const std::vector<std::vector<std::int64_t>>& gaps,
                                                  bool prefers) {
  if (!gaps.empty() && gaps.size() != sentences.size())
    throw std::invalid_argument("gaps for another number of sentences");
  std::vector<std::int64_t> out;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    const auto found =
        match_units(self, sentences[s], gaps.empty() ? std::span<const std::int64_t>() : gaps[s], prefers);
    for (const WordMatch& each : found) {
      out.insert(out.end(), {static_cast<std::int64_t>(s), each.start, each.end,
                             static_cast<std::int64_t>(each.entry), each.is_soft ? 1 : 0});
    }
  }
  return out;
}

/// [occurrences][3] start, end, entry.
[[nodiscard]] std::vector<std::int64_t> occurrences(const WordList& self, const std::string& text) {
  std::vector<WordList::Occurrence> found;
  self.find_occurrences(decode_utf8(text), found);
  std::vector<std::int64_t> out;
  for (const auto& each : found)
    out.insert(out.end(), {each.start, each.end, static_cast<std::int64_t>(each.entry)});
  return out;
}

}  // namespace

void bind_lexicon(nb::module_& m) {
  nb::class_<WordList>(m, "WordList")
      .def(nb::init<>())
      .def("__len__", &WordList::size)
      .def(
          "add",
          [](WordList& self, const std::string& word, WordList::Tags tags, double weight) {
            return self.add(decode_utf8(word), std::move(tags), weight);
          },
          "word"_a, "tags"_a, "weight"_a)
      .def(
          "add_lines",
          [](WordList& self, nb::bytes lines, std::size_t begin, double max_weight) {
            const std::string_view all(lines.c_str(), lines.size());
            if (begin > all.size()) throw std::out_of_range("the lines end before");
            return begin + without_gil([&] { return self.add_lines(all.substr(begin), max_weight); });
          },
          "lines"_a, "begin"_a, "max_weight"_a)
      .def(
          "word",
          [](const WordList& self, std::size_t entry) {
            return encode_utf8(self.word(checked(self, entry)));
          },
          "entry"_a)
      .def(
          "tags", [](const WordList& self, std::size_t entry) { return self.tags(checked(self, entry)); },
          "entry"_a)
      .def(
          "weight", [](const WordList& self, std::size_t entry) { return self.weight(checked(self, entry)); },
          "entry"_a)
      .def("all_tags", &WordList::all_tags)
      .def(
          "sorted", [](const WordList& self) { return to_numpy(self.sorted()); }, nb::rv_policy::move)
      .def(
          "find_all",
          [](const WordList& self, const std::vector<std::string>& words) {
            return to_numpy(without_gil([&] { return find_all(self, words); }));
          },
          "words"_a)
      .def(
          "occurrences",
          [](const WordList& self, const std::string& text) {
            return to_numpy(without_gil([&] { return occurrences(self, text); }), 3);
          },
          "text"_a)
      .def(
          "matches",
          [](const WordList& self, const std::vector<std::vector<std::string>>& sentences,
             const std::vector<std::vector<std::int64_t>>& gaps, bool prefers) {
            return to_numpy(without_gil([&] { return match_all(self, sentences, gaps, prefers); }), 5);
          },
          "sentences"_a, "gaps"_a, "prefers"_a);
}

}  // namespace duilian::bindings
