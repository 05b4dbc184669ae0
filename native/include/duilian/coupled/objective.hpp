// Trains a coupled model on sentences that are labelled on one side each (ambiguous labelling, Eq. 9-12 of Li
// et al. 2017). The loss is log Z(possible) - log Z(correct): `possible` has the bundles that survive
// pruning, and `correct` those among them that agree with the annotation, which always survives. Unlike in
// the papers, labels of the other sides may be known, too, fully or in part (`held`).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/layout.hpp"
#include "duilian/coupled/search.hpp"

namespace duilian {

class CoupledObjective {
 public:
  using Prepared = CoupledTransitions;
  struct alignas(kCacheSeparation) Work {
    SearchWork search;
    BundleSpace correct;
    Marginals found_correct;
    std::vector<std::int32_t> inside;             // the correct states of the space
    std::vector<std::vector<std::int32_t>> gold;  // [sides][T]  a legal path of correct labels; empty: any
    std::vector<double> allowed;    // state scores, kForbidden where annotation excludes a label
    std::vector<double> diff;       // [S]  p(correct) - p(possible)
    std::vector<double> pair;       // one block
    std::vector<double> small;      // one block of one side
    std::vector<double> per_label;  // all 0 between calls
  };

  /// `bundle_gap`: see prune_bundles(); infinite means no pruning. `learns_separate`: whether separate
  /// weights are updated.
  CoupledObjective(const CoupledLayout& layout, const CoupledData& data, Pruning pruning, double bundle_gap,
                   bool learns_separate);

  [[nodiscard]] std::int64_t weights() const { return layout_.weights; }
  [[nodiscard]] std::int64_t dense() const { return 0; }
  [[nodiscard]] Prepared prepare(WeightView weights) const { return layout_.transitions(weights); }
  double compute(const Prepared& between, WeightView weights, std::int64_t i, Work& work,
                 Gradient& out) const;

  template <ChangeRule R>
  void apply(std::int64_t i, const Gradient& gradient, Share share, R& rule) const {
    for (const Delta& delta : gradient.sparse) {
      const std::uint32_t block = delta.weight / 16;
      if (share.has(block)) rule_of_block(rule, block).change(delta.weight, delta.value);
    }
    std::vector<float> change(static_cast<std::size_t>(most_labels_), 0.0F);
    const std::size_t groups = layout_.separate.size() + 1;
    for (std::size_t a = 0; a < gradient.active.size(); ++a) {
      const std::int64_t unit = data_.first[i] + gradient.active[a];
      for (std::size_t g = 0; g < groups; ++g) {
        const std::span changes(gradient.label_change.data() + gradient.group[a * groups + g],
                                gradient.label_change.data() + gradient.group[a * groups + g + 1]);
        if (changes.empty()) continue;
        for (const LabelChange& each : changes) change[each.label] = each.value;
        for (std::int64_t f = data_.features.first[unit]; f < data_.features.first[unit + 1]; ++f) {
          const std::uint32_t row = data_.features.value[f];
          if (!share.has(row)) continue;
          auto&& own = rule_of_block(rule, row);
          if (g + 1 == groups)
            apply_joint(row, data_.features.strength_of(f), changes, change, own);
          else
            apply_side(g, row, data_.features.strength_of(f), changes, change, own);
        }
        for (const LabelChange& each : changes) change[each.label] = 0.0F;
      }
    }
  }

 private:
  template <ChangeRule R>
  void apply_side(std::size_t k, std::uint32_t row, float strength, std::span<const LabelChange> changes,
                  const std::vector<float>& change, R& rule) const {
    const TaggerLayout& layout = layout_.separate[k];
    auto at = static_cast<std::uint32_t>(layout_.side_at[k] + layout.transitions() + layout.first[row]);
    if (layout.is_full(row)) {
      for (const LabelChange& each : changes)
        rule.change(at + static_cast<std::uint32_t>(each.label), strength * each.value);
      return;
    }
    for (const std::uint16_t label : layout.listed(row)) {
      const float g = change[label];
      if (g != 0.0F) rule.change(at, strength * g);
      ++at;
    }
  }
  template <ChangeRule R>
  void apply_joint(std::uint32_t row, float strength, std::span<const LabelChange> changes,
                   const std::vector<float>& change, R& rule) const {
    const std::int64_t begin = layout_.joint_first[row];
    const std::int64_t end = layout_.joint_first[row + 1];
    if (CoupledLayout::is_long(begin, end, changes.size())) {
      return layout_.for_each_of(
          changes, begin, end, [](const LabelChange& each) { return each.label; },
          [&](const LabelChange& each, std::int64_t w) {
            rule.change(static_cast<std::uint32_t>(layout_.joint_state_at + w), strength * each.value);
          });
    }
    for (std::int64_t w = begin; w < end; ++w) {
      const float g = change[layout_.joint_label[w]];
      if (g != 0.0F) rule.change(static_cast<std::uint32_t>(layout_.joint_state_at + w), strength * g);
    }
  }
  /// Units [begin, end) of one sentence, and its own side.
  struct Place {
    std::int64_t begin, end;
    std::size_t own;
  };
  [[nodiscard]] bool is_correct(std::size_t own, std::size_t side, std::int64_t unit, TagId label) const;
  void find_gold(const Prepared& between, Place place, std::size_t side, Work& work) const;
  void find_candidates(const Prepared& between, Place place, Work& work) const;
  [[nodiscard]] bool find_correct(Place place, Work& work) const;
  void add_state_changes(Work& work, Gradient& out) const;
  void add_transition_changes(Work& work, Gradient& out) const;
  void add_edge_changes(const Work& work, Gradient& out) const;
  void push(std::int64_t weight, double value, Gradient& out) const;

  const CoupledLayout& layout_;
  const CoupledData& data_;
  Pruning pruning_;
  double bundle_gap_;
  bool learns_separate_;
  std::int32_t most_labels_ = 0;
};

}  // namespace duilian
