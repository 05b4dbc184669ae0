// Raw text → sentences → units, and what mixed text reveals about words before any model runs: protected
// spans are not cut, and those that are words by themselves begin and end one.
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

inline constexpr std::size_t kLongestSentence = 2000;  // characters, or one part that is longer

/// A sentence ends at 。！？ … (a run of them, with the closing quotes and brackets that follow) and at a
/// line break, but never inside a protected span. ASCII ! and ? end one unless a letter, digit or = &
/// / follows, as in a web address. What is too long is cut, after white space or punctuation if there is any.
[[nodiscard]] std::vector<Span> split_sentences(std::u32string_view text);

/// What is known about a unit before any model runs, a set of:
enum Known : std::uint16_t {
  kWordBegins = 1,        // a word begins here
  kWordGoesOn = 2,        // no word begins here
  kNoMark = 4,            // a letter, digit or Han beside a mark or an end: not in punctuation
  kNoNumber = 8,          // of an alphabetic word: in no number
  kGap = 16,              // characters that are in no unit precede it in its sentence
  kApart = 32,            // white space is among them, so that a word begins here
  kPunctuationMark = 64,  // a mark of punctuation: alone, it is nothing else
  kMarkInRow = 128,       // beside another: neither first nor last in a word that is no punctuation
  kWordEnds = 1024,       // a word ends here; see with_ends
};

/// Adds that a word ends where the next unit begins one. A search that goes forward and follows few labels
/// needs to know: it would drop those that end words.
[[nodiscard]] std::vector<std::uint16_t> with_ends(std::span<const std::uint16_t> known);

/// Whether Python takes it for white space.
[[nodiscard]] bool is_white_space(char32_t c);

struct SplitOptions {
  UnitOptions units;
  bool is_one_sentence = false;
  std::bitset<kWholeKinds> whole = std::bitset<kWholeKinds>().set();  // kinds that may not be cut
};

/// The kinds of parts that have a `true` in the list; kinds that it does not reach have none.
[[nodiscard]] std::bitset<kWholeKinds> whole_kinds(const std::vector<bool>& is_whole);

struct SplitText {
  std::vector<Span> unit;            // places in the text
  std::vector<std::int64_t> first;   // [sentences + 1]  units before each sentence
  std::vector<std::uint16_t> known;  // [units]  sets of Known
  std::vector<WholeSpan> whole;      // spans of units, in order; a part whose edges cut a unit is left out
};

[[nodiscard]] SplitText split_text(std::u32string_view text, const SplitOptions& options);

/// Several texts: units are numbered across all of them, their places are relative to each.
struct SplitTexts : SplitText {
  std::vector<std::int64_t> text;  // [texts + 1]  sentences before each text
};

[[nodiscard]] SplitTexts split_texts(std::span<const std::u32string> texts, const SplitOptions& options);

}  // namespace duilian
