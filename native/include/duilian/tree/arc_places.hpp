// Direction and distance of an arc as a number below 16, the place of its features in a line of weights (see
// part_keys.hpp).
#pragma once

#include <cstdint>

namespace duilian {

/// Classes of distance. The place of an arc encodes its direction and distance; each direction has one more
/// value, for no distance.
inline constexpr std::int32_t kDistances = 7;

/// The place of an arc from h to m: its direction and class of distance.
[[nodiscard]] inline std::int32_t place_of(std::int32_t h, std::int32_t m) {
  const std::int32_t far = h < m ? m - h : h - m;
  const std::int32_t bin = far <= 4 ? far - 1 : far <= 6 ? 4 : far <= 10 ? 5 : 6;
  return (h < m ? kDistances + 1 : 0) + bin;
}
[[nodiscard]] inline std::int32_t place_without_distance(bool to_right) {
  return (to_right ? kDistances + 1 : 0) + kDistances;
}
[[nodiscard]] inline std::uint32_t without_distance(std::uint32_t place) {
  return place | static_cast<std::uint32_t>(kDistances);
}

}  // namespace duilian
