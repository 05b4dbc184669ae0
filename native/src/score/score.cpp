#include "duilian/score/score.hpp"

#include <algorithm>
#include <stdexcept>

namespace duilian {

namespace {

/// Sums the weights of the active features per label: per_label[l] += Σ_f w(f, l).
void add_rows(const Part& part, WeightView weights, const FeatureRows& features, std::int64_t unit,
              std::vector<double>& per_label) {
  const float* state = weights.value.data() + part.state_at;
  for (std::int64_t f = features.first[unit]; f < features.first[unit + 1]; ++f) {
    const std::uint32_t row = features.value[f];
    for (std::int64_t k = part.first[row]; k < part.first[row + 1]; ++k)
      per_label[part.label[k]] += weights.scale * state[k];
  }
}

void score_side(const Model& model, std::size_t side, WeightView weights, const FeatureRows& features,
                std::int64_t first_unit, const Lattice& lattice, ScoreWorkspace& work,
                std::vector<double>& state) {
  const Part& part = model.separate[side];
  const std::int32_t T = lattice.positions();
  for (std::int32_t t = 0; t < T; ++t) {
    work.per_label.assign(static_cast<std::size_t>(part.labels), 0.0);
    add_rows(part, weights, features, first_unit + t, work.per_label);
    for (std::int32_t s = lattice.first[t]; s < lattice.first[t + 1]; ++s) {
      const TagId tag = lattice.bundle(s)[side];
      state[s] += work.per_label[tag];
      if (t == 0) state[s] += weights[part.transition(part.edge(), tag)];
      if (t + 1 == T) state[s] += weights[part.transition(tag, part.edge())];
    }
  }
}

void find_bundles(const Model& model, const Lattice& lattice, std::vector<std::int32_t>& out) {
  out.clear();
  for (std::int32_t s = 0; s < lattice.states(); ++s) out.push_back(model.bundles.find(lattice.bundle(s)));
}

void score_joint(const Model& model, WeightView weights, const FeatureRows& features, std::int64_t first_unit,
                 const Lattice& lattice, ScoreWorkspace& work, std::vector<double>& state) {
  const Part& part = *model.joint;
  const float* weight = weights.value.data() + part.state_at;
  work.slot.resize(static_cast<std::size_t>(part.labels), -1);
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    const auto each_known = [&](auto&& act) {
      for (std::int32_t s = lattice.first[t]; s < lattice.first[t + 1]; ++s) {
        if (work.bundle[s] >= 0) act(work.bundle[s], s);
      }
    };
    each_known([&](std::int32_t bundle, std::int32_t s) { work.slot[bundle] = s; });
    for (std::int64_t f = features.first[first_unit + t]; f < features.first[first_unit + t + 1]; ++f) {
      const std::uint32_t row = features.value[f];
      for (std::int64_t k = part.first[row]; k < part.first[row + 1]; ++k) {
        const std::int32_t s = work.slot[part.label[k]];
        if (s >= 0) state[s] += weights.scale * weight[k];
      }
    }
    const auto add_edge = [&](std::int64_t at, std::int32_t s) { state[s] += at >= 0 ? weights[at] : 0.0F; };
    each_known([&](std::int32_t bundle, std::int32_t s) {
      work.slot[bundle] = -1;
      if (t == 0) add_edge(part.transition(part.edge(), bundle), s);
      if (t + 1 == lattice.positions()) add_edge(part.transition(bundle, part.edge()), s);
    });
  }
}

[[nodiscard]] Transitions score_transitions(const Model& model, WeightView weights, const Lattice& lattice,
                                            std::span<const std::int32_t> bundle) {
  return make_transitions(lattice, [&](std::int32_t i, std::int32_t j) {
    const auto before = lattice.bundle(i);
    const auto after = lattice.bundle(j);
    double total = 0.0;
    for (std::size_t k = 0; k < model.separate.size(); ++k) {
      if (!model.successions[k](before[k], after[k])) return kForbidden;
      total += weights[model.separate[k].transition(before[k], after[k])];
    }
    if (model.joint && bundle[i] >= 0 && bundle[j] >= 0) {
      const std::int64_t at = model.joint->transition(bundle[i], bundle[j]);
      if (at >= 0) total += weights[at];
    }
    return total;
  });
}

/// One of the two lattices of an example with its marginals; its expected counts enter with this sign.
struct Side {
  const Lattice& lattice;
  const Transitions& between;
  const Marginals& found;
  const std::vector<std::int32_t>& bundle;
  double sign;
};

/// State features of one part: for every position the difference in label marginals, then once over the
/// active features. label(side, state) is -1 where the part does not know the state.
template <class Label>
void add_state_deltas(const Part& part, const FeatureRows& features, std::int64_t first_unit,
                      std::span<const Side> sides, const Label& label, std::vector<double>& per_label,
                      std::vector<Delta>& out) {
  per_label.assign(static_cast<std::size_t>(part.labels), 0.0);
  for (std::int32_t t = 0; t < sides[0].lattice.positions(); ++t) {
    const auto each_state = [&](auto&& act) {
      for (const Side& side : sides) {
        for (std::int32_t s = side.lattice.first[t]; s < side.lattice.first[t + 1]; ++s) {
          const std::int32_t l = label(side, s);
          if (l >= 0) act(l, side.sign * side.found.unit[s]);
        }
      }
    };
    each_state([&](std::int32_t l, double p) { per_label[l] += p; });
    for (std::int64_t f = features.first[first_unit + t]; f < features.first[first_unit + t + 1]; ++f) {
      const std::uint32_t row = features.value[f];
      for (std::int64_t k = part.first[row]; k < part.first[row + 1]; ++k) {
        const double p = per_label[part.label[k]];
        if (p != 0.0) out.push_back({static_cast<std::uint32_t>(part.state_at + k), static_cast<float>(p)});
      }
    }
    each_state([&](std::int32_t l, double) { per_label[l] = 0.0; });
  }
}

/// Transition features of one part, block by block, and start and stop.
template <class Label>
void add_transition_deltas(const Part& part, const Side& side, const Label& label, Gradient& out) {
  const auto add = [&](std::int32_t before, std::int32_t after, double p) {
    if (before < 0 || after < 0 || p == 0.0) return;
    const std::int64_t at = part.transition(before, after);
    if (part.is_dense) {
      out.dense[at] += side.sign * p;
    } else if (at >= 0) {
      out.sparse.push_back({static_cast<std::uint32_t>(at), static_cast<float>(side.sign * p)});
    }
  };
  for (const Block& block : side.between.blocks) {
    const std::int32_t i0 = side.lattice.first[block.position];
    const std::int32_t j0 = side.lattice.first[block.position + 1];
    for (std::size_t i = 0; i < block.rows; ++i) {
      const double* row = side.found.pair.data() + block.offset + i * block.stride;
      for (std::size_t j = 0; j < block.cols; ++j) {
        add(label(side, i0 + static_cast<std::int32_t>(i)), label(side, j0 + static_cast<std::int32_t>(j)),
            row[j]);
      }
    }
  }
  const std::int32_t T = side.lattice.positions();
  for (std::int32_t s = side.lattice.first[0]; s < side.lattice.first[1]; ++s) {
    add(part.edge(), label(side, s), side.found.unit[s]);
  }
  for (std::int32_t s = side.lattice.first[T - 1]; s < side.lattice.first[T]; ++s) {
    add(label(side, s), part.edge(), side.found.unit[s]);
  }
}

template <class Label>
void add_part(const Part& part, const FeatureRows& features, std::int64_t first_unit,
              std::span<const Side> sides, const Label& label, std::vector<double>& per_label,
              Gradient& out) {
  add_state_deltas(part, features, first_unit, sides, label, per_label, out.sparse);
  for (const Side& side : sides) add_transition_deltas(part, side, label, out);
}

}  // namespace

ScoredLattice score_lattice(const Model& model, WeightView weights, const FeatureRows& features,
                            std::int64_t first_unit, const Lattice& lattice, ScoreWorkspace& work) {
  ScoredLattice scored;
  scored.state.assign(static_cast<std::size_t>(lattice.states()), 0.0);
  for (std::size_t side = 0; side < model.separate.size(); ++side) {
    score_side(model, side, weights, features, first_unit, lattice, work, scored.state);
  }
  if (model.joint) {
    find_bundles(model, lattice, work.bundle);
    score_joint(model, weights, features, first_unit, lattice, work, scored.state);
  }
  scored.between = score_transitions(model, weights, lattice, work.bundle);
  return scored;
}

double CoupledObjective::compute(const Prepared&, WeightView weights, std::int64_t i, Work& work,
                                 Gradient& out) const {
  const Example& example = examples_[i];
  if (example.possible.positions() == 0) return 0.0;
  Marginals found[2];
  Transitions between[2];
  std::vector<std::int32_t> bundle[2];
  const Lattice* lattices[2] = {&example.correct, &example.possible};
  for (std::size_t k = 0; k < 2; ++k) {
    ScoredLattice scored = score_lattice(model_, weights, features_, example.first_unit, *lattices[k], work);
    const Chain chain{*lattices[k], scored.state, scored.between};
    check(chain);
    marginals(chain, work.chain, found[k]);
    between[k] = std::move(scored.between);
    bundle[k] = work.bundle;
  }
  const Side sides[2] = {{*lattices[0], between[0], found[0], bundle[0], 1.0},
                         {*lattices[1], between[1], found[1], bundle[1], -1.0}};
  for (std::size_t k = 0; k < model_.separate.size(); ++k) {
    const auto tag = [k](const Side& side, std::int32_t s) { return side.lattice.bundle(s)[k]; };
    add_part(model_.separate[k], features_, example.first_unit, sides, tag, work.per_label, out);
  }
  if (model_.joint) {
    const auto label = [](const Side& side, std::int32_t s) { return side.bundle[s]; };
    add_part(*model_.joint, features_, example.first_unit, sides, label, work.per_label, out);
  }
  return found[1].log_partition - found[0].log_partition;
}

std::vector<TagId> decode_path(const ScoredLattice& scored, const Lattice& lattice, ScoreWorkspace& work) {
  const Chain chain{lattice, scored.state, scored.between};
  check(chain);
  const Path path = best_path(chain, work.chain);
  std::vector<TagId> tags;
  for (const std::int32_t s : path.states) {
    const auto bundle = lattice.bundle(s);
    tags.insert(tags.end(), bundle.begin(), bundle.end());
  }
  return tags;
}

std::vector<TagId> decode_marginals(const Model& model, const ScoredLattice& scored, const Lattice& lattice,
                                    ScoreWorkspace& work) {
  const Chain chain{lattice, scored.state, scored.between};
  check(chain);
  Marginals found;
  marginals(chain, work.chain, found);
  const std::size_t sides = model.tags.size();
  std::vector<TagId> tags(static_cast<std::size_t>(lattice.positions()) * sides);
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    for (std::size_t k = 0; k < sides; ++k) {
      work.per_label.assign(static_cast<std::size_t>(model.tags[k]), 0.0);
      for (std::int32_t s = lattice.first[t]; s < lattice.first[t + 1]; ++s) {
        work.per_label[lattice.bundle(s)[k]] += found.unit[s];
      }
      const auto best = std::max_element(work.per_label.begin(), work.per_label.end());
      tags[t * sides + k] = static_cast<TagId>(best - work.per_label.begin());
    }
  }
  return tags;
}

}  // namespace duilian
