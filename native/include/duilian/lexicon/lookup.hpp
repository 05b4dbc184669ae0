// Looks up many words, texts or sentences in a word list at once and returns flat arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/lexicon/word_list.hpp"

namespace duilian {

/// [words]  the entry of each word (in UTF-8), or -1.
[[nodiscard]] std::vector<std::int64_t> find_entries(const WordList& words,
                                                     std::span<const std::string> wanted);

/// [occurrences][3]  start, end and entry of every occurrence of a word in a text (in UTF-8).
[[nodiscard]] std::vector<std::int64_t> find_occurrences(const WordList& words, std::string_view text);

/// [matches][5]  sentence, start, end, entry, whether it is a preference; see match_units(). `gaps` has one
/// list per sentence, or is empty.
[[nodiscard]] std::vector<std::int64_t> match_sentences(const WordList& words,
                                                        std::span<const std::vector<std::string>> sentences,
                                                        std::span<const std::vector<std::int64_t>> gaps,
                                                        bool prefers);

}  // namespace duilian
