#include "duilian/coupled/candidates.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/chain/transitions.hpp"

namespace duilian {

namespace {

using Ranked = std::vector<std::pair<double, TagId>>;

/// The `most` places of the highest p >= `least`, best first; ties keep the lower place first.
void rank_highest(std::span<const double> p, std::size_t most, double least,
                  std::vector<std::uint32_t>& likely, Ranked& out) {
  out.clear();
  likely.resize(p.size());
  const std::size_t count = kernels().at_least(p.data(), p.size(), least, likely.data());
  for (std::size_t k = 0; k < count; ++k) {
    const double mine = p[likely[k]];
    if (out.size() == most && mine <= out.back().first) continue;
    if (out.size() < most) out.emplace_back();
    auto place = out.end() - 1;
    for (; place != out.begin() && (place - 1)->first < mine; --place) *place = *(place - 1);
    *place = {mine, static_cast<TagId>(likely[k])};
  }
}

struct Needed {
  std::size_t count;
  bool is_enough;
};

/// How many of them are needed for more than λ; all, if they have less.
[[nodiscard]] Needed needed(const Ranked& ranked, double mass) {
  double sum = 0.0;
  for (std::size_t k = 0; mass < 1.0 && k < ranked.size(); ++k) {
    sum += ranked[k].first;
    if (sum > mass) return {k + 1, true};
  }
  return {ranked.size(), false};
}

}  // namespace

void choose_labels(std::span<const double> p, Pruning pruning, PruningWorkspace& work,
                   std::vector<TagId>& out) {
  if (pruning.keeps_all(static_cast<std::int32_t>(p.size()))) {
    for (std::size_t l = 0; l < p.size(); ++l) out.push_back(static_cast<TagId>(l));
    return;
  }
  // At most units one label leaves no doubt.
  const double peak = kernels().peak(p.data(), p.size());
  if (pruning.mass < 1.0 && peak > pruning.mass) {
    out.push_back(static_cast<TagId>(std::find(p.begin(), p.end(), peak) - p.begin()));
    return;
  }
  const std::size_t most = std::min(static_cast<std::size_t>(pruning.most), p.size());
  // A few probable labels are mostly enough for λ. Those below the second limit have too little together to
  // be needed for it, unless numbers are rough.
  const double rest = pruning.mass < 1.0 ? 1.0 - pruning.mass : 0.0;
  for (const double least :
       {rest / static_cast<double>(most), 0.5 * rest / static_cast<double>(p.size()), 0.0}) {
    rank_highest(p, most, least, work.likely, work.left);
    if (work.left.size() == most || needed(work.left, pruning.mass).is_enough) break;
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  for (std::size_t k = 0, kept = needed(work.left, pruning.mass).count; k < kept; ++k)
    out.push_back(work.left[k].second);
  std::sort(out.begin() + begin, out.end());
}

bool trim_candidates(const Succession& rules, TagSets& sets) {
  const std::int32_t T = sets.positions();
  if (rules.is_free()) return true;
  std::vector<std::uint8_t> keep(sets.tag.size(), 0);
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
  TagSets out;
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t k = sets.first[t]; k < sets.first[t + 1]; ++k) {
      if (keep[k] != 0) out.tag.push_back(sets.tag[k]);
    }
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
    if (out.first[t] == out.first[t + 1]) return false;
  }
  sets = std::move(out);
  return true;
}

void add_labels(std::span<const std::int32_t> labels, TagSets& sets) {
  TagSets out;
  for (std::int32_t t = 0; t < sets.positions(); ++t) {
    const auto at = sets.at(t);
    out.tag.insert(out.tag.end(), at.begin(), at.end());
    const auto begin = out.tag.begin() + out.first[t];
    const auto place = std::lower_bound(begin, out.tag.end(), labels[t]);
    if (labels[t] >= 0 && (place == out.tag.end() || *place != labels[t])) out.tag.insert(place, labels[t]);
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
  sets = std::move(out);
}

namespace {

/// The candidates before rules have their say.
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
  if (trim_candidates(chain.rules, out)) return;
  work.path.resize(static_cast<std::size_t>(chain.positions));
  if (!try_best_labels(chain, work.chain, work.path))
    throw std::invalid_argument("no path through the lattice is legal");
  add_labels(work.path, out);
  if (!trim_candidates(chain.rules, out)) throw std::invalid_argument("no path through the lattice is legal");
}

}  // namespace

void choose_candidates(const UniformChain& chain, Pruning pruning, std::span<const std::int32_t> keep,
                       PruningWorkspace& work, TagSets& out, std::vector<double>* p) {
  const TransitionShape& shape = chain.between.shape;
  const bool keeps_all = pruning.keeps_all(static_cast<std::int32_t>(shape.labels));
  if (!keeps_all || p != nullptr)
    unit_marginals(chain, work.chain, work.found, keeps_all ? 0.0 : pruning.faint);
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

}  // namespace duilian
