// Loss and gradient of a coupled model: builds the possible and the correct bundles of a sentence, and
// compares their marginals (see objective.hpp).
#include "duilian/coupled/objective.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/coupled/tagging.hpp"

namespace duilian {

namespace {

/// The states in `kept` (ascending), not yet scored.
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

}  // namespace

CoupledObjective::CoupledObjective(const CoupledLayout& layout, const CoupledData& data, Pruning pruning,
                                   double bundle_gap, bool learns_separate)
    : layout_(layout),
      data_(data),
      pruning_(pruning),
      bundle_gap_(bundle_gap),
      learns_separate_(learns_separate) {
  if (!(bundle_gap >= 0.0) || (std::isfinite(bundle_gap) && !layout.shape.is_free()))
    throw std::invalid_argument(
        "the bundle gap in training must be at least 0, and the sides must have no rules");
  check(data, layout.shape);
  check_rows(data.features, static_cast<std::int64_t>(layout.joint_first.size()) - 1);
  most_labels_ = layout.shape.joint_labels();
  for (const std::int32_t labels : layout.shape.labels) most_labels_ = std::max(most_labels_, labels);
}

bool CoupledObjective::is_correct(std::size_t own, std::size_t side, std::int64_t unit, TagId label) const {
  const auto known = data_.known(own, side, unit);
  return known.empty() || std::binary_search(known.begin(), known.end(), label);
}

void CoupledObjective::find_gold(const Prepared& between, Place place, std::size_t side, Work& work) const {
  std::vector<std::int32_t>& gold = work.gold[side];
  gold.clear();
  bool is_open = side != place.own;
  bool is_whole = true;
  for (std::int64_t unit = place.begin; unit < place.end; ++unit) {
    const auto known = data_.known(place.own, side, unit);
    is_open = is_open && known.empty();
    is_whole = is_whole && known.size() == 1;
    gold.push_back(known.size() == 1 ? known.front() : -1);
  }
  if (is_open) gold.clear();
  if (is_open || is_whole) return;
  // Partly annotated: the best path that the annotation allows.
  const std::size_t stride = layout_.shape.shapes[side].stride();
  work.allowed = work.search.scores.state[side];
  for (std::int64_t unit = place.begin; unit < place.end; ++unit) {
    for (TagId l = 0; l < layout_.shape.labels[side]; ++l) {
      if (!is_correct(place.own, side, unit, l))
        work.allowed[static_cast<std::size_t>(unit - place.begin) * stride + l] = kForbidden;
    }
  }
  const UniformChain chain{static_cast<std::int32_t>(place.end - place.begin), work.allowed.data(),
                           between.side[side], layout_.shape.rules[side]};
  if (!try_best_labels(chain, work.search.pruning.chain, gold))
    throw std::invalid_argument("no path through the lattice is legal");
}

void CoupledObjective::find_candidates(const Prepared& between, Place place, Work& work) const {
  const auto units = static_cast<std::int32_t>(place.end - place.begin);
  if (data_.candidates.empty()) {
    const std::vector<std::span<const std::int32_t>> keep(work.gold.begin(), work.gold.end());
    return prune(layout_.shape, between, pruning_, units, keep, std::isfinite(bundle_gap_), work.search);
  }
  work.search.candidates.resize(layout_.separate.size());
  for (std::size_t k = 0; k < layout_.separate.size(); ++k) {
    slice(data_.candidates[k], place.begin, place.end, work.search.candidates[k]);
    if (work.gold[k].empty()) continue;
    add_labels(work.gold[k], work.search.candidates[k]);
    if (!trim_candidates(layout_.shape.rules[k], work.search.pruning.keep, work.search.candidates[k]))
      throw std::invalid_argument("no path through the lattice is legal");
  }
}

bool CoupledObjective::find_correct(Place place, Work& work) const {
  const Lattice& x = work.search.space.lattice;
  const auto is_correct_state = [&](std::int32_t t, std::int32_t s) {
    const auto bundle = x.bundle(s);
    for (std::size_t k = 0; k < bundle.size(); ++k) {
      if (!work.gold[k].empty() && !is_correct(place.own, k, place.begin + t, bundle[k])) return false;
    }
    return true;
  };
  work.inside.clear();
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    const std::size_t before = work.inside.size();
    for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
      if (is_correct_state(t, s)) work.inside.push_back(s);
    }
    if (work.inside.size() == before) return false;
  }
  const auto is_whole = [&](std::size_t k) {
    for (std::int64_t unit = place.begin; unit < place.end; ++unit) {
      if (data_.known(place.own, k, unit).size() != 1) return work.gold[k].empty();
    }
    return true;
  };
  bool is_partial = false;
  for (std::size_t k = 0; k < work.gold.size(); ++k) is_partial = is_partial || !is_whole(k);
  if (layout_.shape.is_free() || (layout_.shape.mappings.empty() && !is_partial)) return true;
  // Some of these states may lie on no legal path of correct states.
  const Lattice left = trim(part_of(x, work.inside), layout_.shape.rules);
  work.inside = locate(left, x);
  return left.width(0) > 0;
}

double CoupledObjective::compute(const Prepared& between, WeightView weights, std::int64_t i, Work& work,
                                 Gradient& out) const {
  const std::int64_t begin = data_.first[i];
  const std::int64_t end = data_.first[i + 1];
  const Place place{begin, end, static_cast<std::size_t>(data_.side[i])};
  out.label_change.clear();
  out.group.assign(1, 0);
  if (begin == end) return 0.0;
  SearchWork& search = work.search;
  score_sides(layout_, weights, data_.features, begin, end, search.scores);
  work.gold.resize(layout_.separate.size());
  for (std::size_t k = 0; k < work.gold.size(); ++k) find_gold(between, place, k, work);
  find_candidates(between, place, work);
  if (!build_space(layout_.shape, search.candidates, false, search.space) || !find_correct(place, work)) {
    if (!build_space(layout_.shape, search.candidates, true, search.space) || !find_correct(place, work))
      throw std::invalid_argument("no path through the lattice is legal");
  }
  const RowSource source(layout_, weights, data_.features, begin);
  score_states(layout_.shape, search.scores, source, search.joint, search.space);
  if (!search.prior.empty()) {
    prune_bundles(search.candidates, search.prior, bundle_gap_, work.inside, search.joint, search.space);
    if (!find_correct(place, work)) throw std::logic_error("pruning has lost the annotation");
  }
  if (!score_between(layout_.shape, between, search.joint, search.space))
    throw std::invalid_argument("no path through the lattice is legal");
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
        if (label >= 0) take(label);  // the second time, its change is 0
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
    // A sentence of one unit has both edges.
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
}  // namespace duilian
