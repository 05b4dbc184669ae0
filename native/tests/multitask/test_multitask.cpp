// Compares the loose mapping with its definition: scores, best paths among all paths, steps, and the compiled
// tagger; and bad arguments.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/multitask/predictor.hpp"
#include "duilian/multitask/training.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using Labels = std::vector<std::int32_t>;
constexpr std::array<std::int32_t, kSides> kTagsOf{1, 2};
constexpr std::int32_t kRows = 3;

[[nodiscard]] std::int32_t labels_of(std::size_t side) { return 4 * kTagsOf[side]; }

[[nodiscard]] LabelMap random_map(testing::Random& random, std::int32_t from, std::int32_t to, bool is_mean) {
  LabelMap out;
  out.is_mean = is_mean;
  for (std::int32_t y = 0; y < from; ++y) {
    for (std::int32_t z = 0; z < to; ++z) {
      if (random.chance(0.35)) out.to.push_back(z);
    }
    out.first.push_back(static_cast<std::int32_t>(out.to.size()));
  }
  return out;
}

/// Two sides, four sentences, random weights.
struct Case {
  Case(testing::Random& random, Expansion how, bool is_mean)
      : map{random_map(random, labels_of(0), labels_of(1), is_mean), {}} {
    map[1] = turn(map[0], labels_of(1));
    TaggingData all;
    for (std::int32_t k = 0; k < 4; ++k) add_sentence(random, static_cast<std::size_t>(k % 2), all);
    for (std::size_t side = 0; side < kSides; ++side) {
      TaggingData own = all;
      for (std::size_t u = 0; u < own.label.size(); ++u)
        own.label[u] = data.side[sentence_of[u]] == static_cast<std::int32_t>(side) ? data.label[u] : -1;
      layout[side] = lay_out_tagger(labels_of(side), testing::boundary_rules(kTagsOf[side], false), kRows,
                                    own, 1 + random.below(2));
    }
    data.features = all.features;
    training.emplace(layout, map, how, data);
    weights.resize(static_cast<std::size_t>(training->weights()));
    for (float& w : weights) w = static_cast<float>(random.real(-1.0, 1.0));
  }

  void add_sentence(testing::Random& random, std::size_t side, TaggingData& all) {
    const Succession rules = testing::boundary_rules(kTagsOf[side], false);
    const std::int32_t length = 1 + random.below(3);
    std::int32_t before = labels_of(side);
    for (std::int32_t t = 0; t < length; ++t) {
      std::int32_t next = 0;
      do next = random.below(labels_of(side));
      while (!rules(before, next) || (t + 1 == length && !rules(next, labels_of(side))));
      data.label.push_back(before = next);
      all.label.push_back(next);
      all.features.value.push_back(static_cast<std::uint32_t>(random.below(kRows)));
      all.features.first.push_back(static_cast<std::int64_t>(all.features.value.size()));
      sentence_of.push_back(data.side.size());
    }
    data.side.push_back(static_cast<std::int32_t>(side));
    data.first.push_back(static_cast<std::int64_t>(data.label.size()));
    all.first = data.first;
  }

  [[nodiscard]] double state(std::size_t side, std::int64_t unit, std::int32_t label) const {
    double sum = 0.0;
    for (std::int64_t f = data.features.first[unit]; f < data.features.first[unit + 1]; ++f) {
      const std::int64_t k = layout[side].find(data.features.value[f], label);
      if (k >= 0) sum += weights[static_cast<std::size_t>(training->state_offset(side) + k)];
    }
    return sum;
  }
  [[nodiscard]] double between(std::size_t side, std::int32_t a, std::int32_t b) const {
    if (!layout[side].rules(a, b)) return 0.0;
    return weights[static_cast<std::size_t>(training->transition_offset(side) + a * (labels_of(side) + 1) +
                                            b)];
  }
  /// Eq. 6, label by label: the score of a path whose labels count as these of the other side, [T][...].
  [[nodiscard]] double score(std::size_t side, std::int64_t begin, const Labels& path,
                             const std::vector<Labels>& partners) const {
    const Labels edges{labels_of(side), labels_of(1 - side)};
    double sum = 0.0;
    for (std::size_t t = 0; t <= path.size(); ++t) {
      const std::int64_t unit = begin + static_cast<std::int64_t>(t);
      const std::int32_t before = t == 0 ? edges[0] : path[t - 1];
      const std::int32_t after = t == path.size() ? edges[0] : path[t];
      const Labels left = t == 0 ? Labels{edges[1]} : partners[t - 1];
      const Labels right = t == path.size() ? Labels{edges[1]} : partners[t];
      sum += between(side, before, after);
      const double share = static_cast<double>(map[side].share(before) * map[side].share(after));
      for (const std::int32_t z1 : left) {
        for (const std::int32_t z : right) sum += share * between(1 - side, z1, z);
      }
      if (t == path.size()) break;
      sum += state(side, unit, after);
      for (const std::int32_t z : right)
        sum += static_cast<double>(map[side].share(after)) * state(1 - side, unit, z);
    }
    return sum;
  }
  /// The score with all partners, or with the best choice of one for each label.
  [[nodiscard]] double score(std::size_t side, std::int64_t begin, const Labels& path) const {
    std::vector<Labels> partners;
    for (const std::int32_t label : path)
      partners.emplace_back(map[side].of(label).begin(), map[side].of(label).end());
    if (training->expansion() == Expansion::all) return score(side, begin, path, partners);
    const auto choose = [&](const auto& self, std::size_t t) -> double {
      if (t == path.size()) return score(side, begin, path, partners);
      if (partners[t].empty()) return self(self, t + 1);
      double best = kForbidden;
      const Labels all = partners[t];
      for (const std::int32_t z : all) {
        partners[t] = {z};
        best = std::max(best, self(self, t + 1));
      }
      partners[t] = all;
      return best;
    };
    return choose(choose, 0);
  }
  /// Calls visit(path) for every legal path of this many labels.
  template <class Visit>
  void for_each_path(std::size_t side, std::size_t length, const Visit& visit) const {
    Labels path;
    const auto extend = [&](const auto& self) -> void {
      const std::int32_t before = path.empty() ? labels_of(side) : path.back();
      if (path.size() == length) {
        if (layout[side].rules(before, labels_of(side))) visit(path);
        return;
      }
      for (std::int32_t l = 0; l < labels_of(side); ++l) {
        if (!layout[side].rules(before, l)) continue;
        path.push_back(l);
        self(self);
        path.pop_back();
      }
    };
    extend(extend);
  }

  std::array<LabelMap, kSides> map;
  std::array<TaggerLayout, kSides> layout;
  MultitaskData data;
  std::vector<std::size_t> sentence_of;  // [units]
  std::optional<MultitaskTraining> training;
  std::vector<float> weights;
};

template <class Test>
void for_each_case(std::int64_t count, const Test& test) {
  testing::for_each_seed(count, [&](testing::Random& random) {
    const std::int32_t kind = random.below(3);
    test(Case(random, kind == 0 ? Expansion::best : Expansion::all, kind == 1));
  });
}

}  // namespace

TEST(the_answer_is_the_best_of_all_paths) {
  for_each_case(60, [](const Case& x) {
    for (std::size_t side = 0; side < kSides; ++side) {
      const Labels found = x.training->tag({x.weights}, side, x.data.features, x.data.first, 1);
      for (std::size_t k = 0; k + 1 < x.data.first.size(); ++k) {
        const std::int64_t begin = x.data.first[k];
        const Labels answer(found.begin() + begin, found.begin() + x.data.first[k + 1]);
        double best = kForbidden;
        x.for_each_path(side, answer.size(),
                        [&](const Labels& path) { best = std::max(best, x.score(side, begin, path)); });
        CHECK_NEAR(x.score(side, begin, answer), best, 1e-4);
      }
    }
  });
}

TEST(a_step_is_the_difference_from_the_best_wrong_path) {
  for_each_case(60, [](const Case& x) {
    MultitaskTraining::Work work;
    for (std::size_t k = 0; k < x.data.side.size(); ++k) {
      const auto side = static_cast<std::size_t>(x.data.side[k]);
      std::vector<Delta> difference;
      const double cost = x.training->respond({x.weights}, static_cast<std::int64_t>(k), 0, work, difference);
      double sum = 0.0;
      for (const Delta& delta : difference)
        sum += static_cast<double>(delta.value) * static_cast<double>(x.weights[delta.weight]);
      const std::int64_t begin = x.data.first[k];
      const Labels gold(x.data.label.begin() + begin, x.data.label.begin() + x.data.first[k + 1]);
      double best = kForbidden;
      x.for_each_path(side, gold.size(), [&](const Labels& path) {
        if (path != gold) best = std::max(best, x.score(side, begin, path));
      });
      CHECK(cost == (best == kForbidden ? 0.0 : 1.0));
      if (best != kForbidden) CHECK_NEAR(sum, x.score(side, begin, gold) - best, 1e-4);
    }
  });
}

TEST(all_labels_expanded_compile_into_a_plain_tagger) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const Case x(random, Expansion::all, random.chance(0.5));
    const std::vector<std::uint64_t> keys{11, 22, 33};
    for (std::size_t side = 0; side < kSides; ++side) {
      const CompiledWeights compiled = x.training->compile(x.weights, side, keys, 0.0F);
      for (std::int32_t y = 0; y < labels_of(side); ++y) {
        for (std::size_t row = 0; row < keys.size(); ++row) {
          std::vector<double> found(static_cast<std::size_t>(labels_of(side)), 0.0);
          compiled.add_to(compiled.find(keys[row]), found.data());
          double sum = 0.0;
          const auto weight = [&](std::size_t of, std::int32_t label) {
            const std::int64_t k = x.layout[of].find(static_cast<std::uint32_t>(row), label);
            return k < 0 ? 0.0 : x.weights[static_cast<std::size_t>(x.training->state_offset(of) + k)];
          };
          for (const std::int32_t z : x.map[side].of(y)) sum += weight(1 - side, z);
          sum = sum * static_cast<double>(x.map[side].share(y)) + weight(side, y);
          CHECK_NEAR(found[static_cast<std::size_t>(y)], sum, 1e-5);
        }
      }
    }
  });
}

TEST(a_mapping_inverted_twice_is_itself) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const LabelMap map = random_map(random, 5, 7, random.chance(0.5));
    const LabelMap again = turn(turn(map, 7), 5);
    CHECK(again.first == map.first && again.to == map.to && again.is_mean == map.is_mean);
  });
}

TEST(bad_arguments_are_refused) {
  CHECK_THROWS(check(LabelMap{{0, 1}, {9}}, 1, 4), std::invalid_argument);
  CHECK_THROWS(check(LabelMap{{0, 2}, {1}}, 1, 4), std::invalid_argument);
  CHECK_THROWS(check(LabelMap{{0, 1, 0}, {1}}, 2, 4), std::invalid_argument);
  testing::Random random(3);
  Case x(random, Expansion::best, false);
  CHECK_THROWS_WITH(MultitaskObjective(*x.training), std::invalid_argument,
                    "a conditional random field needs all labels");
  x.data.side[0] = 2;
  CHECK_THROWS_WITH(MultitaskTraining(x.layout, x.map, Expansion::all, x.data), std::invalid_argument,
                    "a sentence must belong to side 0 or 1");
}
