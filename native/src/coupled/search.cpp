// Prunes the sides, builds and decodes the space of bundles, and collects answers (see search.hpp).
#include "duilian/coupled/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace duilian {

void prune(const CoupledShape& shape, const CoupledTransitions& between, Pruning pruning, std::int32_t units,
           std::span<const std::span<const std::int32_t>> keep, bool with_prior, SearchWork& work) {
  work.candidates.resize(shape.sides());
  work.prior.resize(with_prior ? shape.sides() : 0);
  for (std::size_t k = 0; k < shape.sides(); ++k) {
    const UniformChain chain{units, work.scores.pruning(k).data(), between.side[k], shape.rules[k]};
    choose_candidates(chain, pruning, keep.empty() ? std::span<const std::int32_t>() : keep[k], work.pruning,
                      work.candidates[k], with_prior ? &work.prior[k] : nullptr);
  }
}

namespace {

enum class Built : std::uint8_t { whole, without_path, beyond_limits };

/// Bundles that fit into memory may have pairs that do not.
[[nodiscard]] bool has_too_many_pairs(const Lattice& x, std::int64_t limit) {
  std::int64_t pairs = 0;
  for (std::int32_t t = 0; t + 1 < x.positions() && pairs <= limit; ++t)
    pairs += static_cast<std::int64_t>(x.width(t)) * x.width(t + 1);
  return pairs > limit;
}

/// Searches the bundles within the gap.
[[nodiscard]] Built try_build(const CoupledShape& shape, const CoupledTransitions& between,
                              const JointSource& source, double bundle_gap, const BundleLimits& limits,
                              SearchWork& work) {
  if (!build_space(shape, work.candidates, false, work.space) &&
      !build_space(shape, work.candidates, true, work.space)) {
    throw std::invalid_argument("no path through the lattice is legal");
  }
  const bool is_pruned = !work.prior.empty() && std::isfinite(bundle_gap);
  // Bundles that the sides alone put far below the best are not worth looking up joint features.
  if (is_pruned) prune_bundles(work.candidates, work.prior, 2.0 * bundle_gap, {}, work.joint, work.space);
  score_states(shape, work.scores, source, work.joint, work.space);
  if (is_pruned) prune_bundles(work.candidates, work.prior, bundle_gap, {}, work.joint, work.space);
  if (has_too_many_pairs(work.space.lattice, limits.pairs)) return Built::beyond_limits;
  return score_between(shape, between, work.joint, work.space) ? Built::whole : Built::without_path;
}

}  // namespace

bool build(const CoupledShape& shape, const CoupledTransitions& between, const JointSource& source,
           const SearchOptions& options, SearchWork& work) {
  if (count_bundles(work.candidates) > options.limits.bundles) return false;
  for (const double gap : {options.bundle_gap, std::numeric_limits<double>::infinity()}) {
    const Built built = try_build(shape, between, source, gap, options.limits, work);
    if (built != Built::without_path) return built == Built::whole;
  }
  throw std::invalid_argument("no path through the lattice is legal");
}

void decode(const CoupledShape& shape, Decoding decoding, SideChoice sides, SearchWork& work) {
  unit_marginals(work.space.chain(), work.chain, work.found);
  work.side.resize(shape.sides());
  work.place.resize(shape.sides());
  for (std::size_t k = sides.first; k < sides.last; ++k)
    side_marginals(work.space, work.found.unit, k, work.candidates[k], work.side[k]);
  if (decoding == Decoding::marginals) {
    for (std::size_t k = sides.first; k < sides.last; ++k)
      best_places(shape.rules[k], work.candidates[k], work.side[k], work.place[k]);
    return;
  }
  const Path path = best_path(work.space.chain(), work.chain);
  for (std::size_t k = sides.first; k < sides.last; ++k) {
    work.place[k].resize(path.states.size());
    for (std::size_t t = 0; t < path.states.size(); ++t)
      work.place[k][t] = work.space.place[static_cast<std::size_t>(path.states[t]) * shape.sides() + k];
  }
}

bool try_pairs(const CoupledShape& shape, const CoupledTransitions& between, const JointSource& source,
               const SearchOptions& options, SideChoice sides, SearchWork& work) {
  if (options.decoding != Decoding::marginals || !has_pair_shape(shape) ||
      count_bundles(work.candidates) > options.limits.bundles)
    return false;
  const PairInput input{work.candidates,    work.scores,          work.prior,
                        options.bundle_gap, options.limits.pairs, work.is_moot};
  if (!search_pairs(shape, between, source, input, work.joint, work.pair, work.side)) return false;
  work.place.resize(shape.sides());
  for (std::size_t k = sides.first; k < sides.last; ++k)
    best_places(shape.rules[k], work.candidates[k], work.side[k], work.place[k]);
  return true;
}

AnswerCollector::AnswerCollector(std::size_t sides, std::span<const std::int64_t> first, bool with_candidates)
    : first_(first), with_candidates_(with_candidates) {
  out_.label.assign(sides, std::vector<std::int32_t>(static_cast<std::size_t>(first.back())));
  out_.p.assign(sides, std::vector<float>(static_cast<std::size_t>(first.back())));
  if (!with_candidates) return;
  out_.confidence = out_.p;
  kept_.resize(first.size() - 1);
}

namespace {

/// The share of probability, by the side alone, of a unit's candidates. What both steps of pruning have
/// dropped counts as wrong; otherwise a single candidate would always seem certain.
[[nodiscard]] double kept_share(const SearchWork& work, std::size_t side, std::size_t t) {
  const TagSets& sets = work.candidates[side];
  const double listed = side < work.listed.size() ? static_cast<double>(work.listed[side][t]) : 1.0;
  if (side >= work.prior.size() || work.prior[side].size() != sets.tag.size()) return listed;
  const auto begin = work.prior[side].begin();
  return listed * std::min(1.0, std::accumulate(begin + sets.first[t], begin + sets.first[t + 1], 0.0));
}

}  // namespace

void AnswerCollector::add(std::size_t sentence, const SearchWork& work) {
  for (std::size_t k = 0; k < out_.label.size(); ++k) {
    for (std::size_t t = 0; t < work.place[k].size(); ++t) {
      const auto at = static_cast<std::size_t>(work.candidates[k].first[t] + work.place[k][t]);
      out_.label[k][static_cast<std::size_t>(first_[sentence]) + t] = work.candidates[k].tag[at];
      const auto sure = static_cast<float>(work.side[k][at] * kept_share(work, k, t));
      out_.p[k][static_cast<std::size_t>(first_[sentence]) + t] =
          with_candidates_ ? static_cast<float>(work.side[k][at]) : sure;
      if (with_candidates_) out_.confidence[k][static_cast<std::size_t>(first_[sentence]) + t] = sure;
    }
  }
  if (kept_.empty()) return;
  kept_[sentence].sets = work.candidates;
  for (const auto& p : work.side) kept_[sentence].p.emplace_back(p.begin(), p.end());
}

CoupledAnswers AnswerCollector::finish() {
  if (!with_candidates_) return std::move(out_);
  out_.candidates.resize(out_.label.size());
  out_.candidate_p.resize(out_.label.size());
  for (std::size_t k = 0; k < out_.label.size(); ++k) {
    TagSets& joined = out_.candidates[k];
    for (const Kept& kept : kept_) {
      if (kept.sets.empty()) continue;  // an empty sentence
      const auto before = static_cast<std::int32_t>(joined.tag.size());
      joined.tag.insert(joined.tag.end(), kept.sets[k].tag.begin(), kept.sets[k].tag.end());
      for (std::int32_t t = 0; t < kept.sets[k].positions(); ++t)
        joined.first.push_back(before + kept.sets[k].first[t + 1]);
      out_.candidate_p[k].insert(out_.candidate_p[k].end(), kept.p[k].begin(), kept.p[k].end());
    }
  }
  return std::move(out_);
}

void restrict_scores(const CoupledShape& shape, std::span<const TagSets> allowed, std::int64_t begin,
                     std::int64_t end, SideScores& scores) {
  for (std::size_t k = 0; k < allowed.size(); ++k) {
    if (allowed[k].positions() == 0) continue;
    const std::size_t stride = shape.shapes[k].stride();
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const auto labels = allowed[k].at(static_cast<std::int32_t>(unit));
      const std::size_t at = static_cast<std::size_t>(unit - begin) * stride;
      for (TagId l = 0; !labels.empty() && l < shape.labels[k]; ++l) {
        if (std::binary_search(labels.begin(), labels.end(), l)) continue;
        scores.state[k][at + static_cast<std::size_t>(l)] = kForbidden;
        if (scores.has_pruner(k)) scores.prune[k][at + static_cast<std::size_t>(l)] = kForbidden;
      }
    }
  }
}

}  // namespace duilian
