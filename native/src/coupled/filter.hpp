// Removes states from a space of bundles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "duilian/coupled/space.hpp"

namespace duilian {

/// Moves the `width` values of a state to the place of another.
template <class T>
void move_state(std::vector<T>& values, std::size_t from, std::size_t to, std::size_t width) {
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from * width), width,
              values.begin() + static_cast<std::ptrdiff_t>(to * width));
}

/// Keeps the states for which keep(state) holds, with all their data.
template <class Keep>
void filter(BundleSpace& space, const Keep& keep) {
  Lattice& x = space.lattice;
  const auto sides = static_cast<std::size_t>(x.sides);
  const auto states = static_cast<std::size_t>(x.states());
  const std::size_t parts = space.label.size() / std::max<std::size_t>(states, 1);
  const bool is_scored = space.state.size() == states && space.joint.size() == states;
  std::size_t to = 0;
  std::int32_t begin = 0;
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    const std::int32_t end = x.first[t + 1];
    for (std::int32_t s = begin; s < end; ++s) {
      if (!keep(s)) continue;
      const auto from = static_cast<std::size_t>(s);
      move_state(x.tag, from, to, sides);
      move_state(space.place, from, to, sides);
      move_state(space.label, from, to, parts);
      if (is_scored) {
        space.state[to] = space.state[from];
        space.joint[to] = space.joint[from];
      }
      ++to;
    }
    begin = end;
    x.first[t + 1] = static_cast<std::int32_t>(to);
  }
  x.tag.resize(to * sides);
  space.place.resize(to * sides);
  space.label.resize(to * parts);
  if (is_scored) {
    space.state.resize(to);
    space.joint.resize(to);
  }
}

}  // namespace duilian
