// Fills the pseudo-random numbers that feature keys are sums of (see part_keys.hpp).
#include "duilian/tree/part_keys.hpp"

#include <algorithm>
#include <utility>

#include "duilian/features/sentences.hpp"
#include "duilian/tree/kernels.hpp"

namespace duilian {

namespace {

enum Group : std::uint64_t {
  kDependencyGroup = 1,
  kPruningGroup,
  kSiblingGroup,
  kGrandparentGroup,
  kGrandSiblingGroup,
  kChildGroup,
  kBelowGroup,
  kGuideGroup,
  kHintDependencyGroup,
  kHintChildGroup
};

[[nodiscard]] std::uint32_t top_half(std::uint64_t key) {
  return static_cast<std::uint32_t>(mix(key, 0x5851F42D4C957F2DU) >> 32U);
}

[[nodiscard]] std::uint64_t tag_value(std::int32_t tag) { return static_cast<std::uint64_t>(tag + 16); }

/// The number of a word in a role: what its template wants to know decides at compile time how it is made.
template <std::uint64_t kGroup, std::size_t kRole, std::size_t kTemplate, std::uint8_t kWanted>
[[nodiscard]] std::uint32_t role_key(const NodeAtoms& atoms) {
  constexpr std::uint64_t kStart = mix(mix(kGroup * 8 + kRole, kTemplate + 1), kWanted);
  std::uint64_t key = kStart;
  if constexpr ((kWanted & kForm) != 0) key = mix(key, atoms.form);
  if constexpr ((kWanted & kLemma) != 0) key = mix(key, atoms.lemma);
  if constexpr ((kWanted & kTag) != 0) key = mix(key, tag_value(atoms.tag));
  if constexpr ((kWanted & kTagBefore) != 0) key = mix(key, tag_value(atoms.before));
  if constexpr ((kWanted & kTagAfter) != 0) key = mix(key, tag_value(atoms.after));
  if constexpr ((kWanted & kGuide) != 0) key = mix(key, tag_value(atoms.guide));
  if constexpr ((kWanted & kGuideBelow) != 0) key = mix(key, atoms.guide_below);
  if constexpr ((kWanted & kHint) != 0) key = mix(key, tag_value(atoms.hint));
  return top_half(key);
}

[[nodiscard]] BetweenKeys make_between_keys() {
  BetweenKeys made{};
  for (std::size_t k = 0; k < made.count.size(); ++k) {
    for (std::size_t many = 0; many < made.count[k].size(); ++many)
      made.count[k][many] = top_half(mix(106 + k, many + 1));
  }
  return made;
}

}  // namespace

const BetweenKeys& between_keys() {
  static const BetweenKeys made = make_between_keys();
  return made;
}

std::uint32_t between_key(std::int32_t tag) { return top_half(mix(110, tag_value(tag))); }

std::uint32_t below_key(std::int32_t relation) { return top_half(mix(111, tag_value(relation))); }

template <std::size_t R, std::size_t N>
template <const auto& kTemplates, std::uint64_t kGroup>
void RoleKeys<R, N>::set(std::size_t node, const NodeAtoms& atoms) {
  std::uint32_t* out = value_.data() + node * R * kStride;
  const auto set_role = [&]<std::size_t kRole, std::size_t... K>(std::index_sequence<K...>) {
    ((out[kRole * kStride + K] = role_key<kGroup, kRole, K, kTemplates[K].atoms[kRole]>(atoms)), ...);
  };
  [&]<std::size_t... kRole>(std::index_sequence<kRole...>) {
    (set_role.template operator()<kRole>(std::make_index_sequence<N>()), ...);
  }(std::make_index_sequence<R>());
}

template <std::size_t R, std::size_t N>
void RoleColumns<R, N>::reset(const RoleKeys<R, N>& keys, std::size_t nodes) {
  stride_ = nodes + kArcLanes;
  value_.resize(R * N * stride_);
  for (std::size_t role = 0; role < R; ++role) {
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::size_t k = 0; k < N; ++k) value_[(role * N + k) * stride_ + node] = keys.at(node, role)[k];
    }
  }
}

void BetweenWords::reset(std::span<const std::int32_t> tags, std::span<const std::uint8_t> classes) {
  side_ = tags.size() + 1;
  tag_key_.resize(tags.size());
  earlier_.assign(tags.size(), -1);
  last_.assign(classes.size() + 1, -1);  // the last element is for tags without a class, such as the root's
  before_.assign(3 * side_, 0);
  for (auto& each : where_) each.clear();
  for (std::size_t p = 0; p < tags.size(); ++p) {
    const std::int32_t tag = tags[p];
    const bool is_known = tag >= 0 && static_cast<std::size_t>(tag) < classes.size();
    auto& seen = last_[is_known ? static_cast<std::size_t>(tag) : classes.size()];
    tag_key_[p] = between_key(tag);
    earlier_[p] = seen;
    seen = static_cast<std::int32_t>(p);
    for (std::size_t k = 0; k < 3; ++k) {
      const bool counts = is_known && classes[static_cast<std::size_t>(tag)] == k + 1;
      before_[k * side_ + p + 1] = before_[k * side_ + p] + (counts ? 1 : 0);
      if (counts) where_[k].push_back(static_cast<std::int32_t>(p));
    }
  }
}

void PartKeys::reset(std::span<const NodeAtoms> nodes, PartGroups groups, const GuideTree* guide) {
  nobody_ = nodes.size();
  guide_ = guide;
  has_hints_ = groups.has_hints;
  const NodeAtoms nobody{1, 1, kNobodyTag, kNobodyTag, kNobodyTag, 0, 0, kNobodyTag};
  const auto fill = [&]<const auto & kTemplates, std::uint64_t kGroup>(auto& keys) {
    keys.reset(nodes.size() + 1);
    for (std::size_t node = 0; node < nodes.size(); ++node)
      keys.template set<kTemplates, kGroup>(node, nodes[node]);
    keys.template set<kTemplates, kGroup>(nobody_, nobody);
  };
  if (groups.has_pruning) {
    fill.template operator()<kPruningTemplates, kPruningGroup>(pruning_);
    pruning_columns_.reset(pruning_, nodes.size());
  }
  if (guide_ != nullptr) fill.template operator()<kGuideTemplates, kGuideGroup>(guides_);
  if (groups.order >= 1) fill.template operator()<kDependencyTemplates, kDependencyGroup>(dependency_);
  if (groups.order >= 2 || groups.has_relations) {
    fill.template operator()<kSiblingTemplates, kSiblingGroup>(sibling_);
    fill.template operator()<kGrandparentTemplates, kGrandparentGroup>(grandparent_);
  }
  if (groups.order >= 3) fill.template operator()<kGrandSiblingTemplates, kGrandSiblingGroup>(grand_sibling_);
  if (groups.has_hints && groups.order >= 1) {
    fill.template operator()<kHintDependencyTemplates, kHintDependencyGroup>(hint_dependency_);
    if (groups.has_relations) fill.template operator()<kHintChildTemplates, kHintChildGroup>(hint_child_);
  }
  if (!groups.has_relations) return;
  fill.template operator()<kChildTemplates, kChildGroup>(child_);
  fill.template operator()<kBelowTemplates, kBelowGroup>(below_);
}

void PartKeys::add_pruning_arcs(std::int32_t i, bool to_right, const ArcTable& table,
                                ArcRowWork& work) const {
  constexpr std::size_t plain = kPruningTemplates.size() - kBetweenTemplates;
  const auto begin = static_cast<std::size_t>(i) + 1;
  const std::size_t count = nobody_ - begin, role = to_right ? 0 : 1, stride = pruning_columns_.stride();
  const std::uint32_t* own = pruning_.at(begin - 1, role);
  const auto others = [&](std::size_t k) { return pruning_columns_.at(1 - role, k) + begin; };
  const auto near = static_cast<std::uint32_t>(place_without_distance(to_right));
  const auto add = tree_kernels().add_arc_weights;
  std::vector<std::uint32_t>& places = work.far[role];
  for (auto j = static_cast<std::int32_t>(places.size()); std::cmp_less(j, count + kArcLanes); ++j)
    places.push_back(static_cast<std::uint32_t>(to_right ? place_of(0, j + 1) : place_of(j + 1, 0)));
  const std::uint32_t* far = places.data();
  add({own, others(0), stride, plain, far, near, count}, table.weights, table.shift, work.score.data());
  between_.for_each_tag(i, static_cast<std::int32_t>(nobody_), [&](std::uint32_t tag, std::int32_t at) {
    const std::uint32_t around = own[plain] + tag;
    const auto after = static_cast<std::size_t>(at) + 1 - begin;  // the first arc that spans it
    add({&around, others(plain) + after, stride, 1, far + after, near, count - after}, table.weights,
        table.shift, work.score.data() + after);
  });
  work.other.resize(std::max(work.other.size(), 3 * stride));
  const BetweenKeys& keys = between_keys();
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint32_t* from = others(plain + 1 + k);
    std::uint32_t* to = work.other.data() + k * stride;
    for (std::size_t many = 0, j = 0; j < count; ++many) {
      const auto end = static_cast<std::size_t>(
          between_.last_with(static_cast<TagClass>(k + 1), i, static_cast<std::int32_t>(many)));
      for (; j < end - static_cast<std::size_t>(i); ++j) to[j] = from[j] + keys.count[k][many];
    }
  }
  add({own + plain + 1, work.other.data(), stride, 3, far, near, count}, table.weights, table.shift,
      work.score.data());
}

}  // namespace duilian
