// The neural parser: company and threads change nothing, given heads stay, wrong sizes are refused. Its
// scores are compared with a plain program in tests/models/test_neural_parser.py.
#include <algorithm>
#include <deque>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/neural/parser.hpp"
#include "random.hpp"

namespace {

using duilian::kFarthest;
using duilian::NeuralAnswer;
using duilian::NeuralParser;
using duilian::NeuralWeights;
using duilian::TrainedMap;
using duilian::TrainedMatrix;
using testing::Random;

/// Random weights, with the memory that holds them.
struct Trained {
  std::deque<std::vector<float>> kept;
  NeuralWeights weights;
  std::size_t rows = 0;  // of each table

  explicit Trained(Random& random) {
    const auto size = [&](std::int32_t most) { return static_cast<std::size_t>(1 + random.below(most)); };
    rows = size(9);
    const std::size_t cells = size(20), arcs = size(20), relation = size(8), relations = size(5);
    weights.tables = {matrix(random, rows, size(5)), matrix(random, rows, size(5))};
    weights.table_of = {0, 1, 1};
    std::size_t inputs = weights.tables[0].columns + 2 * weights.tables[1].columns;
    weights.root = matrix(random, 1, inputs).value;
    for (std::size_t layer = size(3); layer > 0; --layer) {
      const auto side = [&] {
        const TrainedMap input = map(random, 4 * cells, inputs);
        return duilian::TrainedLstm{input, matrix(random, 4 * cells, cells)};
      };
      weights.layers.push_back({side(), side()});
      inputs = 2 * cells;
    }
    weights.arc_head = map(random, arcs, inputs), weights.arc_dependent = map(random, arcs, inputs);
    weights.relation_head = map(random, relation, inputs);
    weights.relation_dependent = map(random, relation, inputs);
    weights.arc_weight = matrix(random, arcs + 1, arcs);
    weights.distance = matrix(random, 2, kFarthest + 1);
    weights.relation_weight = matrix(random, relation + 1, relations * (relation + 1));
    weights.tagging = {map(random, 6, inputs), map(random, 3, 6)};
  }
  Trained(const Trained&) = delete;
  Trained& operator=(const Trained&) = delete;
  ~Trained() = default;

  TrainedMatrix matrix(Random& random, std::size_t height, std::size_t width) {
    std::vector<float>& own = kept.emplace_back(height * width);
    for (float& each : own) each = static_cast<float>(random.real(-1.0, 1.0));
    return {own, height, width};
  }
  TrainedMap map(Random& random, std::size_t outputs, std::size_t inputs) {
    return {matrix(random, outputs, inputs), matrix(random, 1, outputs).value};
  }
};

struct Batch {
  std::vector<std::int64_t> first{0};
  std::vector<std::int32_t> feature, head;

  Batch(Random& random, std::int32_t sentences, std::size_t rows, double given) {
    for (std::int32_t s = 0; s < sentences; ++s) {
      const std::int32_t words = random.below(12);
      first.push_back(first.back() + words);
      for (std::int32_t m = 1; m <= words; ++m) {
        const std::int32_t other = random.below(words + 1);
        head.push_back(random.chance(given) && other != m ? other : -1);
        for (int k = 0; k < 3; ++k) feature.push_back(random.below(static_cast<std::int32_t>(rows)));
      }
    }
  }
};

TEST(company_and_threads_change_nothing) {
  testing::for_each_seed(20, [](Random& random) {
    const Trained trained(random);
    const NeuralParser parser(trained.weights, random.chance(0.5) ? 0 : -1);
    const Batch batch(random, 30, trained.rows, 0.0);
    const NeuralAnswer all = parser.answer({batch.first, batch.feature, batch.head}, {true, true}, 1);
    const NeuralAnswer same = parser.answer({batch.first, batch.feature, batch.head}, {true, true}, 3);
    CHECK(all.head == same.head && all.relation == same.relation && all.tag == same.tag);
    CHECK(all.impossible.empty());
    for (std::size_t s = 0; s + 1 < batch.first.size(); ++s) {
      const auto begin = static_cast<std::size_t>(batch.first[s]);
      const auto words = static_cast<std::size_t>(batch.first[s + 1]) - begin;
      const std::vector<std::int64_t> first{0, static_cast<std::int64_t>(words)};
      const NeuralAnswer one = parser.answer({first, std::span(batch.feature).subspan(begin * 3, words * 3),
                                              std::span(batch.head).subspan(begin, words)},
                                             {true, true}, 1);
      for (std::size_t m = 0; m < words; ++m) {
        CHECK(one.head[m] == all.head[begin + m] && one.relation[m] == all.relation[begin + m]);
        for (std::size_t tag = 0; tag < 3; ++tag)
          CHECK(one.tag[m * 3 + tag] == all.tag[(begin + m) * 3 + tag]);
      }
    }
  });
}

TEST(given_heads_stay_or_fit_into_no_tree) {
  testing::for_each_seed(40, [](Random& random) {
    const Trained trained(random);
    const NeuralParser parser(trained.weights, -1);
    const Batch batch(random, 20, trained.rows, 0.3);
    const NeuralAnswer found = parser.answer({batch.first, batch.feature, batch.head}, {true, false}, 2);
    for (std::size_t s = 0; s + 1 < batch.first.size(); ++s) {
      const auto number = static_cast<std::int64_t>(s);
      const bool is_impossible =
          std::find(found.impossible.begin(), found.impossible.end(), number) != found.impossible.end();
      for (auto m = static_cast<std::size_t>(batch.first[s]);
           m < static_cast<std::size_t>(batch.first[s + 1]); ++m) {
        CHECK((found.head[m] < 0) == is_impossible);
        CHECK(is_impossible || batch.head[m] < 0 || found.head[m] == batch.head[m]);
      }
    }
    const NeuralAnswer labelled = parser.answer({batch.first, batch.feature, batch.head}, {false, false}, 1);
    CHECK(labelled.head == batch.head);
    for (std::size_t m = 0; m < batch.head.size(); ++m)
      CHECK((labelled.relation[m] >= 0) == (batch.head[m] >= 0));
  });
}

TEST(what_does_not_fit_is_refused) {
  testing::for_each_seed(20, [](Random& random) {
    const Trained trained(random);
    const auto refused = [&](const auto& change) {
      NeuralWeights weights = trained.weights;
      change(weights);
      CHECK_THROWS(NeuralParser(weights, -1), std::invalid_argument);
    };
    refused([](NeuralWeights& w) { w.root = w.root.subspan(1); });
    refused([](NeuralWeights& w) { w.table_of[0] = 2; });
    refused([](NeuralWeights& w) { w.layers.clear(); });
    refused([](NeuralWeights& w) { ++w.layers[0][1].recurrent.rows; });
    refused([](NeuralWeights& w) { ++w.layers[0][0].input.weight.columns; });
    refused([](NeuralWeights& w) { w.arc_head.bias = w.arc_head.bias.subspan(1); });
    refused([](NeuralWeights& w) { ++w.arc_weight.columns; });
    refused([](NeuralWeights& w) { --w.distance.columns; });
    refused([](NeuralWeights& w) { ++w.relation_weight.columns; });
    refused([](NeuralWeights& w) { w.tagging.pop_back(); });
    CHECK_THROWS(NeuralParser(trained.weights, 100), std::invalid_argument);
    const NeuralParser parser(trained.weights, -1);
    Batch batch(random, 30, trained.rows, 0.0);
    if (batch.head.empty()) return;
    batch.head.back() = 100;
    CHECK_THROWS(parser.answer({batch.first, batch.feature, batch.head}, {}, 1), std::invalid_argument);
    batch.head.back() = -1;
    batch.feature.back() = static_cast<std::int32_t>(trained.rows);
    CHECK_THROWS(parser.answer({batch.first, batch.feature, batch.head}, {}, 1), std::invalid_argument);
    batch.feature.pop_back();
    CHECK_THROWS(parser.answer({batch.first, batch.feature, batch.head}, {}, 1), std::invalid_argument);
  });
}

}  // namespace
