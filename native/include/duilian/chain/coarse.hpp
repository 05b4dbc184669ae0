// Coarse pruning: quickly lists the labels of a side that are worth a search. Scores are rounded to 16 bits,
// so that a register holds many of them, and a label is judged by the best path through it, not by the sum
// over all paths.
//
// Coarse scores of paths are at most 0, because transitions and the scores of a unit are relative to the best
// of them. A score that falls to kCoarseDead stays there, so a forbidden label never comes back, however bad
// the others are.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "duilian/chain/label_transitions.hpp"

namespace duilian {

/// The factor to multiply scores by before rounding, chosen so that no sum of `count` weights overflows 16
/// bits; 0 if it would be too small to tell scores apart.
[[nodiscard]] double coarse_scale(double largest_weight, std::size_t count);

/// Keeps the labels whose best path scores at most `window` below the best path of all, but no more than
/// `max_labels` per unit.
struct CoarseWindow {
  double window = 0.0;
  std::int32_t max_labels = 1;
};

struct CoarseWorkspace {
  std::vector<CoarseScore> alpha, beta;             // [T][stride], with kMaxCoarseLanes around each row
  std::vector<CoarseScore> message;                 // [stride], likewise
  std::vector<CoarseScore> best;                    // [T]
  std::vector<CoarseScore> closed;                  // [T]  the best alpha that no path goes on from
  std::vector<std::int64_t> alpha_base, beta_base;  // [T]  what alpha and beta are relative to
  std::vector<std::uint16_t> row;                   // rows of the core worth visiting
  std::vector<std::size_t> row_first;               // [T + 1]
  std::vector<std::uint16_t> place;                 // [stride + kMaxCoarseLanes]
  std::vector<std::uint16_t> path;
};

/// The chain of one side in coarse scores.
class CoarseChain {
 public:
  /// `score` is [L + 1][L + 1], start and stop last; it is multiplied by `scale` before rounding.
  CoarseChain(const TransitionShape& shape, const Succession& rules, std::span<const float> score,
              double scale, CoarseWindow window, const Kernels& how = kernels());

  [[nodiscard]] std::size_t stride() const { return label_.size(); }
  /// The lane of each label; lanes without a label must be forbidden.
  [[nodiscard]] const std::vector<std::uint16_t>& lanes() const { return lane_; }

  /// Lists the labels of a sentence worth a search, given their scores: [T] rows, `step` apart, which are
  /// overwritten. `strength` receives e^(a label's own score - the best at its unit), and `share` [T] how
  /// much of the probability the list has at least, judged by the best label outside the window. Every listed
  /// label lies on a legal path through the list; if `max_labels` has removed some, at least the best path
  /// remains. Returns false and lists nothing if no path exists or numbers are too large to decide.
  [[nodiscard]] bool choose(std::int32_t positions, CoarseScore* state, std::size_t step,
                            CoarseWorkspace& work, TagSets& out, std::vector<float>& strength,
                            std::vector<float>& share) const;

  /// The best path, [T], of the sentence last passed to choose().
  void best_labels(std::int32_t positions, CoarseWorkspace& work, std::vector<std::int32_t>& out) const;

 private:
  /// Where the row of a position begins.
  [[nodiscard]] std::size_t at(std::size_t t) const {
    return t * (stride() + kMaxCoarseLanes) + kMaxCoarseLanes;
  }
  void lay_out(std::size_t positions, std::vector<CoarseScore>& rows) const;
  [[nodiscard]] CoarseMatrix matrix() const;
  [[nodiscard]] bool forward(std::size_t positions, CoarseScore* state, std::size_t step,
                             CoarseWorkspace& work) const;
  [[nodiscard]] bool backward(std::size_t positions, const CoarseScore* state, std::size_t step,
                              CoarseWorkspace& work) const;
  [[nodiscard]] bool meet(std::size_t positions, CoarseWorkspace& work) const;
  [[nodiscard]] std::uint16_t best_before(std::size_t t, std::uint16_t lane,
                                          const CoarseWorkspace& work) const;
  void find_path(std::size_t positions, CoarseWorkspace& work) const;
  /// Keeps the best `max_labels_` of the `count` lanes in `place`.
  void cut(std::size_t t, std::size_t count, CoarseWorkspace& work) const;

  void place_labels(const TransitionShape& shape);
  void add_diagonals(const TransitionShape& shape,
                     const std::function<CoarseScore(std::size_t, std::size_t)>& score);

  std::vector<std::uint16_t> lane_;  // [labels]
  std::vector<std::int32_t> label_;  // [stride], -1 where there is none
  std::size_t row0_ = 0, rows_ = 0, col0_ = 0, cols_ = 0;
  std::vector<CoarseMatrix::Vector> vectors_;
  std::vector<CoarseMatrix::Diagonal> diagonals_;
  std::vector<CoarseScore> core_, arc_;
  std::vector<CoarseScore> start_, stop_;  // [stride]
  CoarseScore width_;
  std::size_t max_labels_;
  std::vector<float> decay_;  // [-kCoarseLow + 1]  e^-(k / scale)
  const Kernels* kernels_;
};

}  // namespace duilian
