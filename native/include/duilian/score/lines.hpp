// Lines of text in, lines of analysed text out, all in UTF-8: the way of whole files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "duilian/score/predictor.hpp"
#include "duilian/text/segment.hpp"

namespace duilian {

/// How lines become units and how labels become words.
struct LineOptions {
  bool has_words = false;         // lines are words separated by blanks; else raw text
  UnitOptions units;              // of raw text
  std::vector<std::string> name;  // [L]  the tag that a label puts on its word; all empty: segmentation only
  std::vector<std::uint8_t> starts;  // [L]  whether a label begins a word (words: all do)
  std::string between;               // words of a line
  std::string before_tag;            // word and tag
};

/// One line of output for each line of input; line breaks stay as they were. A blank between two characters
/// of raw text ends a word. Throws std::invalid_argument with the line's number if a line is not UTF-8.
[[nodiscard]] std::string tag_lines(const Predictor& predictor, std::string_view text,
                                    const LineOptions& options, std::size_t threads);

/// For words with further columns: rows of white-space fields, a blank line between sentences. Field 0 is the
/// word; `field` says where each column of the predictor's templates stands. Every row comes back with
/// `between` and its label behind it. Throws std::invalid_argument with the row's number if a field is
/// missing.
[[nodiscard]] std::string tag_rows(const Predictor& predictor, std::string_view text,
                                   std::span<const std::size_t> field, const LineOptions& options,
                                   std::size_t threads);

}  // namespace duilian
