// Turns the parts of a tree into feature keys. A key is a sum of pseudo-random numbers, one for each word of
// the part in its role, computed once per sentence. So a feature costs a few additions, and the top bits of
// the sum are its place in a table of weights (tabulation hashing). Direction and distance change the last
// four bits of the place, so that a feature with its distance and the same feature without it share a cache
// line.
//
// Words are represented by nodes, a word with one tag: if tags are open, a word has several.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/arc_places.hpp"
#include "duilian/tree/between_words.hpp"
#include "duilian/tree/guide_tree.hpp"
#include "duilian/tree/part_templates.hpp"

namespace duilian {

/// What templates know about a word with a tag. The tags beside it come from the context, regardless of its
/// own.
struct NodeAtoms {
  std::uint64_t form = 0, lemma = 0;
  std::int32_t tag = 0, before = 0, after = 0;
  std::int32_t guide = 0;  // relation in the guide tree
  std::uint64_t guide_below = 0;
  std::int32_t hint = 0;  // a tag of another standard
};

/// Tags that stand for no tag: that of the root, beyond the sentence, of nobody.
inline constexpr std::int32_t kRootTag = -1;
inline constexpr std::int32_t kEdgeTag = -2;
inline constexpr std::int32_t kNobodyTag = -3;

/// The numbers of every node in every role, for one group of templates.
template <std::size_t R, std::size_t N>
class RoleKeys {
 public:
  static constexpr std::size_t kTemplates = N;
  static constexpr std::size_t kStride = (N + 3) / 4 * 4;  // whole vectors

  void reset(std::size_t nodes) { value_.resize(nodes * R * kStride); }
  template <const auto& kTemplates, std::uint64_t kGroup>
  void set(std::size_t node, const NodeAtoms& atoms);
  [[nodiscard]] const std::uint32_t* at(std::size_t node, std::size_t role) const {
    return value_.data() + (node * R + role) * kStride;
  }

 private:
  std::vector<std::uint32_t> value_;  // [nodes][R][stride]
};

/// The same numbers by role and template, so that those of one template are contiguous.
template <std::size_t R, std::size_t N>
class RoleColumns {
 public:
  void reset(const RoleKeys<R, N>& keys, std::size_t nodes);
  [[nodiscard]] const std::uint32_t* at(std::size_t role, std::size_t which) const {
    return value_.data() + (role * N + which) * stride_;
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }

 private:
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> value_;  // [R][N][stride]
};

/// The pseudo-random number of a relation below a word; -1 is unknown.
[[nodiscard]] std::uint32_t below_key(std::int32_t relation);

/// Which groups of templates a search needs.
struct PartGroups {
  bool has_pruning = false;
  std::int32_t order = 1;  // 0: pruning only
  bool has_relations = false;
  bool has_hints = false;
};

/// The weights of arc features: 2^(32 - shift) of them.
struct ArcTable {
  const float* weights;
  std::uint32_t shift;
};

/// The arcs of one word with the words after it; all arrays have room for a few more lanes.
struct ArcRowWork {
  std::array<std::vector<std::uint32_t>, 2> far;  // [words]  places of arcs to the right; to the left
  std::vector<std::uint32_t> other;               // [3][words]  keys of the features that count words
  std::vector<float> score;                       // [words]
};

/// The keys of a sentence's parts. visit(key, place) is called for every feature of a part; place < 16.
class PartKeys {
 public:
  /// The last node is nobody; the others are the caller's. With a guide tree, which must outlive the keys,
  /// nodes are words.
  void reset(std::span<const NodeAtoms> nodes, PartGroups groups, const GuideTree* guide = nullptr);
  /// The tags of the words 0 … n, for features between two words.
  void set_context(std::span<const std::int32_t> tags, std::span<const std::uint8_t> classes) {
    between_.reset(tags, classes);
  }
  [[nodiscard]] std::size_t nobody() const { return nobody_; }
  /// No part has more features: those of an arc with a different tag on each word between.
  [[nodiscard]] std::size_t most_features() const {
    return 2 * (kDependencyTemplates.size() + kHintDependencyTemplates.size() + 3 * kGuideTemplates.size() +
                between_.size());
  }

  /// h and m are words; node_h and node_m are their nodes.
  template <class Visit>
  void arc(std::int32_t h, std::int32_t m, std::size_t node_h, std::size_t node_m, const Visit& visit) const {
    visit_arc(dependency_, h, m, node_h, node_m, visit);
    if (has_hints_) visit_hint_arc(static_cast<std::uint32_t>(place_of(h, m)), node_h, node_m, visit);
  }
  template <class Visit>
  void pruning_arc(std::int32_t h, std::int32_t m, std::size_t node_h, std::size_t node_m,
                   const Visit& visit) const {
    visit_arc(pruning_, h, m, node_h, node_m, visit);
  }
  /// If so, arcs have features that add_pruning_arcs does not compute.
  [[nodiscard]] bool has_guide() const { return guide_ != nullptr; }
  /// The pruning features of all arcs between word i and the words after it, in one direction: adds their
  /// weights for the arc between i and i + 1 + j to score[j], in the order of pruning_arc. Nodes must be
  /// words.
  void add_pruning_arcs(std::int32_t i, bool to_right, const ArcTable& table, ArcRowWork& work) const;

  /// `place` is that of h → m, without distance if m is nobody.
  template <class Visit>
  void sibling(std::size_t h, std::size_t s, std::size_t m, std::int32_t place, const Visit& visit) const {
    constexpr std::size_t n = decltype(sibling_)::kTemplates;
    const auto far = static_cast<std::uint32_t>(place);
    const std::uint32_t near = without_distance(far);
    const std::uint32_t *a = sibling_.at(h, 0), *b = sibling_.at(s, 1), *c = sibling_.at(m, 2);
    for (std::size_t k = 0; k < n; ++k) visit(a[k] + b[k] + c[k], near);
    if (far != near) {
      for (std::size_t k = 0; k < kFarSiblings; ++k) visit(a[k] + b[k] + c[k], far);
      for (std::size_t k = table_two::kSibling.size(); k < n; ++k) visit(a[k] + b[k] + c[k], far);
    }
    if (guide_ != nullptr) visit_two_links(link(h, s), link(h, m), kSiblingLinks, near, visit);
  }
  template <class Visit>
  void grandparent(std::size_t g, std::size_t h, std::size_t m, std::int32_t turn, const Visit& visit) const {
    visit_three(grandparent_, g, h, m, turn, visit);
    if (guide_ != nullptr)
      visit_two_links(link(g, h), link(h, m), kGrandparentLinks, static_cast<std::uint32_t>(turn), visit);
  }
  template <class Visit>
  void grand_sibling(std::size_t g, std::size_t h, std::size_t s, std::size_t m, std::int32_t turn,
                     const Visit& visit) const {
    constexpr std::size_t n = decltype(grand_sibling_)::kTemplates;
    const std::uint32_t *a = grand_sibling_.at(g, 0), *b = grand_sibling_.at(h, 1);
    const std::uint32_t *c = grand_sibling_.at(s, 2), *d = grand_sibling_.at(m, 3);
    for (std::size_t k = 0; k < n; ++k) visit(a[k] + b[k] + c[k] + d[k], static_cast<std::uint32_t>(turn));
  }
  /// For relations: m is a dependent of h, c a dependent of m, and `relation` that of such a c.
  template <class Visit>
  void child(std::size_t h, std::size_t m, std::size_t c, std::int32_t turn, const Visit& visit) const {
    visit_three(child_, h, m, c, turn, visit);
    if (has_hints_) visit_three(hint_child_, h, m, c, turn, visit);
    if (guide_ != nullptr)
      visit_two_links(link(h, m), link(m, c), kChildLinks, static_cast<std::uint32_t>(turn), visit);
  }
  template <class Visit>
  void below(std::size_t h, std::size_t m, std::int32_t relation, std::int32_t turn,
             const Visit& visit) const {
    constexpr std::size_t n = decltype(below_)::kTemplates;
    const std::uint32_t *a = below_.at(h, 0), *b = below_.at(m, 1);
    const std::uint32_t c = below_key(relation);
    for (std::size_t k = 0; k < n; ++k) visit(a[k] + b[k] + c, static_cast<std::uint32_t>(turn));
  }

 private:
  // Tell pairs of links apart by the kind of part.
  static constexpr std::uint32_t kSiblingLinks = 0x9E3779B9U, kGrandparentLinks = 0x85EBCA6BU,
                                 kChildLinks = 0xC2B2AE35U;

  [[nodiscard]] GuideLink link(std::size_t h, std::size_t m) const {
    return h == nobody_ || m == nobody_ ? GuideLink{} : guide_->link(h, m);
  }
  /// One number for two links; their order matters.
  [[nodiscard]] static std::uint32_t joined(std::uint32_t first, std::uint32_t second) {
    return (first ^ (second >> 15U)) * 0x2C1B3C6DU + second * 0x297A2D39U;
  }
  template <class Visit>
  static void visit_two_links(const GuideLink& first, const GuideLink& second, std::uint32_t what,
                              std::uint32_t place, const Visit& visit) {
    visit(what + joined(first.shape, second.shape), place);
    visit(what + joined(first.path, second.path), place);
    visit(what + joined(first.shape, second.path), place);
    visit(what + joined(first.path, second.shape), place);
  }
  template <class Visit>
  void visit_guide(std::size_t h, std::size_t m, const Visit& visit_both) const {
    const GuideLink& between = guide_->link(h, m);
    const std::uint32_t *a = guides_.at(h, 0), *b = guides_.at(m, 1);
    for (std::size_t k = 0; k < kGuideTemplates.size(); ++k) visit_both(a[k] + b[k] + between.path);
    for (std::size_t k = 0; k < table_two::kGuideShapes; ++k) {
      visit_both(a[k] + b[k] + between.shape);
      visit_both(a[k] + b[k]);
    }
  }
  template <class Visit>
  void visit_hint_arc(std::uint32_t far, std::size_t node_h, std::size_t node_m, const Visit& visit) const {
    const std::uint32_t *a = hint_dependency_.at(node_h, 0), *b = hint_dependency_.at(node_m, 1);
    for (std::size_t k = 0; k < kHintDependencyTemplates.size(); ++k) {
      visit(a[k] + b[k], far);
      visit(a[k] + b[k], without_distance(far));
    }
  }
  template <class Keys, class Visit>
  static void visit_three(const Keys& keys, std::size_t first, std::size_t second, std::size_t third,
                          std::int32_t turn, const Visit& visit) {
    const std::uint32_t *a = keys.at(first, 0), *b = keys.at(second, 1), *c = keys.at(third, 2);
    for (std::size_t k = 0; k < Keys::kTemplates; ++k)
      visit(a[k] + b[k] + c[k], static_cast<std::uint32_t>(turn));
  }
  template <class Keys, class Visit>
  void visit_arc(const Keys& keys, std::int32_t h, std::int32_t m, std::size_t node_h, std::size_t node_m,
                 const Visit& visit) const {
    constexpr std::size_t plain = Keys::kTemplates - kBetweenTemplates;
    const auto far = static_cast<std::uint32_t>(place_of(h, m));
    const std::uint32_t near = without_distance(far);
    const auto visit_both = [&](std::uint32_t key) {
      visit(key, far);
      visit(key, near);
    };
    const std::uint32_t *a = keys.at(node_h, 0), *b = keys.at(node_m, 1);
    for (std::size_t k = 0; k < plain; ++k) visit_both(a[k] + b[k]);
    const std::int32_t i = h < m ? h : m;
    const std::int32_t j = h < m ? m : h;
    const std::uint32_t around = a[plain] + b[plain];
    between_.for_each_tag(i, j, [&](std::uint32_t tag, std::int32_t) { visit_both(around + tag); });
    for (std::size_t k = 0; k < 3; ++k) {
      const auto many = static_cast<std::size_t>(between_.count(static_cast<TagClass>(k + 1), i, j));
      visit_both(a[plain + 1 + k] + b[plain + 1 + k] + between_keys().count[k][many]);
    }
    if (guide_ != nullptr) visit_guide(node_h, node_m, visit_both);
  }

  std::size_t nobody_ = 0;
  RoleKeys<2, kDependencyTemplates.size()> dependency_;
  RoleKeys<2, kPruningTemplates.size()> pruning_;
  RoleColumns<2, kPruningTemplates.size()> pruning_columns_;
  RoleKeys<3, kSiblingTemplates.size()> sibling_;
  RoleKeys<3, kGrandparentTemplates.size()> grandparent_;
  RoleKeys<4, kGrandSiblingTemplates.size()> grand_sibling_;
  RoleKeys<3, kChildTemplates.size()> child_;
  RoleKeys<2, kBelowTemplates.size()> below_;
  RoleKeys<2, kGuideTemplates.size()> guides_;
  RoleKeys<2, kHintDependencyTemplates.size()> hint_dependency_;
  RoleKeys<3, kHintChildTemplates.size()> hint_child_;
  bool has_hints_ = false;
  BetweenWords between_;
  const GuideTree* guide_ = nullptr;
};

}  // namespace duilian
