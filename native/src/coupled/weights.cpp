// Compiles and checks the weights of a coupled tagger (see weights.hpp).
#include "duilian/coupled/weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"

namespace duilian {

std::vector<std::int32_t> side_blocks(const CoupledShape& shape, std::span<const std::int32_t> pruned_sides) {
  std::vector<std::int32_t> blocks;
  std::int32_t next = 0;
  for (const std::int32_t k : pruned_sides) {
    if (k < next || static_cast<std::size_t>(k) >= shape.sides())
      throw std::invalid_argument("there is a pruner for a side that does not exist");
    blocks.push_back(shape.labels[k]);
    next = k + 1;
  }
  blocks.insert(blocks.end(), shape.labels.begin(), shape.labels.end());
  return blocks;
}

std::int32_t side_label_count(const CoupledShape& shape, std::span<const std::int32_t> pruned_sides) {
  const std::vector<std::int32_t> blocks = side_blocks(shape, pruned_sides);
  return std::accumulate(blocks.begin(), blocks.end(), 0);
}

void check(const CoupledWeights& weights, const CoupledShape& shape) {
  check(weights.table, side_label_count(shape, weights.pruned_sides) + shape.joint_labels());
  std::size_t size = 0;
  for (const std::int32_t labels : side_blocks(shape, weights.pruned_sides)) {
    const std::size_t edge = static_cast<std::size_t>(labels) + 1;
    size += edge * edge;
  }
  for (const JointPart& part : shape.joint) size += static_cast<std::size_t>(part.transitions());
  const auto finite = [](float x) { return std::isfinite(x); };
  if (size != weights.transition.size() ||
      !std::all_of(weights.transition.begin(), weights.transition.end(), finite))
    throw std::invalid_argument("the transitions do not match the tagger");
}

namespace {

using WeightSet = std::span<const float>;

[[nodiscard]] std::vector<std::int32_t> find_pruned_sides(std::span<const WeightSet> pruner) {
  std::vector<std::int32_t> out;
  for (std::size_t k = 0; k < pruner.size(); ++k) {
    if (!pruner[k].empty()) out.push_back(static_cast<std::int32_t>(k));
  }
  return out;
}

void check_weights(const CoupledLayout& layout, std::span<const WeightSet> weights,
                   std::span<const WeightSet> pruner, std::size_t keys) {
  const CoupledShape& shape = layout.shape;
  if (pruner.size() > shape.sides()) throw std::invalid_argument("the weights do not match the model");
  const std::int32_t labels = side_label_count(shape, find_pruned_sides(pruner)) + shape.joint_labels();
  if (labels > 0x8000)
    throw std::invalid_argument(concat(labels, " labels, but at most 32,768 are supported"));
  bool fits = keys + 1 == layout.joint_first.size() && (pruner.empty() || pruner.size() == shape.sides());
  for (const WeightSet& each : weights)
    fits = fits && each.size() == static_cast<std::size_t>(layout.weights);
  for (std::size_t k = 0; fits && k < pruner.size(); ++k)
    fits = pruner[k].empty() || pruner[k].size() == static_cast<std::size_t>(layout.separate[k].weights());
  if (!fits) throw std::invalid_argument("the weights do not match the model");
}

/// One set of weights, by the parts of the table: pruners, sides of the model, joint labels.
struct PartWeights {
  std::vector<WeightSet> block;
  std::vector<std::size_t> side_of;  // [blocks]
  WeightSet joint;                   // state weights
  WeightSet joint_transition;

  PartWeights(const CoupledLayout& layout, WeightSet weights, std::span<const WeightSet> pruner) {
    const auto add = [&](std::size_t k, WeightSet own) {
      block.push_back(own);
      side_of.push_back(k);
    };
    for (const std::int32_t k : find_pruned_sides(pruner)) add(static_cast<std::size_t>(k), pruner[k]);
    for (std::size_t k = 0; k < layout.shape.sides(); ++k) add(k, layout.side({weights}, k).value);
    const auto state_at = static_cast<std::size_t>(layout.joint_state_at);
    const auto transition_at = layout.joint_transition_at.empty()
                                   ? state_at
                                   : static_cast<std::size_t>(layout.joint_transition_at[0]);
    joint = weights.subspan(state_at);
    joint_transition = weights.subspan(transition_at, state_at - transition_at);
  }
};

/// Calls visit(label in the table, where(part weights)) for each state weight of a feature row.
template <class Visit>
void for_each_entry(const CoupledLayout& layout, std::size_t row, std::span<const std::size_t> side_of,
                    const Visit& visit) {
  std::int32_t offset = 0;
  for (std::size_t b = 0; b < side_of.size(); ++b) {
    const TaggerLayout& side = layout.separate[side_of[b]];
    side.for_each_place(row, [&](std::int32_t label, std::int64_t w) {
      const auto at = static_cast<std::size_t>(side.transitions() + w);
      visit(offset + label, [&](const PartWeights& parts) { return parts.block[b][at]; });
    });
    offset += side.labels;
  }
  for (std::int64_t w = layout.joint_first[row]; w < layout.joint_first[row + 1]; ++w)
    visit(offset + layout.joint_label[w],
          [&](const PartWeights& parts) { return parts.joint[static_cast<std::size_t>(w)]; });
}

/// The wanted features, and those with the largest weight of each block: coarse scores depend on it.
[[nodiscard]] std::vector<std::uint8_t> with_largest(const CoupledLayout& layout,
                                                     std::span<const PartWeights> parts,
                                                     std::span<const std::uint8_t> is_wanted) {
  std::vector<std::uint8_t> out(is_wanted.begin(), is_wanted.end());
  if (out.empty()) return out;
  const auto smaller = [](float a, float b) { return std::abs(a) < std::abs(b); };
  for (const PartWeights& each : parts) {
    for (std::size_t b = 0; b < each.block.size(); ++b) {
      const TaggerLayout& side = layout.separate[each.side_of[b]];
      const WeightSet states = each.block[b].subspan(static_cast<std::size_t>(side.transitions()));
      if (states.empty()) continue;
      const auto at = std::max_element(states.begin(), states.end(), smaller) - states.begin();
      out[std::upper_bound(side.first.begin(), side.first.end(), at) - side.first.begin() - 1] = 1;
    }
  }
  return out;
}

}  // namespace

std::vector<CoupledWeights> compile_coupled(const CoupledLayout& layout, std::span<const WeightSet> weights,
                                            std::span<const WeightSet> pruner,
                                            std::span<const std::uint64_t> keys, float min_weight,
                                            std::span<const std::uint8_t> is_wanted) {
  check_weights(layout, weights, pruner, keys.size());
  if (!is_wanted.empty() && is_wanted.size() != keys.size())
    throw std::invalid_argument("the wanted features do not match the model");
  std::vector<PartWeights> parts;
  for (const WeightSet& each : weights) parts.emplace_back(layout, each, pruner);
  std::vector<CoupledWeights> out(weights.size());
  if (out.empty()) return out;
  WeightTable& table = out[0].table;
  std::vector<std::uint64_t> kept;
  std::vector<std::size_t> begins;
  const std::vector<std::uint8_t> is_kept = with_largest(layout, parts, is_wanted);
  const std::vector<std::size_t>& side_of = parts[0].side_of;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    if (!is_kept.empty() && is_kept[row] == 0) continue;
    const std::size_t begin = table.label.size();
    for_each_entry(layout, row, side_of, [&](std::int32_t label, const auto& where) {
      const auto counts = [&](const PartWeights& each) {
        return where(each) != 0.0F && std::abs(where(each)) >= min_weight;
      };
      if (std::none_of(parts.begin(), parts.end(), counts)) return;
      table.add(static_cast<std::uint16_t>(label), where(parts[0]));
      for (std::size_t k = 1; k < parts.size(); ++k) out[k].table.weight.push_back(where(parts[k]));
    });
    if (!table.end_feature(begin)) continue;
    kept.push_back(keys[row]);
    begins.push_back(begin);
  }
  table.place(kept, begins);
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].pruned_sides = find_pruned_sides(pruner);
    if (k > 0) {
      out[k].table.slot = table.slot;
      out[k].table.label = table.label;
    }
    for (std::size_t b = 0; b < side_of.size(); ++b) {
      const WeightSet transitions =
          parts[k].block[b].first(static_cast<std::size_t>(layout.separate[side_of[b]].transitions()));
      out[k].transition.insert(out[k].transition.end(), transitions.begin(), transitions.end());
    }
    out[k].transition.insert(out[k].transition.end(), parts[k].joint_transition.begin(),
                             parts[k].joint_transition.end());
  }
  return out;
}

}  // namespace duilian
