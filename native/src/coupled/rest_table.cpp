// Sets the weights that do not prune apart (see rest_table.hpp).
#include "duilian/coupled/rest_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

constexpr std::int32_t kNoBlock = -1;
constexpr std::size_t kFew = 8;  // labels that are read faster one by one

/// The block of each label of the table of weights, and its number there.
struct BlockLabels {
  struct Place {
    std::int32_t block = kNoBlock;
    std::uint32_t label = 0;
  };
  std::vector<Place> place;
  std::vector<std::uint32_t> size;  // [blocks]

  BlockLabels(const CoupledShape& shape, std::span<const std::int32_t> pruned_sides) {
    for (const std::int32_t side : pruned_sides) add(shape.labels[side], false);
    for (std::size_t k = 0; k < shape.sides(); ++k)
      add(shape.labels[k], std::ranges::binary_search(pruned_sides, static_cast<std::int32_t>(k)));
    add(shape.joint_labels(), true);
  }

 private:
  void add(std::int32_t labels, bool is_rest) {
    const std::int32_t block = is_rest ? static_cast<std::int32_t>(size.size()) : kNoBlock;
    for (std::int32_t l = 0; l < labels; ++l) place.push_back({block, static_cast<std::uint32_t>(l)});
    if (is_rest) size.push_back(static_cast<std::uint32_t>(labels));
  }
};

}  // namespace

RestTable::RestTable(const CoupledShape& shape, const CoupledWeights& weights) {
  const BlockLabels labels(shape, weights.pruned_sides);
  std::uint32_t first = 0;
  for (const std::uint32_t size : labels.size) {
    block_at_.push_back(first);
    words_.push_back((size + 63) / 64);
    first += size;
  }
  const std::size_t joint = labels.size.size() - 1;
  const WeightTable& from = weights.table;
  std::vector<std::vector<Entry>> of_block(labels.size.size());  // of one feature
  for (std::size_t k = 0; k < from.label.size(); ++k) {
    const BlockLabels::Place& own = labels.place[from.label[k] & ~kLastEntry];
    if (own.block != kNoBlock)
      of_block[static_cast<std::size_t>(own.block)].push_back({own.label, from.weight[k]});
    if ((from.label[k] & kLastEntry) == 0) continue;
    Begins begins{kNoEntry, kNoEntry};
    std::size_t last = 0;
    for (std::size_t block = 0; block < of_block.size(); ++block) {
      if (of_block[block].empty()) continue;
      std::uint32_t& begin = block == joint ? begins.joint : begins.sides;
      if (begin == kNoEntry) begin = static_cast<std::uint32_t>(cells_.size());
      if (block != joint) last = cells_.size();
      add_group(block, of_block[block]);
      of_block[block].clear();
    }
    if (begins.sides != kNoEntry) cells_[last] |= kLast;
    begins_.push_back(begins);
  }
  if (cells_.size() >= kNoEntry) throw std::invalid_argument("the tagger has too many weights");
  prefer_huge_pages(cells_);
}

void RestTable::add_group(std::size_t block, std::span<const Entry> entries) {
  const bool is_ranked = entries.size() > kFew;
  cells_.push_back(static_cast<std::uint32_t>(entries.size()) |
                   static_cast<std::uint32_t>(block) << kBlockShift | (is_ranked ? kRanked : 0U));
  if (!is_ranked) {
    for (const Entry& each : entries) {
      cells_.push_back(each.label);
      cells_.push_back(std::bit_cast<std::uint32_t>(each.weight));
    }
    return;
  }
  const std::size_t ranks = cells_.size();
  cells_.resize(ranks + 4 * words_[block], 0);
  for (const Entry& each : entries) {
    cells_[ranks + 4 * std::size_t{each.label / 64} + each.label / 32 % 2] |= 1U << (each.label % 32);
    cells_.push_back(std::bit_cast<std::uint32_t>(each.weight));
  }
  std::uint32_t before = 0;
  for (std::size_t w = 0; w < words_[block]; ++w) {
    std::uint32_t* word = cells_.data() + ranks + 4 * w;
    word[2] = before;
    before += static_cast<std::uint32_t>(std::popcount(word[0]) + std::popcount(word[1]));
  }
}

}  // namespace duilian
