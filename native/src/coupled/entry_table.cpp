// Groups the entries of each feature into rows where it has nearly all labels (see entry_table.hpp).
#include "duilian/coupled/entry_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

[[nodiscard]] std::int32_t label_of(const WeightTable& table, std::size_t entry) {
  return table.label[entry] & ~kLastEntry;
}

[[nodiscard]] bool is_last(const WeightTable& table, std::size_t entry) {
  return (table.label[entry] & kLastEntry) != 0;
}

}  // namespace

EntryTable::EntryTable(const WeightTable& table, std::vector<std::int32_t> blocks,
                       std::span<const std::int32_t> deferred, std::int32_t joint)
    : blocks_(std::move(blocks)), is_deferred_(blocks_.size(), 0), joint_(joint) {
  for (const std::int32_t block : deferred) is_deferred_.at(static_cast<std::size_t>(block)) = 1;
  for (const std::int32_t size : blocks_) {
    block_at_.push_back(side_labels_);
    side_labels_ += size;
  }
  if (side_labels_ + joint >= kRow || blocks_.size() >= static_cast<std::size_t>(kSpread - kRow))
    throw std::invalid_argument("the tagger has too many labels");
  reserve_huge_pages(entries_, table.label.size());
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> to;
  for (std::size_t begin = 0; begin < table.label.size();) {
    std::size_t end = begin;
    while (!is_last(table, end)) ++end;
    ++end;
    from.push_back(static_cast<std::uint32_t>(begin));
    to.push_back(static_cast<std::uint32_t>(entries_.size()));
    add_group(table, begin, end);
    begin = end;
  }
  table_.slot = table.slot;
  redirect(table_.slot, from, to);
  if (rows_.size() > 0xFFFFFFFFU || spread_.size() > 0xFFFFFFFFU)
    throw std::invalid_argument("the tagger has too many weights");
  prefer_huge_pages(table_.slot);
  prefer_huge_pages(rows_);
  prefer_huge_pages(spread_);
}

void EntryTable::add_group(const WeightTable& from, std::size_t begin, std::size_t end) {
  std::size_t at = begin;
  const auto end_of_block = [&](std::int32_t last_label) {
    std::size_t k = at;
    while (k < end && label_of(from, k) < last_label) ++k;
    return k;
  };
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::size_t stop = end_of_block(block_at_[b] + blocks_[b]);
    const auto min_entries = std::max<std::size_t>(8, static_cast<std::size_t>(blocks_[b]) / 4);
    add_block(from, at, stop, block_at_[b], blocks_[b], min_entries, kRow + static_cast<std::int32_t>(b),
              rows_);
    at = stop;
  }
  const auto min_entries = std::max<std::size_t>(64, static_cast<std::size_t>(joint_) / 16);
  add_block(from, at, end, side_labels_, joint_, min_entries, kSpread, spread_);
  entries_.back().label |= kLastEntry;
}

void EntryTable::add_block(const WeightTable& from, std::size_t begin, std::size_t end, std::int32_t first,
                           std::int32_t size, std::size_t min_entries, std::int32_t marker,
                           std::vector<float>& rows) {
  if (end - begin < min_entries) {
    for (std::size_t k = begin; k < end; ++k)
      add(static_cast<std::uint16_t>(label_of(from, k)), from.weight[k]);
    return;
  }
  const std::size_t row = rows.size();
  rows.resize(row + static_cast<std::size_t>(size), 0.0F);
  for (std::size_t k = begin; k < end; ++k)
    rows[row + static_cast<std::size_t>(label_of(from, k) - first)] = from.weight[k];
  add(static_cast<std::uint16_t>(marker), std::bit_cast<float>(static_cast<std::uint32_t>(row)));
}

}  // namespace duilian
