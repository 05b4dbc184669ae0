// Coupled models against their definition: losses by enumeration, gradients by central differences, pruning
// and decoding step by step, learning for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/coupled/predictor.hpp"
#include "duilian/coupled/tagging.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/rules.hpp"
#include "random.hpp"
#include "random_coupled.hpp"

using namespace duilian;

namespace {

constexpr std::int64_t kCases = 60;

[[nodiscard]] std::vector<float> weights_after(const CoupledCase& x, Pruning pruning, PassOptions options,
                                               std::vector<double>& losses) {
  std::vector<float> weights = x.weights;
  std::vector<float> squares(weights.size());
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.sentences()));
  std::iota(order.rbegin(), order.rend(), 0);
  const CoupledObjective objective(x.layout, x.data, pruning, kNoGap, true);
  for (int pass = 0; pass < 3; ++pass) {
    AdaGradRule rule{weights, squares, 0.25F};
    losses.push_back(run_pass(objective, rule, order, options));
  }
  return weights;
}

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

/// Calls visit(places) for every choice of one candidate a position, as numbers within all candidates.
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

TEST(losses_are_those_of_the_definition) {
  CoupledObjective::Work work;  // kept from case to case, as a thread keeps it
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 3));
    std::vector<double> direction;
    for (std::int64_t s = 0; s < x.sentences(); ++s)
      CHECK_NEAR(coupled_gradient(x, kKeepAll, s, work, direction), defined_loss(x, s), 1e-9);
  });
}

TEST(gradients_are_central_differences) {
  testing::for_each_seed(12, [](testing::Random& random) {
    CoupledCase x = random_coupled(random, random_settings(random, 2));
    CoupledObjective::Work work;
    std::vector<double> direction;
    static_cast<void>(coupled_gradient(x, kKeepAll, 0, work, direction));
    for (std::size_t w = 0; w < x.weights.size(); ++w) {
      const float weight = x.weights[w];
      std::vector<double> unused;
      x.weights[w] = weight + kStep;
      const double above = coupled_gradient(x, kKeepAll, 0, work, unused);
      x.weights[w] = weight - kStep;
      const double below = coupled_gradient(x, kKeepAll, 0, work, unused);
      x.weights[w] = weight;
      CHECK_NEAR(direction[w], (below - above) / (2.0 * kStep), 2e-5);
    }
  });
}

TEST(cases_are_of_every_kind) {
  std::map<std::vector<bool>, int> seen;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledSettings s = random_settings(random, 3);
    ++seen[{s.sides == 2, s.is_bound, s.is_mapped, s.annotation == testing::Annotation::full}];
  });
  CHECK(seen.size() == 16);
}

TEST(what_a_thread_did_before_does_not_show) {
  CoupledObjective::Work kept;
  testing::for_each_seed(kCases, [&](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 4));
    const Pruning pruning{1 + random.below(3), random.real(0.3, 1.0)};
    for (std::int64_t s = 0; s < x.sentences(); ++s) {
      CoupledObjective::Work fresh;
      std::vector<double> a;
      std::vector<double> b;
      CHECK(coupled_gradient(x, pruning, s, kept, a) == coupled_gradient(x, pruning, s, fresh, b));
      CHECK(a == b);
    }
  });
}

TEST(what_is_annotated_survives_pruning) {
  testing::for_each_seed(kCases, [](testing::Random& random) {
    CoupledCase x = random_coupled(random, random_settings(random, 4));
    for (float& w : x.weights) w *= 20.0F;
    CoupledObjective::Work work;
    std::vector<double> direction;
    for (std::int64_t s = 0; s < x.sentences(); ++s) {
      const double loss = coupled_gradient(x, {1, 0.5}, s, work, direction);
      CHECK(std::isfinite(loss) && loss >= -1e-9);
    }
  });
}

TEST(sentences_without_units_cost_nothing) {
  testing::Random random(1);
  CoupledCase x = random_coupled(random, {2, true, false, testing::Annotation::full, 2});
  x.data.first.insert(x.data.first.begin(), 0);
  x.data.side.insert(x.data.side.begin(), 1);
  CoupledObjective::Work work;
  std::vector<double> direction;
  CHECK(coupled_gradient(x, kKeepAll, 0, work, direction) == 0.0);
  CHECK(std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0.0; }));
}

TEST(learning_is_the_same_for_any_number_of_threads) {
  testing::for_each_seed(8, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 12));
    for (const std::size_t batch : {std::size_t{1}, std::size_t{5}}) {
      std::vector<double> losses;
      const auto alone = weights_after(x, {2, 0.9}, {batch, 1}, losses);
      for (const std::size_t threads : {std::size_t{2}, std::size_t{3}}) {
        std::vector<double> others;
        const auto together = weights_after(x, {2, 0.9}, {batch, threads}, others);
        CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
        CHECK(losses == others);
      }
    }
  });
}

TEST(every_entry_of_a_gradient_is_in_one_share) {
  testing::for_each_seed(15, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 1));
    const CoupledObjective objective(x.layout, x.data, {2, 0.95}, kNoGap, true);
    CoupledObjective::Work work;
    Gradient found;
    static_cast<void>(objective.compute(objective.prepare(x.view()), x.view(), 0, work, found));
    std::vector<double> wanted;
    CoupledObjective::Work other;
    static_cast<void>(coupled_gradient(x, {2, 0.95}, 0, other, wanted));
    for (std::size_t threads = 1; threads <= 3; ++threads) {
      std::vector<double> sum(x.weights.size(), 0.0);
      std::vector<std::size_t> owner(x.weights.size(), threads);
      for (std::size_t thread = 0; thread < threads; ++thread) {
        std::vector<Delta> entries;
        Collector collector{entries};
        objective.apply(0, found, Share(thread, threads), collector);
        for (const Delta& delta : entries) {
          CHECK(owner[delta.weight] == threads || owner[delta.weight] == thread);
          owner[delta.weight] = thread;
          sum[delta.weight] += delta.value;
        }
      }
      CHECK(sum == wanted);
    }
  });
}

TEST(labels_are_chosen_as_the_paper_says) {
  const std::vector<double> p = {0.1, 0.4, 0.05, 0.4, 0.05};
  PruningWorkspace scratch;
  const auto chosen = [&](Pruning pruning) {
    std::vector<TagId> out = {99};  // what stands there stays
    choose_labels(p, pruning, scratch, out);
    CHECK(out[0] == 99);
    return std::vector<TagId>(out.begin() + 1, out.end());
  };
  CHECK(chosen({1, 1.0}) == std::vector<TagId>{1});  // of equals the lower
  CHECK(chosen({9, 0.39}) == std::vector<TagId>{1});
  CHECK(chosen({9, 0.41}) == std::vector<TagId>{1, 3});
  CHECK(chosen({9, 0.85}) == std::vector<TagId>{0, 1, 3});
  CHECK(chosen({2, 0.85}) == std::vector<TagId>{1, 3});
  CHECK(chosen({9, 0.92}) == std::vector<TagId>{0, 1, 2, 3});
  CHECK(chosen({5, 1.0}) == std::vector<TagId>{0, 1, 2, 3, 4});
  CHECK(chosen({4, 1.0}) == std::vector<TagId>{0, 1, 2, 3});
}

TEST(trimming_leaves_what_stands_on_a_legal_path) {
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

TEST(many_sentences_are_tagged_as_each_alone) {
  testing::for_each_seed(10, [](testing::Random& random) {
    const CoupledCase x = random_coupled(random, random_settings(random, 8));
    const SearchOptions options{{2, 0.9}, random.chance(0.5) ? Decoding::path : Decoding::marginals};
    const auto tag = [&](std::span<const std::int64_t> first, std::size_t threads) {
      return tag_coupled(x.layout, x.view(), x.data.features, first, {}, {}, options, true, threads);
    };
    const CoupledAnswers all = tag(x.data.first, 1);
    const CoupledAnswers again = tag(x.data.first, 3);
    CHECK(all.label == again.label && all.p == again.p && all.candidate_p == again.candidate_p);
    for (std::size_t k = 0; k < x.sides(); ++k) {
      CHECK(all.candidates[k] == again.candidates[k]);
      CHECK(all.candidates[k].positions() == static_cast<std::int32_t>(x.data.label.size()));
      for (std::size_t u = 0; u < all.p[k].size(); ++u) {
        const auto set = all.candidates[k].at(static_cast<std::int32_t>(u));
        CHECK(std::binary_search(set.begin(), set.end(), all.label[k][u]));
        double sum = 0.0;
        for (std::int32_t c = all.candidates[k].first[u]; c < all.candidates[k].first[u + 1]; ++c)
          sum += all.candidate_p[k][c];
        CHECK_NEAR(sum, 1.0, 1e-5);
      }
    }
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

TEST(bundles_of_huge_tag_sets_stay_apart) {
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

namespace {

/// Words as units, with random weights.
struct CompiledCase {
  TemplateSet templates = parse_templates("w[0]\nw[-1] w[0]\n");
  Sentences sentences{Folding(), {}};
  std::vector<std::uint64_t> keys;
  CoupledCase model;

  explicit CompiledCase(testing::Random& random) {
    const std::vector<std::string> words = {"中", "国", "人", "a", "。"};
    CoupledSettings settings = random_settings(random, 6);
    settings.annotation = testing::Annotation::full;
    const CoupledCase drawn = random_coupled(random, settings);
    model.data = drawn.data;
    for (std::int64_t s = 0; s < drawn.sentences(); ++s) {
      std::vector<std::string> units;
      for (std::int64_t u = drawn.data.first[s]; u < drawn.data.first[s + 1]; ++u)
        units.push_back(words[static_cast<std::size_t>(random.below(5))]);
      sentences.add(units, {});
    }
    keys = count_keys(templates, sentences, 1);
    FeatureKeys scratch;
    model.data.features = {};
    extract_rows(templates, sentences, 0, sentences.size(), FeatureIndex(keys), scratch, model.data.features);
    CoupledShape shape = drawn.layout.shape;
    shape.joint.clear();
    std::vector<TaggerLayout> separate;
    std::vector<TagSets> latent;
    for (std::size_t k = 0; k < shape.sides(); ++k) {
      separate.push_back(lay_out_tagger(shape.labels[k], shape.rules[k],
                                        static_cast<std::int64_t>(keys.size()),
                                        own_data(model.data, static_cast<std::int32_t>(k)), 1));
      latent.push_back(all_labels(shape.labels[k], static_cast<std::int64_t>(model.data.label.size())));
    }
    model.layout =
        lay_out_coupled(std::move(shape), std::move(separate), model.data, latent, {{0, 1}}, {1, 3, 100});
    for (std::int64_t w = 0; w < model.layout.weights; ++w)
      model.weights.push_back(random.chance(0.2) ? 0.0F : static_cast<float>(random.real(-1.0, 1.0)));
  }

  [[nodiscard]] CoupledWeights compiled() const {
    const std::span<const float> weights(model.weights);
    return compile_coupled(model.layout, {&weights, 1}, {}, keys, 0.0F).at(0);
  }
  [[nodiscard]] CoupledPredictor predictor(CoupledWeights weights, Pruning pruning = {2, 0.9}) const {
    return {model.layout.shape,
            std::make_shared<CoupledWeights>(std::move(weights)),
            templates,
            Folding(),
            {pruning, Decoding::marginals}};
  }
};

}  // namespace

TEST(compiled_weights_answer_as_those_in_training) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const CompiledCase x(random);
    const CoupledAnswers wanted =
        tag_coupled(x.model.layout, x.model.view(), x.model.data.features, x.model.data.first, {}, {},
                    {{2, 0.9}, Decoding::marginals}, true, 1);
    const CoupledPredictor predictor = x.predictor(x.compiled());
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
      const CoupledAnswers found = predict(predictor, x.sentences, {}, true, threads);
      CHECK(found.label == wanted.label);
      for (std::size_t k = 0; k < found.p.size(); ++k) {
        for (std::size_t u = 0; u < found.p[k].size(); ++u) CHECK_NEAR(found.p[k][u], wanted.p[k][u], 1e-5);
      }
      const auto pairs = count_pairs(predictor, x.sentences, {}, 0, 1, threads);
      CHECK_NEAR(std::accumulate(pairs.begin(), pairs.end(), 0.0), x.sentences.units(), 1e-6);
    }
  });
}

TEST(coarse_pruning_with_a_wide_window_changes_hardly_anything) {
  testing::for_each_seed(20, [](testing::Random& random) {
    const CompiledCase x(random);
    constexpr Pruning kAll{1000, 1.0 - 1e-9};
    const CoupledAnswers wanted = predict(x.predictor(x.compiled(), kAll), x.sentences, {}, true, 1);
    const CoupledPredictor coarse =
        x.predictor(x.compiled(), {kAll.max_candidates, kAll.candidate_mass, 0.0, 30.0});
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
      const CoupledAnswers found = predict(coarse, x.sentences, {}, true, threads);
      for (std::size_t k = 0; k < found.p.size(); ++k) {
        CHECK(found.candidates[k] == wanted.candidates[k]);
        for (std::size_t c = 0;
             c < found.candidate_p[k].size() && found.candidates[k] == wanted.candidates[k]; ++c)
          CHECK_NEAR(found.candidate_p[k][c], wanted.candidate_p[k][c], 0.01);
      }
    }
  });
}

TEST(probabilities_of_a_list_are_those_of_its_paths) {
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
    const bool is_found = choose_from(list, labels, between, {1000, 1.0}, work, found, p);
    CHECK(is_found == (total > 0.0));
    if (!is_found) return;
    CHECK(found == list.labels);
    for (std::size_t k = 0; k < p.size(); ++k) CHECK_NEAR(p[k], wanted[k] / total, 1e-5);
  });
}

TEST(hostile_weights_are_refused) {
  testing::Random random(7);
  const CompiledCase x(random);
  const CoupledWeights good = x.compiled();
  const std::int32_t sides =
      std::accumulate(x.model.layout.shape.labels.begin(), x.model.layout.shape.labels.end(), 0);
  const auto refuses = [&](const auto& change) {
    CoupledWeights bad = good;
    change(bad);
    CHECK_THROWS(x.predictor(bad), std::invalid_argument);
    CHECK_THROWS(x.predictor(bad, {2, 0.9, 0.0, 4.0}), std::invalid_argument);
  };
  refuses([](CoupledWeights& w) { w.table.label[0] = 0x7FFF; });
  refuses([](CoupledWeights& w) { w.table.label.pop_back(); });
  refuses([](CoupledWeights& w) { w.table.weight[0] = std::nanf(""); });
  refuses([](CoupledWeights& w) { w.table.slot.clear(); });
  refuses([](CoupledWeights& w) { w.table.slot.assign(4, 0); });
  refuses([](CoupledWeights& w) { w.transition.pop_back(); });
  refuses([](CoupledWeights& w) { w.transition[0] = INFINITY; });
  refuses([](CoupledWeights& w) { w.pruned_sides = {0}; });
  refuses([&](CoupledWeights& w) {  // a side's label behind a joint one
    w.table.label = {static_cast<std::uint16_t>(sides), kLastEntry};
    w.table.weight = {1.0F, 1.0F};
    w.table.slot = {0, kNoSlot};
  });
}

TEST(data_that_do_not_fit_are_refused) {
  testing::Random random(3);
  const CoupledCase x = random_coupled(random, {2, false, false, testing::Annotation::full, 3});
  const auto units = static_cast<std::int64_t>(x.data.label.size());
  const auto refuses = [&](const auto& change) {
    CoupledData bad = x.data;
    change(bad);
    CHECK_THROWS(check(bad, x.layout.shape), std::invalid_argument);
  };
  refuses([](CoupledData& d) { d.side.pop_back(); });
  refuses([](CoupledData& d) { d.side[0] = 2; });
  refuses([](CoupledData& d) { d.side[0] = -1; });
  refuses([](CoupledData& d) { d.label[0] = 9; });
  refuses([](CoupledData& d) { d.first.back() -= 1; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units)}; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), all_labels(9, units)}; });
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), all_labels(1, units - 1)}; });
  // Candidates for some sides only would be read past their end.
  refuses([&](CoupledData& d) { d.candidates = {all_labels(1, units), TagSets{}}; });
  refuses([&](CoupledData& d) {
    d.label[0] = -1;
    d.sets = all_labels(9, units);
  });
  const auto lay_out = [&](const CoupledData& data, std::vector<TagSets> latent) {
    return lay_out_coupled(make_shape(x.layout.shape.labels, x.layout.shape.rules, {}), x.layout.separate,
                           data, latent, {{0, 1}}, {1, 9, 9});
  };
  CHECK_THROWS(lay_out(x.data, {}), std::invalid_argument);
  CHECK_THROWS(lay_out(x.data, {all_labels(1, units), TagSets{}}), std::invalid_argument);
  CoupledData wide = x.data;
  wide.features.value.assign(wide.features.value.size(), 1000);
  if (!wide.features.value.empty())
    CHECK_THROWS(lay_out(wide, {all_labels(1, units), all_labels(1, units)}), std::invalid_argument);
}

TEST(bad_passes_are_refused) {
  testing::Random random(3);
  const CoupledCase x = random_coupled(random, {2, false, false, testing::Annotation::full, 3});
  std::vector<double> losses;
  CHECK_THROWS(weights_after(x, kKeepAll, {0, 1}, losses), std::invalid_argument);
  CHECK_THROWS(weights_after(x, kKeepAll, {1, 0}, losses), std::invalid_argument);
}
