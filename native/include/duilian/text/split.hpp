// Splits raw text into sentences and units, and records what mixed text reveals about words before any model
// runs: protected spans are not cut, and those that are always words have a word boundary on both sides.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/text/segment.hpp"
#include "duilian/text/whole.hpp"

namespace duilian {

inline constexpr std::size_t kLongestSentence = 2000;  // in characters; a longer protected span is not cut

/// A sentence ends at a line break and at 。！？ … (or a run of them, with any closing quotes and brackets),
/// but never inside a protected span. ASCII ! and ? end one, too, unless a letter, a digit or one of = & /
/// follows, as in a web address. A sentence that is too long is cut, after white space or punctuation if
/// possible.
[[nodiscard]] std::vector<Span> split_sentences(std::u32string_view text);

/// What is known about a unit before any model runs, as a set of flags.
enum Known : std::uint16_t {
  kWordBegins = 1,        // a word begins here
  kWordGoesOn = 2,        // no word begins here
  kNoMark = 4,            // a letter, digit or Han character beside a mark or an edge: not punctuation
  kNoNumber = 8,          // in an alphabetic word: not in a number
  kGap = 16,              // in its sentence, characters that belong to no unit precede it
  kApart = 32,            // white space is among them, so a word begins here
  kPunctuationMark = 64,  // a punctuation mark: by itself, it can be nothing else
  kMarkInRow = 128,       // beside another mark: neither first nor last in a word unless that is punctuation
  kWordEnds = 1024,       // a word ends here; see with_ends
  kClauseMark = 2048,     // the mark at the end of a clause: in no word but punctuation
};

/// Adds kWordEnds where the next unit begins a word. A search that goes forward and keeps few labels needs
/// this in advance, or it would drop the labels that end words.
[[nodiscard]] std::vector<std::uint16_t> with_ends(std::span<const std::uint16_t> known);

/// Whether Python's str.isspace() holds.
[[nodiscard]] bool is_white_space(char32_t c);

struct SplitOptions {
  UnitOptions units;
  bool is_one_sentence = false;
  std::bitset<kWholeKinds> whole = std::bitset<kWholeKinds>().set();  // kinds that may not be cut
};

/// The kinds marked true in the list; missing entries count as false.
[[nodiscard]] std::bitset<kWholeKinds> whole_kinds(const std::vector<bool>& is_whole);

struct SplitText {
  std::vector<Span> unit;            // spans of the text
  std::vector<std::int64_t> first;   // [sentences + 1]  units before each sentence
  std::vector<std::uint16_t> known;  // [units]  sets of Known
  // Protected spans, in units and in order; one whose edges cut a unit is left out.
  std::vector<WholeSpan> whole;
};

[[nodiscard]] SplitText split_text(std::u32string_view text, const SplitOptions& options);

/// Several texts: units are numbered across all of them, but their spans are relative to each text.
struct SplitTexts : SplitText {
  std::vector<std::int64_t> text;  // [texts + 1]  sentences before each text
};

[[nodiscard]] SplitTexts split_texts(std::span<const std::u32string> texts, const SplitOptions& options);

}  // namespace duilian
