// The words of a text as a search engine indexes them: overlapping words of all standards and parts of words,
// with positions as Lucene defines them.
//
// A position is a place where a word of any standard begins; a word that spans n of them has length n.
// Punctuation takes a position but is not indexed, so that phrases do not match across it. A part is a run of
// two to four Chinese characters inside a word, or of letters or digits inside a mixed word; it has the
// position of the word in which it begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/text/fold.hpp"

namespace duilian {

/// The words of one standard, in order and without overlap.
struct StandardWords {
  std::span<const std::int32_t> start;
  std::span<const std::int32_t> end;  // exclusive
};

struct SearchWord {
  std::int32_t start;
  std::int32_t end;
  std::int32_t position;
  std::int32_t length;      // in positions
  std::uint32_t standards;  // bit s is set if it is a word in standard s; 0 for a part
};

inline constexpr std::size_t kMaxSearchStandards = 31;

/// Sorted by start, longer words first. Throws std::invalid_argument if words are out of order or outside the
/// text.
[[nodiscard]] std::vector<SearchWord> search_words(std::u32string_view text,
                                                   std::span<const StandardWords> standards, bool with_parts);

/// A part of a word, as offsets into the word.
struct Part {
  std::int32_t start;
  std::int32_t end;
  bool operator==(const Part&) const = default;
};
[[nodiscard]] std::vector<Part> parts_of_word(std::u32string_view word);

/// Whether a word belongs in an index: it has more than punctuation, marks and white space.
[[nodiscard]] bool is_searchable(std::u32string_view word);

/// A word as it is indexed: folded, with letters in lower case.
[[nodiscard]] std::u32string search_term(std::u32string_view word, const Folding& folding);

/// The search words of a text in UTF-8; without a folding, terms stay as they are in the text.
struct SearchTerms {
  std::vector<std::string> term;
  std::vector<std::int32_t> row;  // [terms][5]  start, end, position, length, standards
};
[[nodiscard]] SearchTerms search_terms(std::string_view text, std::span<const StandardWords> standards,
                                       bool with_parts, const Folding* folding);

}  // namespace duilian
