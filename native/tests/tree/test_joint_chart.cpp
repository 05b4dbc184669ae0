// Compares the joint search for tags and tree with all taggings of all projective trees of a few words.
#include <functional>
#include <set>
#include <vector>

#include "check.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/tree/joint_chart.hpp"
#include "random.hpp"
#include "tree/all_trees.hpp"

namespace {

using duilian::kNobody;
using testing::Random;

/// Pseudo-random scores that depend only on the part.
struct HashedParts {
  std::uint64_t seed = 0;

  [[nodiscard]] double value(std::uint64_t kind, std::initializer_list<std::int32_t> nodes) const {
    std::uint64_t key = duilian::mix(seed, kind);
    for (const std::int32_t node : nodes) key = duilian::mix(key, static_cast<std::uint64_t>(node + 7));
    return static_cast<double>(duilian::mix(key, 5) >> 40U) * 0x1p-23 - 1.0;
  }
  [[nodiscard]] double tag(std::int32_t b) const { return value(1, {b}); }
  [[nodiscard]] double tag_pair(std::int32_t a, std::int32_t b) const { return value(2, {a, b}); }
  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const { return value(3, {h, m}); }
  [[nodiscard]] double sibling(std::int32_t h, std::int32_t s, std::int32_t m) const {
    return value(4, {h, s, m});
  }
  [[nodiscard]] double grandparent(std::int32_t g, std::int32_t h, std::int32_t m) const {
    return value(5, {g, h, m});
  }
  [[nodiscard]] double grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) const {
    return value(6, {g, h, s, m});
  }
};

/// The score of a tagged tree, part by part.
[[nodiscard]] inline double score_of(const HashedParts& parts, const duilian::Heads& heads,
                                     const std::vector<std::int32_t>& nodes, int order) {
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  double total = 0.0;
  for (std::int32_t m = 1; m <= n; ++m)
    total +=
        parts.tag(nodes[m]) + parts.tag_pair(nodes[m - 1], nodes[m]) + parts.arc(nodes[heads[m]], nodes[m]);
  for (std::int32_t h = 0; h <= n && order > 1; ++h) {
    for (const std::int32_t step : {-1, 1}) {
      std::int32_t inner = kNobody;
      const auto add = [&](std::int32_t m) {
        total += parts.sibling(nodes[h], inner, m);
        if (h != 0 && m != kNobody) total += parts.grandparent(nodes[heads[h]], nodes[h], m);
        if (h != 0 && order > 2) total += parts.grand_sibling(nodes[heads[h]], nodes[h], inner, m);
        inner = m;
      };
      for (std::int32_t m = h + step; m >= 1 && m <= n; m += step)
        if (heads[m] == h) add(nodes[m]);
      if (inner != kNobody) add(kNobody);
    }
  }
  return total;
}

struct Case {
  duilian::NodeSet nodes;
  std::vector<std::uint8_t> allowed;  // [n + 1][n + 1] words

  Case(Random& random, std::int32_t words, std::int32_t max_tags, double density) {
    nodes.reset();
    for (std::int32_t m = 1; m <= words; ++m) nodes.add_word(1 + random.below(max_tags));
    const auto side = static_cast<std::size_t>(words) + 1;
    for (std::size_t k = 0; k < side * side; ++k) allowed.push_back(random.chance(density) ? 1 : 0);
  }
  [[nodiscard]] bool has(std::int32_t h, std::int32_t m) const {
    return allowed[static_cast<std::size_t>(h) * static_cast<std::size_t>(nodes.words() + 1) +
                   static_cast<std::size_t>(m)] != 0;
  }
  [[nodiscard]] duilian::ArcSet arcs() const {
    duilian::ArcSet found;
    duilian::allow_nodes(nodes, allowed, {}, found);
    return found;
  }
};

/// The best score among all allowed tagged trees.
[[nodiscard]] inline double best_of_all(const Case& made, const HashedParts& parts, int order) {
  const std::int32_t n = made.nodes.words();
  double best = duilian::kNoTree;
  duilian::Heads heads;
  std::vector<std::int32_t> nodes(static_cast<std::size_t>(n) + 1, 0);
  const std::function<void(std::int32_t)> choose_tag = [&](std::int32_t m) {
    if (m > n) {
      best = std::max(best, score_of(parts, heads, nodes, order));
      return;
    }
    for (nodes[m] = made.nodes.first[m]; nodes[m] < made.nodes.first[m + 1]; ++nodes[m]) choose_tag(m + 1);
  };
  testing::for_each_tree(n, made.allowed, [&](const duilian::Heads& tree) {
    heads = tree;
    choose_tag(1);
  });
  return best;
}

template <int kOrder>
void check_order(Random& random, double density) {
  const Case made(random, 1 + random.below(4), 3, density);
  HashedParts parts{random.bits()};
  duilian::JointWork work;
  const duilian::ArcSet arcs = made.arcs();
  const duilian::TaggedTree found = duilian::best_tagged_tree<kOrder>(parts, made.nodes, arcs, work);
  CHECK_NEAR(found.score, best_of_all(made, parts, kOrder), 1e-9);
  if (found.heads.empty()) return;
  CHECK(testing::is_projective_tree(found.heads));
  CHECK_NEAR(found.score, score_of(parts, found.heads, found.nodes, kOrder), 1e-9);
  for (std::int32_t m = 1; m <= made.nodes.words(); ++m) {
    CHECK(made.has(found.heads[m], m));
    CHECK(made.nodes.word[found.nodes[m]] == m);
  }
}

TEST(a_joint_search_equals_enumeration) {
  testing::for_each_seed(150, [](Random& random) {
    check_order<1>(random, 1.0);
    check_order<2>(random, 1.0);
    check_order<3>(random, 1.0);
  });
}

TEST(a_joint_search_over_fewer_arcs_equals_enumeration_over_them) {
  testing::for_each_seed(150, [](Random& random) {
    check_order<1>(random, 0.6);
    check_order<2>(random, 0.6);
    check_order<3>(random, 0.6);
  });
}

/// The scores of trees without tags.
struct NoTags : HashedParts {
  [[nodiscard]] double tag(std::int32_t) const { return 0.0; }
  [[nodiscard]] double tag_pair(std::int32_t, std::int32_t) const { return 0.0; }
};

TEST(with_one_tag_per_word_it_equals_the_search_for_trees) {
  testing::for_each_seed(100, [](Random& random) {
    const Case made(random, 1 + random.below(9), 1, 0.8);
    NoTags parts{{random.bits()}};
    duilian::JointWork work;
    duilian::GrandWork tree_work;
    const duilian::ArcSet arcs = made.arcs();
    duilian::ArcSet words;
    words.reset(made.nodes.words(), made.allowed);
    const auto tagged = duilian::best_tagged_tree<2>(parts, made.nodes, arcs, work);
    const auto tree = duilian::best_grand_tree<false>(parts, words, tree_work);
    CHECK_NEAR(tagged.score, tree.score, 1e-9);
    CHECK(tagged.heads == tree.heads);
    const auto tagged_3 = duilian::best_tagged_tree<3>(parts, made.nodes, arcs, work);
    const auto tree_3 = duilian::best_grand_tree<true>(parts, words, tree_work);
    CHECK_NEAR(tagged_3.score, tree_3.score, 1e-9);
    CHECK(tagged_3.heads == tree_3.heads);
  });
}

}  // namespace
