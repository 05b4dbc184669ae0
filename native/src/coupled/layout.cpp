// Decides which features and bundles have joint weights, and checks the sentences to learn from (see
// layout.hpp).
#include "duilian/coupled/layout.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/score/pairs.hpp"

namespace duilian {

namespace {

/// The labels that a side may have at a unit in the correct lattice: those known, or the candidates.
[[nodiscard]] std::span<const TagId> known_labels(const CoupledData& data, std::span<const TagSets> latent,
                                                  std::int32_t own, std::int32_t side, std::int64_t unit) {
  const auto known = data.known(static_cast<std::size_t>(own), static_cast<std::size_t>(side), unit);
  return known.empty() ? latent[side].at(static_cast<std::int32_t>(unit)) : known;
}

/// Calls visit(bundle) for every bundle of these label sets.
template <class Visit>
void for_each_bundle(std::span<const std::span<const TagId>> sets, std::vector<TagId>& bundle,
                     const Visit& visit, std::size_t k = 0) {
  if (k == 0) bundle.resize(sets.size());
  if (k == sets.size()) return visit(std::span<const TagId>(bundle));
  for (const TagId label : sets[k]) {
    bundle[k] = label;
    for_each_bundle(sets, bundle, visit, k + 1);
  }
}

/// Calls visit(unit, bundle) for every bundle of a joint part's sides in the data.
template <class Visit>
void for_each_known_bundle(const CoupledData& data, std::span<const TagSets> latent,
                           std::span<const std::int32_t> sides, const Visit& visit) {
  std::vector<std::span<const TagId>> sets(sides.size());
  std::vector<TagId> bundle;
  for (std::size_t s = 0; s + 1 < data.first.size(); ++s) {
    for (std::int64_t unit = data.first[s]; unit < data.first[s + 1]; ++unit) {
      for (std::size_t k = 0; k < sides.size(); ++k)
        sets[k] = known_labels(data, latent, data.side[s], sides[k], unit);
      for_each_bundle(sets, bundle, [&](std::span<const TagId> found) { visit(unit, found); });
    }
  }
}

/// The bundles of a part, most frequent first.
[[nodiscard]] std::vector<TagId> count_bundles(const CoupledShape& shape, const CoupledData& data,
                                               std::span<const TagSets> latent,
                                               std::span<const std::int32_t> sides, std::int32_t max_count) {
  std::vector<std::int32_t> labels;
  for (const std::int32_t side : sides) labels.push_back(shape.labels.at(side));
  BundleIndex index(labels);
  std::vector<std::int64_t> count;
  for_each_known_bundle(data, latent, sides, [&](std::int64_t, std::span<const TagId> bundle) {
    const auto b = static_cast<std::size_t>(index.insert(bundle));
    if (b == count.size()) count.push_back(0);
    ++count[b];
  });
  std::vector<std::int32_t> order(count.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return count[a] > count[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(max_count)));
  std::vector<TagId> out;
  for (const std::int32_t b : order) {
    const auto at = index.bundles().begin() + static_cast<std::ptrdiff_t>(b * sides.size());
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(sides.size()));
  }
  return out;
}

void lay_out_joint_states(const CoupledData& data, std::span<const TagSets> latent, std::int64_t rows,
                          std::int64_t seen, CoupledLayout& layout) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(rows), 0);
  for (const std::uint32_t row : data.features.value) ++count[row];
  PairSet pairs;
  for (const JointPart& part : layout.shape.joint) {
    for_each_known_bundle(data, latent, part.sides, [&](std::int64_t unit, std::span<const TagId> bundle) {
      const std::int32_t b = part.bundles.find(bundle);
      if (b < 0) return;
      for (std::int64_t f = data.features.first[unit]; f < data.features.first[unit + 1]; ++f) {
        const std::uint32_t row = data.features.value[f];
        if (count[row] >= seen) pairs.add(row, part.offset + b);
      }
    });
  }
  layout.joint_first.clear();
  pairs.write_to(rows, layout.joint_first, layout.joint_label);
}

void place_weights(CoupledLayout& layout) {
  std::int64_t at = 0;
  for (const TaggerLayout& side : layout.separate) {
    layout.side_at.push_back(at);
    at += side.weights();
  }
  for (const JointPart& part : layout.shape.joint) {
    layout.joint_transition_at.push_back(at);
    at += part.transitions();
  }
  layout.joint_state_at = at;
  layout.weights = at + static_cast<std::int64_t>(layout.joint_label.size());
  if (layout.weights > 0xFFFFFFFFLL)
    throw std::invalid_argument("the model would have more than 2^32 weights");
}

}  // namespace

void check_sets(std::span<const TagSets> sets, const CoupledShape& shape, std::int64_t units,
                Coverage coverage) {
  if (!sets.empty() && sets.size() != shape.sides())
    throw std::invalid_argument("the label sets are for a different number of sides");
  for (std::size_t k = 0; k < sets.size(); ++k) {
    check(sets[k]);
    const auto is_label = [&](TagId l) { return l >= 0 && l < shape.labels[k]; };
    const bool is_left_out = coverage == Coverage::some_sides && sets[k].positions() == 0;
    if ((!is_left_out && sets[k].positions() != units) ||
        !std::all_of(sets[k].tag.begin(), sets[k].tag.end(), is_label))
      throw std::invalid_argument("label sets do not match the units");
  }
}

void check_rows(const FeatureRows& features, std::int64_t rows) {
  if (std::any_of(features.value.begin(), features.value.end(), [&](std::uint32_t r) { return r >= rows; }))
    throw std::invalid_argument("a feature row is out of range");
}

void check(const CoupledData& data, const CoupledShape& shape) {
  check(TaggingData{data.features, data.first, data.label, data.sets});
  if (data.side.size() + 1 != data.first.size()) throw std::invalid_argument("each sentence needs a side");
  for (std::size_t s = 0; s < data.side.size(); ++s) {
    const std::int32_t side = data.side[s];
    if (side < 0 || static_cast<std::size_t>(side) >= shape.sides())
      throw std::invalid_argument("a sentence has a side that does not exist");
    const auto is_bad = [&](std::int32_t l) { return l >= shape.labels[side]; };
    if (std::any_of(data.label.begin() + data.first[s], data.label.begin() + data.first[s + 1], is_bad))
      throw std::invalid_argument("a label is out of range");
    for (std::int64_t u = data.first[s]; data.sets.positions() != 0 && u < data.first[s + 1]; ++u) {
      const auto set = data.sets.at(static_cast<std::int32_t>(u));
      if (!set.empty() && is_bad(set.back())) throw std::invalid_argument("a label is out of range");
    }
  }
  check_sets(data.candidates, shape, static_cast<std::int64_t>(data.label.size()), Coverage::every_side);
  check_sets(data.held, shape, static_cast<std::int64_t>(data.label.size()), Coverage::some_sides);
}

std::span<const TagId> CoupledData::known(std::size_t own, std::size_t k, std::int64_t unit) const {
  const auto t = static_cast<std::int32_t>(unit);
  if (k == own && label[unit] >= 0) return std::span(label).subspan(static_cast<std::size_t>(unit), 1);
  if (k != own && k >= held.size()) return {};
  const TagSets& found = k == own ? sets : held[k];
  return found.positions() > t ? found.at(t) : std::span<const TagId>{};
}

CoupledTransitions CoupledLayout::transitions(WeightView view) const {
  std::vector<std::span<const float>> side_weights;
  std::vector<std::span<const float>> joint_weights;
  for (std::size_t k = 0; k < separate.size(); ++k)
    side_weights.push_back(side(view, k).value.first(static_cast<std::size_t>(separate[k].transitions())));
  for (std::size_t p = 0; p < shape.joint.size(); ++p)
    joint_weights.push_back(view.value.subspan(static_cast<std::size_t>(joint_transition_at[p]),
                                               static_cast<std::size_t>(shape.joint[p].transitions())));
  return make_transitions(shape, side_weights, joint_weights, view.scale);
}

std::vector<std::int64_t> weight_ranges(const CoupledLayout& layout, std::span<const std::uint8_t> is_used) {
  if (is_used.size() + 1 != layout.joint_first.size())
    throw std::invalid_argument("the rows in use do not match the model");
  std::vector<std::int64_t> out;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    if (!out.empty() && out.back() == begin) {
      out.back() = end;
    } else {
      out.push_back(begin);
      out.push_back(end);
    }
  };
  for (std::size_t k = 0; k < layout.separate.size(); ++k) {
    const TaggerLayout& side = layout.separate[k];
    const std::int64_t at = layout.side_at[k] + side.transitions();
    add(layout.side_at[k], at);
    for (std::size_t row = 0; row < is_used.size(); ++row) {
      if (is_used[row] != 0) add(at + side.first[row], at + side.first[row + 1]);
    }
  }
  if (!layout.joint_transition_at.empty()) add(layout.joint_transition_at.front(), layout.joint_state_at);
  for (std::size_t row = 0; row < is_used.size(); ++row) {
    if (is_used[row] != 0)
      add(layout.joint_state_at + layout.joint_first[row],
          layout.joint_state_at + layout.joint_first[row + 1]);
  }
  return out;
}

CoupledLayout lay_out_coupled(CoupledShape shape, std::vector<TaggerLayout> separate, const CoupledData& data,
                              std::span<const TagSets> latent,
                              const std::vector<std::vector<std::int32_t>>& parts, JointOptions options) {
  check(data, shape);
  check_sets(latent, shape, static_cast<std::int64_t>(data.label.size()), Coverage::every_side);
  if (separate.size() != shape.sides() || (!parts.empty() && latent.size() != shape.sides()))
    throw std::invalid_argument("the layouts do not match the sides");
  const std::int64_t rows = static_cast<std::int64_t>(separate[0].first.size()) - 1;
  for (const TaggerLayout& side : separate) {
    if (static_cast<std::int64_t>(side.first.size()) - 1 != rows)
      throw std::invalid_argument("the sides have different features");
  }
  check_rows(data.features, rows);
  for (const auto& sides : parts)
    add_joint_part(shape, sides, count_bundles(shape, data, latent, sides, options.max_bundles),
                   options.max_linked);
  if (shape.joint_labels() > 0xFFFF)
    throw std::invalid_argument(
        concat(shape.joint_labels(), " joint labels, but at most 65,535 are supported"));
  CoupledLayout layout;
  layout.shape = std::move(shape);
  layout.separate = std::move(separate);
  lay_out_joint_states(data, latent, rows, options.min_count, layout);
  place_weights(layout);
  return layout;
}

}  // namespace duilian
