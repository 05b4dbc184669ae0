// The words of sentences as Python receives them.
#pragma once

#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "duilian/score/words.hpp"

namespace duilian::bindings {

/// Joins several columns into one array, because each array costs as much as labelling a character.
[[nodiscard]] std::vector<std::int32_t> joined(const auto&... columns) {
  std::vector<std::int32_t> out;
  out.reserve((columns.size() + ...));
  (out.insert(out.end(), columns.begin(), columns.end()), ...);
  return out;
}

/// Starts, ends and sentences; first units and labels; probabilities.
[[nodiscard]] inline auto columns_of(WordColumns found) {
  return std::make_tuple(to_numpy(joined(found.start, found.end, found.sentence)),
                         to_numpy(joined(found.first, found.label)), to_numpy(std::move(found.p)));
}

}  // namespace duilian::bindings
