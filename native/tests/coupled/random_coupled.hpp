// Small random coupled models with sentences to learn from, and their values by definition: sums over all
// paths of bundles, weight by weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "duilian/coupled/objective.hpp"
#include "random.hpp"
#include "random_tagger.hpp"

namespace testing {

using namespace duilian;

inline constexpr double kNoGap = std::numeric_limits<double>::infinity();

inline constexpr std::int64_t kRows = kFeatureRows;
inline constexpr float kStep = kWeightStep;
inline constexpr Pruning kKeepAll{1000, 1.0};

/// A model with everything it was laid out for; all labels of all sides are candidates.
struct CoupledCase {
  CoupledData data;
  CoupledLayout layout;
  std::vector<float> weights;

  [[nodiscard]] WeightView view() const { return {weights}; }
  [[nodiscard]] std::int64_t sentences() const { return static_cast<std::int64_t>(data.side.size()); }
  [[nodiscard]] std::size_t sides() const { return layout.shape.sides(); }
};

struct CoupledSettings {
  std::size_t sides = 2;
  bool is_bound = false;  // boundary rules on the first side
  bool is_mapped = false;
  Annotation annotation = Annotation::full;
  std::int32_t sentences = 3;
};

[[nodiscard]] inline CoupledSettings random_settings(Random& random, std::int32_t sentences) {
  const auto annotation = random.chance(0.5) ? Annotation::full : Annotation::partial;
  return {2 + static_cast<std::size_t>(random.below(2)), random.chance(0.5), random.chance(0.4), annotation,
          sentences};
}

[[nodiscard]] inline TagSets all_labels(std::int32_t labels, std::int64_t units) {
  TagSets out;
  for (std::int64_t u = 0; u < units; ++u) {
    for (TagId l = 0; l < labels; ++l) out.tag.push_back(l);
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
  return out;
}

[[nodiscard]] inline CoupledShape random_shape(Random& random, const CoupledSettings& settings) {
  std::vector<std::int32_t> labels;
  std::vector<Succession> rules;
  for (std::size_t k = 0; k < settings.sides; ++k) {
    const bool is_bound = settings.is_bound && k == 0;
    labels.push_back(is_bound ? 4 : 1 + random.below(3));
    rules.push_back(is_bound ? boundary_rules(1, false) : Succession{});
  }
  std::vector<SideMapping> mappings;
  if (settings.is_mapped) {
    SideMapping mapping{0, 1, labels[1], {}};
    for (std::int32_t n = 0; n < labels[0] * labels[1]; ++n)
      mapping.allows.push_back(random.chance(0.6) ? 1 : 0);
    mappings.push_back(std::move(mapping));
  }
  return make_shape(std::move(labels), std::move(rules), std::move(mappings));
}

/// The units of one side; those of the others are open.
[[nodiscard]] inline TaggingData own_data(const CoupledData& data, std::int32_t side) {
  TaggingData out{data.features, data.first, data.label, {}};
  for (std::size_t s = 0; s < data.side.size(); ++s) {
    if (data.side[s] != side)
      std::fill(out.label.begin() + data.first[s], out.label.begin() + data.first[s + 1], -1);
  }
  return out;
}

/// Sentences of 1 to 3 units.
[[nodiscard]] inline CoupledCase random_coupled(Random& random, const CoupledSettings& settings) {
  CoupledCase x;
  CoupledShape shape = random_shape(random, settings);
  TaggingData drawn;
  while (static_cast<std::int32_t>(x.data.side.size()) < settings.sentences) {
    const std::int32_t side = random.below(static_cast<std::int32_t>(settings.sides));
    const auto gold = random_walk(random, shape.rules[side], shape.labels[side], 1 + random.below(3));
    if (gold.empty()) continue;
    add_random_sentence(random, gold, shape.labels[side], settings.annotation, drawn);
    x.data.side.push_back(side);
  }
  x.data.features = drawn.features;
  x.data.first = drawn.first;
  x.data.label = drawn.label;
  x.data.sets = drawn.sets;
  const auto units = static_cast<std::int64_t>(x.data.label.size());
  std::vector<TaggerLayout> separate;
  std::vector<TagSets> latent;
  std::vector<std::vector<std::int32_t>> parts;
  for (std::size_t k = 0; k < settings.sides; ++k) {
    separate.push_back(lay_out_tagger(shape.labels[k], shape.rules[k], kRows,
                                      own_data(x.data, static_cast<std::int32_t>(k)), 1 + random.below(4)));
    latent.push_back(all_labels(shape.labels[k], units));
    for (std::size_t a = 0; a < k; ++a)
      parts.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(k)});
  }
  const JointOptions options{1 + random.below(2), random.below(6), random.chance(0.3) ? 2 : 100};
  x.layout = lay_out_coupled(std::move(shape), std::move(separate), x.data, latent, parts, options);
  for (std::int64_t w = 0; w < x.layout.weights; ++w)
    x.weights.push_back(kStep * static_cast<float>(random.below(2001) - 1000));
  return x;
}

/// The score of one group of weights for a sequence of labels (-1: an unknown bundle). Its transitions begin
/// at `at`, [linked + 1][linked + 1]; state(unit, label) is a state score.
template <class State>
[[nodiscard]] double group_score(const CoupledCase& x, std::int64_t at, std::int32_t linked,
                                 const std::vector<std::int32_t>& labels, const State& state) {
  double total = 0.0;
  std::int32_t before = linked;
  for (std::size_t t = 0; t <= labels.size(); ++t) {
    const bool is_end = t == labels.size();
    const std::int32_t label = is_end ? linked : labels[t];
    if (!is_end && label >= 0) total += state(t, label);
    const bool is_linked = is_end || (label >= 0 && label < linked);
    if (before >= 0 && is_linked) total += x.weights[at + before * (linked + 1) + label];
    before = is_linked ? label : -1;
  }
  return total;
}

/// The sum of the weights in [first[row], first[row + 1]) for a label, over the features of a unit.
template <class Label>
[[nodiscard]] double state_sum(const CoupledCase& x, std::int64_t unit,
                               const std::vector<std::int64_t>& first, const Label& label, std::int64_t at,
                               std::int32_t wanted) {
  double total = 0.0;
  for (std::int64_t f = x.data.features.first[unit]; f < x.data.features.first[unit + 1]; ++f) {
    const std::uint32_t row = x.data.features.value[f];
    for (std::int64_t w = first[row]; w < first[row + 1]; ++w) {
      if (label[w] == wanted) total += x.weights[at + w];
    }
  }
  return total;
}

/// Eq. 8 of Li et al. (2017); -inf where a rule forbids a label.
[[nodiscard]] inline double defined_score(const CoupledCase& x, std::int64_t begin,
                                          const std::vector<std::vector<TagId>>& bundles) {
  const CoupledShape& shape = x.layout.shape;
  double total = 0.0;
  std::vector<std::int32_t> labels(bundles.size());
  for (std::size_t k = 0; k < x.sides(); ++k) {
    const TaggerLayout& side = x.layout.separate[k];
    const std::int64_t at = x.layout.side_at[k];
    for (std::size_t t = 0; t < bundles.size(); ++t) labels[t] = bundles[t][k];
    for (std::size_t t = 0; t <= labels.size(); ++t) {
      if (!shape.rules[k](t == 0 ? side.labels : labels[t - 1], t == labels.size() ? side.labels : labels[t]))
        return kForbidden;
    }
    total += group_score(x, at, side.labels, labels, [&](std::size_t t, std::int32_t label) {
      return state_sum(x, begin + static_cast<std::int64_t>(t), side.first, side.all_labels(),
                       at + side.transitions(), label);
    });
  }
  for (std::size_t p = 0; p < shape.joint.size(); ++p) {
    const JointPart& part = shape.joint[p];
    for (std::size_t t = 0; t < bundles.size(); ++t) {
      std::vector<TagId> tied;
      for (const std::int32_t side : part.sides) tied.push_back(bundles[t][side]);
      labels[t] = part.bundles.find(tied);
    }
    total += group_score(
        x, x.layout.joint_transition_at[p], part.linked, labels, [&](std::size_t t, std::int32_t label) {
          return state_sum(x, begin + static_cast<std::int64_t>(t), x.layout.joint_first,
                           x.layout.joint_label, x.layout.joint_state_at, part.offset + label);
        });
  }
  return total;
}

enum class Which : std::uint8_t { possible, correct };

/// log Σ e^score over the paths of a sentence; -inf if there are none.
[[nodiscard]] inline double defined_log_sum(const CoupledCase& x, std::int64_t sentence, Which which,
                                            bool is_mapped) {
  const CoupledShape& shape = x.layout.shape;
  const std::int64_t begin = x.data.first[sentence];
  const auto T = static_cast<std::int32_t>(x.data.first[sentence + 1] - begin);
  const Lattice full = complete_lattice(T, shape.labels);
  const TaggingData annotation{{}, {}, x.data.label, x.data.sets};
  double sum = 0.0;
  std::vector<std::vector<TagId>> bundles(static_cast<std::size_t>(T));
  for_each_path(full, [&](const std::vector<std::int32_t>& path) {
    for (std::size_t t = 0; t < path.size(); ++t) {
      const auto bundle = full.bundle(path[t]);
      const TagId own = bundle[x.data.side[sentence]];
      if (which == Which::correct && !is_allowed(annotation, begin + static_cast<int>(t), own)) return;
      for (const SideMapping& m : shape.mappings) {
        if (is_mapped && !m(bundle[m.side_a], bundle[m.side_b])) return;
      }
      bundles[t].assign(bundle.begin(), bundle.end());
    }
    sum += std::exp(defined_score(x, begin, bundles));
  });
  return std::log(sum);
}

/// If a mapping leaves nothing correct, it is ignored.
[[nodiscard]] inline double defined_loss(const CoupledCase& x, std::int64_t sentence) {
  const double mapped = defined_log_sum(x, sentence, Which::correct, true);
  const bool is_mapped = mapped != kForbidden;
  const double correct = is_mapped ? mapped : defined_log_sum(x, sentence, Which::correct, false);
  return defined_log_sum(x, sentence, Which::possible, is_mapped) - correct;
}

/// The loss of a sentence, and its descent direction summed by weight.
[[nodiscard]] inline double coupled_gradient(const CoupledCase& x, Pruning pruning, std::int64_t sentence,
                                             CoupledObjective::Work& work, std::vector<double>& direction) {
  const CoupledObjective objective(x.layout, x.data, pruning, kNoGap, true);
  Gradient found;
  auto prepared = objective.prepare(x.view());
  const double loss = add_gradient(objective, prepared, x.view(), sentence, work, found);
  direction.assign(x.weights.size(), 0.0);
  for (const Delta& delta : found.sparse) direction[delta.weight] += delta.value;
  return loss;
}

}  // namespace testing
