// Transitions between all labels of one side, the same at every position: a dense core and diagonals.
//
// Boundary labels make most pairs illegal: only E and S end a word, only B and S begin one, and I and E
// follow B or I of their own tag. If labels are numbered E…, S…, B…, I…, the legal pairs are one dense block
// (rows E S, columns S B) and four diagonals (B→I, B→E, I→I, I→E): a quarter of the work. A side without such
// rules is all core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/kernels.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

/// Which pairs are legal, divided into a core and diagonals. It depends on the rules only, not on scores.
struct TransitionShape {
  std::size_t labels = 0;
  std::size_t row0 = 0, rows = 0;  // the core: labels [row0, row0 + rows) → [col0, col0 + cols)
  std::size_t col0 = 0, cols = 0;
  std::vector<Diagonal> diagonals;
  std::size_t arcs = 0;                              // total size of the diagonals
  std::vector<std::vector<std::uint8_t>> reachable;  // [few][labels]  whether position t can have a label;
                                                     // the last entry holds for every later position

  [[nodiscard]] std::size_t stride() const { return padded(labels) + kLanes; }  // room for the core's padding
};

[[nodiscard]] TransitionShape shape_of(std::int32_t labels, const Succession& rules);

/// The scores of a shape, prepared for sums and maxima.
struct LabelTransitions {
  /// `score` is [L + 1][L + 1]; start and stop, which come last, are ignored. Exponentials and transposed
  /// matrices are optional: the best path of a sentence or two does not need them.
  LabelTransitions(const TransitionShape& kept_shape, const Succession& rules, std::span<const float> score,
                   bool has_exponentials = true);

  [[nodiscard]] double score(std::size_t before, std::size_t after) const;

  const TransitionShape& shape;
  double peak = 0.0;                    // subtracted before exponentiation
  double spread = 0.0;                  // largest minus smallest legal score
  std::vector<double> core;             // [rows][padded(cols)]  kForbidden where illegal or padding
  std::vector<double> core_turned;      // [cols][padded(rows)]  or empty
  std::vector<double> exp_core;         // e^(core - peak)
  std::vector<double> exp_core_turned;  // [cols][padded(rows)]
  std::vector<double> arc, exp_arc;     // [arcs]
};

}  // namespace duilian
