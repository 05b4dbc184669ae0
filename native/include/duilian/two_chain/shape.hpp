// Two coupled chains over one input (Qiu et al. 2012): letters s (boundaries) and tags t, with the cliques
//   C1 = {s(i-1), t(i-1), s(i)}  and  C2 = {t(i-1), s(i), t(i)}.
// A clique is scored by input features, each of which applies to part of a clique (its place), and by weights
// of the bare clique. Without the edge t(i-1) - s(i), this is the factorial model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/lattice/lattice.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// What features may apply to, with S letters and T tags: s(i) has S values, s(i-1) s(i) has S², and so on.
/// Those of letters come first, because the chain of letters can be used alone.
enum class Clique : std::uint8_t { letter, letters, tag, letter_tag, tags };
inline constexpr std::size_t kCliques = 5;

/// A feature of unit i + offset applies to this clique at unit i.
struct Place {
  Clique clique = Clique::letter;
  std::int32_t offset = 0;
};
using PlaceSet = std::uint32_t;
inline constexpr std::size_t kMaxPlaces = 32;

/// The settings of a two-chain model.
struct TwoChainOptions {
  std::int32_t letters = 0;
  std::int32_t tags = 0;
  Succession rules;  // for letters
  // [S]  whether a unit with this letter continues the word of the previous unit.
  std::vector<std::uint8_t> continues;
  bool has_edge = true;  // t(i-1) - s(i)
  std::vector<Place> places;
};

/// Where scores and weights are. The scores of a unit are a row: [S] [S][S] [T'] [S][T'] [T][T'], where T' is
/// T rounded up to a multiple of the vector's lanes. A slot is a value of a place; slots are numbered place
/// by place, those of letters first. Weights of bare cliques: start [S], letters [S][S]; then, with the edge,
/// start [S][T], C1 [S][S][T] (s(i-1), s(i), t(i-1)) and C2 [S][T][T] (s(i), t(i-1), t(i)); without it, start
/// [T], [T][T] and [S][T].
class TwoChainShape {
 public:
  /// Throws std::invalid_argument if the options are inconsistent.
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
  /// Whether a unit with this letter must have the tag of the previous unit, as inside a word. Without the
  /// edge, no clique sees s(i) together with t(i-1), so this is not required.
  [[nodiscard]] bool keeps_tag(std::size_t letter) const {
    return has_edge() && options_.continues[letter] != 0;
  }
  [[nodiscard]] bool continues(std::size_t letter) const { return options_.continues[letter] != 0; }
  /// Throws std::invalid_argument unless the letters may follow each other.
  void check_letters(std::span<const std::int32_t> letter) const;

  /// Where the scores of a clique begin in a row, and the size of a row.
  [[nodiscard]] std::size_t at(Clique clique) const { return at_[static_cast<std::size_t>(clique)]; }
  [[nodiscard]] std::size_t row() const { return row_; }
  /// Letters alone need only the beginning of a row.
  [[nodiscard]] std::size_t letter_row() const { return letters_ * (1 + letters_); }
  /// How many units before and after a sentence have features that apply to units inside it.
  [[nodiscard]] std::int64_t before() const { return before_; }
  [[nodiscard]] std::int64_t after() const { return after_; }
  [[nodiscard]] Around around() const { return {before_, after_}; }
  [[nodiscard]] Around around_letters() const { return around_letters_; }  // likewise for letter features
  /// Extra rows on either side, for what features add to units outside the sentence.
  [[nodiscard]] std::size_t padding() const { return static_cast<std::size_t>(before_ + after_); }

  [[nodiscard]] std::size_t slots() const { return displacement_.size(); }
  [[nodiscard]] std::size_t letter_slots() const { return letter_slots_; }  // they come first
  [[nodiscard]] std::size_t first_slot(std::size_t place) const { return first_slot_[place]; }
  [[nodiscard]] std::size_t values(Clique clique) const;
  /// From the beginning of the row of the feature's unit to the score of a slot.
  [[nodiscard]] const std::vector<std::int32_t>& displacement() const { return displacement_; }
  /// Likewise for rows of letters alone.
  [[nodiscard]] const std::vector<std::int32_t>& letter_displacement() const { return letter_displacement_; }

  [[nodiscard]] std::size_t clique_weights() const { return clique_weights_; }
  [[nodiscard]] std::size_t start(std::size_t s) const { return s; }
  [[nodiscard]] std::size_t letters(std::size_t s1, std::size_t s) const { return letters_ * (1 + s1) + s; }
  [[nodiscard]] std::size_t start(std::size_t s, std::size_t t) const {
    return start_at_ + (has_edge() ? s * tags_ : 0) + t;
  }
  /// Only with the edge.
  [[nodiscard]] std::size_t c1(std::size_t s1, std::size_t s, std::size_t t1) const {
    return c1_at_ + (s1 * letters_ + s) * tags_ + t1;
  }
  [[nodiscard]] std::size_t c2(std::size_t s, std::size_t t1, std::size_t t) const {
    return c2_at_ + ((has_edge() ? s * tags_ : 0) + t1) * tags_ + t;
  }
  /// Only without the edge.
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

/// Scores of bare cliques, ready for the search: kForbidden where the rules forbid.
struct CliqueScores {
  CliqueScores(const TwoChainShape& shape, WeightView weights);

  std::vector<float> start;      // [S]
  std::vector<float> letters;    // [S][S]
  std::vector<float> start_tag;  // [S][T']
  std::vector<float> c1;         // [S][S][T']  s(i-1), s(i), t(i-1)
  std::vector<float> c2;         // [S][T][T']  s(i), t(i-1), t(i)
};

}  // namespace duilian
