// Drops the bundles of a space that are not worth a search.
#include <algorithm>
#include <cmath>

#include "duilian/coupled/space.hpp"
#include "filter.hpp"

namespace duilian {

namespace {

/// Marks the promising states of position t. It compares e^joint · Π p, which needs no logarithms.
void mark_promising(std::int32_t t, std::span<const TagSets> candidates,
                    std::span<const std::vector<double>> p, double share,
                    std::span<const std::int32_t> correct, const BundleSpace& space, SpaceWorkspace& work) {
  constexpr double kMinPrior = 1e-12;  // no candidate is hopeless by itself
  const std::size_t sides = candidates.size();
  const std::int32_t first = space.lattice.first[t];
  const std::int32_t last = space.lattice.first[t + 1];
  const auto width = static_cast<std::size_t>(last - first);
  double* promise = work.promise.data();
  if (space.joint.empty()) {
    std::fill_n(promise + first, width, 1.0);
  } else {
    const double* joint = space.joint.data() + first;
    kernels().exponentials(joint, kernels().peak(joint, width), width, promise + first);
  }
  double best = 0.0;
  for (std::int32_t s = first; s < last; ++s) {
    for (std::size_t k = 0; k < sides; ++k) {
      const std::int32_t place = space.place[static_cast<std::size_t>(s) * sides + k];
      promise[s] *= std::max(p[k][static_cast<std::size_t>(candidates[k].first[t] + place)], kMinPrior);
    }
    best = std::max(best, promise[s]);
  }
  for (std::int32_t s = first; s < last; ++s) work.keep[s] = promise[s] >= share * best ? 1 : 0;
  const auto begin = std::lower_bound(correct.begin(), correct.end(), first);
  const auto end = std::lower_bound(begin, correct.end(), last);
  best = 0.0;
  for (auto at = begin; at != end; ++at) best = std::max(best, promise[*at]);
  for (auto at = begin; at != end; ++at) {
    if (promise[*at] >= share * best) work.keep[*at] = 1;
  }
}

}  // namespace

void prune_bundles(std::span<const TagSets> candidates, std::span<const std::vector<double>> p,
                   double bundle_gap, std::span<const std::int32_t> correct, SpaceWorkspace& work,
                   BundleSpace& space) {
  const auto states = static_cast<std::size_t>(space.lattice.states());
  work.promise.resize(states);
  work.keep.assign(states, 1);
  const double share = std::exp(-bundle_gap);
  for (std::int32_t t = 0; t < space.lattice.positions(); ++t) {
    if (space.lattice.width(t) > 1) mark_promising(t, candidates, p, share, correct, space, work);
  }
  if (std::find(work.keep.begin(), work.keep.end(), 0) == work.keep.end()) return;
  filter(space, [&](std::int32_t s) { return work.keep[s] != 0; });
}

}  // namespace duilian
