// Maps 64-bit feature keys to rows: an open-addressing table that is filled once and then only read. With n
// features, the chance that any two share a key is about n²/2^65: one in a million for 6 million features.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace duilian {

inline constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;

/// Key → number, in order of insertion. Linear probing; the home slot is found by multiplication, so the
/// number of slots need not be a power of two.
class KeyTable {
 public:
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return kNoRow;
    for (std::size_t at = home(key);; at = at + 1 == slots_.size() ? 0 : at + 1) {
      if (slots_[at].row == kNoRow || slots_[at].key == key) return slots_[at].row;
    }
  }
  void prefetch(std::uint64_t key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home(key)]);
  }
  /// The key's number; a new key gets the next one.
  std::uint32_t insert(std::uint64_t key);
  void reserve(std::size_t keys);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t row = kNoRow;
  };
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((static_cast<Wide>(key * 0x9E3779B97F4A7C15U) * slots_.size()) >> 64U);
  }
  void rehash(std::size_t slots);

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

/// The frozen index of a model: row r is the r-th key.
class FeatureIndex {
 public:
  explicit FeatureIndex(std::span<const std::uint64_t> keys);

  /// The row of a key, or kNoRow.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const { return table_.find(key); }
  [[nodiscard]] std::optional<std::uint32_t> find_known(std::uint64_t key) const;
  [[nodiscard]] std::vector<std::uint32_t> find_all(std::span<const std::uint64_t> keys) const;
  void prefetch(std::uint64_t key) const { table_.prefetch(key); }
  [[nodiscard]] std::size_t size() const { return table_.size(); }
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  KeyTable table_;
  std::vector<std::uint64_t> keys_;
};

/// Counts keys while a corpus is read.
class KeyCounter {
 public:
  /// The key's number, in order of first occurrence.
  std::uint32_t add(std::uint64_t key, std::uint32_t times = 1);
  /// Adds the counts of a later part of the corpus; returns the new number of each of its keys.
  std::vector<std::uint32_t> add(const KeyCounter& later);
  void prefetch(std::uint64_t key) const { table_.prefetch(key); }
  [[nodiscard]] std::uint32_t count(std::uint32_t number) const { return counts_[number]; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  /// Keys seen at least `min_count` times, in order of first occurrence.
  [[nodiscard]] std::vector<std::uint64_t> frequent(std::uint32_t min_count) const;

 private:
  KeyTable table_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace duilian
