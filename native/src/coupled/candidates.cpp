// Chooses the candidates of a side by their probabilities, then by legal paths (see candidates.hpp).
#include "duilian/coupled/candidates.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "duilian/chain/transitions.hpp"

namespace duilian {

namespace {

using Ranked = std::vector<std::pair<double, TagId>>;

/// The `max_count` indices with the highest p >= `min_p`, best first; the lower index wins a tie.
void rank_highest(std::span<const double> p, std::size_t max_count, double min_p,
                  std::vector<std::uint32_t>& likely, Ranked& out) {
  out.clear();
  const auto add = [&](std::size_t label) {
    const double mine = p[label];
    if (out.size() == max_count && mine <= out.back().first) return;
    if (out.size() < max_count) out.emplace_back();
    auto place = out.end() - 1;
    for (; place != out.begin() && (place - 1)->first < mine; --place) *place = *(place - 1);
    *place = {mine, static_cast<TagId>(label)};
  };
  if (min_p <= 0.0) {
    for (std::size_t label = 0; label < p.size(); ++label) add(label);
    return;
  }
  likely.resize(p.size());
  const std::size_t count = kernels().at_least(p.data(), p.size(), min_p, likely.data());
  for (std::size_t k = 0; k < count; ++k) add(likely[k]);
}

struct Needed {
  std::size_t count;
  bool is_enough;
};

/// How many of them it takes to exceed λ; all of them if they do not.
[[nodiscard]] Needed needed(const Ranked& ranked, double candidate_mass) {
  double sum = 0.0;
  for (std::size_t k = 0; candidate_mass < 1.0 && k < ranked.size(); ++k) {
    sum += ranked[k].first;
    if (sum > candidate_mass) return {k + 1, true};
  }
  return {ranked.size(), false};
}

}  // namespace

void check(const Pruning& pruning) {
  if (pruning.max_candidates < 1 || !(pruning.candidate_mass > 0.0) ||
      !(pruning.negligible_share >= 0.0 && pruning.negligible_share < 1.0) || !(pruning.coarse_window >= 0.0))
    throw std::invalid_argument(
        "max_candidates must be at least 1, candidate_mass above 0, negligible_share in [0, 1) and "
        "coarse_window at least 0");
}

void choose_labels(std::span<const double> p, Pruning pruning, PruningWorkspace& work,
                   std::vector<TagId>& out) {
  if (pruning.keeps_all(static_cast<std::int32_t>(p.size()))) {
    for (std::size_t l = 0; l < p.size(); ++l) out.push_back(static_cast<TagId>(l));
    return;
  }
  // Nearly every unit has a single label that is certain enough.
  constexpr std::size_t kShort = 12;
  const bool is_short = p.size() <= kShort;
  const double peak = is_short ? *std::max_element(p.begin(), p.end()) : kernels().peak(p.data(), p.size());
  if (pruning.candidate_mass < 1.0 && peak > pruning.candidate_mass) {
    out.push_back(static_cast<TagId>(std::find(p.begin(), p.end(), peak) - p.begin()));
    return;
  }
  const std::size_t max_count = std::min(static_cast<std::size_t>(pruning.max_candidates), p.size());
  // A short list is ranked at once. In a long one, a few probable labels are usually enough for λ; labels
  // below the second limit are together too improbable to be needed for it, up to rounding.
  const double rest = pruning.candidate_mass < 1.0 ? 1.0 - pruning.candidate_mass : 0.0;
  for (const double min_p :
       {rest / static_cast<double>(max_count), 0.5 * rest / static_cast<double>(p.size()), 0.0}) {
    if (is_short && min_p > 0.0) continue;
    rank_highest(p, max_count, min_p, work.likely, work.left);
    if (work.left.size() == max_count || needed(work.left, pruning.candidate_mass).is_enough) break;
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  for (std::size_t k = 0, kept = needed(work.left, pruning.candidate_mass).count; k < kept; ++k)
    out.push_back(work.left[k].second);
  std::sort(out.begin() + begin, out.end());
}

namespace {

/// Whether every candidate may follow one of the unit before and precede one of the next: then each lies on a
/// legal path.
[[nodiscard]] bool are_all_linked(const Succession& rules, const TagSets& sets) {
  constexpr std::size_t kBits = 64;
  const std::int32_t T = sets.positions();
  const auto begins = [&](TagId tag) { return rules(rules.tags, tag); };
  const auto ends = [&](TagId tag) { return rules(tag, rules.tags); };
  if (!std::ranges::all_of(sets.at(0), begins) || !std::ranges::all_of(sets.at(T - 1), ends)) return false;
  const auto edge = static_cast<std::size_t>(rules.tags) + 1;
  const std::uint8_t* allows = rules.allows.data();
  const TagId* tag = sets.tag.data();
  for (std::int32_t t = 0; t + 1 < T; ++t) {
    const std::int32_t first = sets.first[t], last = sets.first[t + 1], end = sets.first[t + 2];
    const auto count = static_cast<std::size_t>(end - last);
    if (count > kBits) return false;
    std::uint64_t reached = 0;
    for (std::int32_t i = first; i < last; ++i) {
      const std::uint8_t* row = allows + static_cast<std::size_t>(tag[i]) * edge;
      std::uint64_t own = 0;
      for (std::size_t j = 0; j < count; ++j)
        own |= std::uint64_t{row[tag[last + static_cast<std::int32_t>(j)]] != 0} << j;
      if (own == 0) return false;
      reached |= own;
    }
    if (reached != ~std::uint64_t{0} >> (kBits - count)) return false;
  }
  return true;
}

}  // namespace

bool trim_candidates(const Succession& rules, std::vector<std::uint8_t>& keep, TagSets& sets,
                     std::vector<double>* p) {
  const std::int32_t T = sets.positions();
  if (rules.is_free() || T == 0 || are_all_linked(rules, sets)) return true;
  keep.assign(sets.tag.size(), 0);
  const auto reaches = [&](std::int32_t k, std::int32_t other, bool is_forward) {
    for (std::int32_t i = sets.first[other]; i < sets.first[other + 1]; ++i) {
      if (keep[i] != 0 && (is_forward ? rules(sets.tag[i], sets.tag[k]) : rules(sets.tag[k], sets.tag[i])))
        return true;
    }
    return false;
  };
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t k = sets.first[t]; k < sets.first[t + 1]; ++k) {
      keep[k] = t == 0 ? rules(rules.tags, sets.tag[k]) : reaches(k, t - 1, true);
    }
  }
  for (std::int32_t t = T - 1; t >= 0; --t) {
    for (std::int32_t k = sets.first[t]; k < sets.first[t + 1]; ++k) {
      if (keep[k] == 0) continue;
      keep[k] = t + 1 == T ? rules(sets.tag[k], rules.tags) : reaches(k, t + 1, false);
    }
  }
  for (std::int32_t t = 0; t < T; ++t) {
    const auto begin = keep.begin() + sets.first[t];
    const auto end = keep.begin() + sets.first[t + 1];
    if (std::find(begin, end, 1) == end) return false;
  }
  std::size_t to = 0;
  std::int32_t begin = 0;
  for (std::int32_t t = 0; t < T; ++t) {
    const std::int32_t end = sets.first[t + 1];
    for (std::int32_t k = begin; k < end; ++k) {
      if (keep[k] == 0) continue;
      sets.tag[to] = sets.tag[k];
      if (p != nullptr) (*p)[to] = (*p)[k];
      ++to;
    }
    begin = end;
    sets.first[t + 1] = static_cast<std::int32_t>(to);
  }
  sets.tag.resize(to);
  if (p != nullptr) p->resize(to);
  return true;
}

void add_labels(std::span<const std::int32_t> labels, TagSets& sets, std::vector<double>* p) {
  TagSets out;
  std::vector<double> out_p;
  for (std::int32_t t = 0; t < sets.positions(); ++t) {
    bool is_due = labels[t] >= 0;
    const auto add = [&](TagId label, double own) {
      out.tag.push_back(label);
      if (p != nullptr) out_p.push_back(own);
    };
    for (std::int32_t k = sets.first[t]; k < sets.first[t + 1]; ++k) {
      if (is_due && sets.tag[k] > labels[t]) add(labels[t], 0.0);
      is_due = is_due && sets.tag[k] < labels[t];
      add(sets.tag[k], p == nullptr ? 0.0 : (*p)[k]);
    }
    if (is_due) add(labels[t], 0.0);
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
  sets = std::move(out);
  if (p != nullptr) *p = std::move(out_p);
}

namespace {

/// The candidates before rules apply.
void choose_freely(const UniformChain& chain, Pruning pruning, PruningWorkspace& work, TagSets& out) {
  const TransitionShape& shape = chain.between.shape;
  out.first.assign(1, 0);
  out.tag.clear();
  for (std::int32_t t = 0; t < chain.positions; ++t) {
    const std::size_t at = static_cast<std::size_t>(t) * shape.stride();
    choose_labels({work.found.unit.data() + at, shape.labels}, pruning, work, out.tag);
    const auto is_forbidden = [&](TagId label) { return chain.state[at + label] == kForbidden; };
    out.tag.erase(std::remove_if(out.tag.begin() + out.first[t], out.tag.end(), is_forbidden), out.tag.end());
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
}

void make_legal(const UniformChain& chain, PruningWorkspace& work, TagSets& out) {
  if (trim_candidates(chain.rules, work.keep, out)) return;
  work.path.resize(static_cast<std::size_t>(chain.positions));
  if (!try_best_labels(chain, work.chain, work.path))
    throw std::invalid_argument("no path through the lattice is legal");
  add_labels(work.path, out);
  if (!trim_candidates(chain.rules, work.keep, out))
    throw std::invalid_argument("no path through the lattice is legal");
}

}  // namespace

void choose_candidates(const UniformChain& chain, Pruning pruning, std::span<const std::int32_t> keep,
                       PruningWorkspace& work, TagSets& out, std::vector<double>* p) {
  const TransitionShape& shape = chain.between.shape;
  const bool keeps_all = pruning.keeps_all(static_cast<std::int32_t>(shape.labels));
  if (!keeps_all || p != nullptr)
    unit_marginals(chain, work.chain, work.found, keeps_all ? 0.0 : pruning.negligible_share);
  else
    work.found.unit.assign(static_cast<std::size_t>(chain.positions) * shape.stride(), 0.0);
  choose_freely(chain, pruning, work, out);
  if (!keep.empty()) add_labels(keep, out);
  if (!chain.rules.is_free()) make_legal(chain, work, out);
  if (p == nullptr) return;
  p->clear();
  for (std::int32_t t = 0; t < chain.positions; ++t) {
    for (const TagId label : out.at(t))
      p->push_back(
          work.found.unit[static_cast<std::size_t>(t) * shape.stride() + static_cast<std::size_t>(label)]);
  }
}

namespace {

/// Forward and backward over a list, normalised at each unit; returns false if a sum is 0.
[[nodiscard]] bool sum_paths(const Shortlist& list, std::span<const float> between, std::size_t edge,
                             PruningWorkspace& work) {
  const TagSets& sets = list.labels;
  const std::int32_t T = sets.positions();
  const std::int32_t* first = sets.first.data();
  const TagId* tag = sets.tag.data();
  const float* strength = list.strength.data();
  const auto row = [&](std::size_t i) { return between.data() + i * edge; };
  const std::size_t outside = edge - 1;
  // A single label, which most units have, is certain: the list has a legal path.
  const auto is_single = [&](std::int32_t t) { return first[t + 1] - first[t] == 1; };
  // Divides the values of a unit by their sum.
  const auto normalise = [&](float* values, std::int32_t t) {
    float sum = 0.0F;
    for (std::int32_t k = first[t]; k < first[t + 1]; ++k) sum += values[k];
    if (!(sum > 1e-30F)) return false;
    for (std::int32_t k = first[t]; k < first[t + 1]; ++k) values[k] /= sum;
    return true;
  };
  work.alpha.assign(sets.tag.size(), 0.0F);
  work.beta.assign(sets.tag.size(), 0.0F);
  float* alpha = work.alpha.data();
  float* beta = work.beta.data();
  for (std::int32_t t = 0; t < T; ++t) {
    if (is_single(t)) {
      alpha[first[t]] = beta[first[t]] = 1.0F;
      continue;
    }
    const std::int32_t last = first[t + 1];
    for (std::int32_t j = first[t]; t == 0 && j < last; ++j) alpha[j] = row(outside)[tag[j]];
    for (std::int32_t i = first[t == 0 ? 0 : t - 1]; i < first[t]; ++i) {
      const float* from = row(static_cast<std::size_t>(tag[i]));
      const float own = alpha[i];
      for (std::int32_t j = first[t]; j < last; ++j) alpha[j] += own * from[tag[j]];
    }
    for (std::int32_t j = first[t]; j < last; ++j) alpha[j] *= strength[j];
    if (!normalise(alpha, t)) return false;
  }
  for (std::int32_t t = T - 1; t >= 0; --t) {
    if (is_single(t)) continue;
    for (std::int32_t i = first[t]; i < first[t + 1]; ++i) {
      const float* to = row(static_cast<std::size_t>(tag[i]));
      float sum = t + 1 == T ? to[outside] : 0.0F;
      for (std::int32_t j = first[t + 1]; t + 1 < T && j < first[t + 2]; ++j)
        sum += to[tag[j]] * strength[j] * beta[j];
      beta[i] = sum;
    }
    if (!normalise(beta, t)) return false;
  }
  return true;
}

/// Chooses candidates among the labels listed at a unit; returns false if they have almost no probability.
[[nodiscard]] bool choose_at(std::span<const TagId> labels, const float* alpha, const float* beta,
                             Pruning pruning, PruningWorkspace& work, std::vector<TagId>& out,
                             std::vector<double>& p) {
  work.p.resize(labels.size());
  double sum = 0.0;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    work.p[k] = static_cast<double>(alpha[k]) * static_cast<double>(beta[k]);
    sum += work.p[k];
  }
  if (!(sum > 1e-60)) return false;
  std::size_t best = 0;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    work.p[k] /= sum;
    if (work.p[k] > work.p[best]) best = k;
  }
  if (pruning.candidate_mass < 1.0 && work.p[best] > pruning.candidate_mass) {
    out.push_back(labels[best]);
    p.push_back(work.p[best]);
    return true;
  }
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  choose_labels(work.p, pruning, work, out);
  for (auto at = out.begin() + before; at != out.end(); ++at) {
    p.push_back(work.p[static_cast<std::size_t>(*at)]);
    *at = labels[static_cast<std::size_t>(*at)];
  }
  return true;
}

}  // namespace

bool choose_from(const Shortlist& list, std::int32_t labels_of_side, std::span<const float> between,
                 Pruning pruning, PruningWorkspace& work, TagSets& out, std::vector<double>& p) {
  const TagSets& sets = list.labels;
  if (!sum_paths(list, between, static_cast<std::size_t>(labels_of_side) + 1, work)) return false;
  const std::int32_t T = sets.positions();
  out.first.resize(static_cast<std::size_t>(T) + 1);
  out.first[0] = 0;
  out.tag.clear();
  p.clear();
  for (std::int32_t t = 0; t < T; ++t) {
    const auto labels = sets.at(t);
    if (labels.size() == 1) {
      out.tag.push_back(labels[0]);
      p.push_back(1.0);
    } else if (!choose_at(labels, work.alpha.data() + sets.first[t], work.beta.data() + sets.first[t],
                          pruning, work, out.tag, p)) {
      return false;
    }
    out.first[static_cast<std::size_t>(t) + 1] = static_cast<std::int32_t>(out.tag.size());
  }
  return true;
}

}  // namespace duilian
