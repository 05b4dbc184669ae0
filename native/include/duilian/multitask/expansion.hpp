// The loose mapping between the labels of two standards, and what it adds to scores (Qiu et al. 2013, Eq. 6,
// 7): the score of a label includes those of the labels it maps to in the other standard, for states and
// transitions alike,
//   state(t, y)     = u·f(x, y)   + Σ_{z ∈ φ(y)} s·h(x, z)
//   between(y', y)  = v1(y', y)   + Σ_{z' ∈ φ(y'), z ∈ φ(y)} v2(z', z),
// where v2 is 0 for pairs that the rules of the other standard forbid, and start and stop map to themselves.
// Alternatively, only the best of all ways to choose a partner for every unit counts, like a latent variable
// (the paper's approximation). A third way, of our own, replaces the sum by the mean over φ(y): then a label
// with many partners does not move faster than others, which would spoil the training of a CRF.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/label_transitions.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

enum class Expansion : std::uint8_t { all, best };

/// φ: label l maps to the labels to[first[l]] … to[first[l + 1] - 1] of the other side, or to none.
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

/// Throws std::invalid_argument unless it maps `labels` labels to `other_labels`.
void check(const LabelMap& map, std::int32_t labels, std::int32_t other_labels);

/// The inverse mapping, from the other side.
[[nodiscard]] LabelMap turn(const LabelMap& map, std::int32_t other_labels);

/// The transition weights of one side, [L + 1][L + 1] with start and stop last, and its rules.
struct SideTransitions {
  std::int32_t labels;
  const Succession& rules;
  std::span<const float> weight;

  /// The weight of a transition; 0 where the rules forbid it.
  [[nodiscard]] float operator()(std::int32_t before, std::int32_t after) const {
    return rules(before, after)
               ? weight[static_cast<std::size_t>(before) * static_cast<std::size_t>(labels + 1) +
                        static_cast<std::size_t>(after)]
               : 0.0F;
  }
};

/// Calls take(z) for the labels that a label maps to; the edge of a sentence maps to itself.
template <class Take>
void for_each_mapped(const LabelMap& map, std::int32_t label, std::int32_t other_labels, const Take& take) {
  if (label == map.labels()) return take(other_labels);
  for (const std::int32_t z : map.of(label)) take(z);
}

/// Adds the states of all mapped labels, [T][other_stride], to the side's own, [T][stride].
void expand_states(const LabelMap& map, std::span<const double> other, std::size_t other_stride,
                   std::size_t stride, std::vector<double>& own);

/// The side's own transitions plus those of all mapped labels, [L + 1][L + 1].
[[nodiscard]] std::vector<float> expand_transitions(const LabelMap& map, const SideTransitions& own,
                                                    const SideTransitions& other);

/// All pairs of a label and one that it maps to, sorted by label; a label without partners forms a pair
/// alone.
struct LabelPairs {
  LabelPairs(const LabelMap& map, std::int32_t all_other_labels);

  std::int32_t other_labels;          // 0 if no label maps to any
  std::vector<std::int32_t> first;    // [L + 1]
  std::vector<std::int32_t> label;    // [P]
  std::vector<std::int32_t> partner;  // [P]  or kAlone
  std::vector<std::size_t> code;      // [P]  row and column of the partner in PairSteps

  static constexpr std::int32_t kAlone = -1;
  [[nodiscard]] std::size_t size() const { return label.size(); }
  [[nodiscard]] std::size_t edge() const { return static_cast<std::size_t>(other_labels); }
  [[nodiscard]] std::size_t codes() const { return edge() + 2; }  // labels, edge, none
  /// Calls take(p) for the pairs of a label.
  template <class Take>
  void for_each(std::size_t of, const Take& take) const {
    for (auto p = static_cast<std::size_t>(first[of]); p < static_cast<std::size_t>(first[of + 1]); ++p)
      take(p);
  }
};

/// What the other side adds to a step between pairs, and bounds for the search.
struct PairSteps {
  PairSteps(const LabelPairs& pairs, const LabelTransitions& own, const SideTransitions& other);

  std::size_t codes;
  std::vector<float> mapped;       // [codes][codes]  0 where forbidden or without a partner
  std::vector<float> mapped_peak;  // [codes]  the largest in each row
  std::vector<double> core_peak;  // [rows]  the largest in each row of the core of the side's own transitions

  [[nodiscard]] const float* from(std::size_t code) const { return mapped.data() + code * codes; }
};

/// A scored sentence: states of the side with start and stop scores, and states of the other side without.
struct PairScores {
  const LabelPairs& pairs;
  const PairSteps& steps;
  const LabelTransitions& between;  // the side's own transitions
  SideTransitions own;              // the same as a table
  std::span<const double> state;    // [T][stride]
  std::span<const double> other;    // [T][other_stride]
  std::size_t stride, other_stride;
};

struct ExpandedPath {
  std::vector<std::int32_t> label;    // [T]
  std::vector<std::int32_t> partner;  // [T]  the mapped label that counts, or LabelPairs::kAlone
};

/// The search with the best expansion: the score of a path includes what the best choice of partners adds,
/// transitions included,
///   S(y) = own(y) + max_z other(z),  z_t ∈ φ(y_t),
/// so this is a search over pairs (y, z). In a tie, the first pair wins.
class BestExpansion {
 public:
  /// The best path; returns false if none is legal.
  [[nodiscard]] bool try_best(const PairScores& x, ExpandedPath& best);
  /// The best path whose labels differ from `gold`, and gold with its best partners; returns false if there
  /// is no other path.
  [[nodiscard]] bool try_wrong(const PairScores& x, std::span<const std::int32_t> gold, ExpandedPath& wrong,
                               ExpandedPath& right);

 private:
  void run(const PairScores& x, std::span<const std::int32_t> gold);
  void add_states(const PairScores& x, std::size_t t);
  void step(const PairScores& x, std::size_t t);
  void offer_row(const PairScores& x, std::size_t t, std::size_t i);
  void leave(const PairScores& x, std::size_t t, std::span<const std::int32_t> gold);
  [[nodiscard]] bool trace(const PairScores& x, bool is_right, std::span<const std::int32_t> gold,
                           ExpandedPath& out) const;
  [[nodiscard]] double* at(std::size_t t, bool is_right) {
    return delta_.data() + (2 * t + (is_right ? 1 : 0)) * pairs_;
  }
  [[nodiscard]] const double* at(std::size_t t, bool is_right) const {
    return delta_.data() + (2 * t + (is_right ? 1 : 0)) * pairs_;
  }

  std::size_t pairs_ = 0, length_ = 0;
  // [T][2][P]  of unrestricted paths or those that have left gold; of gold so far.
  std::vector<double> delta_;
  std::vector<double> reach_;  // [codes]
  std::vector<double> bound_;  // [rows]
};

}  // namespace duilian
