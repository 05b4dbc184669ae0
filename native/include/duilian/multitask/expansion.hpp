// The loose mapping between the labels of two standards, and what it adds to scores (Qiu et al. 2013, Eq. 6,
// 7): a label's score includes those of the labels that it maps to in the other standard, for states and for
// transitions alike,
//   state(t, y)     = u·f(x, y)   + Σ_{z ∈ φ(y)} s·h(x, z)
//   between(y', y)  = v1(y', y)   + Σ_{z' ∈ φ(y'), z ∈ φ(y)} v2(z', z),
// where v2 is 0 for pairs that the other standard's rules forbid, and start and stop map to themselves.
// Alternatively, only the best of φ(y) at each unit, by its state score, stands for all of it (the paper's
// approximation). Or the mean over φ(y) replaces the sum (our addition): then a label with many partners
// moves no faster than others, without which a random field learns badly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/label_transitions.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

enum class Expansion : std::uint8_t { all, best };

/// φ: label l maps to to[first[l]] ... to[first[l + 1] - 1] of the other side; perhaps to none.
struct LabelMap {
  std::vector<std::int32_t> first{0};  // [L + 1]
  std::vector<std::int32_t> to;
  bool is_mean = false;

  /// The weight of each partner of a label; start and stop have one partner, themselves.
  [[nodiscard]] float share(std::int32_t label) const {
    const std::int32_t partners = label == labels() ? 1 : first[label + 1] - first[label];
    return is_mean && partners > 0 ? 1.0F / static_cast<float>(partners) : 1.0F;
  }

  [[nodiscard]] std::int32_t labels() const { return static_cast<std::int32_t>(first.size()) - 1; }
  [[nodiscard]] std::span<const std::int32_t> of(std::int32_t label) const {
    return std::span(to).subspan(static_cast<std::size_t>(first[label]),
                                 static_cast<std::size_t>(first[label + 1] - first[label]));
  }
};

/// Throws std::invalid_argument unless it maps this many labels to that many.
void check(const LabelMap& map, std::int32_t labels, std::int32_t other_labels);

/// The same mapping seen from the other side.
[[nodiscard]] LabelMap turn(const LabelMap& map, std::int32_t other_labels);

/// One side's weights between labels, start and stop last, [L + 1][L + 1], and its rules.
struct SideTransitions {
  std::int32_t labels;
  const Succession& rules;
  std::span<const float> weight;

  /// 0 where the rules forbid.
  [[nodiscard]] float operator()(std::int32_t before, std::int32_t after) const {
    return rules(before, after)
               ? weight[static_cast<std::size_t>(before) * static_cast<std::size_t>(labels + 1) +
                        static_cast<std::size_t>(after)]
               : 0.0F;
  }
};

/// Calls take(z) for the labels that a label maps to; the edge of a sentence maps to that of the other side.
template <class Take>
void for_each_mapped(const LabelMap& map, std::int32_t label, std::int32_t other_labels, const Take& take) {
  if (label == map.labels()) return take(other_labels);
  for (const std::int32_t z : map.of(label)) take(z);
}

/// Adds the other side's states [T][other_stride] to the side's own [T][stride]: all of them.
void expand_states(const LabelMap& map, std::span<const double> other, std::size_t other_stride,
                   std::size_t stride, std::vector<double>& own);

/// The side's own transitions plus all of the other's, [L + 1][L + 1].
[[nodiscard]] std::vector<float> expand_transitions(const LabelMap& map, const SideTransitions& own,
                                                    const SideTransitions& other);

/// The search under the best of each expansion.
struct BestExpansion {
  std::vector<std::int32_t> choice;  // [T][L]  the mapped label that counts at a unit, or -1
  std::vector<double> delta;         // [T][L]
  std::vector<std::int32_t> from;    // [T][L]

  /// Chooses by the other side's states, the smaller label of equals, and adds their scores to the side's
  /// own.
  void choose(const LabelMap& map, std::span<const double> other, std::size_t other_stride,
              std::size_t stride, std::vector<double>& own);
  /// Labels of the best path; false if none is legal. `state` has no start and stop scores yet; `between` is
  /// made of the side's own transitions.
  [[nodiscard]] bool try_labels(std::span<const double> state, std::size_t stride,
                                const LabelTransitions& between, const SideTransitions& own,
                                const SideTransitions& other, std::span<std::int32_t> labels);

 private:
  void prepare(const LabelTransitions& between, const SideTransitions& other);
  [[nodiscard]] std::size_t code(std::size_t t, std::size_t label) const;
  [[nodiscard]] const float* mapped_row(std::size_t t, std::size_t label) const {
    return mapped.data() + code(t, label) * codes;
  }
  void step(const LabelTransitions& between, std::size_t t);
  void offer_row(const LabelTransitions& between, std::size_t t, std::size_t i);
  void offer(std::size_t t, std::size_t i, std::size_t j, double sum);

  std::size_t labels_ = 0;
  std::size_t codes = 0;             // other labels, their edge, and one for "none"
  std::vector<float> mapped;         // [codes][codes]  the other's transitions, 0 where forbidden or none
  std::vector<float> mapped_peak;    // [codes]  the largest of a row
  std::vector<double> core_peak;     // [rows]  the same for the side's own core
  std::vector<std::size_t> columns;  // [cols]  codes of the core's columns at the current unit
};

}  // namespace duilian
