// Scores between the states of neighbouring positions, as dense matrices. All positions of an unpruned
// lattice have the same states, so they share one matrix; pruned positions have their own.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "duilian/chain/kernels.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

inline constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// A matrix [rows][cols] at `offset`, rows `stride` apart; its padding is kForbidden.
struct Block {
  std::int32_t position = 0;  // the first t whose states are the rows; those of t + 1 are the columns
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
  std::size_t offset = 0;
  double peak = kForbidden;  // largest score
  double floor = 0.0;        // smallest score that is not forbidden
};

struct Transitions {
  std::vector<std::int32_t> block_of;  // [T - 1]  the block between t and t + 1
  std::vector<Block> blocks;
  std::vector<double> score;

  [[nodiscard]] const Block& between(std::int32_t t) const { return blocks[block_of[t]]; }
  [[nodiscard]] const double* row(const Block& block, std::size_t i) const {
    return score.data() + block.offset + i * block.stride;
  }
};

/// Lays out the blocks that a lattice needs; every score is still kForbidden.
[[nodiscard]] Transitions lay_out(const Lattice& lattice);

/// Records the range of scores in each block; call it once they are filled. Throws std::invalid_argument on
/// NaN or +inf.
void measure(Transitions& transitions);

/// The transitions of a lattice; score(i, j) is called for states i of t and j of t + 1.
template <class Score>
[[nodiscard]] Transitions make_transitions(const Lattice& lattice, const Score& score) {
  Transitions out = lay_out(lattice);
  for (const Block& block : out.blocks) {
    const std::int32_t i0 = lattice.first[block.position];
    const std::int32_t j0 = lattice.first[block.position + 1];
    for (std::size_t i = 0; i < block.rows; ++i) {
      double* row = out.score.data() + block.offset + i * block.stride;
      for (std::size_t j = 0; j < block.cols; ++j) {
        row[j] = score(i0 + static_cast<std::int32_t>(i), j0 + static_cast<std::int32_t>(j));
      }
    }
  }
  measure(out);
  return out;
}

}  // namespace duilian
