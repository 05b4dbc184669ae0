// Trained weights compiled for tagging: a single probe finds all entries of a feature. It is smaller and
// faster than the layout used in training.
//
// A slot has 8 bytes: 32 bits of the key as a check, and 32 bits for where its entries begin. The probability
// of mistaking an unseen feature for a seen one is about 2^-32 per probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

inline constexpr std::uint16_t kLastEntry = 0x8000;  // marks the label of a feature's last entry
inline constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};
inline constexpr std::uint32_t kNoEntry = 0xFFFFFFFFU;

/// How many slots are free: a quarter, or half for tables where most lookups fail, because a lookup fails at
/// the first free slot.
enum class Room { small, wide };

struct WeightTable {
  std::vector<std::uint64_t> slot;   // [slots]  check << 32 | first entry; kNoSlot if free
  std::vector<std::uint16_t> label;  // [entries]
  std::vector<float> weight;         // [entries]

  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((static_cast<Wide>(key * 0x9E3779B97F4A7C15U) * slot.size()) >> 64U);
  }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slot[home(key)]); }
  /// Where the entries of a key begin, or kNoEntry.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    const std::uint64_t wanted = key << 32U;
    for (std::size_t at = home(key); slot[at] != kNoSlot; at = at + 1 == slot.size() ? 0 : at + 1) {
      if (((slot[at] ^ wanted) >> 32U) == 0) return static_cast<std::uint32_t>(slot[at]);
    }
    return kNoEntry;
  }

  /// Where the entries of every key begin. All keys are looked up before any entry is read, which hides
  /// memory latency.
  void find_all(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& entry) const;

  /// Writes only the keys that have entries to `entry`, [keys], in order; returns how many there are.
  std::size_t find_present(std::span<const std::uint64_t> keys, std::uint32_t* entry) const;

  /// Adds the entries that begin there to the scores of their labels; does nothing for kNoEntry.
  void add_to(std::uint32_t entry, double* score) const {
    if (entry == kNoEntry) return;
    for (std::size_t k = entry;; ++k) {
      score[label[k] & ~kLastEntry] += weight[k];
      if ((label[k] & kLastEntry) != 0) break;
    }
  }

  /// Entries are added feature by feature, each followed by end_feature.
  void add(std::uint16_t of_label, float value) {
    label.push_back(of_label);
    weight.push_back(value);
  }
  /// Ends a feature whose entries start at `begin`; returns false if there are none.
  bool end_feature(std::size_t begin) {
    if (label.size() == begin) return false;
    label.back() |= kLastEntry;
    return true;
  }
  /// Fills the slots; the entries of `keys[i]` start at `begins[i]`.
  void place(std::span<const std::uint64_t> keys, std::span<const std::size_t> begins,
             Room room = Room::small);
};

/// Redirects slots from entry `from[i]` to `to[i]`; both are ascending. Throws std::invalid_argument if a
/// slot refers to an entry that is not in `from`.
void redirect(std::vector<std::uint64_t>& slots, std::span<const std::uint32_t> from,
              std::span<const std::uint32_t> to);

/// Throws std::invalid_argument if an index is out of range, a weight is not finite, the labels of a feature
/// do not ascend, or a lookup could take long: the table may come from a file that anyone could have written.
void check(const WeightTable& table, std::int32_t labels);

}  // namespace duilian
