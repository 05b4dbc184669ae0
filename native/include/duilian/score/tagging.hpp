// The plain tagger: one side, with every label at every unit. The chain is uniform, so no lattice is built.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "duilian/chain/uniform.hpp"
#include "duilian/features/extract.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// Where the weights of a plain tagger are: first the transitions [L + 1][L + 1] (start and stop last), then,
/// for feature row r, the state weights [first[r], first[r + 1]), one per label. A row that has all labels is
/// *full*; the labels of the other rows are listed.
struct TaggerLayout {
  std::int32_t labels = 0;
  Succession rules;
  TransitionShape shape;
  std::vector<std::int64_t> first{0};         // [rows + 1]
  std::vector<std::uint32_t> full_before{0};  // [rows + 1]  how many rows before are full
  std::vector<std::uint16_t> label;           // of the rows that are not full

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(first.size()) - 1; }
  [[nodiscard]] std::int64_t transitions() const {
    return static_cast<std::int64_t>(labels + 1) * (labels + 1);
  }
  [[nodiscard]] std::int64_t weights() const { return transitions() + first.back(); }
  [[nodiscard]] bool is_full(std::size_t row) const { return full_before[row + 1] != full_before[row]; }
  /// The labels of a row that is not full.
  [[nodiscard]] std::span<const std::uint16_t> listed(std::size_t row) const {
    const std::int64_t at = first[row] - static_cast<std::int64_t>(full_before[row]) * labels;
    return std::span(label).subspan(static_cast<std::size_t>(at),
                                    static_cast<std::size_t>(first[row + 1] - first[row]));
  }
  /// Ends a row that has these labels, ascending.
  void add_row(std::span<const std::uint16_t> of_labels) {
    const bool is_full = of_labels.size() == static_cast<std::size_t>(labels);
    if (!is_full) label.insert(label.end(), of_labels.begin(), of_labels.end());
    first.push_back(first.back() + static_cast<std::int64_t>(of_labels.size()));
    full_before.push_back(full_before.back() + (is_full ? 1 : 0));
  }
  /// The index of the weight of a feature row for a label, or -1.
  [[nodiscard]] std::int64_t find(std::uint32_t row, std::int32_t of_label) const {
    if (is_full(row)) return transitions() + first[row] + of_label;
    const auto own = listed(row);
    const auto found = std::lower_bound(own.begin(), own.end(), static_cast<std::uint16_t>(of_label));
    if (found == own.end() || *found != of_label) return -1;
    return transitions() + first[row] + (found - own.begin());
  }
  /// Calls visit(label, k) for every weight k of a row, counted without the transitions.
  template <class Visit>
  void for_each_place(std::size_t row, const Visit& visit) const {
    if (is_full(row)) {
      for (std::int32_t l = 0; l < labels; ++l) visit(l, first[row] + l);
      return;
    }
    std::int64_t k = first[row];
    for (const std::uint16_t l : listed(row)) visit(static_cast<std::int32_t>(l), k++);
  }
  /// Calls take(label, weight) for every weight of a feature row.
  template <class Take>
  void for_each(std::size_t row, std::span<const float> weight, const Take& take) const {
    for_each_place(row, [&](std::int32_t l, std::int64_t k) {
      take(l, weight[static_cast<std::size_t>(transitions() + k)]);
    });
  }
  /// The labels of all rows, [state weights].
  [[nodiscard]] std::vector<std::uint16_t> all_labels() const;
};

/// The units of all sentences. If label[u] < 0, the allowed labels are in `sets`, or all are allowed if the
/// set of u is empty.
struct TaggingData {
  FeatureRows features;
  std::vector<std::int64_t> first{0};  // [sentences + 1]  in units
  std::vector<std::int32_t> label;     // [units]
  TagSets sets;                        // [units], or no positions if nothing is partial
};

/// Throws std::invalid_argument if the arrays are inconsistent.
void check(const TaggingData& data);

/// Gives a weight to every feature and label that occur together in the data: a feature of a partly annotated
/// unit occurs with every label of its set, and with none where nothing is known. Features seen `full_from`
/// times or more have a weight for every label, so that they can also count against labels they never
/// occurred with. If there are `sentences`, features that occur in none of these have no weights: only they
/// will be learned from.
[[nodiscard]] TaggerLayout lay_out_tagger(std::int32_t labels, Succession rules, std::int64_t rows,
                                          const TaggingData& data, std::int64_t full_from,
                                          std::span<const std::int64_t> sentences = {});

/// Writes `share` times the weights of one layout to those of another, which has all of them; `out` is all 0.
void copy_weights(const TaggerLayout& from, std::span<const float> weights, float share,
                  const TaggerLayout& to, std::span<float> out);

/// Adds start scores to the first position of `state` ([T][stride]) and stop scores to the last, or
/// kForbidden where the rules forbid a label; `transition` is [L + 1][L + 1].
void add_edges(std::int32_t labels, const Succession& rules, WeightView transition, std::size_t stride,
               std::vector<double>& state);

/// Adds sign × the expected transition counts, including start and stop, to `dense`, [L + 1][L + 1].
void add_transition_counts(const TaggerLayout& layout, const UniformMarginals& found, std::int64_t positions,
                           double sign, std::vector<double>& dense);
void add_gold_transitions(const TaggerLayout& layout, std::span<const std::int32_t> gold,
                          std::vector<double>& dense);

/// The scores that the features of units [begin, end) give to each label, [T][stride].
void score_state_parts(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                       std::int64_t begin, std::int64_t end, std::vector<double>& state);

/// State scores [T][stride] of the units [begin, end) including start and stop; kForbidden where the rules
/// forbid a label.
void score_units(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                 std::int64_t begin, std::int64_t end, std::vector<double>& state);

[[nodiscard]] LabelTransitions score_transitions(const TaggerLayout& layout, WeightView weights);

/// The best labels of every unit; sentence k has the units [first[k], first[k + 1]).
[[nodiscard]] std::vector<std::int32_t> tag_units(const TaggerLayout& layout, WeightView weights,
                                                  const FeatureRows& features,
                                                  std::span<const std::int64_t> first, std::size_t threads);

// Neighbouring rows, which may share a cache line, belong to one block, and so to one half and one share.
[[nodiscard]] inline std::uint32_t block_of(std::uint32_t row) { return row / 32; }

/// A smaller change in a probability would not show in a float weight.
inline constexpr double kNegligible = 1e-6;

/// Records the units whose probabilities change; `change` is [T][stride].
void note_changes(std::int32_t labels, std::span<const double> change, std::size_t stride, Gradient& out);

/// Changes the weights of a feature row with the probabilities of its labels; the weights of the layout begin
/// at `offset`.
template <ChangeRule R>
void change_labels(const TaggerLayout& layout, std::int64_t offset, std::uint32_t row, float strength,
                   std::span<const float> change, R& rule) {
  auto at = static_cast<std::uint32_t>(offset + layout.transitions() + layout.first[row]);
  if (layout.is_full(row)) return rule.change_row(at, change, strength);
  for (const std::uint16_t label : layout.listed(row)) {
    const float g = change[label];
    if (g != 0.0F) rule.change(at, strength * g);
    ++at;
  }
}

class TaggingObjective {
 public:
  using Prepared = LabelTransitions;
  struct alignas(kCacheSeparation) Work {
    HalfScores score;
    std::vector<double> state, allowed;
    UniformWorkspace chain;
    UniformMarginals possible, correct;
  };

  TaggingObjective(const TaggerLayout& layout, const TaggingData& data);

  [[nodiscard]] std::int64_t weights() const { return layout_.weights(); }
  [[nodiscard]] std::int64_t dense() const { return layout_.transitions(); }
  [[nodiscard]] std::int64_t length(std::int64_t sentence) const {
    return data_.first[sentence + 1] - data_.first[sentence];
  }
  [[nodiscard]] Prepared prepare(WeightView weights) const;
  /// log Z(possible) - log Z(correct), and label probabilities under `correct` minus those under `possible`.
  double compute(const Prepared& between, WeightView weights, std::int64_t sentence, Work& work,
                 Gradient& out) const;
  /// The same in two steps: the scores [T][stride] from the features of one half, then the rest.
  void score_half(WeightView weights, std::int64_t sentence, std::size_t half,
                  std::vector<double>& score) const;
  double compute_scored(const Prepared& between, WeightView weights, std::int64_t sentence,
                        const HalfScores& score, Work& work, Gradient& out) const;

  /// Every feature of an active unit changes its weights with the unit's probabilities, for the rows of a
  /// share.
  template <ChangeRule R>
  void apply(std::int64_t sentence, const Gradient& gradient, Share share, R& rule) const {
    for (std::size_t half = 0; half < kHalves; ++half) {
      if (share.has_of(half, kHalves))
        apply_half(halves_[half], data_.first[sentence], gradient, share, rule);
    }
  }

 private:
  template <ChangeRule R>
  void apply_half(const FeatureRows& features, std::int64_t begin, const Gradient& gradient, Share share,
                  R& rule) const {
    const auto L = static_cast<std::size_t>(layout_.labels);
    for (std::size_t a = 0; a < gradient.active.size(); ++a) {
      const std::int64_t unit = begin + gradient.active[a];
      const bool has_next = a + 1 < gradient.active.size();
      const std::int64_t next = has_next ? begin + gradient.active[a + 1] : 0;
      std::int64_t ahead = has_next ? features.first[next] : 0;
      const std::int64_t ahead_end = has_next ? features.first[next + 1] : 0;
      const std::span change(gradient.change.data() + a * L, L);
      for (std::int64_t f = features.first[unit]; f < features.first[unit + 1]; ++f, ++ahead) {
        if (ahead < ahead_end && share.has(block_of(features.value[ahead])))
          prefetch_row(features.value[ahead], rule);
        const std::uint32_t row = features.value[f];
        if (share.has(block_of(row))) change_labels(layout_, 0, row, features.strength_of(f), change, rule);
      }
    }
  }
  /// Prefetches a unit ahead, because most weights of a row were last written by another core.
  template <ChangeRule R>
  void prefetch_row(std::uint32_t row, const R& rule) const {
    constexpr std::int64_t kLine = 16;  // floats in a cache line
    for (std::int64_t k = layout_.first[row]; k < layout_.first[row + 1]; k += kLine) {
      rule.prefetch(static_cast<std::uint32_t>(layout_.transitions() + k));
    }
  }
  [[nodiscard]] bool is_complete(std::int64_t begin, std::int64_t end) const;
  double gold_score(const Prepared& between, std::int64_t begin, std::int64_t end, const Work& work) const;
  void restrict_states(std::int64_t begin, std::int64_t end, Work& work) const;

  const TaggerLayout& layout_;
  const TaggingData& data_;
  std::array<FeatureRows, kHalves> halves_;  // data_.features, divided by the half of each row's block
};

}  // namespace duilian
