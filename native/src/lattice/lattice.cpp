// Set operations on lattices: each position is a sorted list of bundles, so every operation is a merge.
#include "duilian/lattice/lattice.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"

namespace duilian {

namespace {

using Bundle = std::span<const TagId>;

[[nodiscard]] std::strong_ordering order(Bundle a, Bundle b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

void append(Lattice& out, Bundle bundle) { out.tag.insert(out.tag.end(), bundle.begin(), bundle.end()); }

void close_position(Lattice& out) {
  out.first.push_back(static_cast<std::int32_t>(out.tag.size() / static_cast<std::size_t>(out.sides)));
}

[[nodiscard]] Lattice empty_like(const Lattice& a) {
  Lattice out;
  out.sides = a.sides;
  out.first.reserve(a.first.size());
  return out;
}

void require_same_shape(const Lattice& a, const Lattice& b) {
  if (a.sides != b.sides || a.positions() != b.positions()) {
    throw std::invalid_argument(concat("the lattices differ in shape: ", a.positions(), " positions with ",
                                       a.sides, " sides and ", b.positions(), " with ", b.sides));
  }
}

/// Walks through two lattices in parallel; `keep(in_a, in_b)` decides about the current bundle.
template <class Keep>
[[nodiscard]] Lattice merge(const Lattice& a, const Lattice& b, Keep keep) {
  require_same_shape(a, b);
  Lattice out = empty_like(a);
  for (std::int32_t t = 0; t < a.positions(); ++t) {
    std::int32_t i = a.first[t];
    std::int32_t j = b.first[t];
    while (i < a.first[t + 1] || j < b.first[t + 1]) {
      auto compared = std::strong_ordering::equal;
      if (i == a.first[t + 1]) {
        compared = std::strong_ordering::greater;
      } else if (j == b.first[t + 1]) {
        compared = std::strong_ordering::less;
      } else {
        compared = order(a.bundle(i), b.bundle(j));
      }
      const bool in_a = compared <= 0;
      const bool in_b = compared >= 0;
      if (keep(in_a, in_b)) append(out, in_a ? a.bundle(i) : b.bundle(j));
      i += in_a ? 1 : 0;
      j += in_b ? 1 : 0;
    }
    close_position(out);
  }
  return out;
}

}  // namespace

void check(const Lattice& lattice) {
  const auto sides = static_cast<std::size_t>(lattice.sides);
  if (lattice.sides < 1) throw std::invalid_argument("a lattice needs at least one side");
  if (lattice.first.empty() || lattice.first.front() != 0 ||
      !std::is_sorted(lattice.first.begin(), lattice.first.end()) ||
      lattice.tag.size() != static_cast<std::size_t>(lattice.first.back()) * sides) {
    throw std::invalid_argument("the lattice's arrays are inconsistent");
  }
  if (std::any_of(lattice.tag.begin(), lattice.tag.end(), [](TagId tag) { return tag < 0; })) {
    throw std::invalid_argument("a tag of the lattice is negative");
  }
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    for (std::int32_t s = lattice.first[t] + 1; s < lattice.first[t + 1]; ++s) {
      if (order(lattice.bundle(s - 1), lattice.bundle(s)) >= 0) {
        throw std::invalid_argument(concat("the bundles of position ", t, " are not in strict order"));
      }
    }
  }
}

namespace {

/// Whether the tags of every position are distinct, ascending and not negative. It counts without branches: a
/// larger tag follows each tag, except perhaps at the end of a set.
[[nodiscard]] bool are_ascending(const TagSets& sets) {
  const std::vector<TagId>& tag = sets.tag;
  std::int64_t falls = 0;
  TagId least = 0;
  for (std::size_t k = 0; k + 1 < tag.size(); ++k) falls += tag[k] >= tag[k + 1] ? 1 : 0;
  for (const TagId each : tag) least = std::min(least, each);
  std::int64_t falls_between = 0;
  for (std::size_t t = 1; t + 1 < sets.first.size(); ++t) {
    const auto at = static_cast<std::size_t>(sets.first[t]);
    if (sets.first[t] == sets.first[t - 1] || at == tag.size()) continue;
    falls_between += tag[at - 1] >= tag[at] ? 1 : 0;
  }
  return least == 0 && falls == falls_between;
}

}  // namespace

void check(const TagSets& sets) {
  if (sets.first.empty() || sets.first.front() != 0 ||
      !std::is_sorted(sets.first.begin(), sets.first.end()) ||
      sets.tag.size() != static_cast<std::size_t>(sets.first.back())) {
    throw std::invalid_argument("the tag sets' arrays are inconsistent");
  }
  if (are_ascending(sets)) return;
  for (std::int32_t t = 0; t < sets.positions(); ++t) {
    const auto tags = sets.at(t);
    if ((!tags.empty() && tags.front() < 0) ||
        std::adjacent_find(tags.begin(), tags.end(), std::greater_equal<>{}) != tags.end()) {
      throw std::invalid_argument(concat("the tags of position ", t, " are not distinct and ascending"));
    }
  }
}

Lattice restrict(const Lattice& lattice, std::int32_t side, const TagSets& allowed) {
  if (side < 0 || side >= lattice.sides) throw std::invalid_argument(concat("there is no side ", side));
  if (allowed.positions() != lattice.positions()) {
    throw std::invalid_argument(concat("allowed tags are for ", allowed.positions(),
                                       " positions, the lattice has ", lattice.positions()));
  }
  Lattice out = empty_like(lattice);
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    const auto tags = allowed.at(t);
    for (std::int32_t s = lattice.first[t]; s < lattice.first[t + 1]; ++s) {
      const auto bundle = lattice.bundle(s);
      if (std::binary_search(tags.begin(), tags.end(), bundle[side])) append(out, bundle);
    }
    close_position(out);
  }
  return out;
}

Lattice intersect(const Lattice& a, const Lattice& b) {
  return merge(a, b, [](bool in_a, bool in_b) { return in_a && in_b; });
}

Lattice unite(const Lattice& a, const Lattice& b) {
  return merge(a, b, [](bool, bool) { return true; });
}

std::vector<std::int32_t> locate(const Lattice& inner, const Lattice& outer) {
  require_same_shape(inner, outer);
  std::vector<std::int32_t> found;
  found.reserve(static_cast<std::size_t>(inner.states()));
  for (std::int32_t t = 0; t < inner.positions(); ++t) {
    std::int32_t j = outer.first[t];
    for (std::int32_t i = inner.first[t]; i < inner.first[t + 1]; ++i) {
      while (j < outer.first[t + 1] && order(outer.bundle(j), inner.bundle(i)) < 0) ++j;
      if (j == outer.first[t + 1] || order(outer.bundle(j), inner.bundle(i)) != 0) {
        throw std::invalid_argument(concat("a state of position ", t, " is not in the outer lattice"));
      }
      found.push_back(j);
    }
  }
  return found;
}

}  // namespace duilian
