// The entries of a user's lexicon, in about 50 bytes each plus the word itself: all words share one string,
// and a tag set that several words have in common is stored once. It is filled once and then only read, by
// any number of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace duilian {

class WordList {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr double kNoWeight = std::numeric_limits<double>::quiet_NaN();

  using Tags = std::vector<std::string>;

  /// Adds an entry, or adds the tags to it if the word exists. Returns false and changes nothing if it exists
  /// with another weight. Throws std::invalid_argument if the word is empty.
  bool add(std::u32string_view word, Tags tags, double weight);

  /// Adds lines of word, tags (`NN|VV`) and weight separated by tabs; skips blank lines and lines that begin
  /// with #. Stops before the first line that is malformed or that `add` refuses, so that the caller can
  /// report it. Returns the number of bytes read, which is always a whole number of lines.
  [[nodiscard]] std::size_t add_lines(std::string_view lines, double max_weight);
  /// Starts at byte `begin`; returns where it stopped.
  [[nodiscard]] std::size_t add_lines(std::string_view lines, std::size_t begin, double max_weight);

  /// The number of a word, in order of insertion, or kNone.
  [[nodiscard]] std::uint32_t find(std::u32string_view word) const;

  [[nodiscard]] std::size_t size() const { return tag_set_.size(); }
  /// Returns `entry`, or throws std::out_of_range if there is no such entry.
  [[nodiscard]] std::size_t checked(std::size_t entry) const;
  [[nodiscard]] std::u32string_view word(std::size_t entry) const;
  [[nodiscard]] const Tags& tags(std::size_t entry) const { return sets_[tag_set_[entry]]; }
  [[nodiscard]] double weight(std::size_t entry) const { return weight_[entry]; }
  [[nodiscard]] bool has_weight(std::size_t entry) const { return weight_[entry] == weight_[entry]; }
  /// The tags of all entries, sorted.
  [[nodiscard]] Tags all_tags() const;
  /// All entries, sorted by word.
  [[nodiscard]] std::vector<std::uint32_t> sorted() const;

  /// The word of an entry, at characters [start, end) of a text.
  struct Occurrence {
    std::int64_t start;
    std::int64_t end;
    std::uint32_t entry;
    bool operator==(const Occurrence&) const = default;
  };

  /// Every occurrence of a word in a text, sorted by start, then end.
  void find_occurrences(std::u32string_view text, std::vector<Occurrence>& out) const;
  /// The characters of a text at which a word occurs, in order.
  [[nodiscard]] std::vector<std::int64_t> find_starts(std::u32string_view text) const;

 private:
  struct Slot {
    std::uint32_t check = 0;
    std::uint32_t entry = kNone;
  };

  [[nodiscard]] std::uint32_t find(std::u32string_view word, std::uint64_t hash) const;
  /// Calls visit(occurrence) for each; if it returns false, the others with the same start are left out.
  template <class Visit>
  void for_each_occurrence(std::u32string_view text, const Visit& visit) const;
  [[nodiscard]] bool add_line(std::string_view line, double max_weight);
  bool insert(std::u32string_view word, std::uint32_t tag_set, double weight);
  void place(std::uint64_t hash, std::uint32_t entry);
  void grow();
  void note_length(std::u32string_view word);
  [[nodiscard]] std::size_t filter_place(std::u32string_view text) const;
  [[nodiscard]] std::uint32_t intern(Tags tags);

  std::u32string text_;                 // all words, end to end
  std::vector<std::uint32_t> end_;      // [entries]  where each word ends in text_
  std::vector<std::uint32_t> tag_set_;  // [entries]
  std::vector<double> weight_;          // [entries]
  std::vector<Slot> slots_;             // a power of two, at most half full

  std::vector<Tags> sets_{{}};
  std::map<Tags, std::uint32_t> set_number_{{{}, 0}};
  std::unordered_map<std::string, std::uint32_t> field_set_;  // tag field of a line → its tag set

  // A filter: bit n is set if a word of length n begins with two characters of this hash. The last bit stands
  // for all longer words; their lengths are in a list of their own.
  std::vector<std::uint64_t> lengths_;     // a power of two
  std::vector<std::size_t> long_lengths_;  // ascending
};

/// The word of an entry, as a span of units of a sentence.
struct WordMatch {
  std::int64_t start;  // in units
  std::int64_t end;
  std::uint32_t entry;
  bool is_soft;  // a preference, not forced
  bool operator==(const WordMatch&) const = default;
};

/// All matches in a sentence. A match begins and ends at the edges of units and has no gap inside. Where
/// matches overlap, forced ones beat preferred ones, then longer ones (in units) beat shorter ones, then
/// earlier ones beat later ones. `gaps`: units preceded by something invisible, ascending. `prefers`: treat
/// entries without a weight as preferences, too.
[[nodiscard]] std::vector<WordMatch> match_units(const WordList& words, std::span<const std::string> units,
                                                 std::span<const std::int64_t> gaps, bool prefers);

}  // namespace duilian
