// Many words, texts or sentences looked up in a word list at once, with flat arrays as answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/lexicon/word_list.hpp"

namespace duilian {

/// [words] the entry of each word, -1 if it has none. Words are in UTF-8.
[[nodiscard]] std::vector<std::int64_t> find_entries(const WordList& words,
                                                     std::span<const std::string> wanted);

/// [occurrences][3] start, end, entry of every place where a text, in UTF-8, has a word.
[[nodiscard]] std::vector<std::int64_t> find_occurrences(const WordList& words, std::string_view text);

/// [matches][5] sentence, start, end, entry, whether it is a preference: see match_units(). `gaps` has a list
/// for every sentence, or none at all.
[[nodiscard]] std::vector<std::int64_t> match_sentences(const WordList& words,
                                                        std::span<const std::vector<std::string>> sentences,
                                                        std::span<const std::vector<std::int64_t>> gaps,
                                                        bool prefers);

}  // namespace duilian
