// Small random taggers with sentences to learn from, and their values by definition: sums over all label
// sequences, weight by weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "duilian/score/tagging.hpp"
#include "random.hpp"

namespace testing {

// Rows that occur are so far apart that they fall into different shares and halves.
inline constexpr std::int32_t kRowsApart = 33;
inline constexpr std::int32_t kFeatureRows = 6 * kRowsApart;
// Weights are multiples of this, so a step is exact in a float.
inline constexpr float kWeightStep = 0x1p-10F;

enum class Annotation : std::uint8_t { full, partial };

struct TaggerSettings {
  RuleKind kind = RuleKind::free;
  Annotation annotation = Annotation::full;
  std::int32_t sentences = 1;
};

/// A tagger with everything it was laid out for.
struct TaggerCase {
  duilian::TaggingData data;
  duilian::TaggerLayout layout;
  std::vector<float> weights;

  [[nodiscard]] duilian::WeightView view() const { return {weights}; }
  [[nodiscard]] std::int64_t sentences() const { return static_cast<std::int64_t>(data.first.size()) - 1; }
};

/// A legal label sequence, each step equally likely; empty if the walk reached a dead end.
[[nodiscard]] inline std::vector<std::int32_t> random_walk(Random& random, const duilian::Succession& rules,
                                                           std::int32_t labels, std::int32_t positions) {
  std::vector<std::int32_t> path;
  for (std::int32_t t = 0; t < positions; ++t) {
    std::vector<std::int32_t> next;
    for (std::int32_t l = 0; l < labels; ++l) {
      const bool ends_well = t + 1 < positions || rules(l, labels);
      if (ends_well && rules(path.empty() ? labels : path.back(), l)) next.push_back(l);
    }
    if (next.empty()) return {};
    path.push_back(next[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(next.size())))]);
  }
  return path;
}

inline void add_random_sentence(Random& random, const std::vector<std::int32_t>& gold, std::int32_t labels,
                                Annotation annotation, duilian::TaggingData& data) {
  for (const std::int32_t label : gold) {
    for (std::int32_t n = random.below(4); n > 0; --n) {
      data.features.value.push_back(
          static_cast<std::uint32_t>(kRowsApart * random.below(kFeatureRows / kRowsApart)));
    }
    data.features.first.push_back(static_cast<std::int64_t>(data.features.value.size()));
    const bool is_known = annotation == Annotation::full || random.chance(0.4);
    data.label.push_back(is_known ? label : -1);
    if (annotation == Annotation::full) continue;
    const bool is_open = random.chance(0.3);  // no set: every label is possible
    for (std::int32_t l = 0; !is_known && !is_open && l < labels; ++l) {
      if (l == label || random.chance(0.3)) data.sets.tag.push_back(l);
    }
    data.sets.first.push_back(static_cast<std::int32_t>(data.sets.tag.size()));
  }
  data.first.push_back(static_cast<std::int64_t>(data.label.size()));
}

/// Sentences of 1 to 4 units; rules without a legal sentence are drawn again.
[[nodiscard]] inline TaggerCase random_tagger(Random& random, TaggerSettings settings) {
  TaggerCase x;
  std::int32_t labels = 0;
  duilian::Succession rules;
  do {
    rules = random_rules(random, settings.kind, labels);
  } while (labels > 8 || random_walk(random, rules, labels, 2).empty());
  while (x.sentences() < settings.sentences) {
    const auto gold = random_walk(random, rules, labels, 1 + random.below(4));
    if (!gold.empty()) add_random_sentence(random, gold, labels, settings.annotation, x.data);
  }
  if (random.chance(0.5)) {
    for (std::size_t f = 0; f < x.data.features.value.size(); ++f) {
      x.data.features.strength.push_back(0.25F * static_cast<float>(random.below(17) - 8));
    }
  }
  x.layout = lay_out_tagger(labels, std::move(rules), kFeatureRows, x.data, 1 + random.below(6));
  for (std::int64_t w = 0; w < x.layout.weights(); ++w) {
    x.weights.push_back(kWeightStep * static_cast<float>(random.below(2001) - 1000));
  }
  return x;
}

/// The weight of a feature row for a label; 0 if there is none.
[[nodiscard]] inline double state_weight(const TaggerCase& x, std::uint32_t row, std::int32_t label) {
  double found = 0.0;
  x.layout.for_each(row, x.weights, [&](std::int32_t l, float weight) {
    if (l == label) found = weight;
  });
  return found;
}

[[nodiscard]] inline bool is_allowed(const duilian::TaggingData& data, std::int64_t unit,
                                     std::int32_t label) {
  if (data.label[unit] >= 0) return data.label[unit] == label;
  if (data.sets.positions() == 0) return true;
  const auto set = data.sets.at(static_cast<std::int32_t>(unit));
  return set.empty() || std::find(set.begin(), set.end(), label) != set.end();
}

/// log Σ e^score over the legal label sequences of a sentence, or over those that the data allow.
[[nodiscard]] inline double defined_log_sum(const TaggerCase& x, std::int64_t sentence, bool only_allowed) {
  const std::int32_t L = x.layout.labels;
  const std::int64_t end = x.data.first[sentence + 1];
  double sum = 0.0;
  const auto extend = [&](const auto& self, std::int64_t unit, std::int32_t before, double score) -> void {
    for (std::int32_t label = unit < end ? 0 : L; label < (unit < end ? L : L + 1); ++label) {
      if (!x.layout.rules(before, label)) continue;
      double total = score + x.weights[static_cast<std::size_t>(before * (L + 1) + label)];
      if (label == L) {
        sum += std::exp(total);
        return;
      }
      if (only_allowed && !is_allowed(x.data, unit, label)) continue;
      for (std::int64_t f = x.data.features.first[unit]; f < x.data.features.first[unit + 1]; ++f) {
        total += x.data.features.strength_of(f) * state_weight(x, x.data.features.value[f], label);
      }
      self(self, unit + 1, label, total);
    }
  };
  extend(extend, x.data.first[sentence], L, 0.0);
  return std::log(sum);
}

[[nodiscard]] inline double defined_loss(const TaggerCase& x, std::int64_t sentence) {
  return defined_log_sum(x, sentence, false) - defined_log_sum(x, sentence, true);
}

/// The loss of a sentence, and its descent direction summed by weight.
[[nodiscard]] inline double tagger_gradient(const TaggerCase& x, std::int64_t sentence,
                                            std::vector<double>& direction) {
  const duilian::TaggingObjective objective(x.layout, x.data);
  duilian::TaggingObjective::Work work;
  duilian::Gradient found;
  found.dense.assign(static_cast<std::size_t>(objective.dense()), 0.0);
  auto prepared = objective.prepare(x.view());
  const double loss = add_gradient(objective, prepared, x.view(), sentence, work, found);
  direction = found.dense;
  direction.resize(x.weights.size());
  for (const duilian::Delta& delta : found.sparse) direction[delta.weight] += delta.value;
  return loss;
}

}  // namespace testing
