// Lays out transition blocks: positions with the same states share one.
#include "duilian/chain/transitions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_map>

namespace duilian {

namespace {

/// Numbers the distinct columns of states: positions with the same bundles have the same number.
[[nodiscard]] std::vector<std::int32_t> number_columns(const Lattice& lattice) {
  const auto column = [&](std::int32_t t) {
    const std::size_t begin = static_cast<std::size_t>(lattice.first[t]) * lattice.sides;
    return std::span<const TagId>(lattice.tag)
        .subspan(begin, static_cast<std::size_t>(lattice.width(t)) * lattice.sides);
  };
  // Hash → positions, one per distinct column.
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> seen;
  std::vector<std::int32_t> number(lattice.positions());
  std::int32_t count = 0;
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    std::uint64_t hash = 1469598103934665603U;
    for (const TagId tag : column(t)) hash = (hash ^ static_cast<std::uint64_t>(tag)) * 1099511628211U;
    auto& candidates = seen[hash];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::int32_t u) { return std::ranges::equal(column(u), column(t)); });
    number[t] = same != candidates.end() ? number[*same] : count++;
    if (same == candidates.end()) candidates.push_back(t);
  }
  return number;
}

}  // namespace

Transitions lay_out(const Lattice& lattice) {
  Transitions out;
  const auto number = number_columns(lattice);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
  std::size_t size = 0;
  for (std::int32_t t = 0; t + 1 < lattice.positions(); ++t) {
    const auto [entry, is_new] =
        known.try_emplace({number[t], number[t + 1]}, static_cast<std::int32_t>(out.blocks.size()));
    out.block_of.push_back(entry->second);
    if (!is_new) continue;
    Block block;
    block.position = t;
    block.rows = static_cast<std::size_t>(lattice.width(t));
    block.cols = static_cast<std::size_t>(lattice.width(t + 1));
    block.stride = padded(block.cols);
    block.offset = size;
    size += block.rows * block.stride;
    out.blocks.push_back(block);
  }
  out.score.assign(size, kForbidden);
  return out;
}

void measure(Transitions& transitions) {
  for (Block& block : transitions.blocks) {
    block.peak = kForbidden;
    block.floor = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < block.rows; ++i) {
      const double* row = transitions.row(block, i);
      for (std::size_t j = 0; j < block.cols; ++j) {
        if (row[j] == kForbidden) continue;
        if (!std::isfinite(row[j])) throw std::invalid_argument("a transition score is NaN or +inf");
        block.peak = std::max(block.peak, row[j]);
        block.floor = std::min(block.floor, row[j]);
      }
    }
  }
}

}  // namespace duilian
