// Two coupled chains over one input (Qiu et al. 2012): letters s (boundaries) and tags t, with the cliques
//   C1 = {s(i-1), t(i-1), s(i)}  and  C2 = {t(i-1), s(i), t(i)}.
// A clique is scored by features of the input, each of which applies to a part of a clique (its place), and
// by weights of the clique alone. Without the edge t(i-1) - s(i) it is the factorial model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/lattice/lattice.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// What features may apply to, with S letters and T tags: s(i) has S values, s(i-1) s(i) S², and so on. Those
/// of the letters come first: the chain of letters can be used alone.
enum class Clique : std::uint8_t { letter, letters, tag, letter_tag, tags };
inline constexpr std::size_t kCliques = 5;

/// A feature of unit i + offset applies to this clique at unit i.
struct Place {
  Clique clique = Clique::letter;
  std::int32_t offset = 0;
};
using PlaceSet = std::uint32_t;
inline constexpr std::size_t kMaxPlaces = 32;

/// The settings of a model of two chains.
struct TwoChainOptions {
  std::int32_t letters = 0;
  std::int32_t tags = 0;
  Succession rules;                     // of letters
  std::vector<std::uint8_t> continues;  // [S]  a unit with this letter belongs to the word of the unit before
  bool has_edge = true;                 // t(i-1) - s(i)
  std::vector<Place> places;
};

/// Where scores and weights lie.
/// A unit's scores are a row: [S] [S][S] [T'] [S][T'] [T][T'], with T' a multiple of the vector's lanes.
/// A slot is a value of a place; slots are numbered place by place, those of letters first.
/// Weights of cliques alone: start [S], letters [S][S]; then with the edge start [S][T], C1 [S][S][T]
/// (s(i-1), s(i), t(i-1)) and C2 [S][T][T] (s(i), t(i-1), t(i)); without it start [T], [T][T] and [S][T].
class TwoChainShape {
 public:
  /// Throws std::invalid_argument if the options do not fit together.
  explicit TwoChainShape(TwoChainOptions options);

  static constexpr std::size_t kLanes = 4;

  [[nodiscard]] std::size_t letters() const { return letters_; }
  [[nodiscard]] std::size_t tags() const { return tags_; }
  [[nodiscard]] std::size_t width() const { return width_; }  // T'
  [[nodiscard]] bool has_edge() const { return options_.has_edge; }
  [[nodiscard]] const std::vector<Place>& places() const { return options_.places; }

  [[nodiscard]] bool may_follow(std::size_t before, std::size_t after) const {
    return options_.rules(static_cast<TagId>(before), static_cast<TagId>(after));
  }
  [[nodiscard]] bool may_start(std::size_t letter) const { return may_follow(letters_, letter); }
  [[nodiscard]] bool may_end(std::size_t letter) const { return may_follow(letter, letters_); }
  /// All units of a word have one tag. Without the edge no clique sees that, so it is not required.
  [[nodiscard]] bool keeps_tag(std::size_t letter) const {
    return has_edge() && options_.continues[letter] != 0;
  }
  [[nodiscard]] bool continues(std::size_t letter) const { return options_.continues[letter] != 0; }
  /// Throws std::invalid_argument unless the letters may follow each other.
  void check_letters(std::span<const std::int32_t> letter) const;

  /// Where a clique's scores begin in a row, and a row's size.
  [[nodiscard]] std::size_t at(Clique clique) const { return at_[static_cast<std::size_t>(clique)]; }
  [[nodiscard]] std::size_t row() const { return row_; }
  /// Letters alone need only the beginning of a row.
  [[nodiscard]] std::size_t letter_row() const { return letters_ * (1 + letters_); }
  /// Units outside a sentence whose features apply to units in it, on either side.
  [[nodiscard]] std::int64_t before() const { return before_; }
  [[nodiscard]] std::int64_t after() const { return after_; }
  [[nodiscard]] Around around() const { return {before_, after_}; }
  [[nodiscard]] Around around_letters() const { return around_letters_; }  // the same, of features of letters
  /// Rows on either side for what features add to units outside the sentence.
  [[nodiscard]] std::size_t padding() const { return static_cast<std::size_t>(before_ + after_); }

  [[nodiscard]] std::size_t slots() const { return displacement_.size(); }
  [[nodiscard]] std::size_t letter_slots() const { return letter_slots_; }  // these come first
  [[nodiscard]] std::size_t first_slot(std::size_t place) const { return first_slot_[place]; }
  [[nodiscard]] std::size_t values(Clique clique) const;
  /// From the beginning of the row of the feature's unit to the score that the slot belongs to.
  [[nodiscard]] const std::vector<std::int32_t>& displacement() const { return displacement_; }
  /// The same for rows of letters alone.
  [[nodiscard]] const std::vector<std::int32_t>& letter_displacement() const { return letter_displacement_; }

  [[nodiscard]] std::size_t clique_weights() const { return clique_weights_; }
  [[nodiscard]] std::size_t start(std::size_t s) const { return s; }
  [[nodiscard]] std::size_t letters(std::size_t s1, std::size_t s) const { return letters_ * (1 + s1) + s; }
  [[nodiscard]] std::size_t start(std::size_t s, std::size_t t) const {
    return start_at_ + (has_edge() ? s * tags_ : 0) + t;
  }
  /// With the edge only.
  [[nodiscard]] std::size_t c1(std::size_t s1, std::size_t s, std::size_t t1) const {
    return c1_at_ + (s1 * letters_ + s) * tags_ + t1;
  }
  [[nodiscard]] std::size_t c2(std::size_t s, std::size_t t1, std::size_t t) const {
    return c2_at_ + ((has_edge() ? s * tags_ : 0) + t1) * tags_ + t;
  }
  /// Without the edge only.
  [[nodiscard]] std::size_t letter_tag(std::size_t s, std::size_t t) const {
    return letter_tag_at_ + s * tags_ + t;
  }

 private:
  TwoChainOptions options_;
  std::size_t letters_, tags_, width_;
  std::size_t at_[kCliques] = {};
  std::size_t row_ = 0;
  std::int64_t before_ = 0, after_ = 0;
  Around around_letters_;
  std::vector<std::size_t> first_slot_;  // [places + 1]
  std::size_t letter_slots_ = 0;
  std::vector<std::int32_t> displacement_;         // [slots]
  std::vector<std::int32_t> letter_displacement_;  // [letter_slots]
  std::size_t start_at_ = 0, c1_at_ = 0, c2_at_ = 0, letter_tag_at_ = 0, clique_weights_ = 0;
};

/// Scores of cliques alone, ready for search: kForbidden where the rules forbid.
struct CliqueScores {
  CliqueScores(const TwoChainShape& shape, WeightView weights);

  std::vector<float> start;      // [S]
  std::vector<float> letters;    // [S][S]
  std::vector<float> start_tag;  // [S][T']
  std::vector<float> c1;         // [S][S][T']  s(i-1), s(i), t(i-1)
  std::vector<float> c2;         // [S][T][T']  s(i), t(i-1), t(i)
};

}  // namespace duilian
