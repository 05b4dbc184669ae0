// Merges the words of all standards and their parts into positions of a search index (see search_words.hpp).
#include "duilian/text/search_words.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "duilian/concat.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::size_t kShortestPart = 2;
constexpr std::size_t kLongestPart = 4;  // of Chinese characters

void check(std::u32string_view text, const StandardWords& words) {
  if (words.start.size() != words.end.size()) {
    throw std::invalid_argument("there must be as many ends as starts of words");
  }
  std::int32_t before = 0;
  for (std::size_t k = 0; k < words.start.size(); ++k) {
    if (words.start[k] < before || words.end[k] <= words.start[k]) {
      throw std::invalid_argument("words must be in order, without overlap");
    }
    before = words.end[k];
  }
  if (static_cast<std::size_t>(before) > text.size()) {
    throw std::invalid_argument("a word ends outside the text");
  }
}

/// All places where a word begins, in order.
[[nodiscard]] std::vector<std::int32_t> positions_of(std::span<const StandardWords> standards) {
  std::vector<std::int32_t> found;
  for (const StandardWords& words : standards)
    found.insert(found.end(), words.start.begin(), words.start.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

[[nodiscard]] std::u32string_view slice(std::u32string_view text, std::int32_t start, std::int32_t end) {
  return text.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
}

/// The end of the run of one class that begins at `at`; marks belong to the character they follow.
[[nodiscard]] std::size_t end_of_run(std::u32string_view word, std::size_t at) {
  const CharClass kind = char_class(word[at]);
  std::size_t end = at + 1;
  while (end < word.size() && (char_class(word[end]) == kind || char_class(word[end]) == CharClass::extend)) {
    ++end;
  }
  return end;
}

/// Merges a word that is in several standards, and drops a part that is also a word.
void merge_equal(std::vector<SearchWord>& words) {
  std::sort(words.begin(), words.end(), [](const SearchWord& a, const SearchWord& b) {
    return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
  });
  std::size_t kept = 0;
  for (const SearchWord& word : words) {
    if (kept > 0 && words[kept - 1].start == word.start && words[kept - 1].end == word.end) {
      words[kept - 1].standards |= word.standards;
    } else {
      words[kept++] = word;
    }
  }
  words.resize(kept);
}

/// Fills in positions and lengths; the words are sorted by start.
void place(std::vector<SearchWord>& words, std::span<const std::int32_t> positions) {
  std::size_t at = 0;
  for (SearchWord& word : words) {
    while (at + 1 < positions.size() && positions[at + 1] <= word.start) ++at;
    std::size_t stop = at + 1;
    while (stop < positions.size() && positions[stop] < word.end) ++stop;
    word.position = static_cast<std::int32_t>(at);
    word.length = static_cast<std::int32_t>(stop - at);
  }
}

}  // namespace

bool is_searchable(std::u32string_view word) {
  return std::any_of(word.begin(), word.end(), [](char32_t c) {
    const CharClass kind = char_class(c);
    return kind != CharClass::punct && kind != CharClass::space && kind != CharClass::extend;
  });
}

std::vector<Part> parts_of_word(std::u32string_view word) {
  std::vector<Part> found;
  const auto add = [&found](std::size_t start, std::size_t end) {
    found.push_back({static_cast<std::int32_t>(start), static_cast<std::int32_t>(end)});
  };
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t end = end_of_run(word, at);
    const CharClass kind = char_class(word[at]);
    if (kind == CharClass::han) {
      for (std::size_t a = at; a + kShortestPart <= end; ++a) {
        for (std::size_t n = kShortestPart; n <= kLongestPart && a + n <= end; ++n) {
          if (n < word.size()) add(a, a + n);
        }
      }
    } else if ((kind == CharClass::letter || kind == CharClass::digit) && end - at >= kShortestPart &&
               end - at < word.size()) {
      add(at, end);
    }
    at = end;
  }
  return found;
}

std::vector<SearchWord> search_words(std::u32string_view text, std::span<const StandardWords> standards,
                                     bool with_parts) {
  if (standards.size() > kMaxSearchStandards)
    throw std::invalid_argument(
        concat("a search index has at most ", kMaxSearchStandards, " standards, got ", standards.size()));
  for (const StandardWords& words : standards) check(text, words);
  std::vector<SearchWord> found;
  for (std::size_t s = 0; s < standards.size(); ++s) {
    for (std::size_t k = 0; k < standards[s].start.size(); ++k) {
      const std::int32_t start = standards[s].start[k];
      const std::u32string_view word = slice(text, start, standards[s].end[k]);
      if (!is_searchable(word)) continue;
      found.push_back({start, standards[s].end[k], 0, 0, std::uint32_t{1} << s});
      if (!with_parts) continue;
      for (const Part& part : parts_of_word(word)) {
        found.push_back({start + part.start, start + part.end, 0, 0, 0});
      }
    }
  }
  merge_equal(found);
  place(found, positions_of(standards));
  return found;
}

std::u32string search_term(std::u32string_view word, const Folding& folding) {
  std::u32string term = folding(word);
  make_lower(term);
  return term;
}

SearchTerms search_terms(std::string_view text, std::span<const StandardWords> standards, bool with_parts,
                         const Folding* folding) {
  const std::u32string characters = decode_utf8(text);
  SearchTerms found;
  for (const SearchWord& each : search_words(characters, standards, with_parts)) {
    const std::u32string_view word = slice(characters, each.start, each.end);
    found.term.push_back(
        encode_utf8(folding == nullptr ? std::u32string(word) : search_term(word, *folding)));
    found.row.insert(found.row.end(), {each.start, each.end, each.position, each.length,
                                       static_cast<std::int32_t>(each.standards)});
  }
  return found;
}

}  // namespace duilian
