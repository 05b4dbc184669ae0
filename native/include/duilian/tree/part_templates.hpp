// The syntactic features of Li et al. (2014), Table II, as data. A template lists the atoms that it combines;
// every template with a word form occurs again with lemmas (last characters) instead. Templates 04 and 14 are
// w_m t_m and t_h w_m: the printed table has slips there.
#pragma once

#include <array>
#include <cstdint>

namespace duilian {

/// What a template may use of a word: form, lemma, tag, the tags beside it, its relation in the guide tree,
/// the set of relations below it there, and its hint.
enum WordAtom : std::uint8_t {
  kForm = 1,
  kLemma = 2,
  kTag = 4,
  kTagBefore = 8,
  kTagAfter = 16,
  kGuide = 32,
  kGuideBelow = 64,
  kHint = 128
};

/// What a template uses between head and dependent.
enum class Between : std::uint8_t { kNothing, kTags, kVerbs, kConjunctions, kMarks };

/// Atoms of up to four words of a part: dependency (h, m), sibling (h, s, m), grandparent (g, h, m),
/// grandparent-sibling (g, h, s, m).
template <std::size_t R>
struct PartTemplate {
  std::array<std::uint8_t, R> atoms{};
  bool has_distance = true;
  Between between = Between::kNothing;
};

namespace table_two {

inline constexpr std::uint8_t w = kForm, t = kTag, b = kTagBefore, a = kTagAfter, wt = w | t;

inline constexpr std::array<PartTemplate<2>, 28> kDependency{{
    {{wt, 0}},
    {{w, 0}},
    {{t, 0}},
    {{0, wt}},  // 01 - 04
    {{0, w}},
    {{0, t}},
    {{wt, wt}},
    {{t, wt}},  // 05 - 08
    {{w, wt}},
    {{wt, t}},
    {{wt, w}},
    {{w, w}},  // 09 - 12
    {{t, t}},
    {{t, w}},
    {{w, t}},
    {{t | a, b | t}},  // 13 - 16
    {{t | a, t | a}},
    {{b | t, b | t}},
    {{b | a, b | t}},
    {{b | t | a, t}},  // 17 - 20
    {{t, b | t | a}},
    {{t | a, t}},
    {{t, b | t}},
    {{t, t | a}},  // 21 - 24
    {{t, t}, true, Between::kTags},
    {{t, t}, true, Between::kVerbs},
    {{t, t}, true, Between::kConjunctions},
    {{t, t}, true, Between::kMarks},
}};

inline constexpr std::array<PartTemplate<3>, 16> kSibling{{
    {{t, t, t}},
    {{w, t, t}},
    {{t, w, t}},
    {{t, t, w}},
    {{0, t, t}},
    {{0, w, w}},
    {{0, t, w}},
    {{0, w, t}},
    {{0, t | a, t}, false},
    {{0, b | t, t}, false},
    {{0, t, b | t}, false},
    {{0, t, t | a}, false},
    {{0, t | a, b | t}, false},
    {{0, b | t, b | t}, false},
    {{0, t | a, t | a}, false},
    {{0, b | t, t | a}, false},
}};

inline constexpr std::array<PartTemplate<3>, 16> kGrandparent{{
    {{t, t, t}, false},
    {{w, t, t}, false},
    {{t, w, t}, false},
    {{t, t, w}, false},
    {{t, 0, t}, false},
    {{w, 0, w}, false},
    {{w, 0, t}, false},
    {{t, 0, w}, false},
    {{t, 0, b | t}, false},
    {{t, 0, t | a}, false},
    {{b | t, 0, t}, false},
    {{t | a, 0, t}, false},
    {{b | t, 0, b | t}, false},
    {{b | t, 0, t | a}, false},
    {{t | a, 0, b | t}, false},
    {{t | a, 0, t | a}, false},
}};

inline constexpr std::array<PartTemplate<4>, 8> kGrandSibling{{
    {{t, t, t, t}, false},
    {{w, t, t, t}, false},
    {{t, w, t, t}, false},
    {{t, t, w, t}, false},
    {{t, t, t, w}, false},
    {{w, w, t, t}, false},
    {{t, 0, t, t}, false},
    {{w, 0, t, t}, false},
}};

/// For relations, which the paper does not treat: a dependent of the dependent (h, m, c), and its relation
/// (h, m).
inline constexpr std::array<PartTemplate<3>, 6> kChild{{
    {{0, t, t}, false},
    {{0, t, w}, false},
    {{0, w, t}, false},
    {{t, t, t}, false},
    {{t, t, w}, false},
    {{t, 0, w}, false},
}};

inline constexpr std::array<PartTemplate<2>, 6> kBelow{{
    {{0, 0}, false},
    {{0, t}, false},
    {{t, t}, false},
    {{0, w}, false},
    {{w, 0}, false},
    {{w, t}, false},
}};

/// A few cheap templates for pruning, where being nearly right is enough.
inline constexpr std::array<PartTemplate<2>, 13> kPruning{{
    {{t, t}},
    {{t | a, b | t}},
    {{t | a, t | a}},
    {{b | t, b | t}},
    {{b | t, t | a}},
    {{t, w}},
    {{w, t}},
    {{0, wt}},
    {{wt, 0}},
    {{t, t}, true, Between::kTags},
    {{t, t}, true, Between::kVerbs},
    {{t, t}, true, Between::kConjunctions},
    {{t, t}, true, Between::kMarks},
}};

/// Combined with a link of the guide tree (h, m): all of these with its path; the first few also with its
/// shape alone and without the link, for words that moved far.
inline constexpr std::size_t kGuideShapes = 10;
inline constexpr std::uint8_t r = kGuide, k = kGuideBelow;
inline constexpr std::array<PartTemplate<2>, 25> kGuides{{
    {{0, r}},     {{0, r | k}}, {{t, r}},     {{t, t}},     {{0, t | r}}, {{t, t | r}}, {{t | r, t | r}},
    {{r, r}},     {{0, w}},     {{w, 0}},     {{0, 0}},     {{t, 0}},     {{0, t}},     {{r, 0}},
    {{r, t}},     {{t | r, t}}, {{t, w}},     {{w, t}},     {{w, w}},     {{r, w}},     {{0, t | k}},
    {{t | k, 0}}, {{r | k, t}}, {{0, b | t}}, {{0, t | a}},
}};

/// For words with hints; siblings and grandparents gain nothing from them.
inline constexpr std::uint8_t o = kHint;
inline constexpr std::array<PartTemplate<2>, 8> kHintDependency{{
    {{o, o}},
    {{t | o, t | o}},
    {{w, o}},
    {{o, w}},
    {{0, t | o}},
    {{t | o, 0}},
    {{t | a, o}},
    {{o, b | t}},
}};
inline constexpr std::array<PartTemplate<3>, 2> kHintChild{{
    {{0, o, o}, false},
    {{t, t | o, o}, false},
}};

}  // namespace table_two

template <std::size_t R>
[[nodiscard]] constexpr bool has_form(const PartTemplate<R>& shown) {
  for (const std::uint8_t atoms : shown.atoms) {
    if ((atoms & kForm) != 0) return true;
  }
  return false;
}

template <std::size_t R, std::size_t N>
[[nodiscard]] constexpr std::size_t count_doubled(const std::array<PartTemplate<R>, N>& templates) {
  std::size_t count = N;
  for (const auto& each : templates) count += has_form(each) ? 1 : 0;
  return count;
}

/// All templates: as they are, those with word forms again with lemmas, then those that look between head and
/// dependent.
template <std::size_t Count, std::size_t R, std::size_t N>
[[nodiscard]] constexpr std::array<PartTemplate<R>, Count> doubled(
    const std::array<PartTemplate<R>, N>& templates) {
  std::array<PartTemplate<R>, Count> out{};
  std::size_t next = 0;
  for (const auto& each : templates) {
    if (each.between == Between::kNothing) out[next++] = each;
  }
  for (const auto& each : templates) {
    if (!has_form(each)) continue;
    out[next] = each;
    for (std::uint8_t& atoms : out[next].atoms) {
      if ((atoms & kForm) != 0) atoms = static_cast<std::uint8_t>((atoms & ~kForm) | kLemma);
    }
    ++next;
  }
  for (const auto& each : templates) {
    if (each.between != Between::kNothing) out[next++] = each;
  }
  return out;
}

inline constexpr auto kDependencyTemplates =
    doubled<count_doubled(table_two::kDependency)>(table_two::kDependency);
inline constexpr auto kSiblingTemplates = doubled<count_doubled(table_two::kSibling)>(table_two::kSibling);
inline constexpr auto kGrandparentTemplates =
    doubled<count_doubled(table_two::kGrandparent)>(table_two::kGrandparent);
inline constexpr auto kGrandSiblingTemplates =
    doubled<count_doubled(table_two::kGrandSibling)>(table_two::kGrandSibling);
inline constexpr auto kChildTemplates = doubled<count_doubled(table_two::kChild)>(table_two::kChild);
inline constexpr auto kBelowTemplates = doubled<count_doubled(table_two::kBelow)>(table_two::kBelow);
inline constexpr auto kPruningTemplates = doubled<count_doubled(table_two::kPruning)>(table_two::kPruning);
inline constexpr auto kGuideTemplates = doubled<count_doubled(table_two::kGuides)>(table_two::kGuides);
inline constexpr auto kHintDependencyTemplates =
    doubled<count_doubled(table_two::kHintDependency)>(table_two::kHintDependency);
inline constexpr auto kHintChildTemplates = table_two::kHintChild;
/// Which sibling templates look at the distance: the first few, and all with lemmas.
inline constexpr std::size_t kFarSiblings = 8;
static_assert([] {
  for (std::size_t k = 0; k < kSiblingTemplates.size(); ++k) {
    const bool is_far = k < kFarSiblings || k >= table_two::kSibling.size();
    if (kSiblingTemplates[k].has_distance != is_far) return false;
  }
  return true;
}());
/// The number of templates at the end of a dependency list that look between: tags, then three counts.
inline constexpr std::size_t kBetweenTemplates = 4;

}  // namespace duilian
