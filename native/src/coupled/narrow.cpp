// Which bundles of a space are worth a search.
#include <algorithm>
#include <cmath>

#include "duilian/coupled/space.hpp"
#include "filter.hpp"

namespace duilian {

namespace {

/// Marks the states of position t that are worth trying. What is compared is e^joint · Π p, so that no
/// logarithms are needed.
void mark_promising(std::int32_t t, std::span<const TagSets> candidates,
                    std::span<const std::vector<double>> p, double share,
                    std::span<const std::int32_t> correct, const BundleSpace& space, SpaceWorkspace& work) {
  constexpr double kLeast = 1e-12;  // no candidate is hopeless by itself
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
      promise[s] *= std::max(p[k][static_cast<std::size_t>(candidates[k].first[t] + place)], kLeast);
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

/// Which bundle may follow which, for the innermost loops.
class BundleRules {
 public:
  BundleRules(const CoupledShape& shape, const Lattice& x) : tag_(x.tag.data()), sides_(shape.sides()) {
    for (std::size_t k = 0; k < sides_; ++k) {
      if (shape.rules[k].is_free()) continue;
      rules_.push_back({shape.rules[k].allows.data(), static_cast<std::size_t>(shape.labels[k]) + 1, k});
    }
  }
  [[nodiscard]] bool operator()(std::int32_t before, std::int32_t after) const {
    const TagId* a = tag_ + static_cast<std::size_t>(before) * sides_;
    const TagId* b = tag_ + static_cast<std::size_t>(after) * sides_;
    for (const Rule& rule : rules_) {
      if (rule.allows[static_cast<std::size_t>(a[rule.side]) * rule.edge +
                      static_cast<std::size_t>(b[rule.side])] == 0)
        return false;
    }
    return true;
  }

 private:
  struct Rule {
    const std::uint8_t* allows;  // [edge][edge]
    std::size_t edge;
    std::size_t side;
  };
  const TagId* tag_;
  std::size_t sides_;
  std::vector<Rule> rules_;
};

/// Of the states to keep, those that stand on a legal path; false if there is none. All states of the space
/// do, so that only next to something that is left out there is anything to see to.
[[nodiscard]] bool keep_legal(const CoupledShape& shape, const Lattice& x, SpaceWorkspace& work) {
  const std::int32_t T = x.positions();
  const BundleRules may_follow(shape, x);
  work.chosen.clear();
  work.chosen_first.assign(1, 0);
  work.is_less.assign(static_cast<std::size_t>(T), 0);
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
      if (work.keep[s] != 0)
        work.chosen.push_back(s);
      else
        work.is_less[t] = 1;
    }
    work.chosen_first.push_back(static_cast<std::int32_t>(work.chosen.size()));
  }
  const auto drop_loose_ends = [&](std::int32_t t, std::int32_t other, bool is_before) {
    if (work.is_less[other] == 0) return true;
    bool has_any = false;
    for (std::int32_t k = work.chosen_first[t]; k < work.chosen_first[t + 1]; ++k) {
      const std::int32_t s = work.chosen[k];
      if (work.keep[s] == 0) continue;
      const auto goes_with = [&](std::int32_t o) {
        return work.keep[o] != 0 && (is_before ? may_follow(o, s) : may_follow(s, o));
      };
      if (std::any_of(work.chosen.begin() + work.chosen_first[other],
                      work.chosen.begin() + work.chosen_first[other + 1], goes_with)) {
        has_any = true;
      } else {
        work.keep[s] = 0;
        work.is_less[t] = 1;
      }
    }
    return has_any;
  };
  for (std::int32_t t = 1; t < T; ++t) {
    if (!drop_loose_ends(t, t - 1, true)) return false;
  }
  for (std::int32_t t = T - 2; t >= 0; --t) {
    if (!drop_loose_ends(t, t + 1, false)) return false;
  }
  return true;
}

}  // namespace

void narrow(const CoupledShape& shape, std::span<const TagSets> candidates,
            std::span<const std::vector<double>> p, double margin, std::span<const std::int32_t> correct,
            SpaceWorkspace& work, BundleSpace& space) {
  const auto states = static_cast<std::size_t>(space.lattice.states());
  work.promise.resize(states);
  work.keep.assign(states, 1);
  const double share = std::exp(-margin);
  for (std::int32_t t = 0; t < space.lattice.positions(); ++t) {
    if (space.lattice.width(t) > 1) mark_promising(t, candidates, p, share, correct, space, work);
  }
  if (std::find(work.keep.begin(), work.keep.end(), 0) == work.keep.end()) return;
  if (!shape.is_free() && !keep_legal(shape, space.lattice, work)) return;
  filter(space, [&](std::int32_t s) { return work.keep[s] != 0; });
}

}  // namespace duilian
