// Fills the pseudo-random numbers that feature keys are sums of (see part_keys.hpp).
#include "duilian/tree/part_keys.hpp"

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

[[nodiscard]] std::uint64_t join(std::uint64_t key, std::uint8_t wanted, const NodeAtoms& atoms) {
  key = mix(key, wanted);
  if ((wanted & kForm) != 0) key = mix(key, atoms.form);
  if ((wanted & kLemma) != 0) key = mix(key, atoms.lemma);
  if ((wanted & kTag) != 0) key = mix(key, tag_value(atoms.tag));
  if ((wanted & kTagBefore) != 0) key = mix(key, tag_value(atoms.before));
  if ((wanted & kTagAfter) != 0) key = mix(key, tag_value(atoms.after));
  if ((wanted & kGuide) != 0) key = mix(key, tag_value(atoms.guide));
  if ((wanted & kGuideBelow) != 0) key = mix(key, atoms.guide_below);
  if ((wanted & kHint) != 0) key = mix(key, tag_value(atoms.hint));
  return key;
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
void RoleKeys<R, N>::set(std::size_t node, const NodeAtoms& atoms,
                         const std::array<PartTemplate<R>, N>& templates, std::uint64_t group) {
  for (std::size_t role = 0; role < R; ++role) {
    std::uint32_t* out = value_.data() + (node * R + role) * N;
    for (std::size_t k = 0; k < N; ++k)
      out[k] = top_half(join(mix(group * 8 + role, k + 1), templates[k].atoms[role], atoms));
  }
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
    }
  }
}

void PartKeys::reset(std::span<const NodeAtoms> nodes, PartGroups groups, const GuideTree* guide) {
  nobody_ = nodes.size();
  guide_ = guide;
  has_hints_ = groups.has_hints;
  const NodeAtoms nobody{1, 1, kNobodyTag, kNobodyTag, kNobodyTag, 0, 0, kNobodyTag};
  const auto fill = [&](auto& keys, const auto& templates, std::uint64_t group) {
    keys.reset(nodes.size() + 1);
    for (std::size_t node = 0; node < nodes.size(); ++node) keys.set(node, nodes[node], templates, group);
    keys.set(nobody_, nobody, templates, group);
  };
  if (groups.has_pruning) {
    fill(pruning_, kPruningTemplates, kPruningGroup);
    pruning_columns_.reset(pruning_, nodes.size());
  }
  if (guide_ != nullptr) fill(guides_, kGuideTemplates, kGuideGroup);
  if (groups.order >= 1) fill(dependency_, kDependencyTemplates, kDependencyGroup);
  if (groups.order >= 2 || groups.has_relations) {
    fill(sibling_, kSiblingTemplates, kSiblingGroup);
    fill(grandparent_, kGrandparentTemplates, kGrandparentGroup);
  }
  if (groups.order >= 3) fill(grand_sibling_, kGrandSiblingTemplates, kGrandSiblingGroup);
  if (groups.has_hints && groups.order >= 1) {
    fill(hint_dependency_, kHintDependencyTemplates, kHintDependencyGroup);
    if (groups.has_relations) fill(hint_child_, kHintChildTemplates, kHintChildGroup);
  }
  if (!groups.has_relations) return;
  fill(child_, kChildTemplates, kChildGroup);
  fill(below_, kBelowTemplates, kBelowGroup);
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
  work.far.resize(count + kArcLanes);
  for (std::size_t j = 0; j < count; ++j) {
    const auto m = static_cast<std::int32_t>(begin + j);
    work.far[j] = static_cast<std::uint32_t>(to_right ? place_of(i, m) : place_of(m, i));
  }
  add({own, others(0), stride, plain, work.far.data(), near, count}, table.weights, table.shift,
      work.score.data());
  between_.for_each_tag(i, static_cast<std::int32_t>(nobody_), [&](std::uint32_t tag, std::int32_t at) {
    const std::uint32_t around = own[plain] + tag;
    const auto after = static_cast<std::size_t>(at) + 1 - begin;  // the first arc that spans it
    add({&around, others(plain) + after, stride, 1, work.far.data() + after, near, count - after},
        table.weights, table.shift, work.score.data() + after);
  });
  work.other.resize(count + kArcLanes);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t j = 0; j < count; ++j) {
      const auto many = static_cast<std::size_t>(
          between_.count(static_cast<TagClass>(k + 1), i, static_cast<std::int32_t>(begin + j)));
      work.other[j] = others(plain + 1 + k)[j] + between_keys().count[k][many];
    }
    add({own + plain + 1 + k, work.other.data(), stride, 1, work.far.data(), near, count}, table.weights,
        table.shift, work.score.data());
  }
}

}  // namespace duilian
