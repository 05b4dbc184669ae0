// From the parts of a tree to feature keys. A key is a sum of numbers that look random: one for each word of
// the part in its role, computed once per sentence. So a feature costs a few additions, and the top bits of
// the sum are its place in a table of weights (tabulation hashing). Direction and distance change the last
// four bits of the place: a feature with its distance and the same without it share a cache line.
//
// Words are seen through nodes, a word with one tag: a sentence whose tags are open has several per word.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/tree/guide_tree.hpp"
#include "duilian/tree/part_templates.hpp"

namespace duilian {

/// What templates know about a word with a tag. The tags beside it are those of the context, whatever its own
/// tag is.
struct NodeAtoms {
  std::uint64_t form = 0, lemma = 0;
  std::int32_t tag = 0, before = 0, after = 0;
  std::int32_t guide = 0;  // relation in the guide tree
  std::uint64_t guide_below = 0;
};

/// Which tags count as verbs, conjunctions and punctuation marks between two words.
enum TagClass : std::uint8_t { kOther = 0, kVerb = 1, kConjunction = 2, kMark = 3 };

/// Tags that stand for no tag: of the root, beyond the sentence, of nobody.
inline constexpr std::int32_t kRootTag = -1;
inline constexpr std::int32_t kEdgeTag = -2;
inline constexpr std::int32_t kNobodyTag = -3;

/// The numbers of every node in every role of one group of templates.
template <std::size_t R, std::size_t N>
class RoleKeys {
 public:
  static constexpr std::size_t kTemplates = N;

  void reset(std::size_t nodes) { value_.resize(nodes * R * N); }
  void set(std::size_t node, const NodeAtoms& atoms, const std::array<PartTemplate<R>, N>& templates,
           std::uint64_t group);
  [[nodiscard]] const std::uint32_t* at(std::size_t node, std::size_t role) const {
    return value_.data() + (node * R + role) * N;
  }

 private:
  std::vector<std::uint32_t> value_;  // [nodes][R][N]
};

/// The same numbers by role and template, so that one template's run along the words.
template <std::size_t R, std::size_t N>
class RoleColumns {
 public:
  /// Copies the numbers of the first `nodes` nodes.
  void reset(const RoleKeys<R, N>& keys, std::size_t nodes);
  [[nodiscard]] const std::uint32_t* at(std::size_t role, std::size_t which) const {
    return value_.data() + (role * N + which) * stride_;
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }

 private:
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> value_;  // [R][N][stride]
};

/// Classes of distance. The place of an arc, its direction and distance, has one more for each direction: no
/// distance.
inline constexpr std::int32_t kDistances = 7;

/// The words between any two words of a sentence: which tags, how many verbs, conjunctions, marks.
class BetweenWords {
 public:
  void reset(std::span<const std::int32_t> tags, std::span<const std::uint8_t> classes);
  /// How many words of the class lie between, at most 3.
  [[nodiscard]] std::int32_t count(TagClass which, std::int32_t i, std::int32_t j) const {
    const auto row = static_cast<std::size_t>(which - 1) * side_;
    const std::int32_t many =
        before_[row + static_cast<std::size_t>(j)] - before_[row + static_cast<std::size_t>(i) + 1];
    return many < 3 ? many : 3;
  }
  /// Calls visit(number of the tag, where it first stands) once for each tag between i < j.
  template <class Visit>
  void for_each_tag(std::int32_t i, std::int32_t j, const Visit& visit) const {
    for (std::int32_t b = i + 1; b < j; ++b) {
      if (earlier_[static_cast<std::size_t>(b)] <= i) visit(tag_key_[static_cast<std::size_t>(b)], b);
    }
  }

 private:
  std::size_t side_ = 0;
  std::vector<std::uint32_t> tag_key_;  // [n + 1]  between_key of the tag
  std::vector<std::int32_t> earlier_;   // [n + 1]  the last place before with the same tag
  std::vector<std::int32_t> before_;    // [3][n + 2]  words of a class at places < p
  std::vector<std::int32_t> last_;      // [tags + 1]  scratch
};

/// Numbers for what is between, the same for all sentences.
struct BetweenKeys {
  std::array<std::array<std::uint32_t, 4>, 3> count;  // [class][how many]
};
[[nodiscard]] const BetweenKeys& between_keys();
/// The number of a tag between.
[[nodiscard]] std::uint32_t between_key(std::int32_t tag);
/// The number of a relation below; -1 is unknown.
[[nodiscard]] std::uint32_t below_key(std::int32_t relation);

/// Where in the distances' table an arc from h to m falls.
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

/// Which groups of templates a search needs.
struct PartGroups {
  bool has_pruning = false;
  std::int32_t order = 1;  // 0: pruning alone
  bool has_relations = false;
};

/// Weights of arcs' features, 2^(32 - shift) of them.
struct ArcTable {
  const float* weights;
  std::uint32_t shift;
};

/// The arcs of one word with those after it; all have room for some lanes more.
struct ArcRowWork {
  std::vector<std::uint32_t> far;    // [words]  the arcs' places
  std::vector<std::uint32_t> other;  // [words]  keys of one feature
  std::vector<float> score;          // [words]
};

/// The keys of a sentence's parts. visit(key, place) is called for every feature of a part; place < 16.
class PartKeys {
 public:
  /// Nodes 0 … are the caller's; the last one is nobody. context: the tags of the words 0 … n, for `between`.
  /// With a guide tree nodes are words; it must live as long as the keys are asked.
  void reset(std::span<const NodeAtoms> nodes, PartGroups groups, const GuideTree* guide = nullptr);
  void set_context(std::span<const std::int32_t> tags, std::span<const std::uint8_t> classes) {
    between_.reset(tags, classes);
  }
  [[nodiscard]] std::size_t nobody() const { return nobody_; }

  /// h and m are words, their nodes are node_h and node_m.
  template <class Visit>
  void arc(std::int32_t h, std::int32_t m, std::size_t node_h, std::size_t node_m, const Visit& visit) const {
    visit_arc(dependency_, h, m, node_h, node_m, visit);
  }
  template <class Visit>
  void pruning_arc(std::int32_t h, std::int32_t m, std::size_t node_h, std::size_t node_m,
                   const Visit& visit) const {
    visit_arc(pruning_, h, m, node_h, node_m, visit);
  }
  /// Whether features of arcs are those of words and tags alone, so that add_pruning_arcs knows them all.
  [[nodiscard]] bool has_guide() const { return guide_ != nullptr; }
  /// The pruning features of all arcs between word i and the words after it, in one direction: score[j] +=
  /// their weights for the arc between i and i + 1 + j, in the order of pruning_arc. Nodes must be words.
  void add_pruning_arcs(std::int32_t i, bool to_right, const ArcTable& table, ArcRowWork& work) const;

  /// `place` is that of h → m; without distance if m is nobody.
  template <class Visit>
  void sibling(std::size_t h, std::size_t s, std::size_t m, std::int32_t place, const Visit& visit) const {
    constexpr std::size_t n = decltype(sibling_)::kTemplates;
    const auto far = static_cast<std::uint32_t>(place);
    const std::uint32_t near = without_distance(far);
    const std::uint32_t *a = sibling_.at(h, 0), *b = sibling_.at(s, 1), *c = sibling_.at(m, 2);
    for (std::size_t k = 0; k < n; ++k) visit(a[k] + b[k] + c[k], near);
    for (std::size_t k = 0; k < n && far != near; ++k) {
      if (kSiblingTemplates[k].has_distance) visit(a[k] + b[k] + c[k], far);
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
  /// For relations: m is a dependent of h, c a dependent of m, `relation` that of such a c.
  template <class Visit>
  void child(std::size_t h, std::size_t m, std::size_t c, std::int32_t turn, const Visit& visit) const {
    visit_three(child_, h, m, c, turn, visit);
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
  // Numbers that tell pairs of links apart by what they are of.
  static constexpr std::uint32_t kSiblingLinks = 0x9E3779B9U, kGrandparentLinks = 0x85EBCA6BU,
                                 kChildLinks = 0xC2B2AE35U;

  [[nodiscard]] GuideLink link(std::size_t h, std::size_t m) const {
    return h == nobody_ || m == nobody_ ? GuideLink{} : guide_->link(h, m);
  }
  /// One number for two links; their order counts.
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
  BetweenWords between_;
  const GuideTree* guide_ = nullptr;
};

}  // namespace duilian
