// Tables of feature keys with linear probing (see index.hpp).
#include "duilian/features/index.hpp"

#include <algorithm>
#include <stdexcept>

namespace duilian {

namespace {

constexpr std::size_t kLeastSlots = 16;
constexpr std::size_t kAhead = 16;  // keys between prefetching a slot and reading it

/// Slots for this many keys at a load of at most 5/7.
[[nodiscard]] std::size_t slots_for(std::size_t keys) {
  return std::max(kLeastSlots, keys + keys * 2 / 5 + 1);
}

}  // namespace

std::uint32_t KeyTable::insert(std::uint64_t key) {
  if (slots_for(size_ + 1) > slots_.size()) rehash(slots_for(2 * size_ + 2));
  for (std::size_t at = home(key);; at = at + 1 == slots_.size() ? 0 : at + 1) {
    if (slots_[at].row == kNoRow) {
      if (size_ + 1 >= kNoRow) throw std::length_error("there are more than 2^32 - 2 features");
      slots_[at] = {key, static_cast<std::uint32_t>(size_)};
      return static_cast<std::uint32_t>(size_++);
    }
    if (slots_[at].key == key) return slots_[at].row;
  }
}

void KeyTable::reserve(std::size_t keys) {
  if (slots_for(keys) > slots_.size()) rehash(slots_for(keys));
}

void KeyTable::rehash(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.row == kNoRow) continue;
    std::size_t at = home(slot.key);
    while (slots_[at].row != kNoRow) at = at + 1 == slots_.size() ? 0 : at + 1;
    slots_[at] = slot;
  }
}

FeatureIndex::FeatureIndex(std::span<const std::uint64_t> keys) : keys_(keys.begin(), keys.end()) {
  table_.reserve(keys.size());
  for (std::size_t row = 0; row < keys.size(); ++row) {
    if (table_.insert(keys[row]) != row) throw std::invalid_argument("a feature key occurs twice");
  }
}

std::optional<std::uint32_t> FeatureIndex::find_known(std::uint64_t key) const {
  const std::uint32_t row = find(key);
  return row == kNoRow ? std::nullopt : std::optional(row);
}

std::vector<std::uint32_t> FeatureIndex::find_all(std::span<const std::uint64_t> keys) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(keys.size());
  for (const std::uint64_t key : keys) rows.push_back(find(key));
  return rows;
}

std::uint32_t KeyCounter::add(std::uint64_t key, std::uint32_t times) {
  const std::uint32_t number = table_.insert(key);
  if (number == keys_.size()) {
    keys_.push_back(key);
    counts_.push_back(0);
  }
  counts_[number] += times;
  return number;
}

std::vector<std::uint32_t> KeyCounter::add(const KeyCounter& later) {
  std::vector<std::uint32_t> number;
  number.reserve(later.size());
  table_.reserve(size() + later.size());
  for (std::size_t k = 0; k < later.size(); ++k) {
    if (k + kAhead < later.size()) prefetch(later.keys_[k + kAhead]);
    number.push_back(add(later.keys_[k], later.counts_[k]));
  }
  return number;
}

std::vector<std::uint64_t> KeyCounter::frequent(std::uint32_t min_count) const {
  std::vector<std::uint64_t> kept;
  for (std::size_t row = 0; row < keys_.size(); ++row) {
    if (counts_[row] >= min_count) kept.push_back(keys_[row]);
  }
  return kept;
}

}  // namespace duilian
