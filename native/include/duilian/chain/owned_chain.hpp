// A chain that owns its lattice and scores: for questions that are rarely asked, and for scores from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/chain.hpp"

namespace duilian {

/// A row-major matrix owned by someone else.
struct MatrixView {
  const double* value = nullptr;
  std::size_t columns = 0;

  [[nodiscard]] double operator()(std::int32_t row, std::int32_t column) const {
    return value[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)];
  }
};

struct OwnedChain {
  Lattice lattice;
  std::vector<double> state;
  Transitions between;
  [[nodiscard]] Chain view() const { return {lattice, state, between}; }
};

/// The score between two states is Σ_k side[k](tag_k, tag'_k), plus joint(label, label') if both states have
/// a label. `label` is [S], -1 for a state without one, or empty if no state has one. Throws
/// std::invalid_argument if the arrays are inconsistent.
[[nodiscard]] OwnedChain make_chain(Lattice lattice, std::vector<double> state,
                                    std::span<const MatrixView> side, std::span<const std::int32_t> label,
                                    MatrixView joint);

}  // namespace duilian
