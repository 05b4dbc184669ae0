// Trained weights, compiled for use: one probe finds all entries of a feature. Smaller and faster than the
// layout that they were trained in.
//
// A slot of the table is 8 bytes: 32 bits of the key as a check, 32 bits where its entries begin. An unseen
// feature is mistaken for a seen one with a probability of about 2^-32 per probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

inline constexpr std::uint16_t kLastEntry = 0x8000;  // flag on the label of a feature's last entry
inline constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};
inline constexpr std::uint32_t kNoEntry = 0xFFFFFFFFU;

/// How many slots are free: a quarter; or half, for tables where most lookups fail, since a lookup fails at
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
  /// Where the key's entries begin; kNoEntry if there are none.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    const std::uint64_t wanted = key << 32U;
    for (std::size_t at = home(key); slot[at] != kNoSlot; at = at + 1 == slot.size() ? 0 : at + 1) {
      if (((slot[at] ^ wanted) >> 32U) == 0) return static_cast<std::uint32_t>(slot[at]);
    }
    return kNoEntry;
  }

  /// Where the entries of every key begin. All keys are looked up before any entry is read, which hides the
  /// latency of memory.
  void find_all(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& entry) const;

  /// The same for the keys that have entries, in their order, to `entry`, [keys]; returns their number.
  std::size_t find_present(std::span<const std::uint64_t> keys, std::uint32_t* entry) const;

  /// Adds the entries that begin there to their labels' scores; kNoEntry: does nothing.
  void add_to(std::uint32_t entry, double* score) const {
    if (entry == kNoEntry) return;
    for (std::size_t k = entry;; ++k) {
      score[label[k] & ~kLastEntry] += weight[k];
      if ((label[k] & kLastEntry) != 0) break;
    }
  }

  /// Entries are added feature by feature: first those of a feature, then its end.
  void add(std::uint16_t of_label, float value) {
    label.push_back(of_label);
    weight.push_back(value);
  }
  /// Marks the end of a feature's entries, which began at `begin`; returns false if there are none.
  bool end_feature(std::size_t begin) {
    if (label.size() == begin) return false;
    label.back() |= kLastEntry;
    return true;
  }
  /// Fills the slots: `keys[i]` has the entries from `begins[i]`.
  void place(std::span<const std::uint64_t> keys, std::span<const std::size_t> begins,
             Room room = Room::small);
};

/// Slots that lead to entry `from[i]` lead to `to[i]` instead; both ascending. Throws std::invalid_argument
/// if a slot leads to none of them.
void redirect(std::vector<std::uint64_t>& slots, std::span<const std::uint32_t> from,
              std::span<const std::uint32_t> to);

/// Throws std::invalid_argument if any index leads outside, a weight is not finite, the labels of a feature
/// do not ascend, or a lookup could take long: of a table from a file we do not know who has filled it.
void check(const WeightTable& table, std::int32_t labels);

}  // namespace duilian
