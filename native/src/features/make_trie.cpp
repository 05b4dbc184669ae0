// Builds the trie of a dictionary, breadth first, from its sorted words (see dictionary.hpp).
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/features/dictionary.hpp"

namespace duilian {

namespace {

using Arrays = DictionaryArrays;

constexpr std::uint32_t kMaxCode = 0x10FFFF;

void check_words(std::span<const std::u32string> words, std::span<const std::uint32_t> frequency,
                 std::span<const std::uint8_t> tag) {
  if (frequency.size() != words.size() || tag.size() != words.size())
    throw std::invalid_argument("a dictionary needs a frequency and a tag for every word");
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].empty() || words[k].size() > Dictionary::kMaxLength)
      throw std::invalid_argument(concat("a word of a dictionary must have 1 to ", Dictionary::kMaxLength,
                                         " characters, got ", words[k].size()));
    if (k > 0 && words[k] <= words[k - 1])
      throw std::invalid_argument("the words of a dictionary must be distinct and ascending");
  }
}

[[nodiscard]] std::vector<std::uint32_t> alphabet_of(std::span<const std::u32string> words) {
  std::vector<std::uint8_t> is_used(kMaxCode + 1, 0);
  for (const std::u32string& word : words) {
    for (const char32_t c : word) is_used[std::min<std::uint32_t>(c, kMaxCode)] = 1;
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t c = 0; c <= kMaxCode; ++c) {
    if (is_used[c] != 0) out.push_back(c);
  }
  if (out.size() > Dictionary::kMaxSymbols)
    throw std::invalid_argument(
        concat("a dictionary has at most ", Dictionary::kMaxSymbols, " different characters"));
  return out;
}

/// The index of a character in the alphabet, which has it.
[[nodiscard]] std::uint16_t symbol_of(const std::vector<std::uint32_t>& alphabet, char32_t c) {
  const std::uint32_t code = std::min<std::uint32_t>(c, kMaxCode);
  return static_cast<std::uint16_t>(std::lower_bound(alphabet.begin(), alphabet.end(), code) -
                                    alphabet.begin());
}

/// The words [begin, end), which share their first `depth` characters and form a node.
struct WordRange {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;
};

}  // namespace

DictionaryArrays make_trie(std::span<const std::u32string> words, std::span<const std::uint32_t> frequency,
                           std::span<const std::uint8_t> tag, std::vector<std::string> tags) {
  check_words(words, frequency, tag);
  Arrays out;
  out.alphabet = alphabet_of(words);
  out.tags = std::move(tags);
  std::vector<WordRange> queue{{0, words.size(), 0}};
  for (std::size_t k = 0; k < queue.size(); ++k) {
    std::size_t begin = queue[k].begin;  // clang 14 cannot capture a structured binding
    const std::size_t end = queue[k].end;
    const std::size_t depth = queue[k].depth;
    // Shorter words come first, and only the first can end here.
    if (begin < end && words[begin].size() == depth) ++begin;
    while (begin < end) {
      const char32_t c = words[begin][depth];
      const auto differs = [&](const std::u32string& word) { return word[depth] != c; };
      const auto after = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                      words.begin() + static_cast<std::ptrdiff_t>(end), differs);
      const auto next = static_cast<std::size_t>(after - words.begin());
      const bool is_word = words[begin].size() == depth + 1;
      const bool has_children = next - begin > (is_word ? 1U : 0U);
      out.symbol.push_back(symbol_of(out.alphabet, c));
      out.flags.push_back(static_cast<std::uint8_t>((next == end ? Arrays::kIsLast : 0) |
                                                    (has_children ? Arrays::kHasChildren : 0) |
                                                    (is_word ? Arrays::kIsWord : 0)));
      if (is_word) {
        out.frequency.push_back(frequency[begin]);
        out.tag.push_back(tag[begin]);
      }
      if (has_children) queue.push_back({begin, next, depth + 1});
      if (out.symbol.size() > Dictionary::kMaxNodes)
        throw std::invalid_argument(
            concat("a dictionary has at most ", Dictionary::kMaxNodes, " different beginnings of words"));
      begin = next;
    }
  }
  return out;
}

}  // namespace duilian
