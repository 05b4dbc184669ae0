// The words of a text as a search engine indexes them: those of all standards and their parts, overlapping,
// with positions as Lucene wants them.
//
// A position is a place where a word of any standard begins; a word that spans n of them has length n.
// Punctuation takes a position but is no word, so that phrases do not match across it. A part is a run of two
// to four Chinese characters inside a word, or of letters or digits in a mixed one; it has the position of
// the word that it begins in.
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
  std::uint32_t standards;  // bit s: it is a word in standard s; 0: it is a part
};

inline constexpr std::size_t kMaxSearchStandards = 31;

/// By start, longer ones first. Throws std::invalid_argument if words are not in order or not inside the
/// text.
[[nodiscard]] std::vector<SearchWord> search_words(std::u32string_view text,
                                                   std::span<const StandardWords> standards, bool with_parts);

/// The parts of one word: begin and end of each, as offsets in it.
struct Part {
  std::int32_t start;
  std::int32_t end;
  bool operator==(const Part&) const = default;
};
[[nodiscard]] std::vector<Part> parts_of_word(std::u32string_view word);

/// Whether a search engine should know it: it is not punctuation, marks and white space alone.
[[nodiscard]] bool is_searchable(std::u32string_view word);

/// What the index has for a word: folded, letters in lower case.
[[nodiscard]] std::u32string search_term(std::u32string_view word, const Folding& folding);

/// All of that for a text in UTF-8: terms as the index has them, or as they are without a folding.
struct SearchTerms {
  std::vector<std::string> term;
  std::vector<std::int32_t> row;  // [terms][5]  start, end, position, length, standards
};
[[nodiscard]] SearchTerms search_terms(std::string_view text, std::span<const StandardWords> standards,
                                       bool with_parts, const Folding* folding);

}  // namespace duilian
