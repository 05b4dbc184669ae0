// Builds the tables for coarse pruning from compiled weights, prunes, and scores the candidates (see
// coarse_pruning.hpp).
#include "duilian/coupled/coarse_pruning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace duilian {

namespace {

[[nodiscard]] bool is_pruned(std::span<const std::int32_t> pruned_sides, std::size_t side) {
  return std::binary_search(pruned_sides.begin(), pruned_sides.end(), static_cast<std::int32_t>(side));
}

/// Where the labels that prune each side begin: those of its pruner, or its own.
[[nodiscard]] std::vector<std::int32_t> pruning_labels(const CoupledShape& shape,
                                                       std::span<const std::int32_t> pruned_sides) {
  std::vector<std::int32_t> first(shape.sides(), -1);
  std::int32_t label = 0;
  for (const std::int32_t k : pruned_sides) {
    first[static_cast<std::size_t>(k)] = label;
    label += shape.labels[k];
  }
  for (std::size_t k = 0; k < shape.sides(); label += shape.labels[k], ++k) {
    if (first[k] < 0) first[k] = label;
  }
  return first;
}

[[nodiscard]] std::vector<CoarseTable::Block> pruning_blocks(const CoupledShape& shape,
                                                             std::span<const std::int32_t> pruned_sides,
                                                             const std::vector<CoarseChain>& pruner) {
  const std::vector<std::int32_t> first = pruning_labels(shape, pruned_sides);
  std::vector<CoarseTable::Block> blocks;
  for (std::size_t k = 0; k < shape.sides(); ++k)
    blocks.push_back({first[k], pruner[k].lanes(), pruner[k].stride()});
  return blocks;
}

/// The scale of coarse scores, found from the weights that prune.
[[nodiscard]] double find_scale(const CoupledShape& shape, const CoupledWeights& weights,
                                std::size_t features) {
  const std::vector<std::int32_t> first = pruning_labels(shape, weights.pruned_sides);
  std::vector<std::uint8_t> prunes(
      static_cast<std::size_t>(side_label_count(shape, weights.pruned_sides) + shape.joint_labels()), 0);
  for (std::size_t k = 0; k < shape.sides(); ++k)
    std::fill_n(prunes.begin() + first[k], shape.labels[k], std::uint8_t{1});
  float largest = 0.0F;
  for (std::size_t k = 0; k < weights.table.label.size(); ++k) {
    if (prunes[weights.table.label[k] & ~kLastEntry] != 0)
      largest = std::max(largest, std::abs(weights.table.weight[k]));
  }
  return coarse_scale(static_cast<double>(largest), features);
}

[[nodiscard]] std::vector<std::vector<float>> exponentials_of(const CoupledTransitions& between) {
  std::vector<std::vector<float>> out = between.table;
  for (std::vector<float>& table : out) {
    const float peak = *std::max_element(table.begin(), table.end());
    for (float& each : table) each = std::exp(each - peak);
  }
  return out;
}

/// Templates of which every unit has a feature, with so few values that most units have the same ones.
[[nodiscard]] std::vector<std::size_t> recurring_templates(const TemplateSet& templates) {
  const auto has_few_values = [](const Atom& atom) {
    return atom.kind == Atom::Kind::type || atom.kind == Atom::Kind::same || atom.kind == Atom::Kind::bias;
  };
  std::vector<std::size_t> out;
  if (!AnchorTemplates(templates).is_flat()) return out;
  for (std::size_t p = 0; p < templates.templates.size(); ++p) {
    if (std::ranges::all_of(templates.templates[p].atoms, has_few_values)) out.push_back(p);
  }
  return out;
}

}  // namespace

std::unique_ptr<CoarsePruner> CoarsePruner::make(const CoupledShape& shape, const CoupledWeights& weights,
                                                 const CoupledTransitions& prune_between, Pruning pruning,
                                                 const TemplateSet& templates) {
  const double scale = find_scale(shape, weights, templates.templates.size());
  if (scale == 0.0 || shape.sides() > CoarseTable::kMaxSides) return nullptr;
  std::vector<CoarseChain> pruner;
  for (std::size_t k = 0; k < shape.sides(); ++k) {
    constexpr std::int32_t kMax = 24;
    constexpr double kOwn = 0.8;  // a side's own scores are more reliable than a pruner's
    const CoarseWindow window{pruning.coarse_window * (is_pruned(weights.pruned_sides, k) ? 1.0 : kOwn),
                              std::max(pruning.max_candidates, kMax)};
    pruner.emplace_back(shape.shapes[k], shape.rules[k], prune_between.table[k], scale, window);
  }
  return std::unique_ptr<CoarsePruner>(
      new CoarsePruner(shape, weights, pruning, scale, std::move(pruner), prune_between, templates));
}

CoarsePruner::CoarsePruner(const CoupledShape& shape, const CoupledWeights& weights, Pruning pruning,
                           double scale, std::vector<CoarseChain> pruner,
                           const CoupledTransitions& prune_between, const TemplateSet& templates)
    : shape_(shape),
      pruned_(weights.pruned_sides),
      has_pruner_(shape.sides(), 0),
      pruning_(pruning),
      scale_(scale),
      pruner_(std::move(pruner)),
      between_(exponentials_of(prune_between)),
      rest_(shape, weights),
      table_(weights.table, pruning_blocks(shape, pruned_, pruner_), scale, rest_.take_begins()),
      finder_(templates),
      recurring_(recurring_templates(templates)) {
  for (const std::int32_t k : pruned_) has_pruner_[static_cast<std::size_t>(k)] = 1;
}

void CoarsePruner::score(const Sentences& sentences, std::int64_t sentence,
                         std::span<const Constraints> constraints, Work& work, SearchWork& search) const {
  finder_.find(table_, sentences, sentence, work.features);
  table_.score(work.features.first, work.features.found, recurring_, work.memory, work.coarse, work.rest,
               work.rest_first);
  apply_constraints(constraints, {sentences.begin_of(sentence), sentences.end_of(sentence)}, work);
  search.candidates.resize(shape_.sides());
  search.prior.resize(shape_.sides());
  search.listed.resize(shape_.sides());
}

bool CoarsePruner::prune_side(std::size_t side, UnitRange units, Work& work, SearchWork& search) const {
  const auto length = static_cast<std::int32_t>(units.size());
  TagSets& candidates = search.candidates[side];
  std::vector<double>& p = search.prior[side];
  if (!pruner_[side].choose(length, row(side, 0, work), table_.stride(), work.pruning, work.list.labels,
                            work.list.strength, work.list.share) ||
      !choose_from(work.list, shape_.labels[side], between_[side], pruning_, search.pruning, candidates, p))
    return false;
  std::swap(search.listed[side], work.list.share);
  auto& keep = search.pruning.keep;
  if (trim_candidates(shape_.rules[side], keep, candidates, &p)) return true;
  pruner_[side].best_labels(length, work.pruning, work.path);
  add_labels(work.path, candidates, &p);
  return trim_candidates(shape_.rules[side], keep, candidates, &p);
}

bool CoarsePruner::prune(UnitRange units, Work& work, SearchWork& search) const {
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    if (!prune_side(k, units, work, search)) return false;
  }
  return true;
}

void CoarsePruner::apply_constraints(std::span<const Constraints> constraints, UnitRange units,
                                     Work& work) const {
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    const std::vector<std::uint16_t>& lane = pruner_[k].lanes();
    for (const Constraints::Bonus& each : constraints[k].bonuses(units.begin, units.end)) {
      constexpr double kMax = 32000.0;
      CoarseScore& own = row(k, static_cast<std::size_t>(each.unit - units.begin), work)[lane[each.label]];
      own = static_cast<CoarseScore>(std::clamp(own + std::round(each.score * scale_), -kMax, kMax));
    }
    const auto row_of = [&](std::int64_t unit) {
      return row(k, static_cast<std::size_t>(unit - units.begin), work);
    };
    std::int64_t last = -1;  // labels are barred unit by unit
    CoarseScore* barred = nullptr;
    constraints[k].for_each_limit(
        units.begin, units.end,
        [&, lane_of = lane.data()](std::int64_t unit, TagId label) {
          if (unit != last) barred = row_of(unit);
          last = unit;
          barred[lane_of[label]] = kCoarseForbidden;
        },
        [&](std::int64_t unit, std::span<const TagId> allowed) {
          CoarseScore* own = row_of(unit);
          work.set_aside.assign(own, own + pruner_[k].stride());
          std::fill_n(own, pruner_[k].stride(), kCoarseForbidden);
          for (const TagId label : allowed) own[lane[label]] = work.set_aside[lane[label]];
        });
  }
}

void CoarsePruner::gather_rest(const SearchWork& search, Work& work) const {
  const std::vector<TagSets>& candidates = search.candidates;
  work.side_entry.clear();
  work.side_entry_first.assign(1, 0);
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    const auto unit = static_cast<std::size_t>(t);
    const auto has_choice = [&](const TagSets& sets) { return sets.at(t).size() > 1; };
    const bool is_moot = !search.is_moot.empty() && search.is_moot[unit] != 0;
    if (!is_moot && std::any_of(candidates.begin(), candidates.end(), has_choice)) {
      for (std::size_t k = work.rest_first[unit]; k < work.rest_first[unit + 1]; ++k) {
        const auto add = [&](std::uint32_t entry, std::vector<std::uint32_t>& to) {
          if (entry == kNoEntry) return;
          rest_.prefetch(entry);
          to.push_back(entry);
        };
        add(work.rest[k].sides, work.side_entry);
        add(work.rest[k].joint, work.joint_entry);
      }
    }
    work.side_entry_first.push_back(work.side_entry.size());
    work.joint_first.push_back(work.joint_entry.size());
  }
}

CoarsePruner::Source::Source(const CoarsePruner& pruner, const CoupledTransitions& between,
                             std::span<const Constraints> constraints, UnitRange units, Work& work,
                             SearchWork& search)
    : pruner_(pruner),
      between_(between),
      constraints_(constraints),
      units_(units),
      work_(work),
      search_(search) {
  const CoupledShape& shape = pruner.shape_;
  auto& scores = search.scores.state;
  scores.resize(shape.sides());
  // Only candidates are read, and memory from longer sentences is kept.
  for (std::size_t k = 0; k < shape.sides(); ++k)
    scores[k].resize(std::max(scores[k].size(), units.size() * shape.shapes[k].stride()));
  std::size_t labels_of_all = 0;
  for (const std::int32_t k : pruner.pruned_) labels_of_all += static_cast<std::size_t>(shape.labels[k]);
  work.row.resize(labels_of_all);
  work.wanted.resize(pruner.pruned_.size());
  pruner.gather_rest(search, work);
}

void CoarsePruner::Source::add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
                               double* sum) const {
  const std::size_t last = work_.joint_first[static_cast<std::size_t>(t) + 1];
  for (std::size_t e = work_.joint_first[static_cast<std::size_t>(t)]; e < last; ++e)
    pruner_.rest_.add_joint(work_.joint_entry[e], wanted, slot, sum);
}

double* CoarsePruner::Source::state(std::size_t side, std::size_t unit) const {
  return search_.scores.state[side].data() + unit * pruner_.shape_.shapes[side].stride();
}

void CoarsePruner::Source::score_sides(std::int32_t t) const {
  const auto unit = static_cast<std::size_t>(t);
  for (std::size_t k = 0; k < pruner_.shape_.sides(); ++k) {
    double* own = state(k, unit);
    if (pruner_.has_pruner(k)) {
      for (const TagId l : search_.candidates[k].at(t)) own[l] = 0.0;
      continue;
    }
    const double share = 1.0 / pruner_.scale_;  // a side without a pruner was pruned by its own scores
    const CoarseScore* coarse = pruner_.row(k, unit, work_);
    for (const TagId l : search_.candidates[k].at(t)) own[l] = share * coarse[pruner_.pruner_[k].lanes()[l]];
  }
  const std::size_t last = work_.side_entry_first[unit + 1];
  if (work_.side_entry_first[unit] != last) {
    const auto& pruned = pruner_.pruned_;
    const auto& labels = pruner_.shape_.labels;
    float* row = work_.row.data();
    for (std::size_t p = 0; p < pruned.size(); row += labels[pruned[p]], ++p) {
      work_.wanted[p] = search_.candidates[pruned[p]].at(t);
      for (const TagId l : work_.wanted[p]) row[l] = 0.0F;
    }
    for (std::size_t k = work_.side_entry_first[unit]; k < last; ++k)
      pruner_.rest_.add_sides(work_.side_entry[k], work_.wanted, work_.row.data());
    row = work_.row.data();
    for (std::size_t p = 0; p < pruned.size(); row += labels[pruned[p]], ++p) {
      double* own = state(static_cast<std::size_t>(pruned[p]), unit);
      for (const TagId l : work_.wanted[p]) own[l] = row[l];
    }
  }
  add_edges(unit);
}

/// Adds the transitions at the ends of the sentence, and what constraints give to sides with a pruner; a
/// side's own coarse scores already include it.
void CoarsePruner::Source::add_edges(std::size_t unit) const {
  const auto t = static_cast<std::int32_t>(unit);
  for (std::size_t k = 0; k < pruner_.shape_.sides(); ++k) {
    double* own = state(k, unit);
    const auto labels = static_cast<std::size_t>(pruner_.shape_.labels[k]);
    const float* edge = between_.table[k].data();
    for (const TagId l : search_.candidates[k].at(t)) {
      if (unit == 0) own[l] += edge[labels * (labels + 1) + static_cast<std::size_t>(l)];
      if (unit + 1 == units_.size()) own[l] += edge[static_cast<std::size_t>(l) * (labels + 1) + labels];
    }
    if (constraints_.empty() || constraints_[k].bonus.empty() || !pruner_.has_pruner(k)) continue;
    const std::int64_t at = units_.begin + t;
    for (const Constraints::Bonus& each : constraints_[k].bonuses(at, at + 1)) own[each.label] += each.score;
  }
}

}  // namespace duilian
