// Random cases that are the same on every machine, unlike the distributions of the standard library. The
// numbers come from SplitMix64 (Steele et al. 2014); seeding costs nothing, so every case has its own
// generator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "duilian/lattice/lattice.hpp"

namespace testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// A whole number in [0, n).
  [[nodiscard]] std::int32_t below(std::int32_t n) {
    return static_cast<std::int32_t>(bits() % static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11U) * 0x1p-53;
  }
  [[nodiscard]] bool chance(double p) { return real(0.0, 1.0) < p; }

 private:
  std::uint64_t state_;
};

/// Calls test(random) once per seed; a failure reports its seed.
template <class Test>
void for_each_seed(std::int64_t count, const Test& test) {
  for (std::int64_t seed = 0; seed < count; ++seed) {
    record().seed = seed;
    Random random(static_cast<std::uint64_t>(seed));
    test(random);
  }
  record().seed = -1;
}

/// Each tag of [0, tags) with probability `density`; at least one per position if required.
[[nodiscard]] inline duilian::TagSets random_tag_sets(Random& random, std::int32_t positions,
                                                      std::int32_t tags, double density,
                                                      bool is_never_empty) {
  duilian::TagSets sets;
  for (std::int32_t t = 0; t < positions; ++t) {
    const std::int32_t sure = is_never_empty ? random.below(tags) : -1;
    for (duilian::TagId tag = 0; tag < tags; ++tag) {
      if (tag == sure || random.chance(density)) sets.tag.push_back(tag);
    }
    sets.first.push_back(static_cast<std::int32_t>(sets.tag.size()));
  }
  return sets;
}

/// A part of the complete lattice: each bundle is kept with probability `density`, at least one per position
/// if required.
[[nodiscard]] inline duilian::Lattice random_lattice(Random& random, std::int32_t positions,
                                                     const std::vector<std::int32_t>& tags, double density,
                                                     bool is_never_empty) {
  const duilian::Lattice full = duilian::complete_lattice(positions, tags);
  duilian::Lattice out;
  out.sides = full.sides;
  for (std::int32_t t = 0; t < positions; ++t) {
    const std::int32_t sure = is_never_empty ? full.first[t] + random.below(full.width(t)) : -1;
    for (std::int32_t s = full.first[t]; s < full.first[t + 1]; ++s) {
      if (s != sure && !random.chance(density)) continue;
      const auto bundle = full.bundle(s);
      out.tag.insert(out.tag.end(), bundle.begin(), bundle.end());
    }
    out.first.push_back(static_cast<std::int32_t>(out.tag.size() / tags.size()));
  }
  return out;
}

/// Tag counts of 1 to 3 sides, each in [1, max_tags].
[[nodiscard]] inline std::vector<std::int32_t> random_sides(Random& random, std::int32_t max_tags) {
  std::vector<std::int32_t> tags(static_cast<std::size_t>(1 + random.below(3)));
  for (std::int32_t& count : tags) count = 1 + random.below(max_tags);
  return tags;
}

/// Calls visit(states) for every sequence of states, one per position.
template <class Visit>
void for_each_path(const duilian::Lattice& x, const Visit& visit) {
  std::vector<std::int32_t> path;
  const auto extend = [&](const auto& self) -> void {
    const auto t = static_cast<std::int32_t>(path.size());
    if (t == x.positions()) return visit(path);
    for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
      path.push_back(s);
      self(self);
      path.pop_back();
    }
  };
  extend(extend);
}

/// Which tag may follow which, at random; no limits if `density` is 1 or more.
[[nodiscard]] inline std::vector<duilian::Succession> random_successions(
    Random& random, const std::vector<std::int32_t>& tags, double density) {
  std::vector<duilian::Succession> out(tags.size());
  for (std::size_t k = 0; k < tags.size() && density < 1.0; ++k) {
    if (random.chance(0.2)) continue;  // a free side among constrained ones
    const auto edge = static_cast<std::size_t>(tags[k]) + 1;
    out[k].tags = tags[k];
    for (std::size_t n = 0; n < edge * edge; ++n) out[k].allows.push_back(random.chance(density) ? 1 : 0);
  }
  return out;
}

enum class RuleKind : std::uint8_t { free, blocks, tag_wise, random, cut_off };
inline constexpr std::int32_t kRuleKinds = 5;

/// Words with tags, in the letters E S B I: block by block (E of all tags, S of all, …) or tag by tag.
[[nodiscard]] inline duilian::Succession boundary_rules(std::int32_t tags, bool is_tag_wise) {
  enum Letter : std::int32_t { E, S, B, I };
  duilian::Succession out;
  out.tags = 4 * tags;
  const auto letter = [&](std::int32_t label) { return is_tag_wise ? label % 4 : label / tags; };
  const auto tag = [&](std::int32_t label) { return is_tag_wise ? label / 4 : label % tags; };
  for (std::int32_t i = 0; i <= out.tags; ++i) {
    for (std::int32_t j = 0; j <= out.tags; ++j) {
      const bool is_inside = i < out.tags && (letter(i) == B || letter(i) == I);
      const bool begins = j == out.tags || letter(j) == B || letter(j) == S;
      const bool goes_on = is_inside && !begins && tag(i) == tag(j);
      out.allows.push_back(goes_on || (!is_inside && begins) ? 1 : 0);
    }
  }
  return out;
}

/// Rules of a kind for 1 to 12 labels; `labels` receives their number, which free rules do not reveal.
[[nodiscard]] inline duilian::Succession random_rules(Random& random, RuleKind kind, std::int32_t& labels) {
  labels = 4 * (1 + random.below(3));
  if (kind == RuleKind::blocks || kind == RuleKind::tag_wise) {
    return boundary_rules(labels / 4, kind == RuleKind::tag_wise);
  }
  labels = 1 + random.below(12);
  duilian::Succession out;
  if (kind == RuleKind::free) return out;
  out.tags = labels;
  const double density = random.real(0.3, 1.0);
  const std::int32_t cut = random.below(labels);  // labels from here on have no legal neighbours
  for (std::int32_t i = 0; i <= labels; ++i) {
    for (std::int32_t j = 0; j <= labels; ++j) {
      const bool is_edge = i == labels || j == labels;
      const bool allows = kind == RuleKind::random ? random.chance(density) : is_edge || (i < cut && j < cut);
      out.allows.push_back(allows ? 1 : 0);
    }
  }
  return out;
}

}  // namespace testing
