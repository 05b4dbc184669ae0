// Trees as Python sees them: the score, and the heads of the words without an element for the root.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "duilian/tree/dense_parts.hpp"

namespace duilian::bindings {

using TreeTuple = std::tuple<double, std::vector<std::int32_t>>;
using TaggedTreeTuple = std::tuple<double, std::vector<std::int32_t>, std::vector<std::int32_t>>;

[[nodiscard]] inline TreeTuple to_tuple(ScoredTree tree) {
  return {tree.score, without_root(std::move(tree.heads))};
}

[[nodiscard]] inline TaggedTreeTuple to_tuple(TaggedTree tree) {
  return {tree.score, without_root(std::move(tree.heads)), without_root(std::move(tree.nodes))};
}

[[nodiscard]] inline std::vector<TreeTuple> to_tuples(std::vector<ScoredTree> trees) {
  std::vector<TreeTuple> out;
  for (ScoredTree& tree : trees) out.push_back(to_tuple(std::move(tree)));
  return out;
}

}  // namespace duilian::bindings
