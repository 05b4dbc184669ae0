// A list of words with frequencies and tags, and what templates see of it at every unit of a sentence:
//
//   lx  three digits: the length in units (0, 2, 3, 4, 5 for more) of the longest word that starts here, that
//       passes through (neither first nor last), that ends here
//   jg  the boundary letter and the tag of this unit's word on the most probable path over the list, if words
//       follow each other independently; O for a unit that is no word of the list
//
// The words are a trie. A file has its nodes breadth first, three bytes each; in memory its edges are a hash
// table with one slot of 8 bytes per edge.
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

/// A trie as a file keeps it. Nodes are in breadth-first order without the root, siblings in the order of
/// their symbols.
struct DictionaryArrays {
  static constexpr std::uint8_t kIsLast = 1;  // of its siblings
  static constexpr std::uint8_t kHasChildren = 2;
  static constexpr std::uint8_t kIsWord = 4;

  std::vector<std::uint32_t> alphabet;   // [symbols]  characters, ascending
  std::vector<std::uint16_t> symbol;     // [nodes]  a number in the alphabet
  std::vector<std::uint8_t> flags;       // [nodes]
  std::vector<std::uint32_t> frequency;  // [words]  in the order of nodes
  std::vector<std::uint8_t> tag;         // [words]  a number in tags
  std::vector<std::string> tags;         // different names; one may be empty

  bool operator==(const DictionaryArrays&) const = default;
};

/// A value of a column with its hash.
struct CodeText {
  std::u32string text;
  std::uint64_t hash = 0;
};

/// Immutable, and shared by its copies. One that was made without words is no dictionary at all.
class Dictionary {
 public:
  static constexpr std::size_t kMaxLength = 64;  // characters of a word
  static constexpr std::size_t kMaxTags = 255;
  static constexpr std::size_t kMaxNodes = (std::size_t{1} << 24U) - 2;
  static constexpr std::size_t kMaxSymbols = (std::size_t{1} << 16U) - 1;

  Dictionary() = default;
  /// Throws std::invalid_argument unless the arrays are those of a trie.
  explicit Dictionary(DictionaryArrays arrays);

  [[nodiscard]] explicit operator bool() const { return trie_ != nullptr; }
  [[nodiscard]] const DictionaryArrays& arrays() const;
  [[nodiscard]] std::size_t size() const { return arrays().frequency.size(); }
  /// All words, in the order of the arrays.
  [[nodiscard]] std::vector<std::u32string> words() const;
  /// Memory in bytes, the arrays included.
  [[nodiscard]] std::size_t bytes() const;

  /// The values of each column, end to end for several sentences; they live as long as the dictionary.
  using Columns = std::array<std::vector<const CodeText*>, kDictionaryColumns.size()>;

  /// Reused memory of `look_up`.
  struct Work {
    std::vector<std::uint16_t> symbol;  // [characters]
    std::vector<std::int64_t> cost;     // [units + 1]  of the best path from here to the end
    std::vector<std::uint32_t> next;    // [units]  where its first word ends
    std::vector<std::uint32_t> node;    // [units]  that word; 0 if it is none of the list
    std::vector<std::uint8_t> starts;   // [units]  lengths, at most 5
    std::vector<std::uint8_t> passes;   // [units]
    std::vector<std::uint8_t> ends;     // [units]
  };
  /// Appends the values of a sentence of folded characters whose unit u ends before end[u].
  void look_up(std::u32string_view characters, std::span<const std::int64_t> end, Work& work,
               Columns& out) const;

 private:
  struct Trie;
  std::shared_ptr<const Trie> trie_;
};

/// The arrays of a list of words; tag[k] is a number in `tags`. Throws std::invalid_argument if words are not
/// in ascending order, empty or too long, or if there are too many of anything.
[[nodiscard]] DictionaryArrays make_trie(std::span<const std::u32string> words,
                                         std::span<const std::uint32_t> frequency,
                                         std::span<const std::uint8_t> tag, std::vector<std::string> tags);

}  // namespace duilian
