// Numbers the bundles of a coupled model and prepares its transitions (see shape.hpp).
#include "duilian/coupled/shape.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "duilian/chain/transitions.hpp"
#include "duilian/concat.hpp"

namespace duilian {

BundleIndex::BundleIndex(std::span<const std::int32_t> labels) {
  std::uint64_t radix = 1;
  for (const std::int32_t count : labels) {
    radix_.push_back(radix);
    const auto n = static_cast<std::uint64_t>(std::max(count, 1));
    if (radix > std::numeric_limits<std::uint64_t>::max() / n) {
      throw std::invalid_argument("the product of the label sets exceeds 2^64 bundles");
    }
    radix *= n;
  }
  constexpr std::uint64_t kMaxDense = std::uint64_t{1} << 18U;
  if (radix <= kMaxDense) dense_.assign(radix, -1);
}

std::uint64_t BundleIndex::key(std::span<const TagId> bundle) const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < bundle.size(); ++k) sum += radix_[k] * static_cast<std::uint64_t>(bundle[k]);
  return sum;
}

std::int32_t BundleIndex::insert(std::span<const TagId> bundle) {
  const auto id = static_cast<std::int32_t>(table_.insert(key(bundle)));
  if (!dense_.empty()) dense_[key(bundle)] = id;
  if (static_cast<std::size_t>(id) * bundle.size() == bundles_.size()) {
    bundles_.insert(bundles_.end(), bundle.begin(), bundle.end());
  }
  return id;
}

std::int32_t BundleIndex::find(std::uint64_t key) const {
  if (!dense_.empty()) return dense_[key];
  const std::uint32_t found = table_.find(key);
  return found == kNoRow ? -1 : static_cast<std::int32_t>(found);
}

std::int32_t BundleIndex::find(std::span<const TagId> bundle) const { return find(key(bundle)); }

std::int32_t BundleIndex::find(std::span<const TagId> tags, std::span<const std::int32_t> sides) const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < sides.size(); ++k)
    sum += radix_[k] * static_cast<std::uint64_t>(tags[static_cast<std::size_t>(sides[k])]);
  return find(sum);
}

CoupledShape make_shape(std::vector<std::int32_t> labels, std::vector<Succession> rules,
                        std::vector<SideMapping> mappings) {
  if (labels.empty() || rules.size() != labels.size()) {
    throw std::invalid_argument(concat("expected one succession per side, got ", rules.size(),
                                       " successions for ", labels.size(), " sides"));
  }
  CoupledShape shape;
  for (std::size_t k = 0; k < labels.size(); ++k) shape.shapes.push_back(shape_of(labels[k], rules[k]));
  for (const SideMapping& m : mappings) {
    const auto sides = static_cast<std::int32_t>(labels.size());
    if (m.side_a < 0 || m.side_b <= m.side_a || m.side_b >= sides || m.tags_b != labels[m.side_b] ||
        m.allows.size() != static_cast<std::size_t>(labels[m.side_a]) * labels[m.side_b]) {
      throw std::invalid_argument("a mapping does not match the sides");
    }
  }
  shape.labels = std::move(labels);
  shape.rules = std::move(rules);
  shape.mappings = std::move(mappings);
  return shape;
}

void add_joint_part(CoupledShape& shape, std::vector<std::int32_t> sides, std::span<const TagId> bundles,
                    std::int32_t linked) {
  const std::size_t width = sides.size();
  std::vector<std::int32_t> counts;
  for (const std::int32_t side : sides) {
    if (side < 0 || static_cast<std::size_t>(side) >= shape.sides())
      throw std::invalid_argument("a joint part names a side that does not exist");
    counts.push_back(shape.labels[side]);
  }
  if (width < 2 || bundles.size() % width != 0)
    throw std::invalid_argument("the bundles do not match the joint part");
  JointPart part{std::move(sides), BundleIndex(counts), shape.joint_labels(), 0};
  for (std::size_t b = 0; b < bundles.size() / width; ++b) {
    for (std::size_t k = 0; k < width; ++k) {
      if (bundles[b * width + k] < 0 || bundles[b * width + k] >= counts[k])
        throw std::invalid_argument("a bundle has a label that does not exist");
    }
    if (part.bundles.insert(bundles.subspan(b * width, width)) != static_cast<std::int32_t>(b))
      throw std::invalid_argument("a bundle occurs twice in a joint part");
  }
  part.linked = std::clamp(linked, 0, part.bundles.size());
  shape.joint.push_back(std::move(part));
}

CoupledTransitions make_transitions(const CoupledShape& shape, std::span<const std::span<const float>> side,
                                    std::span<const std::span<const float>> joint, float scale) {
  CoupledTransitions out;
  std::vector<float> scaled;
  for (std::size_t k = 0; k < shape.sides(); ++k) {
    const auto edge = static_cast<std::size_t>(shape.labels[k]) + 1;
    scaled.resize(edge * edge);
    std::transform(side[k].begin(), side[k].end(), scaled.begin(), [&](float w) { return scale * w; });
    out.side.emplace_back(shape.shapes[k], shape.rules[k], scaled);
    std::vector<float>& table = out.table.emplace_back(scaled);
    if (shape.rules[k].is_free()) continue;
    for (std::size_t at = 0; at < table.size(); ++at) {
      if (shape.rules[k].allows[at] == 0) table[at] = static_cast<float>(kForbidden);
    }
  }
  out.joint.assign(joint.begin(), joint.end());
  out.scale = scale;
  return out;
}

}  // namespace duilian
