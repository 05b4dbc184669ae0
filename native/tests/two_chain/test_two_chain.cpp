// Compares two chains with a list of all their paths (best path, best letters, best tags, k best, marginals)
// and the compiled model with the layout used in training; and bad arguments.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "duilian/two_chain/predictor.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

using Labels = std::vector<std::int32_t>;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Letters E S B I, or B I, in the order of BoundaryScheme.
[[nodiscard]] TwoChainOptions options_of(bool has_four, std::int32_t tags, bool has_edge) {
  const std::vector<std::uint8_t> four{0, 1, 1, 0, 1,  // E
                                       0, 1, 1, 0, 1,  // S
                                       1, 0, 0, 1, 0,  // B
                                       1, 0, 0, 1, 0,  // I
                                       0, 1, 1, 0, 1};
  const std::vector<std::uint8_t> two{1, 1, 1,  // I
                                      1, 1, 1,  // B
                                      0, 1, 1};
  TwoChainOptions out;
  out.letters = has_four ? 4 : 2;
  out.tags = tags;
  out.rules = {out.letters, has_four ? four : two};
  out.continues = has_four ? std::vector<std::uint8_t>{1, 0, 0, 1} : std::vector<std::uint8_t>{1, 0};
  out.has_edge = has_edge;
  out.places = {{Clique::letter, -1}, {Clique::letter, 0},     {Clique::letters, 0}, {Clique::tag, 0},
                {Clique::tag, 1},     {Clique::letter_tag, 0}, {Clique::tags, -1}};
  return out;
}

struct Case {
  TwoChainShape shape;
  std::vector<float> weights;
  CliqueScores cliques;
  std::vector<float> rows;
  std::size_t length;
  TwoChains x() const { return {shape, cliques, rows.data(), length, shape.row()}; }
};

[[nodiscard]] std::vector<float> random_floats(testing::Random& random, std::size_t size) {
  std::vector<float> out(size);
  for (float& w : out) w = static_cast<float>(random.real(-2.0, 2.0));
  return out;
}

[[nodiscard]] Case random_case(testing::Random& random) {
  const TwoChainShape shape(options_of(random.chance(0.6), 1 + random.below(3), random.chance(0.7)));
  auto weights = random_floats(random, shape.clique_weights());
  CliqueScores cliques(shape, {weights, 1.0F});
  const auto length = static_cast<std::size_t>(1 + random.below(4));
  return {shape, weights, cliques, random_floats(random, length * shape.row()), length};
}

/// Counts through all sequences of numbers below `base`.
template <class Take>
void for_each_row(std::size_t length, std::size_t base, const Take& take) {
  Labels row(length, 0);
  for (;;) {
    take(row);
    std::size_t k = 0;
    while (k < length && ++row[k] == static_cast<std::int32_t>(base)) row[k++] = 0;
    if (k == length) return;
  }
}

[[nodiscard]] bool is_legal(const TwoChainShape& shape, const Labels& letter) {
  try {
    shape.check_letters(letter);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

/// The score by definition; -inf if a word has two tags where only one is allowed.
[[nodiscard]] double defined_score(const Case& c, const Labels& s, const Labels& t) {
  const std::size_t S = c.shape.letters(), T = c.shape.tags(), W = c.shape.width();
  const TwoChains x = c.x();
  double total = 0.0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto a = static_cast<std::size_t>(s[i]);
    total += x.scores(i, Clique::letter)[a];
    const auto w = [&](std::size_t k) { return static_cast<double>(c.weights[k]); };
    const std::size_t a1 = i == 0 ? 0 : static_cast<std::size_t>(s[i - 1]);
    total += i == 0 ? w(a) : w(S + a1 * S + a) + x.scores(i, Clique::letters)[a1 * S + a];
    if (t.empty()) continue;
    const auto b = static_cast<std::size_t>(t[i]);
    const std::size_t b1 = i == 0 ? 0 : static_cast<std::size_t>(t[i - 1]);
    total += x.scores(i, Clique::tag)[b] + x.scores(i, Clique::letter_tag)[a * W + b];
    if (i > 0) total += x.scores(i, Clique::tags)[b1 * W + b];
    const std::size_t at = S + S * S;
    if (c.shape.has_edge()) {
      if (i > 0 && c.shape.continues(a) && b != b1) return kNone;
      total += i == 0
                   ? w(at + a * T + b)
                   : w(at + S * T + (a1 * S + a) * T + b1) + w(at + S * T + S * S * T + (a * T + b1) * T + b);
    } else {
      total += (i == 0 ? w(at + b) : w(at + T + b1 * T + b)) + w(at + T + T * T + a * T + b);
    }
  }
  return total;
}

struct Listed {
  double score;
  Labels letter, tag;
};

[[nodiscard]] std::vector<Listed> all_paths(const Case& c, bool has_tags) {
  std::vector<Listed> out;
  for_each_row(c.length, c.shape.letters(), [&](const Labels& s) {
    if (!is_legal(c.shape, s)) return;
    if (!has_tags) {
      out.push_back({defined_score(c, s, {}), s, {}});
      return;
    }
    for_each_row(c.length, c.shape.tags(), [&](const Labels& t) {
      const double score = defined_score(c, s, t);
      if (score != kNone) out.push_back({score, s, t});
    });
  });
  std::stable_sort(out.begin(), out.end(),
                   [](const Listed& a, const Listed& b) { return a.score > b.score; });
  return out;
}

}  // namespace

TEST(the_best_of_two_chains_is_the_best_of_all_paths) {
  testing::for_each_seed(300, [](testing::Random& random) {
    const Case c = random_case(random);
    TwoChainWorkspace work;
    Labels letter(c.length), tag(c.length);
    const auto paths = all_paths(c, true);
    CHECK_NEAR(best_path(c.x(), work, letter, tag), paths[0].score, 1e-4);
    CHECK_NEAR(defined_score(c, letter, tag), paths[0].score, 1e-4);
    CHECK_NEAR(path_score(c.x(), letter, tag), paths[0].score, 1e-4);
    CHECK(is_legal(c.shape, letter));

    const auto alone = all_paths(c, false);
    CHECK_NEAR(best_letters(c.x(), work, letter), alone[0].score, 1e-4);
    CHECK_NEAR(defined_score(c, letter, {}), alone[0].score, 1e-4);
    CHECK_NEAR(path_score(c.x(), letter, {}), alone[0].score, 1e-4);
  });
}

TEST(tags_for_given_letters_are_the_best_of_all) {
  testing::for_each_seed(300, [](testing::Random& random) {
    const Case c = random_case(random);
    TwoChainWorkspace work;
    const auto paths = all_paths(c, true);
    const Labels letter =
        paths[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(paths.size())))].letter;
    // Some tags are given, too, and must be kept; they come from a path, so that a legal one exists.
    const auto chosen =
        std::find_if(paths.rbegin(), paths.rend(), [&](const Listed& p) { return p.letter == letter; });
    Labels tag(c.length, kUnknownTag);
    for (std::size_t i = 0; i < c.length; ++i) {
      if (random.chance(0.3)) tag[i] = chosen->tag[i];
    }
    const Labels given = tag;
    const auto wanted = std::find_if(paths.begin(), paths.end(), [&](const Listed& p) {
      for (std::size_t i = 0; i < c.length; ++i) {
        if (given[i] != kUnknownTag && given[i] != p.tag[i]) return false;
      }
      return p.letter == letter;
    });
    best_tags(c.x(), work, letter, tag);
    CHECK_NEAR(defined_score(c, letter, tag), wanted->score, 1e-4);
  });
}

TEST(the_k_best_of_two_chains_are_those_of_all_paths) {
  testing::for_each_seed(150, [](testing::Random& random) {
    const Case c = random_case(random);
    for (const bool has_tags : {true, false}) {
      const auto paths = all_paths(c, has_tags);
      const auto k = static_cast<std::size_t>(1 + random.below(12));
      const auto found = has_tags ? k_best_paths(c.x(), k) : k_best_letters(c.x(), k);
      CHECK(found.size() == std::min(k, paths.size()));
      for (std::size_t n = 0; n < found.size(); ++n) {
        CHECK_NEAR(found[n].score, paths[n].score, 1e-4);
        CHECK_NEAR(defined_score(c, found[n].letter, has_tags ? found[n].tag : Labels{}), paths[n].score,
                   1e-4);
        for (std::size_t m = 0; m < n; ++m)
          CHECK(found[m].letter != found[n].letter || found[m].tag != found[n].tag);
      }
    }
    CHECK_THROWS(k_best_paths(c.x(), 0), std::invalid_argument);
  });
}

TEST(marginals_of_two_chains_are_sums_over_all_paths) {
  testing::for_each_seed(150, [](testing::Random& random) {
    const Case c = random_case(random);
    const auto paths = all_paths(c, true);
    const double scale = random.chance(0.3) ? 1.0 : random.real(0.1, 4.0);
    double z = 0.0;
    const std::size_t N = c.shape.letters() * c.shape.tags();
    std::vector<double> wanted(c.length * N, 0.0);
    for (const Listed& p : paths) {
      z += std::exp(scale * p.score);
      for (std::size_t i = 0; i < c.length; ++i)
        wanted[i * N + static_cast<std::size_t>(p.letter[i]) * c.shape.tags() +
               static_cast<std::size_t>(p.tag[i])] += std::exp(scale * p.score);
    }
    const auto found = marginals(c.x(), scale);
    CHECK_NEAR(found.log_partition, std::log(z), 1e-5);
    for (std::size_t k = 0; k < wanted.size(); ++k) CHECK_NEAR(found.unit[k], wanted[k] / z, 1e-5);
    CHECK(found.log_partition >= scale * paths[0].score - 1e-5);
  });
}

TEST(many_tags_fill_every_kind_of_block) {
  // 1 to 70 tags: rows of up to 18 vectors, compared with the k best, which use plain loops.
  testing::for_each_seed(70, [](testing::Random& random) {
    const auto tags = 1 + static_cast<std::int32_t>(testing::record().seed);
    const TwoChainShape shape(options_of(true, tags, true));
    const auto weights = random_floats(random, shape.clique_weights());
    const Case c{shape, weights, CliqueScores(shape, {weights, 1.0F}), random_floats(random, 3 * shape.row()),
                 3};
    TwoChainWorkspace work;
    Labels letter(3), tag(3);
    CHECK_NEAR(best_path(c.x(), work, letter, tag), k_best_paths(c.x(), 1)[0].score, 1e-4);
  });
}

TEST(tags_of_a_word_agree_by_majority) {
  const TwoChainShape shape(options_of(true, 3, false));
  const Labels letter{2, 3, 0, 1, 2, 0};  // B I E, S, B E
  Labels tag{0, 2, 2, 1, 1, 0};
  agree_tags(shape, letter, tag);
  CHECK(tag == (Labels{2, 2, 2, 1, 1, 1}));
}

TEST(two_chains_refuse_bad_arguments) {
  TwoChainOptions good = options_of(true, 2, true);
  const auto refuses = [](TwoChainOptions options, const char* message) {
    CHECK_THROWS_WITH(TwoChainShape(std::move(options)), std::invalid_argument, message);
  };
  TwoChainOptions bad = good;
  bad.tags = 0;
  refuses(bad, "the letters and tags");
  bad = good;
  bad.continues.pop_back();
  refuses(bad, "the letters and tags");
  bad = good;
  bad.places.clear();
  refuses(bad, "two chains need");
  bad = good;
  bad.places = {{Clique::tag, 0}, {Clique::letter, 0}};
  refuses(bad, "the places of the two chains are not in order");
  bad = good;
  bad.places[0].offset = 99;
  refuses(bad, "a place of the two chains is out of range");
  bad = good;
  bad.tags = 200;  // 200² values for pairs of tags
  refuses(bad, "too many tags");

  const TwoChainShape shape(good);
  CHECK_THROWS_WITH(shape.check_letters(Labels{2, 2}), std::invalid_argument,
                    "the given boundaries are not legal");
  CHECK_THROWS_WITH(shape.check_letters(Labels{3}), std::invalid_argument,
                    "the given boundaries are not legal");
  CHECK_THROWS_WITH(shape.check_letters(Labels{7}), std::invalid_argument, "unit 1 has no boundary letter");

  const TwoChainPatterns patterns{parse_templates("w[0]"), {1}};
  TwoChainWeights weights;
  weights.slot.assign(4, kNoSlot);
  weights.clique.assign(shape.clique_weights(), 0.0F);
  const TwoChainPredictor fine(shape, patterns, weights, Folding{});
  const auto refuses_weights = [&](TwoChainWeights wrong) {
    CHECK_THROWS(TwoChainPredictor(shape, patterns, std::move(wrong), Folding{}), std::invalid_argument);
  };
  TwoChainWeights wrong = weights;
  wrong.clique.pop_back();
  refuses_weights(wrong);
  wrong = weights;
  wrong.clique[0] = std::numeric_limits<float>::quiet_NaN();
  refuses_weights(wrong);
  wrong = weights;
  wrong.slot[0] = 5;  // points to an entry that does not exist
  refuses_weights(wrong);
  wrong = weights;
  wrong.label = {static_cast<std::uint16_t>(shape.slots() | kLastEntry)};
  wrong.weight = {1.0F};
  wrong.slot[0] = 0;
  refuses_weights(wrong);
  CHECK_THROWS(TwoChainPredictor(shape, {parse_templates("w[0]"), {0}}, weights, Folding{}),
               std::invalid_argument);
  CHECK_THROWS(TwoChainPredictor(shape, {parse_templates("w[0]"), {1U << 20U}}, weights, Folding{}),
               std::invalid_argument);
}
