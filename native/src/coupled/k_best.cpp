// Lawler's method (1972): a search finds the best sequence in a set; the rest of the set is divided by the
// position at which a sequence first departs from the best one; then the same is done with the best of these
// sets. A set is given by labels fixed up to a position, and labels forbidden there.
#include "duilian/coupled/k_best.hpp"

#include <algorithm>
#include <queue>

namespace duilian {

namespace {

struct Part {
  double score;                       // of the best path of bundles in the set
  std::vector<std::int32_t> label;    // [T]  its labels
  std::int32_t fixed;                 // labels before this position are fixed to those in `label`
  std::vector<std::int32_t> without;  // labels that are forbidden at position `fixed`
};

/// Best first; ties by labels.
struct IsWorse {
  bool operator()(const Part& a, const Part& b) const {
    return a.score != b.score ? a.score < b.score : a.label > b.label;
  }
};

class SideSearch {
 public:
  SideSearch(const BundleSpace& space, std::size_t side, Workspace& work)
      : space_(space), side_(side), work_(work), state_(space.state) {}

  /// Searches for the best path whose labels agree with `label` before position `fixed` and are not in
  /// `without` there; returns false if there is none.
  [[nodiscard]] bool find(std::span<const std::int32_t> label, std::int32_t fixed,
                          std::vector<std::int32_t> without, Part& out) {
    const Lattice& x = space_.lattice;
    for (std::int32_t t = 0; t < x.positions(); ++t) {
      restrict(t, [&](std::int32_t found) {
        if (t < fixed) return found == label[static_cast<std::size_t>(t)];
        return t > fixed || std::find(without.begin(), without.end(), found) == without.end();
      });
    }
    const Path path = try_best_path({x, state_, space_.between}, work_);
    if (path.states.empty()) return false;
    out = {path.score, {}, fixed, std::move(without)};
    for (const std::int32_t s : path.states) out.label.push_back(label_of(s));
    return true;
  }

  /// The log of the sum over all paths with these labels.
  [[nodiscard]] double sum(std::span<const std::int32_t> label) {
    std::vector<std::int32_t> kept;
    for (std::int32_t t = 0; t < space_.lattice.positions(); ++t) {
      for (std::int32_t s = space_.lattice.first[t]; s < space_.lattice.first[t + 1]; ++s) {
        if (label_of(s) == label[static_cast<std::size_t>(t)]) kept.push_back(s);
      }
    }
    take_part(space_, kept, part_);
    return log_partition(part_.chain(), work_);
  }

 private:
  [[nodiscard]] std::int32_t label_of(std::int32_t s) const { return space_.lattice.bundle(s)[side_]; }

  template <class Keep>
  void restrict(std::int32_t t, const Keep& keep) {
    for (std::int32_t s = space_.lattice.first[t]; s < space_.lattice.first[t + 1]; ++s)
      state_[s] = keep(label_of(s)) ? space_.state[s] : kForbidden;
  }

  const BundleSpace& space_;
  std::size_t side_;
  Workspace& work_;
  std::vector<double> state_;
  BundleSpace part_;
};

}  // namespace

std::vector<SideAnswer> k_best_labels(const BundleSpace& space, std::size_t side, std::size_t k,
                                      Workspace& work) {
  SideSearch search(space, side, work);
  std::priority_queue<Part, std::vector<Part>, IsWorse> parts;
  std::vector<SideAnswer> out;
  Part found;
  if (k > 0 && search.find({}, 0, {}, found)) parts.push(found);
  while (!parts.empty() && out.size() < k) {
    const Part best = parts.top();
    parts.pop();
    out.push_back({best.label, search.sum(best.label)});
    if (out.size() == k) break;
    for (std::int32_t t = best.fixed; t < space.lattice.positions(); ++t) {
      std::vector<std::int32_t> without;
      if (t == best.fixed) without = best.without;
      without.push_back(best.label[static_cast<std::size_t>(t)]);
      if (search.find(best.label, t, std::move(without), found)) parts.push(found);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SideAnswer& a, const SideAnswer& b) { return a.score > b.score; });
  return out;
}

}  // namespace duilian
