// Compares set operations on lattices with std::set, and trimming with all paths, on small random cases.
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/lattice/lattice.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using Bundle = std::vector<TagId>;
using Column = std::set<Bundle>;
using Columns = std::vector<Column>;

constexpr std::int64_t kCases = 400;

[[nodiscard]] Bundle bundle_of(const Lattice& x, std::int32_t state) {
  const auto bundle = x.bundle(state);
  return {bundle.begin(), bundle.end()};
}

[[nodiscard]] Columns columns_of(const Lattice& x) {
  Columns out(static_cast<std::size_t>(x.positions()));
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) out[t].insert(bundle_of(x, s));
  }
  return out;
}

/// The only lattice with these columns: sets are in lexicographic order, as lattices are.
[[nodiscard]] Lattice lattice_of(const Columns& columns, std::int32_t sides) {
  Lattice out;
  out.sides = sides;
  for (const Column& column : columns) {
    for (const Bundle& bundle : column) out.tag.insert(out.tag.end(), bundle.begin(), bundle.end());
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()) / sides);
  }
  return out;
}

[[nodiscard]] bool is_in(TagId tag, std::span<const TagId> tags) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

[[nodiscard]] Columns product_by_sets(std::span<const TagSets> sides, std::span<const SideMapping> mappings) {
  Columns out;
  for (std::int32_t t = 0; t < sides[0].positions(); ++t) {
    Column column = {Bundle{}};
    for (const TagSets& side : sides) {
      Column longer;
      for (const Bundle& begun : column) {
        for (const TagId tag : side.at(t)) {
          Bundle bundle = begun;
          bundle.push_back(tag);
          longer.insert(bundle);
        }
      }
      column = longer;
    }
    std::erase_if(column, [&](const Bundle& bundle) {
      return std::any_of(mappings.begin(), mappings.end(), [&](const SideMapping& m) {
        return m.allows[static_cast<std::size_t>(bundle[m.side_a] * m.tags_b + bundle[m.side_b])] == 0;
      });
    });
    out.push_back(column);
  }
  return out;
}

[[nodiscard]] SideMapping random_mapping(testing::Random& random, const std::vector<std::int32_t>& tags) {
  const auto sides = static_cast<std::int32_t>(tags.size());
  SideMapping m{random.below(sides), random.below(sides), 0, {}};
  m.tags_b = tags[m.side_b];
  for (std::int32_t n = tags[m.side_a] * m.tags_b; n > 0; --n) m.allows.push_back(random.chance(0.6) ? 1 : 0);
  return m;
}

/// Whether every step of the path, including start and stop, is legal on every side.
[[nodiscard]] bool is_legal(const Lattice& x, const std::vector<std::int32_t>& path,
                            const std::vector<Succession>& rules) {
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (rules[k].allows.empty()) continue;
    TagId before = rules[k].tags;
    for (std::size_t n = 0; n <= path.size(); ++n) {
      const TagId after = n < path.size() ? x.bundle(path[n])[k] : rules[k].tags;
      if (rules[k].allows[static_cast<std::size_t>(before * (rules[k].tags + 1) + after)] == 0) return false;
      before = after;
    }
  }
  return true;
}

[[nodiscard]] Columns trim_by_paths(const Lattice& x, const std::vector<Succession>& rules) {
  Columns out(static_cast<std::size_t>(x.positions()));
  testing::for_each_path(x, [&](const std::vector<std::int32_t>& path) {
    if (!is_legal(x, path, rules)) return;
    for (std::size_t t = 0; t < path.size(); ++t) out[t].insert(bundle_of(x, path[t]));
  });
  return out;
}

/// Two lattices of the same shape.
struct Pair {
  Lattice a;
  Lattice b;
};

[[nodiscard]] Pair random_pair(testing::Random& random) {
  const auto tags = testing::random_sides(random, 4);
  const std::int32_t positions = random.below(6);
  const double density = random.real(0.0, 1.0);
  Lattice a = testing::random_lattice(random, positions, tags, density, false);
  return {std::move(a), testing::random_lattice(random, positions, tags, density, false)};
}

}  // namespace

TEST(complete_lattices_have_every_bundle_in_order) {
  const std::int32_t tags[] = {2, 3};
  const Lattice x = complete_lattice(2, tags);
  check(x);
  CHECK(x.first == std::vector<std::int32_t>{0, 6, 12});
  CHECK(std::vector<TagId>(x.tag.begin(), x.tag.begin() + 12) ==
        std::vector<TagId>{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2});
  CHECK(complete_lattice(0, tags).positions() == 0);
  const std::int32_t none[] = {2, 0};
  CHECK(complete_lattice(3, none).first == std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK_THROWS(complete_lattice(-1, tags), std::invalid_argument);
  CHECK_THROWS(complete_lattice(1, {}), std::invalid_argument);
}

TEST(products_equal_products_of_sets) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto tags = testing::random_sides(random, 4);
    const std::int32_t positions = random.below(5);
    std::vector<TagSets> sides;
    for (const std::int32_t count : tags) {
      sides.push_back(testing::random_tag_sets(random, positions, count, 0.6, false));
    }
    std::vector<SideMapping> mappings;
    for (std::int32_t n = random.below(3); n > 0; --n) mappings.push_back(random_mapping(random, tags));
    const Lattice found = product_lattice(sides, mappings);
    check(found);
    CHECK(found == lattice_of(product_by_sets(sides, mappings), static_cast<std::int32_t>(tags.size())));
  });
}

TEST(restriction_keeps_the_allowed_states) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto tags = testing::random_sides(random, 4);
    const Lattice x = testing::random_lattice(random, random.below(6), tags, 0.6, false);
    const std::int32_t side = random.below(x.sides);
    const TagSets allowed = testing::random_tag_sets(random, x.positions(), tags[side], 0.5, false);
    Columns wanted = columns_of(x);
    for (std::int32_t t = 0; t < x.positions(); ++t) {
      std::erase_if(wanted[t], [&](const Bundle& bundle) { return !is_in(bundle[side], allowed.at(t)); });
    }
    const Lattice found = restrict(x, side, allowed);
    check(found);
    CHECK(found == lattice_of(wanted, x.sides));
  });
}

TEST(intersection_and_union_are_those_of_sets) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto [a, b] = random_pair(random);
    const Columns in_a = columns_of(a);
    const Columns in_b = columns_of(b);
    Columns both = in_a;
    Columns either = in_a;
    for (std::size_t t = 0; t < in_a.size(); ++t) {
      std::erase_if(both[t], [&](const Bundle& bundle) { return !in_b[t].contains(bundle); });
      either[t].insert(in_b[t].begin(), in_b[t].end());
    }
    CHECK(intersect(a, b) == lattice_of(both, a.sides));
    CHECK(unite(a, b) == lattice_of(either, a.sides));
    check(intersect(a, b));
    check(unite(a, b));
  });
}

TEST(intersection_and_union_obey_their_laws) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto [a, b] = random_pair(random);
    CHECK(intersect(a, a) == a);
    CHECK(unite(a, a) == a);
    CHECK(intersect(a, b) == intersect(b, a));
    CHECK(unite(a, b) == unite(b, a));
    CHECK(unite(a, intersect(a, b)) == a);
    CHECK(intersect(a, unite(a, b)) == a);
  });
}

TEST(trimming_leaves_the_states_of_legal_paths) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto tags = testing::random_sides(random, 3);
    const Lattice x =
        testing::random_lattice(random, random.below(5), tags, random.real(0.1, 0.5), random.chance(0.8));
    const auto rules = testing::random_successions(random, tags, random.real(0.4, 1.2));
    const Lattice found = trim(x, rules);
    check(found);
    CHECK(found == lattice_of(trim_by_paths(x, rules), x.sides));
    CHECK(trim(found, rules) == found);
  });
}

TEST(trimming_one_position_considers_start_and_stop) {
  const std::int32_t tags[] = {3};
  Succession rules{3, std::vector<std::uint8_t>(16, 1)};
  rules.allows[3 * 4 + 0] = 0;  // 0 may not start
  rules.allows[1 * 4 + 3] = 0;  // 1 may not end
  CHECK(trim(complete_lattice(1, tags), std::vector{rules}).tag == std::vector<TagId>{2});
}

TEST(locate_finds_every_state) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    const auto [a, b] = random_pair(random);
    const Lattice outer = unite(a, b);
    const auto found = locate(a, outer);
    CHECK(found.size() == static_cast<std::size_t>(a.states()));
    for (std::int32_t t = 0; t < a.positions(); ++t) {
      for (std::int32_t s = a.first[t]; s < a.first[t + 1]; ++s) {
        CHECK(found[s] >= outer.first[t] && found[s] < outer.first[t + 1]);
        CHECK(bundle_of(outer, found[s]) == bundle_of(a, s));
      }
    }
    if (!(outer == a)) CHECK_THROWS(locate(outer, a), std::invalid_argument);
  });
}

TEST(bad_lattices_are_refused) {
  const Lattice good{2, {0, 2, 3}, {0, 1, 1, 0, 5, 5}};
  check(good);
  check(Lattice{});
  const Lattice bad[] = {
      {0, {0}, {}},                        // no side
      {1, {}, {}},                         // no offsets
      {1, {1, 2}, {0, 1}},                 // not from 0
      {1, {0, 2, 1}, {0, 1}},              // not ascending
      {1, {0, 2}, {0}},                    // too few tags
      {2, {0, 1}, {0, 1, 2}},              // too many
      {1, {0, 1}, {-1}},                   // negative
      {1, {0, 2}, {1, 0}},                 // out of order
      {1, {0, 2}, {1, 1}},                 // twice
      {2, {0, 2}, {1, 0, 0, 5}},           // out of order on the first side
      {2, {0, 1, 3}, {9, 9, 0, 3, 0, 3}},  // twice at a later position
  };
  for (const Lattice& x : bad) CHECK_THROWS(check(x), std::invalid_argument);
  CHECK_THROWS_WITH(check(bad[10]), std::invalid_argument, "the bundles of position 1");
}

TEST(bad_tag_sets_are_refused) {
  check(TagSets{});
  check(TagSets{{0, 2, 2, 3}, {0, 4, 0}});
  const TagSets bad[] = {{{}, {}},         {{1, 1}, {0}},    {{0, 2, 1}, {0, 1}}, {{0, 2}, {0}},
                         {{0, 2}, {1, 0}}, {{0, 2}, {1, 1}}, {{0, 1}, {-1}}};
  for (const TagSets& sets : bad) CHECK_THROWS(check(sets), std::invalid_argument);
}

TEST(mismatched_lattices_are_refused) {
  const std::int32_t one[] = {2};
  const std::int32_t two[] = {2, 2};
  const Lattice x = complete_lattice(2, one);
  for (const Lattice& other : {complete_lattice(3, one), complete_lattice(2, two)}) {
    CHECK_THROWS(intersect(x, other), std::invalid_argument);
    CHECK_THROWS(unite(x, other), std::invalid_argument);
    CHECK_THROWS(locate(x, other), std::invalid_argument);
  }
  const TagSets sets{{0, 1, 2}, {0, 1}};
  CHECK_THROWS(restrict(x, 1, sets), std::invalid_argument);
  CHECK_THROWS(restrict(x, -1, sets), std::invalid_argument);
  CHECK_THROWS(restrict(x, 0, TagSets{{0, 1}, {0}}), std::invalid_argument);
  CHECK_THROWS(trim(x, {}), std::invalid_argument);
  CHECK_THROWS(trim(x, std::vector{Succession{2, {1, 1}}}), std::invalid_argument);
  CHECK_THROWS(trim(x, std::vector{Succession{1, {1, 1, 1, 1}}}), std::invalid_argument);
}

TEST(bad_products_are_refused) {
  const std::vector<TagSets> sides = {{{0, 1}, {1}}, {{0, 1}, {2}}};
  const auto product = [&](const SideMapping& m) { return product_lattice(sides, std::vector{m}); };
  CHECK(product({0, 1, 3, std::vector<std::uint8_t>(6, 1)}).states() == 1);
  CHECK_THROWS(product({0, 2, 3, std::vector<std::uint8_t>(6, 1)}), std::invalid_argument);
  CHECK_THROWS(product({-1, 1, 3, std::vector<std::uint8_t>(6, 1)}), std::invalid_argument);
  CHECK_THROWS(product({0, 1, 2, std::vector<std::uint8_t>(6, 1)}), std::invalid_argument);
  CHECK_THROWS(product({0, 1, 3, std::vector<std::uint8_t>(3, 1)}), std::invalid_argument);
  CHECK_THROWS(product({0, 1, 0, {}}), std::invalid_argument);
  CHECK_THROWS(product_lattice({}, {}), std::invalid_argument);
  const std::vector<TagSets> uneven = {{{0, 1}, {1}}, {{0, 0, 1}, {2}}};
  CHECK_THROWS(product_lattice(uneven, {}), std::invalid_argument);
}
