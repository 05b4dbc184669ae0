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

}  // namespace

std::unique_ptr<CoarsePruner> CoarsePruner::make(const CoupledShape& shape, const CoupledWeights& weights,
                                                 const CoupledTransitions& prune_between, Pruning pruning,
                                                 std::size_t features) {
  const double scale = find_scale(shape, weights, features);
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
      new CoarsePruner(shape, weights, pruning, scale, std::move(pruner), prune_between));
}

CoarsePruner::CoarsePruner(const CoupledShape& shape, const CoupledWeights& weights, Pruning pruning,
                           double scale, std::vector<CoarseChain> pruner,
                           const CoupledTransitions& prune_between)
    : shape_(shape),
      pruned_(weights.pruned_sides),
      has_pruner_(shape.sides(), 0),
      pruning_(pruning),
      scale_(scale),
      pruner_(std::move(pruner)),
      between_(exponentials_of(prune_between)),
      rest_(shape, weights),
      table_(weights.table, pruning_blocks(shape, pruned_, pruner_), scale, rest_.take_begins()) {
  for (const std::int32_t k : pruned_) has_pruner_[static_cast<std::size_t>(k)] = 1;
}

void CoarsePruner::score(const FeatureKeys& keys, std::span<const Constraints> constraints, UnitRange units,
                         Work& work, SearchWork& search) const {
  table_.score(keys.first, keys.value, work.record, work.coarse, work.rest, work.rest_first);
  apply_constraints(constraints, units, work);
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

bool CoarsePruner::prune(const FeatureKeys& keys, std::span<const Constraints> constraints, UnitRange units,
                         Work& work, SearchWork& search) const {
  score(keys, constraints, units, work, search);
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
    constraints[k].for_each_limit(
        units.begin, units.end,
        [&](std::int64_t unit, TagId label) { row_of(unit)[lane[label]] = kCoarseForbidden; },
        [&](std::int64_t unit, std::span<const TagId> allowed) {
          CoarseScore* own = row_of(unit);
          work.set_aside.assign(own, own + pruner_[k].stride());
          std::fill_n(own, pruner_[k].stride(), kCoarseForbidden);
          for (const TagId label : allowed) own[lane[label]] = work.set_aside[lane[label]];
        });
  }
}

void CoarsePruner::score_candidates(const CoupledTransitions& between,
                                    std::span<const Constraints> constraints, UnitRange units, Work& work,
                                    SearchWork& search) const {
  auto& state = search.scores.state;
  state.resize(shape_.sides());
  // Only candidates are read, and memory from longer sentences is kept.
  for (std::size_t k = 0; k < shape_.sides(); ++k)
    state[k].resize(std::max(state[k].size(), units.size() * shape_.shapes[k].stride()));
  gather_rest(search, work);
  std::size_t labels_of_all = 0;
  for (const std::int32_t k : pruned_) labels_of_all += static_cast<std::size_t>(shape_.labels[k]);
  work.row.resize(labels_of_all);
  work.wanted.resize(pruned_.size());
  for (std::size_t t = 0; t < units.size(); ++t) score_unit(static_cast<std::int32_t>(t), work, search);
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    const std::size_t stride = shape_.shapes[k].stride();
    const auto labels = static_cast<std::size_t>(shape_.labels[k]);
    const float* edge = between.table[k].data();
    for (const TagId l : search.candidates[k].at(0))
      state[k][static_cast<std::size_t>(l)] += edge[labels * (labels + 1) + static_cast<std::size_t>(l)];
    for (const TagId l : search.candidates[k].at(static_cast<std::int32_t>(units.size()) - 1))
      state[k][(units.size() - 1) * stride + static_cast<std::size_t>(l)] +=
          edge[static_cast<std::size_t>(l) * (labels + 1) + labels];
    if (constraints.empty() || !has_pruner(k)) continue;  // a side's own coarse scores already include them
    for (const Constraints::Bonus& each : constraints[k].bonuses(units.begin, units.end))
      state[k][static_cast<std::size_t>(each.unit - units.begin) * stride +
               static_cast<std::size_t>(each.label)] += each.score;
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

void CoarsePruner::score_unit(std::int32_t t, Work& work, SearchWork& search) const {
  const auto unit = static_cast<std::size_t>(t);
  const auto state_of = [&](std::size_t k) {
    return search.scores.state[k].data() + unit * shape_.shapes[k].stride();
  };
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    double* state = state_of(k);
    if (has_pruner(k)) {
      for (const TagId l : search.candidates[k].at(t)) state[l] = 0.0;
      continue;
    }
    const double share = 1.0 / scale_;  // a side without a pruner was pruned by its own scores
    const CoarseScore* coarse = row(k, unit, work);
    for (const TagId l : search.candidates[k].at(t)) state[l] = share * coarse[pruner_[k].lanes()[l]];
  }
  const std::size_t last = work.side_entry_first[unit + 1];
  if (work.side_entry_first[unit] == last) return;
  float* row = work.row.data();
  for (std::size_t p = 0; p < pruned_.size(); row += shape_.labels[pruned_[p]], ++p) {
    work.wanted[p] = search.candidates[pruned_[p]].at(t);
    for (const TagId l : work.wanted[p]) row[l] = 0.0F;
  }
  for (std::size_t k = work.side_entry_first[unit]; k < last; ++k)
    rest_.add_sides(work.side_entry[k], work.wanted, work.row.data());
  row = work.row.data();
  for (std::size_t p = 0; p < pruned_.size(); row += shape_.labels[pruned_[p]], ++p) {
    double* state = state_of(static_cast<std::size_t>(pruned_[p]));
    for (const TagId l : work.wanted[p]) state[l] = row[l];
  }
}

}  // namespace duilian
