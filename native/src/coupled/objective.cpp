#include "duilian/coupled/objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"
#include "duilian/score/pairs.hpp"

namespace duilian {

namespace {

// A smaller change of a probability would not show in a float weight.
constexpr double kNegligible = 1e-6;

/// Joint features whose weights lie in a layout's rows.
class RowSource final : public JointSource {
 public:
  RowSource(const CoupledLayout& layout, WeightView weights, const FeatureRows& features, std::int64_t begin)
      : layout_(layout), weights_(weights), features_(features), begin_(begin) {}

  void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
           double* sum) const override {
    const float* value = weights_.value.data() + layout_.joint_state_at;
    const std::int64_t unit = begin_ + t;
    std::vector<std::int32_t> ascending;  // made when it is needed
    for (std::int64_t f = features_.first[unit]; f < features_.first[unit + 1]; ++f) {
      const std::uint32_t row = features_.value[f];
      const double strength = static_cast<double>(features_.strength_of(f)) * weights_.scale;
      const std::int64_t begin = layout_.joint_first[row];
      const std::int64_t end = layout_.joint_first[row + 1];
      if (layout_.is_long(begin, end, wanted.size())) {
        if (ascending.empty()) {
          ascending.assign(wanted.begin(), wanted.end());
          std::sort(ascending.begin(), ascending.end());
        }
        layout_.for_each_of(
            ascending, begin, end, [](std::int32_t label) { return label; },
            [&](std::int32_t label, std::int64_t w) { sum[slot[label]] += strength * value[w]; });
        continue;
      }
      for (std::int64_t w = begin; w < end; ++w) sum[slot[layout_.joint_label[w]]] += strength * value[w];
    }
  }

 private:
  const CoupledLayout& layout_;
  WeightView weights_;
  const FeatureRows& features_;
  std::int64_t begin_;
};

void score_sides(const CoupledLayout& layout, WeightView weights, const FeatureRows& features,
                 std::int64_t begin, std::int64_t end, SideScores& out) {
  out.state.resize(layout.separate.size());
  for (std::size_t k = 0; k < layout.separate.size(); ++k)
    score_units(layout.separate[k], layout.side(weights, k), features, begin, end, out.state[k]);
}

/// The units [begin, end) of candidates that were found beforehand.
void slice(const TagSets& sets, std::int64_t begin, std::int64_t end, TagSets& out) {
  const std::int32_t from = sets.first[begin];
  out.first.clear();
  for (std::int64_t u = begin; u <= end; ++u) out.first.push_back(sets.first[u] - from);
  out.tag.assign(sets.tag.begin() + from, sets.tag.begin() + sets.first[end]);
}

/// What a unit's side may be in the correct lattice, for laying out: its own label, or the candidates.
[[nodiscard]] std::span<const TagId> known_labels(const CoupledData& data, std::span<const TagSets> latent,
                                                  std::int32_t own, std::int32_t side, std::int64_t unit) {
  const auto t = static_cast<std::int32_t>(unit);
  if (side != own) return latent[side].at(t);
  if (data.label[unit] >= 0) return std::span(data.label).subspan(static_cast<std::size_t>(unit), 1);
  if (data.sets.positions() > t && !data.sets.at(t).empty()) return data.sets.at(t);
  return latent[side].at(t);
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

/// Calls visit(unit, bundle) for every bundle of the joint part's sides in the data.
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

/// The bundles of a part, the most frequent first.
[[nodiscard]] std::vector<TagId> count_bundles(const CoupledShape& shape, const CoupledData& data,
                                               std::span<const TagSets> latent,
                                               std::span<const std::int32_t> sides, std::int32_t most) {
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
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
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
  if (layout.weights > 0xFFFFFFFFLL) throw std::invalid_argument("more than 2^32 weights");
}

/// The states in `kept` (ascending), which are not scored yet.
[[nodiscard]] Lattice part_of(const Lattice& x, std::span<const std::int32_t> kept) {
  Lattice out;
  out.sides = x.sides;
  std::size_t k = 0;
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    for (; k < kept.size() && kept[k] < x.first[t + 1]; ++k) {
      const auto bundle = x.bundle(kept[k]);
      out.tag.insert(out.tag.end(), bundle.begin(), bundle.end());
    }
    out.first.push_back(static_cast<std::int32_t>(k));
  }
  return out;
}

enum class Coverage : std::uint8_t { every_side, some_sides };

void check_sets(std::span<const TagSets> sets, const CoupledShape& shape, std::int64_t units,
                Coverage coverage) {
  if (!sets.empty() && sets.size() != shape.sides())
    throw std::invalid_argument("label sets for another number of sides");
  for (std::size_t k = 0; k < sets.size(); ++k) {
    check(sets[k]);
    const auto is_label = [&](TagId l) { return l >= 0 && l < shape.labels[k]; };
    const bool is_left_out = coverage == Coverage::some_sides && sets[k].positions() == 0;
    if ((!is_left_out && sets[k].positions() != units) ||
        !std::all_of(sets[k].tag.begin(), sets[k].tag.end(), is_label))
      throw std::invalid_argument("label sets do not fit the units");
  }
}

void check_rows(const FeatureRows& features, std::int64_t rows) {
  if (std::any_of(features.value.begin(), features.value.end(), [&](std::uint32_t r) { return r >= rows; }))
    throw std::invalid_argument("a feature row is out of range");
}

}  // namespace

void check(const CoupledData& data, const CoupledShape& shape) {
  check(TaggingData{data.features, data.first, data.label, data.sets});
  if (data.side.size() + 1 != data.first.size()) throw std::invalid_argument("each sentence needs a side");
  for (std::size_t s = 0; s < data.side.size(); ++s) {
    const std::int32_t side = data.side[s];
    if (side < 0 || static_cast<std::size_t>(side) >= shape.sides())
      throw std::invalid_argument("a sentence has a side that is not there");
    const auto is_bad = [&](std::int32_t l) { return l >= shape.labels[side]; };
    if (std::any_of(data.label.begin() + data.first[s], data.label.begin() + data.first[s + 1], is_bad))
      throw std::invalid_argument("a label is out of range");
    for (std::int64_t u = data.first[s]; data.sets.positions() != 0 && u < data.first[s + 1]; ++u) {
      const auto set = data.sets.at(static_cast<std::int32_t>(u));
      if (!set.empty() && is_bad(set.back())) throw std::invalid_argument("a label is out of range");
    }
  }
  check_sets(data.candidates, shape, static_cast<std::int64_t>(data.label.size()), Coverage::every_side);
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

CoupledLayout lay_out_coupled(CoupledShape shape, std::vector<TaggerLayout> separate, const CoupledData& data,
                              std::span<const TagSets> latent,
                              const std::vector<std::vector<std::int32_t>>& parts, JointOptions options) {
  check(data, shape);
  check_sets(latent, shape, static_cast<std::int64_t>(data.label.size()), Coverage::every_side);
  if (separate.size() != shape.sides() || (!parts.empty() && latent.size() != shape.sides()))
    throw std::invalid_argument("the layouts do not fit the sides");
  const std::int64_t rows = static_cast<std::int64_t>(separate[0].first.size()) - 1;
  for (const TaggerLayout& side : separate) {
    if (static_cast<std::int64_t>(side.first.size()) - 1 != rows)
      throw std::invalid_argument("the sides have different features");
  }
  check_rows(data.features, rows);
  for (const auto& sides : parts)
    add_joint_part(shape, sides, count_bundles(shape, data, latent, sides, options.bundles), options.linked);
  if (shape.joint_labels() > 0xFFFF)
    throw std::invalid_argument(concat(shape.joint_labels(), " joint labels are more than 65,535"));
  CoupledLayout layout;
  layout.shape = std::move(shape);
  layout.separate = std::move(separate);
  lay_out_joint_states(data, latent, rows, options.seen, layout);
  place_weights(layout);
  return layout;
}

CoupledObjective::CoupledObjective(const CoupledLayout& layout, const CoupledData& data, Pruning pruning,
                                   double margin, bool learns_separate)
    : layout_(layout), data_(data), pruning_(pruning), margin_(margin), learns_separate_(learns_separate) {
  if (!(margin >= 0.0) || (std::isfinite(margin) && !layout.shape.is_free()))
    throw std::invalid_argument("a margin in training must be at least 0, and there must be no rules");
  check(data, layout.shape);
  check_rows(data.features, static_cast<std::int64_t>(layout.joint_first.size()) - 1);
  most_labels_ = layout.shape.joint_labels();
  for (const std::int32_t labels : layout.shape.labels) most_labels_ = std::max(most_labels_, labels);
}

bool CoupledObjective::is_correct(std::int64_t unit, TagId label) const {
  if (data_.label[unit] >= 0) return data_.label[unit] == label;
  const auto t = static_cast<std::int32_t>(unit);
  if (data_.sets.positions() <= t || data_.sets.at(t).empty()) return true;
  const auto set = data_.sets.at(t);
  return std::binary_search(set.begin(), set.end(), label);
}

void CoupledObjective::find_gold(const Prepared& between, std::int64_t begin, std::int64_t end,
                                 std::size_t side, Work& work) const {
  work.gold.assign(data_.label.begin() + begin, data_.label.begin() + end);
  if (std::all_of(work.gold.begin(), work.gold.end(), [](std::int32_t l) { return l >= 0; })) return;
  // Partly annotated: the best path that the annotation allows.
  const std::size_t stride = layout_.shape.shapes[side].stride();
  work.allowed = work.search.scores.state[side];
  for (std::int64_t unit = begin; unit < end; ++unit) {
    for (TagId l = 0; l < layout_.shape.labels[side]; ++l) {
      if (!is_correct(unit, l))
        work.allowed[static_cast<std::size_t>(unit - begin) * stride + l] = kForbidden;
    }
  }
  const UniformChain chain{static_cast<std::int32_t>(end - begin), work.allowed.data(), between.side[side],
                           layout_.shape.rules[side]};
  if (!try_best_labels(chain, work.search.pruning.chain, work.gold))
    throw std::invalid_argument("no path through the lattice is legal");
}

void CoupledObjective::find_candidates(const Prepared& between, std::int64_t begin, std::int64_t end,
                                       std::size_t side, Work& work) const {
  const auto units = static_cast<std::int32_t>(end - begin);
  if (data_.candidates.empty()) {
    std::vector<std::span<const std::int32_t>> keep(layout_.separate.size());
    keep[side] = work.gold;
    return prune(layout_.shape, between, pruning_, units, keep, std::isfinite(margin_), work.search);
  }
  work.search.candidates.resize(layout_.separate.size());
  for (std::size_t k = 0; k < layout_.separate.size(); ++k) {
    slice(data_.candidates[k], begin, end, work.search.candidates[k]);
    if (k != side) continue;
    add_labels(work.gold, work.search.candidates[k]);
    if (!trim_candidates(layout_.shape.rules[k], work.search.candidates[k]))
      throw std::invalid_argument("no path through the lattice is legal");
  }
}

bool CoupledObjective::find_correct(std::int64_t begin, std::size_t side, Work& work) const {
  const Lattice& x = work.search.space.lattice;
  work.inside.clear();
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    const std::size_t before = work.inside.size();
    for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
      if (is_correct(begin + t, x.bundle(s)[side])) work.inside.push_back(s);
    }
    if (work.inside.size() == before) return false;
  }
  const bool is_partial =
      std::any_of(data_.label.begin() + begin, data_.label.begin() + begin + x.positions(),
                  [](std::int32_t l) { return l < 0; });
  if (layout_.shape.is_free() || (layout_.shape.mappings.empty() && !is_partial)) return true;
  // Some of these states may stand on no legal path of correct states.
  const Lattice left = trim(part_of(x, work.inside), layout_.shape.rules);
  work.inside = locate(left, x);
  return left.width(0) > 0;
}

double CoupledObjective::compute(const Prepared& between, WeightView weights, std::int64_t i, Work& work,
                                 Gradient& out) const {
  const std::int64_t begin = data_.first[i];
  const std::int64_t end = data_.first[i + 1];
  const auto side = static_cast<std::size_t>(data_.side[i]);
  out.label_change.clear();
  out.group.assign(1, 0);
  if (begin == end) return 0.0;
  SearchWork& search = work.search;
  score_sides(layout_, weights, data_.features, begin, end, search.scores);
  find_gold(between, begin, end, side, work);
  find_candidates(between, begin, end, side, work);
  if (!build_space(layout_.shape, search.candidates, false, search.space) ||
      !find_correct(begin, side, work)) {
    if (!build_space(layout_.shape, search.candidates, true, search.space) ||
        !find_correct(begin, side, work))
      throw std::invalid_argument("no path through the lattice is legal");
  }
  const RowSource source(layout_, weights, data_.features, begin);
  score_states(layout_.shape, search.scores, source, search.joint, search.space);
  if (!search.prior.empty()) {
    narrow(layout_.shape, search.candidates, search.prior, margin_, work.inside, search.space);
    if (!find_correct(begin, side, work)) throw std::logic_error("narrowing has lost the annotation");
  }
  score_between(layout_.shape, between, search.space);
  take_part(search.space, work.inside, work.correct);
  marginals(search.space.chain(), search.chain, search.found);
  marginals(work.correct.chain(), search.chain, work.found_correct);
  work.diff.assign(search.found.unit.size(), 0.0);
  for (std::size_t s = 0; s < work.diff.size(); ++s) work.diff[s] = -search.found.unit[s];
  for (std::size_t s = 0; s < work.inside.size(); ++s)
    work.diff[work.inside[s]] += work.found_correct.unit[s];
  add_state_changes(work, out);
  add_transition_changes(work, out);
  add_edge_changes(work, out);
  return search.found.log_partition - work.found_correct.log_partition;
}

void CoupledObjective::push(std::int64_t weight, double value, Gradient& out) const {
  if (std::abs(value) >= kNegligible)
    out.sparse.push_back({static_cast<std::uint32_t>(weight), static_cast<float>(value)});
}

void CoupledObjective::add_state_changes(Work& work, Gradient& out) const {
  const BundleSpace& space = work.search.space;
  const std::size_t sides = layout_.separate.size();
  const std::size_t parts = layout_.shape.joint.size();
  work.per_label.resize(static_cast<std::size_t>(most_labels_), 0.0);
  std::vector<double>& per_label = work.per_label;
  const auto close_group = [&] { out.group.push_back(static_cast<std::int64_t>(out.label_change.size())); };
  const auto take = [&](std::int32_t label) {
    if (std::abs(per_label[label]) >= kNegligible)
      out.label_change.push_back({label, static_cast<float>(per_label[label])});
    per_label[label] = 0.0;
  };
  for (std::int32_t t = 0; t < space.lattice.positions(); ++t) {
    const std::int32_t first = space.lattice.first[t];
    const std::int32_t last = space.lattice.first[t + 1];
    if (last - first == 1) continue;
    out.active.push_back(t);
    for (std::size_t k = 0; k < sides; ++k) {
      for (std::int32_t s = first; learns_separate_ && s < last; ++s)
        per_label[space.lattice.bundle(s)[k]] += work.diff[s];
      for (const TagId label : work.search.candidates[k].at(t)) take(label);
      close_group();
    }
    for (std::int32_t s = first; s < last; ++s) {
      for (std::size_t p = 0; p < parts; ++p) {
        const std::int32_t label = space.label[static_cast<std::size_t>(s) * parts + p];
        if (label >= 0) per_label[label] += work.diff[s];
      }
    }
    const auto begin = static_cast<std::ptrdiff_t>(out.label_change.size());
    for (std::int32_t s = first; s < last; ++s) {
      for (std::size_t p = 0; p < parts; ++p) {
        const std::int32_t label = space.label[static_cast<std::size_t>(s) * parts + p];
        if (label >= 0) take(label);  // 0 the second time
      }
    }
    std::sort(out.label_change.begin() + begin, out.label_change.end(),
              [](const LabelChange& a, const LabelChange& b) { return a.label < b.label; });
    close_group();
  }
}

void CoupledObjective::add_transition_changes(Work& work, Gradient& out) const {
  const BundleSpace& space = work.search.space;
  const std::size_t sides = layout_.separate.size();
  const std::size_t parts = layout_.shape.joint.size();
  for (std::size_t b = 0; b < space.between.blocks.size(); ++b) {
    const Block& block = space.between.blocks[b];
    const Block& inner = work.correct.between.blocks[b];
    if (block.rows == 1 && block.cols == 1) continue;
    const std::int32_t i0 = space.lattice.first[block.position];
    const std::int32_t j0 = space.lattice.first[block.position + 1];
    work.pair.resize(block.rows * block.cols);
    for (std::size_t i = 0; i < block.rows; ++i) {
      for (std::size_t j = 0; j < block.cols; ++j)
        work.pair[i * block.cols + j] = -work.search.found.pair[block.offset + i * block.stride + j];
    }
    const std::int32_t* rows = work.inside.data() + work.correct.lattice.first[block.position];
    const std::int32_t* cols = work.inside.data() + work.correct.lattice.first[block.position + 1];
    for (std::size_t i = 0; i < inner.rows; ++i) {
      for (std::size_t j = 0; j < inner.cols; ++j) {
        work.pair[static_cast<std::size_t>(rows[i] - i0) * block.cols +
                  static_cast<std::size_t>(cols[j] - j0)] +=
            work.found_correct.pair[inner.offset + i * inner.stride + j];
      }
    }
    for (std::size_t k = 0; learns_separate_ && k < sides; ++k) {
      const auto before = work.search.candidates[k].at(block.position);
      const auto after = work.search.candidates[k].at(block.position + 1);
      work.small.assign(before.size() * after.size(), 0.0);
      for (std::size_t i = 0; i < block.rows; ++i) {
        const auto p = static_cast<std::size_t>(space.place[(static_cast<std::size_t>(i0) + i) * sides + k]);
        for (std::size_t j = 0; j < block.cols; ++j) {
          const auto q =
              static_cast<std::size_t>(space.place[(static_cast<std::size_t>(j0) + j) * sides + k]);
          work.small[p * after.size() + q] += work.pair[i * block.cols + j];
        }
      }
      const std::int64_t edge = layout_.separate[k].labels + 1;
      for (std::size_t p = 0; p < before.size(); ++p) {
        for (std::size_t q = 0; q < after.size(); ++q)
          push(layout_.side_at[k] + before[p] * edge + after[q], work.small[p * after.size() + q], out);
      }
    }
    for (std::size_t p = 0; p < parts; ++p) {
      const JointPart& part = layout_.shape.joint[p];
      for (std::size_t i = 0; i < block.rows; ++i) {
        const std::int32_t from = space.label[(static_cast<std::size_t>(i0) + i) * parts + p];
        if (from < 0 || from - part.offset >= part.linked) continue;
        const std::int64_t row = layout_.joint_transition_at[p] +
                                 static_cast<std::int64_t>(from - part.offset) * (part.linked + 1);
        for (std::size_t j = 0; j < block.cols; ++j) {
          const std::int32_t to = space.label[(static_cast<std::size_t>(j0) + j) * parts + p];
          if (to >= 0 && to - part.offset < part.linked)
            push(row + to - part.offset, work.pair[i * block.cols + j], out);
        }
      }
    }
  }
}

void CoupledObjective::add_edge_changes(const Work& work, Gradient& out) const {
  const BundleSpace& space = work.search.space;
  const std::size_t parts = layout_.shape.joint.size();
  const std::int32_t T = space.lattice.positions();
  for (const std::int32_t t : {0, T - 1}) {
    const bool is_start = t == 0;
    // A one-unit sentence has both edges.
    for (int edge = is_start ? 0 : 1; edge < (is_start && T == 1 ? 2 : (is_start ? 1 : 2)); ++edge) {
      for (std::int32_t s = space.lattice.first[t]; s < space.lattice.first[t + 1]; ++s) {
        for (std::size_t k = 0; learns_separate_ && k < layout_.separate.size(); ++k) {
          const std::int64_t L = layout_.separate[k].labels;
          const TagId label = space.lattice.bundle(s)[k];
          push(layout_.side_at[k] + (edge == 0 ? L * (L + 1) + label : label * (L + 1) + L), work.diff[s],
               out);
        }
        for (std::size_t p = 0; p < parts; ++p) {
          const JointPart& part = layout_.shape.joint[p];
          const std::int32_t label = space.label[static_cast<std::size_t>(s) * parts + p] - part.offset;
          if (space.label[static_cast<std::size_t>(s) * parts + p] < 0 || label >= part.linked) continue;
          const std::int64_t E = part.linked;
          push(layout_.joint_transition_at[p] + (edge == 0 ? E * (E + 1) + label : label * (E + 1) + E),
               work.diff[s], out);
        }
      }
    }
    if (T == 1) break;
  }
}

CoupledAnswers tag_coupled(const CoupledLayout& layout, WeightView weights, const FeatureRows& features,
                           std::span<const std::int64_t> first, std::span<const TagSets> candidates,
                           std::span<const TagSets> allowed, SearchOptions options, bool with_candidates,
                           std::size_t threads) {
  if (weights.value.size() != static_cast<std::size_t>(layout.weights))
    throw std::invalid_argument("the weights do not fit the model");
  if (!(options.margin >= 0.0)) throw std::invalid_argument("the margin must be at least 0");
  check_sets(candidates, layout.shape, first.back(), Coverage::every_side);
  check_sets(allowed, layout.shape, first.back(), Coverage::some_sides);
  const CoupledTransitions between = layout.transitions(weights);
  AnswerCollector answers(layout.shape.sides(), first, with_candidates);
  Team team(threads);
  std::vector<SearchWork> work(team.size());
  team.for_each(first.size() - 1, [&](std::size_t thread, std::size_t s) {
    if (first[s] == first[s + 1]) return;
    SearchWork& own = work[thread];
    score_sides(layout, weights, features, first[s], first[s + 1], own.scores);
    restrict_scores(layout.shape, allowed, first[s], first[s + 1], own.scores);
    if (candidates.empty()) {
      prune(layout.shape, between, options.pruning, static_cast<std::int32_t>(first[s + 1] - first[s]), {},
            std::isfinite(options.margin), own);
    } else {
      own.prior.clear();
      own.candidates.resize(candidates.size());
      for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (allowed.empty() || allowed[k].positions() == 0) {
          slice(candidates[k], first[s], first[s + 1], own.candidates[k]);
          continue;
        }
        // What is given may be none of the candidates that were found without it.
        const UniformChain chain{static_cast<std::int32_t>(first[s + 1] - first[s]),
                                 own.scores.state[k].data(), between.side[k], layout.shape.rules[k]};
        choose_candidates(chain, options.pruning, {}, own.pruning, own.candidates[k]);
      }
    }
    build(layout.shape, between, RowSource(layout, weights, features, first[s]), options.margin, own);
    decode(layout.shape, options.decoding, own);
    answers.add(s, own);
  });
  return answers.finish();
}

TagSets tag_candidates(const TaggerLayout& layout, WeightView weights, const FeatureRows& features,
                       std::span<const std::int64_t> first, Pruning pruning, std::size_t threads) {
  struct Work {
    std::vector<double> state;
    PruningWorkspace pruning;
  };
  const LabelTransitions between = score_transitions(layout, weights);
  std::vector<TagSets> found(first.size() - 1);
  Team team(threads);
  std::vector<Work> work(team.size());
  team.for_each(found.size(), [&](std::size_t thread, std::size_t s) {
    if (first[s] == first[s + 1]) return;
    score_units(layout, weights, features, first[s], first[s + 1], work[thread].state);
    const UniformChain chain{static_cast<std::int32_t>(first[s + 1] - first[s]), work[thread].state.data(),
                             between, layout.rules};
    choose_candidates(chain, pruning, {}, work[thread].pruning, found[s]);
  });
  TagSets out;
  for (const TagSets& sets : found) {
    const auto before = static_cast<std::int32_t>(out.tag.size());
    out.tag.insert(out.tag.end(), sets.tag.begin(), sets.tag.end());
    for (std::int32_t t = 0; t < sets.positions(); ++t) out.first.push_back(before + sets.first[t + 1]);
  }
  return out;
}

}  // namespace duilian
