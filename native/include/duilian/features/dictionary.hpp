// A dictionary (words with frequencies and tags) and the two columns that it gives to templates:
//
//   lx  three digits, each the length in units (0, 2, 3, 4, or 5 for more) of the longest word that starts
//       at this unit, passes through it (neither first nor last), and ends at it
//   jg  the boundary letter and the tag of this unit's word on the most probable path through the dictionary,
//       assuming that words are independent; O for a unit outside every word
//
// The words form a trie. A file stores its nodes breadth first, three bytes each; in memory, the edges are a
// hash table with a slot of 8 bytes per edge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

inline constexpr std::array<std::string_view, 2> kDictionaryColumns = {"lx", "jg"};

/// A trie as it is stored in a file: nodes in breadth-first order without the root, siblings sorted by
/// symbol.
struct DictionaryArrays {
  static constexpr std::uint8_t kIsLast = 1;  // the last of its siblings
  static constexpr std::uint8_t kHasChildren = 2;
  static constexpr std::uint8_t kIsWord = 4;

  std::vector<std::uint32_t> alphabet;   // [symbols]  characters, ascending
  std::vector<std::uint16_t> symbol;     // [nodes]  index into alphabet
  std::vector<std::uint8_t> flags;       // [nodes]
  std::vector<std::uint32_t> frequency;  // [words]  in node order
  std::vector<std::uint8_t> tag;         // [words]  index into tags
  std::vector<std::string> tags;         // distinct names; one may be empty

  bool operator==(const DictionaryArrays&) const = default;
};

/// A value of a column with its hash.
struct CodeText {
  std::u32string text;
  std::uint64_t hash = 0;
};

/// Immutable; copies share the same data. A default-constructed object stands for having no dictionary.
class Dictionary {
 public:
  static constexpr std::size_t kMaxLength = 64;  // in characters
  static constexpr std::size_t kMaxTags = 255;
  static constexpr std::size_t kMaxNodes = (std::size_t{1} << 24U) - 2;
  static constexpr std::size_t kMaxSymbols = (std::size_t{1} << 16U) - 1;

  Dictionary() = default;
  /// Throws std::invalid_argument unless the arrays describe a trie.
  explicit Dictionary(DictionaryArrays arrays);

  [[nodiscard]] explicit operator bool() const { return trie_ != nullptr; }
  [[nodiscard]] const DictionaryArrays& arrays() const;
  [[nodiscard]] std::size_t size() const { return arrays().frequency.size(); }
  /// All words, in node order.
  [[nodiscard]] std::vector<std::u32string> words() const;
  /// Those that may have both Han characters and Latin letters: all that do, and some others, such as Kana
  /// with letters.
  [[nodiscard]] std::vector<std::u32string> mixed_words() const;
  /// Memory used, arrays included.
  [[nodiscard]] std::size_t bytes() const;

  /// The values of each column, sentence after sentence; they live as long as the dictionary.
  using Columns = std::array<std::vector<const CodeText*>, kDictionaryColumns.size()>;

  /// Scratch memory for `look_up`.
  struct Work {
    std::vector<std::uint16_t> symbol;  // [characters]
    std::vector<std::int64_t> cost;     // [units + 1]  cost of the best path from here to the end
    std::vector<std::uint32_t> next;    // [units]  where the first word of that path ends
    std::vector<std::uint32_t> node;    // [units]  its node; 0 if it is not in the dictionary
    std::vector<std::uint8_t> starts;   // [units]  lengths, at most 5
    std::vector<std::uint8_t> passes;   // [units]
    std::vector<std::uint8_t> ends;     // [units]
  };
  /// Appends the column values of one sentence; `characters` are folded, and unit u ends before end[u].
  void look_up(std::u32string_view characters, std::span<const std::int64_t> end, Work& work,
               Columns& out) const;

 private:
  struct Trie;
  std::shared_ptr<const Trie> trie_;
};

/// Builds the arrays from a list of words; tag[k] is an index into `tags`. Throws std::invalid_argument if
/// the words are not in ascending order, if one is empty or too long, or if there are more words, characters
/// or tags than the arrays can number.
[[nodiscard]] DictionaryArrays make_trie(std::span<const std::u32string> words,
                                         std::span<const std::uint32_t> frequency,
                                         std::span<const std::uint8_t> tag, std::vector<std::string> tags);

}  // namespace duilian
