// Lawler's method (1972): a search finds the best sequence in a set; the rest of the set is divided by the
// position at which a sequence first departs from the best one; then the same is done with the best of these
// sets. A set is given by labels fixed up to a position, and labels forbidden there. The best path of each
// part is one to the state where it departs, joined to the best rest after it, so all parts take one pass.
#include "duilian/coupled/k_best.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace duilian {

namespace {

struct Part {
  double score;                       // of the best path of bundles in the set
  std::vector<std::int32_t> label;    // [T]  its labels
  std::int32_t fixed;                 // labels before this position are fixed to those in `label`
  std::vector<std::int32_t> without;  // labels that are forbidden at position `fixed`
};

/// Best first; ties by labels.
struct IsBetter {
  bool operator()(const Part& a, const Part& b) const {
    return a.score != b.score ? a.score > b.score : a.label < b.label;
  }
};

class SideSearch {
 public:
  SideSearch(const BundleSpace& space, std::size_t side, Workspace& work)
      : space_(space), side_(side), work_(work) {
    find_rests();
  }

  /// The best path of all; returns false if there is none.
  [[nodiscard]] bool find_best(Part& out) {
    const Path path = try_best_path(space_.chain(), work_);
    if (path.states.empty()) return false;
    out = {path.score, {}, 0, {}};
    for (const std::int32_t s : path.states) out.label.push_back(label_of(s));
    return true;
  }

  /// Divides a set without its best path: visit(score, position, state) gets the best score of each part, and
  /// the state at which its best path departs.
  template <class Visit>
  void divide(const Part& whole, const Visit& visit) {
    const Lattice& x = space_.lattice;
    before_.clear();
    for (std::int32_t t = 0; t < x.positions(); ++t) {
      after_.assign(static_cast<std::size_t>(x.width(t)), kForbidden);
      double score = kForbidden;
      std::int32_t departs = -1;
      for (std::int32_t s = x.first[t]; s < x.first[t + 1]; ++s) {
        const double reached = reach(t, s);
        const bool is_same = label_of(s) == whole.label[static_cast<std::size_t>(t)];
        if (is_same) after_[static_cast<std::size_t>(s - x.first[t])] = reached;
        if (is_same || is_excluded(whole, t, s) || !(reached + rest_[s] > score)) continue;
        score = reached + rest_[s];
        departs = s;
      }
      if (t >= whole.fixed && departs >= 0) visit(score, t, departs);
      std::swap(before_, after_);
    }
  }

  /// The part that departs from a set's best path at this position, to this state.
  [[nodiscard]] Part part(const Part& whole, double score, std::int32_t t, std::int32_t state) const {
    Part out{score, {whole.label.begin(), whole.label.begin() + t}, t, {}};
    if (t == whole.fixed) out.without = whole.without;
    out.without.push_back(whole.label[static_cast<std::size_t>(t)]);
    for (std::int32_t s = state; s >= 0; s = next_[s]) out.label.push_back(label_of(s));
    return out;
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

  /// For each state, the score of the best path after it, and its next state.
  void find_rests() {
    const Lattice& x = space_.lattice;
    rest_.assign(static_cast<std::size_t>(x.states()), 0.0);
    next_.assign(static_cast<std::size_t>(x.states()), -1);
    for (std::int32_t t = x.positions() - 2; t >= 0; --t) {
      const Block& block = space_.between.between(t);
      for (std::int32_t i = 0; i < x.width(t); ++i) {
        const double* row = space_.between.row(block, static_cast<std::size_t>(i));
        double best = kForbidden;
        for (std::int32_t j = 0; j < x.width(t + 1); ++j) {
          const std::int32_t s = x.first[t + 1] + j;
          const double score = row[j] + space_.state[s] + rest_[s];
          if (score > best) best = score, next_[x.first[t] + i] = s;
        }
        rest_[x.first[t] + i] = best;
      }
    }
  }

  /// The score of the best path to a state, over the states in `before_`.
  [[nodiscard]] double reach(std::int32_t t, std::int32_t s) const {
    if (t == 0) return space_.state[s];
    const Block& block = space_.between.between(t - 1);
    const auto j = s - space_.lattice.first[t];
    double best = kForbidden;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] != kForbidden) best = std::max(best, before_[i] + space_.between.row(block, i)[j]);
    }
    return best + space_.state[s];
  }

  [[nodiscard]] bool is_excluded(const Part& whole, std::int32_t t, std::int32_t s) const {
    return t == whole.fixed &&
           std::find(whole.without.begin(), whole.without.end(), label_of(s)) != whole.without.end();
  }

  const BundleSpace& space_;
  std::size_t side_;
  Workspace& work_;
  std::vector<double> rest_;        // [S]
  std::vector<std::int32_t> next_;  // [S]
  std::vector<double> before_, after_;
  BundleSpace part_;
};

}  // namespace

std::vector<SideAnswer> k_best_labels(const BundleSpace& space, std::size_t side, std::size_t k,
                                      Workspace& work) {
  SideSearch search(space, side, work);
  std::multiset<Part, IsBetter> parts;  // as many as may still be needed
  std::vector<SideAnswer> out;
  Part found;
  if (k > 0 && search.find_best(found)) parts.insert(std::move(found));
  while (!parts.empty() && out.size() < k) {
    const Part best = std::move(parts.extract(parts.begin()).value());
    out.push_back({best.label, search.sum(best.label)});
    const std::size_t left = k - out.size();
    if (left == 0) break;
    search.divide(best, [&](double score, std::int32_t t, std::int32_t state) {
      if (parts.size() >= left && score < parts.rbegin()->score) return;
      parts.insert(search.part(best, score, t, state));
      if (parts.size() > left) parts.erase(std::prev(parts.end()));
    });
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SideAnswer& a, const SideAnswer& b) { return a.score > b.score; });
  return out;
}

}  // namespace duilian
