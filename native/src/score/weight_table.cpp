// Looks up, fills, redirects and checks tables of compiled weights (see weight_table.hpp).
#include "duilian/score/weight_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/features/probing.hpp"

namespace duilian {

void WeightTable::find_all(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& entry) const {
  constexpr std::size_t kAhead = 24;
  for (std::size_t k = 0; k < std::min(kAhead, keys.size()); ++k) prefetch(keys[k]);
  entry.resize(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (k + kAhead < keys.size()) prefetch(keys[k + kAhead]);
    entry[k] = find(keys[k]);
    if (entry[k] == kNoEntry || label.empty()) continue;  // some tables have only slots
    __builtin_prefetch(label.data() + entry[k]);
    __builtin_prefetch(weight.data() + entry[k]);
  }
}

std::size_t WeightTable::find_present(std::span<const std::uint64_t> keys, std::uint32_t* entry) const {
  std::size_t count = 0;
  for (const std::uint64_t key : keys) {
    const std::uint32_t found = find(key);
    const std::size_t at = found == kNoEntry ? 0 : found;
    __builtin_prefetch(label.data() + at);
    __builtin_prefetch(weight.data() + at);
    entry[count] = found;
    count += found == kNoEntry ? 0 : 1;
  }
  return count;
}

void WeightTable::place(std::span<const std::uint64_t> keys, std::span<const std::size_t> begins, Room room) {
  const std::size_t spare = room == Room::wide ? keys.size() : keys.size() / 3;
  slot.assign(std::max<std::size_t>(16, keys.size() + spare + 1), kNoSlot);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t at = home(keys[i]);
    while (slot[at] != kNoSlot) at = at + 1 == slot.size() ? 0 : at + 1;
    slot[at] = (keys[i] << 32U) | static_cast<std::uint64_t>(begins[i]);
  }
}

void redirect(std::vector<std::uint64_t>& slots, std::span<const std::uint32_t> from,
              std::span<const std::uint32_t> to) {
  std::size_t at = 0;
  for (std::uint64_t& slot : slots) {
    if (slot == kNoSlot) continue;
    const auto entry = static_cast<std::uint32_t>(slot);
    // In a table from a file, the entries are in the order of the slots.
    if (at == from.size() || from[at] != entry)
      at = static_cast<std::size_t>(std::lower_bound(from.begin(), from.end(), entry) - from.begin());
    if (at == from.size() || from[at] != entry)
      throw std::invalid_argument("a slot of the tagger points into the middle of a feature");
    slot = (slot & ~std::uint64_t{0xFFFFFFFFU}) | to[at++];
  }
}

namespace {

/// Every slot must point to an entry, and a lookup must soon reach a free slot.
void check_slots(const WeightTable& table) {
  for (const std::uint64_t slot : table.slot) {
    if (slot != kNoSlot && (slot & 0xFFFFFFFFU) >= table.label.size())
      throw std::invalid_argument("a slot of the tagger points outside its entries");
  }
  const std::size_t run = longest_run(table.slot, kNoSlot);
  if (run == table.slot.size()) throw std::invalid_argument("the tagger's table has no free slot");
  if (run > kLongestRun) throw std::invalid_argument("the tagger's table has too few free slots");
}

/// The labels of each feature must ascend, so that it has at most one entry per label.
void check_labels(const WeightTable& table, std::int32_t labels) {
  std::int32_t before = -1;  // previous label of the same feature
  for (const std::uint16_t entry : table.label) {
    const std::int32_t label = entry & ~kLastEntry;
    if (label >= labels) throw std::invalid_argument("a label of the tagger is out of range");
    if (label <= before) throw std::invalid_argument("the labels of a feature do not ascend");
    before = (entry & kLastEntry) != 0 ? -1 : label;
  }
  if (before != -1) throw std::invalid_argument("the tagger's last entry is not marked");
}

}  // namespace

void check(const WeightTable& table, std::int32_t labels) {
  if (table.weight.size() != table.label.size() || table.slot.empty())
    throw std::invalid_argument("the arrays of the tagger are inconsistent");
  if (!std::all_of(table.weight.begin(), table.weight.end(), [](float x) { return std::isfinite(x); }))
    throw std::invalid_argument("a weight of the tagger is not finite");
  check_slots(table);
  check_labels(table, labels);
}

}  // namespace duilian
