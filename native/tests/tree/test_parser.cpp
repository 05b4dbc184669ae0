// Compares the parser's k best trees and relations with enumeration. Weights are small whole numbers, so
// every sum of them is exact.
#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/tree/parser.hpp"
#include "random.hpp"
#include "tree/all_trees.hpp"

namespace {

using duilian::Heads;
using duilian::kUnknown;
using testing::Random;

/// A parser with random weights, and a short sentence that it has prepared.
struct Case {
  duilian::TreeData data{{duilian::Folding(), {}}, {}, {}, {}, {}, {}, {}};
  duilian::TreeParser parser;
  std::vector<float> weights;
  duilian::ParseWork work;

  Case(Random& random, std::int32_t order, std::int32_t words, std::int32_t relations,
       std::vector<std::uint8_t> of_roots = {})
      : parser({order, 8, 8, 8, relations, {0, duilian::kVerb, duilian::kMark}, std::move(of_roots)}) {
    std::vector<std::string> text;
    for (std::int32_t m = 0; m < words; ++m) text.emplace_back(random.chance(0.5) ? "书" : "看书");
    data.sentences.add(text, {});
    for (std::int32_t m = 0; m < words; ++m) data.tag.push_back(random.below(4));  // the last tag is unknown
    data.head.assign(text.size(), kUnknown);
    data.relation.assign(text.size(), kUnknown);
    for (std::int64_t k = 0; k < parser.shape().weights(); ++k)
      weights.push_back(static_cast<float>(random.below(7) - 3));
    parser.prepare(data, 0, work);
  }
  [[nodiscard]] std::int32_t words() const { return static_cast<std::int32_t>(data.tag.size()); }
};

[[nodiscard]] inline Heads random_tree(Random& random, std::int32_t words) {
  std::vector<Heads> trees;
  testing::for_each_tree(words, [&](const Heads& heads) { trees.push_back(heads); });
  return trees[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(trees.size())))];
}

TEST(k_best_trees_are_the_first_of_all_trees) {
  testing::for_each_seed(60, [](Random& random) {
    const std::int32_t order = 1 + random.below(3);
    Case made(random, order, 1 + random.below(4), 0);
    const auto side = static_cast<std::size_t>(made.words()) + 1;
    std::vector<std::uint8_t> allowed(side * side);
    for (auto& each : allowed) each = random.chance(0.8) ? 1 : 0;
    std::vector<double> all;
    testing::for_each_tree(made.words(), allowed, [&](const Heads& heads) {
      all.push_back(made.parser.tree_score(made.weights, heads, order, made.work));
    });
    std::sort(all.rbegin(), all.rend());
    for (const std::int32_t k : {1, 5, 1000}) {
      made.work.allowed = allowed;
      const auto found = duilian::k_best_trees(made.parser, made.weights, order, k, made.work);
      CHECK(found.size() == std::min(all.size(), static_cast<std::size_t>(k)));
      std::set<Heads> seen;
      for (std::size_t rank = 0; rank < found.size(); ++rank) {
        const Heads& heads = found[rank].heads;
        CHECK(testing::is_projective_tree(heads));
        CHECK(seen.insert(heads).second);
        CHECK(found[rank].score == all[rank]);
        CHECK(found[rank].score == made.parser.tree_score(made.weights, heads, order, made.work));
        for (std::size_t m = 1; m < side; ++m)
          CHECK(allowed[static_cast<std::size_t>(heads[m]) * side + m] != 0);
      }
    }
  });
}

TEST(k_best_trees_keep_given_heads) {
  testing::for_each_seed(40, [](Random& random) {
    const std::int32_t order = 1 + random.below(3);
    Case made(random, order, 2 + random.below(3), 0);
    const Heads tree = random_tree(random, made.words());
    const auto given = static_cast<std::size_t>(random.below(made.words()));
    made.data.head[given] = tree[given + 1];
    std::size_t all = 0;
    testing::for_each_tree(made.words(),
                           [&](const Heads& heads) { all += heads[given + 1] == tree[given + 1] ? 1U : 0U; });
    const std::vector<float> pruning(static_cast<std::size_t>(made.parser.shape().pruning_weights()), 0.0F);
    duilian::ParseOptions options;
    options.keeps_heads = true;
    const auto found = k_best_trees(made.parser, made.weights, pruning, made.data, 0, 1000, options);
    CHECK(found.size() == all);
    for (const auto& each : found) CHECK(each.heads[given + 1] == tree[given + 1]);
  });
}

/// Chains of relations by enumeration.
struct Chains {
  const duilian::RelationModel& model;
  const duilian::RelationTask& task;
  const std::vector<float>& weights;
  std::vector<std::uint8_t> of_roots = {};  // [relations]  whether only roots have it

  [[nodiscard]] bool allows(std::int32_t head, std::int32_t relation) const {
    return of_roots.empty() || (of_roots[static_cast<std::size_t>(relation)] != 0) == (head == 0);
  }
  [[nodiscard]] double score(std::int32_t head, const std::vector<std::int32_t>& relation) const {
    return model.chain_score(weights, task, head, relation);
  }
  /// Gives the word's dependents the best relations that agree with `known`; relations below stay unchanged.
  double choose(std::int32_t head, const std::vector<std::int32_t>& known,
                std::vector<std::int32_t>& relation) const {
    const std::vector<std::int32_t>& dependents = task.dependents[static_cast<std::size_t>(head)];
    std::vector<std::int32_t> tried = relation;
    double best = duilian::kNoTree;
    const std::function<void(std::size_t)> choose_from = [&](std::size_t k) {
      if (k == dependents.size()) {
        const double found = score(head, tried);
        if (found > best) best = found, relation = tried;
        return;
      }
      const auto m = static_cast<std::size_t>(dependents[k]);
      for (std::int32_t r = 0; r < model.size(); ++r) {
        if ((known[m] != kUnknown && known[m] != r) || !allows(head, r)) continue;
        tried[m] = r;
        choose_from(k + 1);
      }
    };
    choose_from(0);
    return best;
  }
};

template <class Check>
void for_each_labelled_case(const Check& check) {
  testing::for_each_seed(60, [&](Random& random) {
    Case made(random, 1 + random.below(3), 1 + random.below(4), 1 + random.below(3));
    const Heads tree = random_tree(random, made.words());
    const duilian::ParserShape& shape = made.parser.shape();
    const duilian::RelationTask task(tree, made.work.keys, made.work.nodes, shape.tag_class);
    const duilian::RelationModel model(shape.relations, shape.relation_bits, shape.tree_weights());
    check(random, made, tree, Chains{model, task, made.weights});
  });
}

TEST(relations_of_a_chain_are_the_best_given_those_below) {
  for_each_labelled_case([](Random&, Case& made, const Heads& tree, const Chains& chains) {
    const std::vector<std::int32_t> found = made.parser.label(made.weights, tree, made.work);
    const std::vector<std::int32_t> open(tree.size(), kUnknown);
    for (const std::int32_t head : chains.task.upwards) {
      std::vector<std::int32_t> other = found;
      CHECK(chains.score(head, found) == chains.choose(head, open, other));
    }
  });
}

TEST(root_relations_occur_only_at_roots) {
  std::int32_t different = 0;
  testing::for_each_seed(60, [&](Random& random) {
    const std::vector<std::uint8_t> of_roots =
        random.chance(0.5) ? std::vector<std::uint8_t>{1, 0, 0} : std::vector<std::uint8_t>{0, 1, 1, 0};
    const auto relations = static_cast<std::int32_t>(of_roots.size());
    Case made(random, 1, 1 + random.below(4), relations, of_roots);
    const Heads tree = random_tree(random, made.words());
    const duilian::ParserShape& shape = made.parser.shape();
    const duilian::RelationTask task(tree, made.work.keys, made.work.nodes, shape.tag_class);
    const duilian::RelationModel model(relations, shape.relation_bits, shape.tree_weights());
    const Chains chains{model, task, made.weights, of_roots};
    const std::vector<std::int32_t> found = made.parser.label(made.weights, tree, made.work);
    const std::vector<std::int32_t> open(tree.size(), kUnknown);
    for (const std::int32_t head : task.upwards) {
      for (const std::int32_t m : task.dependents[static_cast<std::size_t>(head)])
        CHECK(chains.allows(head, found[static_cast<std::size_t>(m)]));
      std::vector<std::int32_t> other = found;
      CHECK(chains.score(head, found) == chains.choose(head, open, other));
    }
    if (found != model.label(made.weights, task, made.work.relations)) ++different;
  });
  CHECK(different > 0);
}

TEST(relation_changes_lead_from_the_best_chains_to_the_known_ones) {
  for_each_labelled_case([](Random& random, Case& made, const Heads& tree, const Chains& chains) {
    std::vector<std::int32_t> known(tree.size(), kUnknown);
    for (std::size_t m = 1; m < known.size(); ++m)
      if (random.chance(0.7)) known[m] = random.below(chains.model.size());
    const std::vector<std::int32_t> open(tree.size(), kUnknown);
    std::vector<std::int32_t> gold = known;
    double wanted = 0.0;
    for (const std::int32_t head : chains.task.upwards) {
      const auto& dependents = chains.task.dependents[static_cast<std::size_t>(head)];
      const double with_known = chains.choose(head, known, gold);
      std::vector<std::int32_t> guess = gold;
      const bool has_known = std::any_of(dependents.begin(), dependents.end(),
                                         [&](std::int32_t m) { return known[m] != kUnknown; });
      if (has_known) wanted += with_known - chains.choose(head, open, guess);
    }
    std::vector<duilian::Delta> changes;
    const std::int32_t wrong =
        made.parser.list_relation_changes(made.weights, tree, known, made.work, changes);
    double total = 0.0;
    for (const duilian::Delta& each : changes)
      total += static_cast<double>(each.value * made.weights[each.weight]);
    CHECK(total == wanted);
    CHECK(wanted == 0.0 || wrong > 0);
  });
}

/// What a file of 8-bit weights contains: a bit for each weight that is not 0, and its index into a codebook.
struct Packed {
  std::vector<std::uint8_t> used, place;
  std::vector<float> code;

  explicit Packed(const std::vector<float>& weights) : used((weights.size() + 7) / 8, 0), code(256, 3.0F) {
    for (std::size_t k = 0; k < 7; ++k) code[k] = static_cast<float>(k) - 3.0F;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] == 0.0F) continue;
      used[k / 8] = static_cast<std::uint8_t>(used[k / 8] | (0x80U >> (k % 8)));
      place.push_back(static_cast<std::uint8_t>(weights[k] + 3.0F));
    }
  }
  [[nodiscard]] auto decode(std::size_t trees, std::size_t size) const {
    return duilian::CodedWeights::decode(used, place, code, trees, size);
  }
};

TEST(weights_of_8_bits_answer_like_floats) {
  testing::for_each_seed(60, [](Random& random) {
    Case made(random, 1 + random.below(3), 1 + random.below(6), 1 + random.below(5));
    const auto trees = static_cast<std::size_t>(made.parser.shape().tree_weights());
    const auto coded = Packed(made.weights).decode(trees, made.weights.size());
    CHECK(coded.has_value());
    CHECK(coded->dense() == made.weights);
    const std::vector<float> pruning(static_cast<std::size_t>(made.parser.shape().pruning_weights()), 0.5F);
    const auto plain = duilian::parse(made.parser, made.weights, pruning, made.data, {}, 1);
    const auto found = duilian::parse(made.parser, *coded, pruning, made.data, {}, 1);
    CHECK(found.head == plain.head);
    CHECK(found.relation == plain.relation);
    CHECK(found.score == plain.score);
  });
}

TEST(inconsistent_weights_of_8_bits_are_refused) {
  Random random(1);
  const Case made(random, 2, 3, 4);
  const auto trees = static_cast<std::size_t>(made.parser.shape().tree_weights());
  const std::size_t size = made.weights.size();
  Packed packed(made.weights);
  CHECK_THROWS(packed.decode(trees, size + 8), std::invalid_argument);
  CHECK_THROWS(packed.decode(size + 1, size), std::invalid_argument);
  packed.place.pop_back();
  CHECK_THROWS(packed.decode(trees, size), std::invalid_argument);
  packed.place.push_back(1);
  for (std::size_t k = 0; k < 256; ++k) packed.place[k] = static_cast<std::uint8_t>(k);
  CHECK(!packed.decode(trees, size).has_value());  // there is no room for 0
  packed.code.pop_back();
  CHECK_THROWS(packed.decode(trees, size), std::invalid_argument);
}

}  // namespace
