// Builds, scores and decodes the bundles of a sentence (see space.hpp).
#include "duilian/coupled/space.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "filter.hpp"

namespace duilian {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // states have 32-bit numbers

/// Every bundle of the candidates, in lexicographic order.
void fill_product(std::span<const TagSets> candidates, BundleSpace& out) {
  if (count_bundles(candidates) > kMost)
    throw std::invalid_argument("the candidates of a sentence have too many bundles: lower max_candidates");
  const std::size_t sides = candidates.size();
  Lattice& x = out.lattice;
  x.sides = static_cast<std::int32_t>(sides);
  x.first.assign(1, 0);
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    std::size_t bundles = 1;
    for (const TagSets& sets : candidates) bundles *= sets.at(t).size();
    x.first.push_back(x.first[t] + static_cast<std::int32_t>(bundles));
  }
  x.tag.resize(static_cast<std::size_t>(x.states()) * sides);
  out.place.resize(x.tag.size());
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    const auto begin = static_cast<std::size_t>(x.first[t]);
    const auto bundles = static_cast<std::size_t>(x.width(t));
    std::size_t repeats = bundles;  // consecutive bundles with the same label of side k
    for (std::size_t k = 0; k < sides && bundles > 0; ++k) {
      const auto labels = candidates[k].at(t);
      repeats /= labels.size();
      std::size_t s = begin;
      for (std::size_t cycle = 0; cycle < bundles / (repeats * labels.size()); ++cycle) {
        for (std::size_t place = 0; place < labels.size(); ++place) {
          for (std::size_t r = 0; r < repeats; ++r, ++s) {
            x.tag[s * sides + k] = labels[place];
            out.place[s * sides + k] = static_cast<std::int32_t>(place);
          }
        }
      }
    }
  }
}

[[nodiscard]] bool has_empty_position(const Lattice& x) {
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    if (x.width(t) == 0) return true;
  }
  return false;
}

void apply_mappings(const CoupledShape& shape, BundleSpace& space) {
  filter(space, [&](std::int32_t s) {
    const auto bundle = space.lattice.bundle(s);
    return std::all_of(shape.mappings.begin(), shape.mappings.end(),
                       [&](const SideMapping& m) { return m(bundle[m.side_a], bundle[m.side_b]); });
  });
  if (shape.is_free() || has_empty_position(space.lattice)) return;
  // Trimmed sides make a trimmed product, but a mapping may cut a path in two.
  const Lattice left = trim(space.lattice, shape.rules);
  std::vector<std::uint8_t> is_left(static_cast<std::size_t>(space.lattice.states()), 0);
  for (const std::int32_t s : locate(left, space.lattice)) is_left[s] = 1;
  filter(space, [&](std::int32_t s) { return is_left[s] != 0; });
}

void find_labels(const CoupledShape& shape, BundleSpace& space) {
  const std::size_t parts = shape.joint.size();
  space.label.resize(static_cast<std::size_t>(space.lattice.states()) * parts);
  for (std::int32_t s = 0; s < space.lattice.states(); ++s) {
    const auto tags = space.lattice.bundle(s);
    for (std::size_t p = 0; p < parts; ++p) {
      const JointPart& part = shape.joint[p];
      const std::int32_t found = part.bundles.find(tags, part.sides);
      space.label[static_cast<std::size_t>(s) * parts + p] = found < 0 ? -1 : part.offset + found;
    }
  }
}

/// Joint state scores of position t, for all its bundles at once.
void add_joint_states(std::size_t parts, std::int32_t t, const JointSource& source, SpaceWorkspace& work,
                      BundleSpace& space) {
  const auto begin = static_cast<std::size_t>(space.lattice.first[t]) * parts;
  const auto end = static_cast<std::size_t>(space.lattice.first[t + 1]) * parts;
  work.used.clear();
  for (std::size_t k = begin; k < end; ++k) {
    const std::int32_t label = space.label[k];
    if (label < 0 || work.slot[label] != 0) continue;
    work.used.push_back(label);
    work.slot[label] = static_cast<std::int32_t>(work.used.size());
  }
  if (work.used.empty()) return;
  work.sum.assign(work.used.size() + 1, 0.0);
  source.add(t, work.used, work.slot.data(), work.sum.data());
  for (std::size_t k = begin; k < end; ++k) {
    if (space.label[k] < 0) continue;
    space.state[k / parts] += work.sum[work.slot[space.label[k]]];
    space.joint[k / parts] += work.sum[work.slot[space.label[k]]];
  }
  for (const std::int32_t label : work.used) work.slot[label] = 0;
}

/// The weight of a part's transition between two joint labels (-1: start or stop); 0 if it has none.
[[nodiscard]] double joint_transition(const JointPart& part, const CoupledTransitions& between, std::size_t p,
                                      std::int32_t before, std::int32_t after) {
  const std::int32_t i = before == -1 ? part.linked : before - part.offset;
  const std::int32_t j = after == -1 ? part.linked : after - part.offset;
  if (i > part.linked || j > part.linked || (before != -1 && i == part.linked) ||
      (after != -1 && j == part.linked))
    return 0.0;
  return between.scale * between.joint[p][static_cast<std::size_t>(i) * (part.linked + 1) + j];
}

void add_joint_edges(const CoupledShape& shape, const CoupledTransitions& between, BundleSpace& space) {
  const std::size_t parts = shape.joint.size();
  const Lattice& x = space.lattice;
  const std::int32_t T = x.positions();
  for (std::size_t p = 0; p < parts; ++p) {
    const auto label = [&](std::int32_t s) { return space.label[static_cast<std::size_t>(s) * parts + p]; };
    for (std::int32_t s = x.first[0]; s < x.first[1]; ++s) {
      if (label(s) >= 0) space.state[s] += joint_transition(shape.joint[p], between, p, -1, label(s));
    }
    for (std::int32_t s = x.first[T - 1]; s < x.first[T]; ++s) {
      if (label(s) >= 0) space.state[s] += joint_transition(shape.joint[p], between, p, label(s), -1);
    }
  }
}

/// One block for each pair of neighbours, in reused memory.
void lay_out_blocks(const Lattice& x, Transitions& out) {
  out.block_of.clear();
  out.blocks.clear();
  std::size_t size = 0;
  for (std::int32_t t = 0; t + 1 < x.positions(); ++t) {
    const auto rows = static_cast<std::size_t>(x.width(t));
    const auto cols = static_cast<std::size_t>(x.width(t + 1));
    out.block_of.push_back(t);
    out.blocks.push_back({t, rows, cols, padded(cols), size, kForbidden, 0.0});
    size += rows * padded(cols);
  }
  out.score.resize(size);
}

/// Fills a block with score(i, j) for every pair, and finds its peak and floor.
template <class Score>
void fill_block(Transitions& between, Block& block, const Score& score) {
  double peak = kForbidden;
  double floor = -kForbidden;
  for (std::size_t i = 0; i < block.rows; ++i) {
    double* row = between.score.data() + block.offset + i * block.stride;
    for (std::size_t j = 0; j < block.cols; ++j) {
      const double found = score(i, j);
      row[j] = found;
      peak = std::max(peak, found);
      if (found != kForbidden) floor = std::min(floor, found);
    }
    std::fill(row + block.cols, row + block.stride, kForbidden);
  }
  block.peak = peak;
  block.floor = peak == kForbidden ? 0.0 : floor;
}

/// Forbids the states after a block that no state before it leads to; returns false if none remain.
[[nodiscard]] bool forbid_unreached(const Block& block, BundleSpace& space) {
  const double* before = space.state.data() + space.lattice.first[block.position];
  double* after = space.state.data() + space.lattice.first[block.position + 1];
  bool has_any = false;
  for (std::size_t j = 0; j < block.cols; ++j) {
    const double* score = space.between.score.data() + block.offset + j;
    std::size_t i = 0;
    while (i < block.rows && (before[i] == kForbidden || score[i * block.stride] == kForbidden)) ++i;
    if (i == block.rows) after[j] = kForbidden;
    has_any = has_any || after[j] != kForbidden;
  }
  return has_any;
}

/// Adds the sides' scores for the pairs of a block. Joint transitions are collected in `pending` and
/// prefetched: they are numerous and scattered.
void score_sides_of(const CoupledShape& shape, const CoupledTransitions& between, const Block& block,
                    BundleSpace& space, std::vector<PendingScore>& pending) {
  const Lattice& x = space.lattice;
  const std::size_t sides = shape.sides();
  const std::size_t parts = shape.joint.size();
  const auto i0 = static_cast<std::size_t>(x.first[block.position]);
  const auto j0 = static_cast<std::size_t>(x.first[block.position + 1]);
  const TagId* after = x.tag.data() + j0 * sides;
  const std::int32_t* label_after = space.label.data() + j0 * parts;
  double* row = space.between.score.data() + block.offset;
  for (std::size_t i = 0; i < block.rows; ++i, row += block.stride) {
    const TagId* before = x.tag.data() + (i0 + i) * sides;
    std::fill(row + block.cols, row + block.stride, kForbidden);
    const auto scores_of = [&](std::size_t k) {
      return between.table[k].data() +
             static_cast<std::size_t>(before[k]) * (static_cast<std::size_t>(shape.labels[k]) + 1);
    };
    const float* scores = scores_of(0);
    for (std::size_t j = 0; j < block.cols; ++j) row[j] = static_cast<double>(scores[after[j * sides]]);
    for (std::size_t k = 1; k < sides; ++k) {
      scores = scores_of(k);
      for (std::size_t j = 0; j < block.cols; ++j)
        row[j] += static_cast<double>(scores[after[j * sides + k]]);
    }
    for (std::size_t p = 0; p < parts; ++p) {
      const JointPart& part = shape.joint[p];
      const std::int32_t label = space.label[(i0 + i) * parts + p] - part.offset;
      if (label < 0 || label >= part.linked) continue;
      const float* joint = between.joint[p].data() + static_cast<std::size_t>(label) * (part.linked + 1);
      for (std::size_t j = 0; j < block.cols; ++j) {
        const std::int32_t next = label_after[j * parts + p] - part.offset;
        if (next < 0 || next >= part.linked || row[j] == kForbidden) continue;
        __builtin_prefetch(joint + next);
        pending.push_back({row + j, joint + next});
      }
    }
  }
}

/// Finds the peak and floor of a block; returns false if no transition is legal.
[[nodiscard]] bool finish_block(const CoupledShape& shape, BundleSpace& space, Block& block) {
  double peak = kForbidden;
  double floor = -kForbidden;
  const double* row = space.between.score.data() + block.offset;
  for (std::size_t i = 0; i < block.rows; ++i, row += block.stride) {
    for (std::size_t j = 0; j < block.cols; ++j) {
      peak = std::max(peak, row[j]);
      if (row[j] != kForbidden) floor = std::min(floor, row[j]);
    }
  }
  block.peak = peak;
  block.floor = peak == kForbidden ? 0.0 : floor;
  return shape.is_free() || forbid_unreached(block, space);
}

}  // namespace

std::int64_t count_bundles(std::span<const TagSets> candidates) {
  std::int64_t all = 0;
  for (std::int32_t t = 0; t < candidates[0].positions() && all <= kMost; ++t) {
    std::int64_t bundles = 1;
    for (const TagSets& sets : candidates) {
      bundles *= static_cast<std::int64_t>(sets.at(t).size());  // at most 2^31 · 2^16
      if (bundles > kMost) return bundles;
    }
    all += bundles;
  }
  return all;
}

bool build_space(const CoupledShape& shape, std::span<const TagSets> candidates, bool without_mappings,
                 BundleSpace& out) {
  out.label.clear();
  out.state.clear();
  out.joint.clear();
  fill_product(candidates, out);
  if (!shape.mappings.empty() && !without_mappings) apply_mappings(shape, out);
  return !has_empty_position(out.lattice);
}

void score_states(const CoupledShape& shape, const SideScores& scores, const JointSource& source,
                  SpaceWorkspace& work, BundleSpace& space) {
  find_labels(shape, space);
  const Lattice& x = space.lattice;
  const std::size_t sides = shape.sides();
  space.state.assign(static_cast<std::size_t>(x.states()), 0.0);
  space.joint.assign(static_cast<std::size_t>(x.states()), 0.0);
  work.slot.resize(static_cast<std::size_t>(shape.joint_labels()), 0);
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    source.score_sides(t);
    for (std::size_t k = 0; k < sides; ++k) {
      const double* score = scores.state[k].data() + static_cast<std::size_t>(t) * shape.shapes[k].stride();
      for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
        space.state[s] += score[x.tag[static_cast<std::size_t>(s) * sides + k]];
      }
    }
    if (x.width(t) > 1 && !shape.joint.empty()) add_joint_states(shape.joint.size(), t, source, work, space);
  }
}

bool score_between(const CoupledShape& shape, const CoupledTransitions& between, SpaceWorkspace& work,
                   BundleSpace& space) {
  if (space.lattice.positions() > 0) add_joint_edges(shape, between, space);
  lay_out_blocks(space.lattice, space.between);
  work.pending.clear();
  for (const Block& block : space.between.blocks) score_sides_of(shape, between, block, space, work.pending);
  for (const PendingScore& each : work.pending)
    *each.score += static_cast<double>(between.scale * *each.weight);
  return std::all_of(space.between.blocks.begin(), space.between.blocks.end(),
                     [&](Block& block) { return finish_block(shape, space, block); });
}

void take_part(const BundleSpace& space, std::span<const std::int32_t> kept, BundleSpace& out) {
  const Lattice& x = space.lattice;
  const auto sides = static_cast<std::size_t>(x.sides);
  out.lattice.sides = x.sides;
  out.lattice.first.assign(1, 0);
  out.lattice.tag.clear();
  out.state.clear();
  std::size_t k = 0;
  for (std::int32_t t = 0; t < x.positions(); ++t) {
    for (; k < kept.size() && kept[k] < x.first[t + 1]; ++k) {
      const auto bundle = x.bundle(kept[k]);
      out.lattice.tag.insert(out.lattice.tag.end(), bundle.begin(), bundle.end());
      out.state.push_back(space.state[kept[k]]);
    }
    out.lattice.first.push_back(static_cast<std::int32_t>(out.lattice.tag.size() / sides));
  }
  lay_out_blocks(out.lattice, out.between);
  for (Block& block : out.between.blocks) {
    const Block& whole = space.between.blocks[block.position];
    const std::int32_t* rows = kept.data() + out.lattice.first[block.position];
    const std::int32_t* cols = kept.data() + out.lattice.first[block.position + 1];
    fill_block(out.between, block, [&](std::size_t i, std::size_t j) {
      return space.between.row(
          whole,
          static_cast<std::size_t>(rows[i] - x.first[block.position]))[cols[j] - x.first[block.position + 1]];
    });
  }
}

void side_marginals(const BundleSpace& space, std::span<const double> unit, std::size_t side,
                    const TagSets& candidates, std::vector<double>& out) {
  const auto sides = static_cast<std::size_t>(space.lattice.sides);
  out.assign(candidates.tag.size(), 0.0);
  for (std::int32_t t = 0; t < space.lattice.positions(); ++t) {
    for (std::int32_t s = space.lattice.first[t]; s < space.lattice.first[t + 1]; ++s)
      out[candidates.first[t] + space.place[static_cast<std::size_t>(s) * sides + side]] += unit[s];
  }
}

namespace {

/// Finds the most probable candidate of each unit; returns false if they do not make a legal path. If they
/// do, no other path has a larger sum.
[[nodiscard]] bool find_peaks(const Succession& rules, const TagSets& candidates, std::span<const double> p,
                              std::vector<std::int32_t>& out) {
  const std::int32_t T = candidates.positions();
  TagId before = rules.tags;
  for (std::int32_t t = 0; t < T; ++t) {
    std::int32_t best = candidates.first[t];
    for (std::int32_t k = best + 1; k < candidates.first[t + 1]; ++k) {
      if (p[k] > p[best]) best = k;
    }
    if (best == candidates.first[t + 1] || !rules(before, candidates.tag[best])) return false;
    out[t] = best - candidates.first[t];
    before = candidates.tag[best];
  }
  return rules(before, rules.tags);
}

}  // namespace

void best_places(const Succession& rules, const TagSets& candidates, std::span<const double> p,
                 std::vector<std::int32_t>& out) {
  const std::int32_t T = candidates.positions();
  out.resize(static_cast<std::size_t>(T));
  if (find_peaks(rules, candidates, p, out)) return;
  // best[k]: the largest sum of probabilities on a legal path that ends in candidate k
  std::vector<double> best(p.begin(), p.end());
  const auto is_legal = [&](std::int32_t i, std::int32_t j) {
    return rules(candidates.tag[i], candidates.tag[j]);
  };
  for (std::int32_t t = 0; t < T && !rules.is_free(); ++t) {
    for (std::int32_t j = candidates.first[t]; j < candidates.first[t + 1]; ++j) {
      double highest = t == 0 && rules(rules.tags, candidates.tag[j]) ? 0.0 : kForbidden;
      for (std::int32_t i = candidates.first[t == 0 ? 0 : t - 1]; i < candidates.first[t]; ++i) {
        if (best[i] > highest && is_legal(i, j)) highest = best[i];
      }
      best[j] += highest;
      if (t + 1 == T && !rules(candidates.tag[j], rules.tags)) best[j] = kForbidden;
    }
  }
  std::int32_t after = -1;
  for (std::int32_t t = T - 1; t >= 0; --t) {
    std::int32_t chosen = -1;
    for (std::int32_t i = candidates.first[t]; i < candidates.first[t + 1]; ++i) {
      if (after >= 0 && !rules.is_free() && !is_legal(i, after)) continue;
      if (chosen < 0 || best[i] > best[chosen]) chosen = i;
    }
    if (chosen < 0 || best[chosen] == kForbidden)
      throw std::invalid_argument("no path through the lattice is legal");
    out[t] = chosen - candidates.first[t];
    after = chosen;
  }
}

}  // namespace duilian
