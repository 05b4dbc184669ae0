// Looks up batches in a word list (see lookup.hpp).
#include "duilian/lexicon/lookup.hpp"

#include <stdexcept>

#include "duilian/text/characters.hpp"

namespace duilian {

std::vector<std::int64_t> find_entries(const WordList& words, std::span<const std::string> wanted) {
  std::vector<std::int64_t> out;
  out.reserve(wanted.size());
  for (const std::string& word : wanted) {
    const std::uint32_t entry = words.find(decode_utf8(word));
    out.push_back(entry == WordList::kNone ? -1 : static_cast<std::int64_t>(entry));
  }
  return out;
}

std::vector<std::int64_t> find_occurrences(const WordList& words, std::string_view text) {
  std::vector<WordList::Occurrence> found;
  words.find_occurrences(decode_utf8(text), found);
  std::vector<std::int64_t> out;
  for (const auto& each : found)
    out.insert(out.end(), {each.start, each.end, static_cast<std::int64_t>(each.entry)});
  return out;
}

std::vector<std::int64_t> match_sentences(const WordList& words,
                                          std::span<const std::vector<std::string>> sentences,
                                          std::span<const std::vector<std::int64_t>> gaps, bool prefers) {
  if (!gaps.empty() && gaps.size() != sentences.size())
    throw std::invalid_argument("there must be a list of gaps for every sentence, or none");
  std::vector<std::int64_t> out;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    const auto found =
        match_units(words, sentences[s], gaps.empty() ? std::span<const std::int64_t>() : gaps[s], prefers);
    for (const WordMatch& each : found) {
      out.insert(out.end(), {static_cast<std::int64_t>(s), each.start, each.end,
                             static_cast<std::int64_t>(each.entry), each.is_soft ? 1 : 0});
    }
  }
  return out;
}

}  // namespace duilian
