// Tables with open addressing: a lookup goes from the home of its key to the first free slot. If the keys
// come from a file, whoever made it may have chosen them so that every lookup is long; so runs have a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace duilian {

/// Used slots in a row, at most. Where keys are spread evenly and a quarter of the slots is free, the longest
/// run has some 175 of half a million slots, and in theory (Knuth 1998, 6.4) 440 of 16 million.
inline constexpr std::size_t kLongestRun = 1024;

/// The largest number of used slots in a row; the last slot is followed by the first.
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
