// Tests pruning by context, decoding and the numbering of bundles, step by step.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/coupled/space.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

[[nodiscard]] TagSets sets(const std::vector<std::vector<TagId>>& labels) {
  TagSets out;
  for (const auto& each : labels) {
    out.tag.insert(out.tag.end(), each.begin(), each.end());
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
  return out;
}

[[nodiscard]] bool operator==(const TagSets& a, const TagSets& b) {
  return a.first == b.first && a.tag == b.tag;
}

/// Calls visit(places) for every choice of one candidate per position, as indices into all candidates.
template <class Visit>
void for_each_choice(const TagSets& candidates, const Visit& visit) {
  testing::for_each_path(Lattice{1, candidates.first, candidates.tag}, visit);
}

[[nodiscard]] bool is_legal(const Succession& rules, const TagSets& candidates,
                            const std::vector<std::int32_t>& path) {
  for (std::size_t t = 0; t <= path.size(); ++t) {
    const TagId before = t == 0 ? rules.tags : candidates.tag[path[t - 1]];
    const TagId after = t == path.size() ? rules.tags : candidates.tag[path[t]];
    if (!rules(before, after)) return false;
  }
  return true;
}

}  // namespace

TEST(labels_are_chosen_as_in_the_paper) {
  const std::vector<double> p = {0.1, 0.4, 0.05, 0.4, 0.05};
  PruningWorkspace scratch;
  const auto chosen = [&](Pruning pruning) {
    std::vector<TagId> out = {99};  // existing labels stay
    choose_labels(p, pruning, scratch, out);
    CHECK(out[0] == 99);
    return std::vector<TagId>(out.begin() + 1, out.end());
  };
  CHECK(chosen({1, 1.0}) == std::vector<TagId>{1});  // the lower of two equals
  CHECK(chosen({9, 0.39}) == std::vector<TagId>{1});
  CHECK(chosen({9, 0.41}) == std::vector<TagId>{1, 3});
  CHECK(chosen({9, 0.85}) == std::vector<TagId>{0, 1, 3});
  CHECK(chosen({2, 0.85}) == std::vector<TagId>{1, 3});
  CHECK(chosen({9, 0.92}) == std::vector<TagId>{0, 1, 2, 3});
  CHECK(chosen({5, 1.0}) == std::vector<TagId>{0, 1, 2, 3, 4});
  CHECK(chosen({4, 1.0}) == std::vector<TagId>{0, 1, 2, 3});
}

TEST(trimming_leaves_candidates_on_legal_paths) {
  testing::for_each_seed(200, [](testing::Random& random) {
    std::int32_t labels = 0;
    const auto kind = static_cast<testing::RuleKind>(random.below(testing::kRuleKinds));
    const Succession rules = testing::random_rules(random, kind, labels);
    const TagSets all = testing::random_tag_sets(random, 1 + random.below(3), labels, 0.3, true);
    std::vector<std::uint8_t> stands(all.tag.size(), 0);
    bool is_there = false;
    for_each_choice(all, [&](const std::vector<std::int32_t>& path) {
      if (!rules.is_free() && !is_legal(rules, all, path)) return;
      is_there = true;
      for (const std::int32_t k : path) stands[k] = 1;
    });
    TagSets left = all;
    std::vector<std::uint8_t> keep;
    std::vector<double> p(all.tag.size());
    std::iota(p.begin(), p.end(), 0.0);
    CHECK(trim_candidates(rules, keep, left, &p) == is_there);
    if (!is_there) CHECK(left == all);
    if (!is_there) return;
    std::vector<double> wanted_p;
    for (std::size_t k = 0; k < stands.size(); ++k) {
      if (rules.is_free() || stands[k] != 0) wanted_p.push_back(static_cast<double>(k));
    }
    CHECK(p == wanted_p);
    std::vector<std::vector<TagId>> wanted(static_cast<std::size_t>(all.positions()));
    for (std::int32_t t = 0; t < all.positions(); ++t) {
      for (std::int32_t k = all.first[t]; k < all.first[t + 1]; ++k) {
        if (stands[k] != 0) wanted[t].push_back(all.tag[k]);
      }
    }
    CHECK(left == sets(wanted));
  });
}

TEST(labels_are_added_in_order) {
  TagSets found = sets({{1, 3}, {}, {2}, {0, 4}});
  add_labels(std::vector<std::int32_t>{2, 5, 2, -1}, found);
  CHECK(found == sets({{1, 2, 3}, {5}, {2}, {0, 4}}));
}

TEST(the_best_places_have_the_highest_sum) {
  testing::for_each_seed(200, [](testing::Random& random) {
    const bool is_bound = random.chance(0.7);
    const Succession rules = is_bound ? testing::boundary_rules(2, random.chance(0.5)) : Succession{};
    const TagSets candidates = testing::random_tag_sets(random, 1 + random.below(4), 8, 0.4, true);
    std::vector<double> p;
    for (std::size_t k = 0; k < candidates.tag.size(); ++k) p.push_back(random.real(0.0, 1.0));
    double highest = -1.0;
    const auto sum_of = [&](const std::vector<std::int32_t>& path) {
      return std::accumulate(path.begin(), path.end(), 0.0,
                             [&](double a, std::int32_t k) { return a + p[k]; });
    };
    for_each_choice(candidates, [&](const std::vector<std::int32_t>& path) {
      if (!is_bound || is_legal(rules, candidates, path)) highest = std::max(highest, sum_of(path));
    });
    std::vector<std::int32_t> places;
    if (highest < 0.0) {
      CHECK_THROWS(best_places(rules, candidates, p, places), std::invalid_argument);
      return;
    }
    best_places(rules, candidates, p, places);
    for (std::size_t t = 0; t < places.size(); ++t) places[t] += candidates.first[t];
    CHECK(!is_bound || is_legal(rules, candidates, places));
    CHECK_NEAR(sum_of(places), highest, 1e-12);
  });
}

TEST(bundles_are_numbered_exactly) {
  testing::for_each_seed(50, [](testing::Random& random) {
    const auto tags = testing::random_sides(random, 12);
    BundleIndex index(tags);
    std::map<std::vector<TagId>, std::int32_t> known;
    for (int n = 0; n < 200; ++n) {
      std::vector<TagId> bundle;
      for (const std::int32_t count : tags) bundle.push_back(random.below(count));
      CHECK(index.find(bundle) == (known.contains(bundle) ? known[bundle] : -1));
      if (random.chance(0.5)) continue;
      const auto id = known.try_emplace(bundle, static_cast<std::int32_t>(known.size())).first->second;
      CHECK(index.insert(bundle) == id);
      CHECK(std::equal(bundle.begin(), bundle.end(),
                       index.bundles().begin() + id * static_cast<int>(tags.size())));
    }
    CHECK(index.size() == static_cast<std::int32_t>(known.size()));
  });
}

TEST(bundles_of_huge_tag_sets_stay_distinct) {
  const std::vector<std::int32_t> tags = {0x7FFFFFFF, 0x7FFFFFFF, 4};
  BundleIndex index(tags);
  const std::vector<std::vector<TagId>> corners = {
      {0, 0, 0}, {0x7FFFFFFE, 0, 0}, {0, 1, 0}, {0x7FFFFFFE, 0x7FFFFFFE, 3}, {0, 0, 1}};
  for (std::size_t n = 0; n < corners.size(); ++n)
    CHECK(index.insert(corners[n]) == static_cast<std::int32_t>(n));
  for (std::size_t n = 0; n < corners.size(); ++n)
    CHECK(index.find(corners[n]) == static_cast<std::int32_t>(n));
  const std::vector<std::int32_t> too_many = {0x7FFFFFFF, 0x7FFFFFFF, 5};
  CHECK_THROWS(BundleIndex(too_many), std::invalid_argument);
}

TEST(probabilities_in_a_list_are_sums_over_its_paths) {
  testing::for_each_seed(200, [](testing::Random& random) {
    std::int32_t labels = 0;
    const auto kind = static_cast<testing::RuleKind>(random.below(testing::kRuleKinds));
    const Succession rules = testing::random_rules(random, kind, labels);
    Shortlist list;
    list.labels = testing::random_tag_sets(random, 1 + random.below(4), labels, 0.4, true);
    for (std::size_t k = 0; k < list.labels.tag.size(); ++k)
      list.strength.push_back(static_cast<float>(random.real(0.01, 1.0)));
    const auto edge = static_cast<std::size_t>(labels) + 1;
    std::vector<float> between;
    for (std::size_t k = 0; k < edge * edge; ++k) {
      const auto i = static_cast<TagId>(k / edge);
      const auto j = static_cast<TagId>(k % edge);
      between.push_back(rules.is_free() || rules(i, j) ? static_cast<float>(random.real(0.01, 1.0)) : 0.0F);
    }
    std::vector<double> wanted(list.labels.tag.size(), 0.0);
    double total = 0.0;
    for_each_choice(list.labels, [&](const std::vector<std::int32_t>& path) {
      double p = 1.0;
      for (std::size_t t = 0; t <= path.size(); ++t) {
        const TagId before = t == 0 ? labels : list.labels.tag[path[t - 1]];
        const TagId after = t == path.size() ? labels : list.labels.tag[path[t]];
        p *= between[static_cast<std::size_t>(before) * edge + static_cast<std::size_t>(after)];
        if (t < path.size()) p *= list.strength[path[t]];
      }
      total += p;
      for (const std::int32_t k : path) wanted[k] += p;
    });
    TagSets found;
    std::vector<double> p;
    PruningWorkspace work;
    if (total == 0.0) return;
    CHECK(choose_from(list, labels, between, {1000, 1.0}, work, found, p));
    CHECK(found == list.labels);
    for (std::size_t k = 0; k < p.size(); ++k) CHECK_NEAR(p[k], wanted[k] / total, 1e-5);
  });
}
