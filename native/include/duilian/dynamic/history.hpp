// Dynamic features (Zhao et al. 2012): templates over words instead of units, namely the words of a path that
// is still under construction. At unit t, the units before it have labels, so their words are known; the word
// that t belongs to is known up to t.
//
// The templates are written in the usual language, over a window of words: w[-1] is the previous word, w[0]
// the current one so far (including unit t), @pos[-1] and @pos[0] are their tags. If the path is between two
// words, t begins a new one, whose tag is still unknown: `?`. The text ahead has no words yet: w[1] is the
// next unit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/features/templates.hpp"

namespace duilian {

inline constexpr std::int32_t kWordsBack = 2;
inline constexpr std::string_view kTagColumn = "pos";  // the tag of a word, which comes from the path

/// Kinds of paths, and of the labels that may follow them: between two words, or inside one.
enum Kind : std::size_t { kBetween, kInside };
inline constexpr std::size_t kKinds = 2;

/// What labels mean for words.
struct LabelWords {
  /// Labels [begin, end) of one kind.
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    Kind kind = kBetween;
  };

  LabelWords(std::vector<std::uint8_t> starting, std::vector<std::uint8_t> ending,
             std::vector<std::u32string> tags);

  /// The kind of path that a label may follow.
  [[nodiscard]] Kind kind_of(std::size_t label) const { return starts[label] != 0 ? kBetween : kInside; }
  /// The kind of path that a label leaves behind.
  [[nodiscard]] Kind kind_after(std::size_t label) const { return ends[label] != 0 ? kBetween : kInside; }

  std::vector<std::uint8_t> starts;     // [L]  whether it begins a word
  std::vector<std::uint8_t> ends;       // [L]  whether it ends one
  std::vector<std::u32string> tag;      // [L]  tag of the word
  std::vector<std::uint64_t> tag_hash;  // [L]
  std::vector<Run> runs;                // all labels in order, cut where kind_of changes
  std::vector<Run> runs_after;          // all labels in order, cut where kind_after changes
};

/// Throws std::invalid_argument unless they describe this many labels.
void check(const LabelWords& words, std::int32_t labels);

/// The last words of a path, newest first; -1 where the sentence has none.
struct History {
  std::array<std::int32_t, kWordsBack + 1> begin{-1, -1, -1};  // first unit of the word
  std::array<std::int32_t, kWordsBack + 1> label{-1, -1, -1};  // label of that unit
  bool is_open = false;                                        // whether the newest word continues

  /// Extends the path by the label of unit t.
  void extend(const LabelWords& words, std::int32_t t, std::int32_t next) {
    if (words.starts[next] != 0 || begin[0] < 0) {
      begin = {t, begin[0], begin[1]};
      label = {next, label[0], label[1]};
    }
    is_open = words.ends[next] == 0;
  }
  bool operator==(const History&) const = default;
};

/// Groups of word templates: those that use only the tags of words so far; of the others, those that use only
/// words before the current one; and the rest.
enum class Asks : std::uint8_t { tags, past, rest };

/// Word templates. Their keys differ from those of the same templates over units.
/// Throws std::invalid_argument if one looks more than kWordsBack words back.
class WordTemplates {
 public:
  explicit WordTemplates(TemplateSet set);
  [[nodiscard]] const TemplateSet& set() const { return set_; }
  [[nodiscard]] TemplateSet part(Asks asks) const;
  /// All columns except `pos`, which comes from the path.
  [[nodiscard]] std::vector<std::string> columns() const;

 private:
  [[nodiscard]] Asks asks_of(const Template& each) const;

  TemplateSet set_;
};

/// The hashes that most templates consist of: texts, tags and lengths of the words at places 0, -1, -2, and
/// the text of the next unit.
inline constexpr std::size_t kWordPlaces = kWordsBack + 1;
enum Hashed : std::size_t {
  kTextHash = 0,
  kTagHash = kWordPlaces,
  kLengthHash = 2 * kWordPlaces,
  kNextHash = 3 * kWordPlaces,
  kHashes = 3 * kWordPlaces + 1,
};
using WordHashes = std::array<std::uint64_t, kHashes>;

/// The words of one sentence as templates see them; place 0 is the current word.
class WordWindow {
 public:
  WordWindow(const WordTemplates& templates, const LabelWords& words, const Sentences& sentences,
             std::int64_t sentence);

  /// Moves to unit t of the sentence, given the words before it.
  void move_to(const History& history, std::int32_t t);

  [[nodiscard]] const WordHashes& hashes() const { return hash_; }
  /// A key made of the tags of the words in the window: equal tags have equal keys.
  [[nodiscard]] std::uint64_t tags_key() const {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < kWordPlaces; ++k) key = mix(key, hash_[kTagHash + k]);
    return key;
  }

  [[nodiscard]] bool is_inside(std::int64_t place) const {
    return place <= 0 ? at(place).begin >= 0 : begin_ + t_ + place < end_;
  }
  [[nodiscard]] std::u32string_view text(std::int64_t place) const;
  [[nodiscard]] std::uint64_t text_hash(std::int64_t place) const {
    return place > 0 ? hash_text(text(place)) : hash_[kTextHash + static_cast<std::size_t>(-place)];
  }
  [[nodiscard]] std::u32string_view column(std::int32_t number, std::int64_t place) const;
  [[nodiscard]] std::uint64_t column_hash(std::int32_t number, std::int64_t place) const {
    const bool is_tag = column_of_[static_cast<std::size_t>(number)] == kTag;
    if (is_tag && place <= 0) return hash_[kTagHash + static_cast<std::size_t>(-place)];
    return hash_text(column(number, place));
  }
  [[nodiscard]] std::int64_t length(std::int64_t place) const {
    return is_inside(place) ? static_cast<std::int64_t>(text(place).size()) : 1;
  }
  [[nodiscard]] std::u32string_view characters(std::int64_t place, std::int64_t from,
                                               std::int64_t count) const {
    return is_inside(place)
               ? text(place).substr(static_cast<std::size_t>(from), static_cast<std::size_t>(count))
               : text(place);
  }
  [[nodiscard]] std::u32string_view type(std::int64_t place) const;

 private:
  static constexpr std::size_t kTag = ~std::size_t{0};  // the column that comes from the path

  struct Word {
    std::int64_t begin = -1;  // units [begin, end) of all sentences
    std::int64_t end = -1;
    std::int32_t label = -1;
  };
  /// The hash of the word that was last looked up at the unit where it begins.
  struct Known {
    std::int64_t end = 0;
    std::uint64_t hash = 0;
  };
  [[nodiscard]] const Word& at(std::int64_t place) const { return word_[static_cast<std::size_t>(-place)]; }
  void find_hashes();
  [[nodiscard]] std::uint64_t word_hash(const Word& word);

  const LabelWords& words_;
  const Sentences& sentences_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t t_ = 0;
  std::array<Word, kWordPlaces> word_;  // places 0, -1, -2
  WordHashes hash_{};
  std::vector<Known> known_;            // [units of the sentence]
  std::vector<std::size_t> column_of_;  // [columns of the templates]
};

/// The keys of the features at each unit, given the labels of all units.
[[nodiscard]] FeatureKeys word_keys(const WordTemplates& templates, const LabelWords& words,
                                    const Sentences& sentences, std::span<const std::int32_t> labels);

/// The same features in readable form, one list per unit.
[[nodiscard]] std::vector<std::vector<std::string>> describe_words(const WordTemplates& templates,
                                                                   const LabelWords& words,
                                                                   const Sentences& sentences,
                                                                   std::span<const std::int32_t> labels);

}  // namespace duilian
