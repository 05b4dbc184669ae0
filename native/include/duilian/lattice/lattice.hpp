// The lattice: the labels still possible at each unit of a sentence. A label is a bundle, one tag per
// standard (Li et al. 2017 have two sides; any number works here). A corpus, a mapping, pruning or a user
// constrains the lattice; every question to a model is about what is left of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

using TagId = std::int32_t;

/// Position t keeps the states [first[t], first[t + 1]). Within a position the bundles are distinct and
/// in lexicographic order, so that set operations are merges and equal lattices have equal arrays.
struct Lattice {
  std::int32_t sides = 1;
  std::vector<std::int32_t> first{0};  // [T + 1]
  std::vector<TagId> tag;              // [S][sides]

  [[nodiscard]] std::int32_t positions() const { return static_cast<std::int32_t>(first.size()) - 1; }
  [[nodiscard]] std::int32_t states() const { return first.back(); }
  [[nodiscard]] std::int32_t width(std::int32_t t) const { return first[t + 1] - first[t]; }
  [[nodiscard]] std::span<const TagId> bundle(std::int32_t state) const {
    const auto k = static_cast<std::size_t>(sides);
    return {tag.data() + static_cast<std::size_t>(state) * k, k};
  }
  bool operator==(const Lattice&) const = default;
};

/// The tags that one side allows at each position t: [first[t], first[t + 1]), ascending and distinct.
struct TagSets {
  std::vector<std::int32_t> first{0};  // [T + 1]
  std::vector<TagId> tag;

  [[nodiscard]] std::int32_t positions() const { return static_cast<std::int32_t>(first.size()) - 1; }
  [[nodiscard]] std::span<const TagId> at(std::int32_t t) const {
    return {tag.data() + first[t], static_cast<std::size_t>(first[t + 1] - first[t])};
  }
};

/// m: Ta × Tb → {0, 1}, the mapping between the tags of two sides (Eq. 7 of Li et al. 2017).
struct SideMapping {
  std::int32_t side_a = 0;
  std::int32_t side_b = 1;
  std::int32_t tags_b = 0;
  std::vector<std::uint8_t> allows;  // [Ta][Tb]

  [[nodiscard]] bool operator()(TagId a, TagId b) const {
    return allows[static_cast<std::size_t>(a) * tags_b + b] != 0;
  }
};

/// Which tag of a side may follow which (I@NN only follows B@NN or I@NN). The extra row L is the start of the
/// sentence, the extra column L its end. If empty, every tag may follow every other.
struct Succession {
  std::int32_t tags = 0;
  std::vector<std::uint8_t> allows;  // [L + 1][L + 1]

  [[nodiscard]] bool is_free() const { return allows.empty(); }
  [[nodiscard]] bool operator()(TagId before, TagId after) const {
    return is_free() || allows[static_cast<std::size_t>(before) * (tags + 1) + after] != 0;
  }
};

/// Throws std::invalid_argument unless the arrays keep the promises of the struct.
void check(const Lattice& lattice);
void check(const TagSets& sets);

/// Every bundle of `tags[0] × tags[1] × …` at each position.
[[nodiscard]] Lattice complete_lattice(std::int32_t positions, std::span<const std::int32_t> tags);

/// At each position, the product of the sides' candidates without the bundles that a mapping forbids.
[[nodiscard]] Lattice product_lattice(std::span<const TagSets> sides, std::span<const SideMapping> mappings);

/// The states whose tag on `side` is allowed; the limit may be a gold tag, a set of tags or a given boundary.
[[nodiscard]] Lattice restrict(const Lattice& lattice, std::int32_t side, const TagSets& allowed);

/// The states in both lattices, and those in at least one.
[[nodiscard]] Lattice intersect(const Lattice& a, const Lattice& b);
[[nodiscard]] Lattice unite(const Lattice& a, const Lattice& b);

/// The states that lie on a complete legal path; one succession per side.
[[nodiscard]] Lattice trim(const Lattice& lattice, std::span<const Succession> successions);

/// The number in `outer` of every state of `inner`; throws std::invalid_argument if one is missing there.
[[nodiscard]] std::vector<std::int32_t> locate(const Lattice& inner, const Lattice& outer);

}  // namespace duilian
