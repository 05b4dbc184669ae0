// Coarse pruning of one side: lays out transitions in vectors of 16 labels, and lists the labels near the
// best path (see coarse.hpp).
#include "duilian/chain/coarse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace duilian {

namespace {

constexpr double kWidest = 10000.0;  // widest window: dead scores must be well outside

[[nodiscard]] std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

double coarse_scale(double largest_weight, std::size_t count) {
  constexpr double kMax = 256.0;
  constexpr double kLeast = 16.0;
  constexpr double kRange = 32000.0;
  // Rounding may add half a step to each weight.
  const double sum = static_cast<double>(std::max<std::size_t>(count, 1)) * (largest_weight + 0.5 / kMax);
  const double scale = std::min(kMax, kRange / sum);
  return scale < kLeast ? 0.0 : scale;
}

CoarseChain::CoarseChain(const TransitionShape& shape, const Succession& rules, std::span<const float> score,
                         double scale, CoarseWindow window, const Kernels& how)
    : width_(static_cast<CoarseScore>(std::min(std::round(window.window * scale), kWidest))),
      max_labels_(static_cast<std::size_t>(window.max_labels)),
      kernels_(&how) {
  const std::size_t labels = shape.labels;
  const auto at = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(score[i * (labels + 1) + j]);
  };
  const auto is_legal = [&](std::size_t i, std::size_t j) {
    return rules.is_free() || rules(static_cast<TagId>(i), static_cast<TagId>(j));
  };
  double peak = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i <= labels; ++i) {
    for (std::size_t j = 0; j <= labels; ++j) {
      if (is_legal(i, j)) peak = std::max(peak, at(i, j));
    }
  }
  const auto rounded = [&](std::size_t i, std::size_t j) {
    if (!is_legal(i, j)) return kCoarseDead;
    return static_cast<CoarseScore>(
        std::max(std::round((at(i, j) - peak) * scale), static_cast<double>(kCoarseLow)));
  };
  place_labels(shape);
  core_.assign(rows_ * cols_, kCoarseDead);
  for (std::size_t i = shape.row0; i < shape.row0 + shape.rows; ++i) {
    for (std::size_t j = shape.col0; j < shape.col0 + shape.cols; ++j)
      core_[(lane_[i] - row0_) * cols_ + lane_[j] - col0_] = rounded(i, j);
  }
  add_diagonals(shape, rounded);
  start_.assign(stride(), kCoarseDead);
  stop_.assign(stride(), kCoarseDead);
  for (std::size_t l = 0; l < labels; ++l) {
    start_[lane_[l]] = rounded(labels, l);
    stop_[lane_[l]] = rounded(l, labels);
  }
  for (int k = 0; k <= -kCoarseLow; ++k) decay_.push_back(static_cast<float>(std::exp(-k / scale)));
}

/// Starts a new vector of the shorter kind for each group of labels with the same kind of transitions, so
/// that diagonals lead from whole vectors to whole vectors.
void CoarseChain::place_labels(const TransitionShape& shape) {
  std::set<std::size_t> begins{0,          shape.labels,           shape.row0, shape.row0 + shape.rows,
                               shape.col0, shape.col0 + shape.cols};
  for (const Diagonal& d : shape.diagonals) begins.insert({d.i0, d.i0 + d.size, d.j0, d.j0 + d.size});
  for (std::size_t l = 0; l < shape.labels; ++l) {
    if (begins.contains(l)) label_.resize(round_up(label_.size(), kCoarseLanes), -1);
    lane_.push_back(static_cast<std::uint16_t>(label_.size()));
    label_.push_back(static_cast<std::int32_t>(l));
  }
  label_.resize(round_up(label_.size(), kMaxCoarseLanes), -1);
  const std::size_t lanes = kernels_->coarse_lanes;
  const auto place = [&](std::size_t label, std::size_t count, std::size_t& first, std::size_t& size) {
    first = lane_[label] / lanes * lanes;
    size = round_up(static_cast<std::size_t>(lane_[label + count - 1]) + 1, lanes) - first;
  };
  if (shape.rows > 0 && shape.cols > 0) {
    place(shape.row0, shape.rows, row0_, rows_);
    place(shape.col0, shape.cols, col0_, cols_);
  }
  vectors_.resize(label_.size() / lanes, {false, 0, 0, 0, 0});
  for (std::size_t v = col0_ / lanes; v < (col0_ + cols_) / lanes; ++v) vectors_[v].is_column = true;
}

void CoarseChain::add_diagonals(const TransitionShape& shape,
                                const std::function<CoarseScore(std::size_t, std::size_t)>& score) {
  const std::size_t lanes = kernels_->coarse_lanes;
  // For each vector, the distances of the other ends and the scores, from its view.
  using Arcs = std::map<std::pair<std::size_t, std::int32_t>, std::vector<CoarseScore>>;
  Arcs into, out;
  const auto add = [&](Arcs& arcs, std::size_t own, std::size_t other, CoarseScore between) {
    const auto distance = static_cast<std::int32_t>(other) - static_cast<std::int32_t>(own);
    auto& arc = arcs[{own / lanes, distance}];
    arc.resize(lanes, kCoarseDead);
    arc[own % lanes] = between;
  };
  for (const Diagonal& d : shape.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) {
      const std::size_t from = lane_[d.i0 + k];
      const std::size_t to = lane_[d.j0 + k];
      add(into, to, from, score(d.i0 + k, d.j0 + k));
      add(out, from, to, score(d.i0 + k, d.j0 + k));
    }
  }
  for (std::size_t v = 0; v < vectors_.size(); ++v) {
    const auto gather = [&](const Arcs& arcs, std::uint16_t& first, std::uint16_t& last) {
      first = static_cast<std::uint16_t>(diagonals_.size());
      for (auto at = arcs.lower_bound({v, INT32_MIN}); at != arcs.end() && at->first.first == v; ++at) {
        diagonals_.push_back({at->first.second, static_cast<std::uint32_t>(arc_.size() / lanes)});
        arc_.insert(arc_.end(), at->second.begin(), at->second.end());
      }
      last = static_cast<std::uint16_t>(diagonals_.size());
    };
    gather(into, vectors_[v].into, vectors_[v].into_end);
    gather(out, vectors_[v].out, vectors_[v].out_end);
  }
}

CoarseMatrix CoarseChain::matrix() const {
  return {vectors_.size(), vectors_.data(), diagonals_.data(), arc_.data(), row0_, rows_,
          col0_,           cols_,           core_.data()};
}

/// Makes room for a row of scores at each position, with dead scores between them.
void CoarseChain::lay_out(std::size_t positions, std::vector<CoarseScore>& rows) const {
  rows.resize(std::max(rows.size(), at(positions)));
  for (std::size_t t = 0; t <= positions; ++t)
    std::fill_n(rows.data() + at(t) - kMaxCoarseLanes, kMaxCoarseLanes, kCoarseDead);
}

/// Scores the best path to each label and lists the rows of the core for the next step; returns false if
/// there is no path.
bool CoarseChain::forward(std::size_t positions, CoarseScore* state, std::size_t step,
                          CoarseWorkspace& work) const {
  const CoarseMatrix m = matrix();
  const auto beam = static_cast<CoarseScore>(
      std::max(-5 * width_ / 4, kCoarseDead + 1));  // a good label may follow a doubtful one
  lay_out(positions, work.alpha);
  work.row.resize(positions * m.rows + kMaxCoarseLanes);
  work.alpha_base.resize(positions);
  work.closed.resize(positions);
  work.row_first.assign(1, 0);
  for (std::size_t t = 0; t < positions; ++t) {
    CoarseScore* alpha = work.alpha.data() + at(t);
    CoarseScore peak = kCoarseDead;
    if (t == 0) {
      peak = kernels_->coarse_start(start_.data(), state, stride(), alpha);
    } else {
      const std::size_t first = work.row_first[t - 1];
      peak = kernels_->coarse_forward(m, work.alpha.data() + at(t - 1), work.row.data() + first,
                                      work.row_first[t] - first, state + t * step, alpha);
    }
    if (peak <= kCoarseDead) return false;
    work.alpha_base[t] = (t == 0 ? 0 : work.alpha_base[t - 1]) + peak;
    std::uint16_t* row = work.row.data() + work.row_first[t];
    work.row_first.push_back(work.row_first[t] +
                             kernels_->coarse_at_least(alpha + m.row0, m.rows, beam, row, work.closed[t]));
  }
  return true;
}

/// Scores the best path from each label on, over the same transitions.
bool CoarseChain::backward(std::size_t positions, const CoarseScore* state, std::size_t step,
                           CoarseWorkspace& work) const {
  const CoarseMatrix m = matrix();
  lay_out(positions, work.beta);
  lay_out(1, work.message);
  work.beta_base.assign(positions, 0);
  std::copy(stop_.begin(), stop_.end(), work.beta.data() + at(positions - 1));
  for (std::size_t t = positions - 1; t > 0; --t) {
    const std::size_t first = work.row_first[t - 1];
    const CoarseScore peak = kernels_->coarse_backward(
        m, state + t * step, work.beta.data() + at(t), work.row.data() + first, work.row_first[t] - first,
        work.message.data() + at(0), work.beta.data() + at(t - 1));
    if (peak <= kCoarseDead) return false;
    work.beta_base[t - 1] = work.beta_base[t] + peak;
  }
  return true;
}

/// Scores the best path through each label, in place of `beta`. At every unit, the best of all must have the
/// same score; it does not if, on either side, it fell so far below another path that it cannot be told from
/// dead scores.
bool CoarseChain::meet(std::size_t positions, CoarseWorkspace& work) const {
  work.best.resize(positions);
  for (std::size_t t = 0; t < positions; ++t) {
    CoarseScore* beta = work.beta.data() + at(t);
    work.best[t] = kernels_->coarse_sums(work.alpha.data() + at(t), beta, stride(), beta);
    const std::int64_t score = work.alpha_base[t] + work.beta_base[t] + work.best[t];
    if (work.best[t] <= kCoarseDead + width_ ||
        score != work.alpha_base[0] + work.beta_base[0] + work.best[0])
      return false;
  }
  return true;
}

/// The previous lane on the best path to this lane of position t.
std::uint16_t CoarseChain::best_before(std::size_t t, std::uint16_t lane, const CoarseWorkspace& work) const {
  const CoarseScore* alpha = work.alpha.data() + at(t - 1);
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  std::size_t best = 0;
  const auto offer = [&](std::size_t from, CoarseScore transition) {
    const std::int32_t sum = std::int32_t{alpha[from]} + transition;
    if (sum <= highest) return;
    highest = sum;
    best = from;
  };
  const std::size_t lanes = kernels_->coarse_lanes;
  const CoarseMatrix::Vector& vector = vectors_[lane / lanes];
  for (std::size_t k = work.row_first[t - 1]; k < work.row_first[t] && vector.is_column; ++k)
    offer(row0_ + work.row[k], core_[work.row[k] * cols_ + lane - col0_]);
  for (std::size_t d = vector.into; d < vector.into_end; ++d) {
    const CoarseScore arc = arc_[diagonals_[d].arc * lanes + lane % lanes];
    if (arc != kCoarseDead) offer(static_cast<std::size_t>(lane + diagonals_[d].other), arc);
  }
  return static_cast<std::uint16_t>(best);
}

void CoarseChain::find_path(std::size_t positions, CoarseWorkspace& work) const {
  work.path.resize(positions);
  const auto last = work.beta.begin() + static_cast<std::ptrdiff_t>(at(positions - 1));
  work.path.back() =
      static_cast<std::uint16_t>(std::max_element(last, last + static_cast<std::ptrdiff_t>(stride())) - last);
  for (std::size_t t = positions - 1; t > 0; --t) work.path[t - 1] = best_before(t, work.path[t], work);
}

void CoarseChain::cut(std::size_t t, std::size_t count, CoarseWorkspace& work) const {
  const CoarseScore* through = work.beta.data() + at(t);
  const auto begin = work.place.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(max_labels_);
  std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(count),
                   [&](std::uint16_t a, std::uint16_t b) { return through[a] > through[b]; });
  if (std::find(begin, end, work.path[t]) == end) *(end - 1) = work.path[t];  // it tied with many others
  std::sort(begin, end);
}

bool CoarseChain::choose(std::int32_t positions, CoarseScore* state, std::size_t step, CoarseWorkspace& work,
                         TagSets& out, std::vector<float>& strength, std::vector<float>& share) const {
  const auto T = static_cast<std::size_t>(positions);
  if (!forward(T, state, step, work) || !backward(T, state, step, work) || !meet(T, work)) return false;
  work.place.resize(stride() + kMaxCoarseLanes);
  work.path.clear();
  out.first.assign(1, 0);
  out.tag.clear();
  strength.clear();
  share.resize(T);
  for (std::size_t t = 0; t < T; ++t) {
    CoarseScore next = kCoarseForbidden;
    std::size_t count =
        kernels_->coarse_at_least(work.beta.data() + at(t), stride(),
                                  static_cast<CoarseScore>(work.best[t] - width_), work.place.data(), next);
    const int gap = std::min({work.best[t] - next, -work.closed[t], -kCoarseLow});
    share[t] = 1.0F / (1.0F + decay_[static_cast<std::size_t>(gap)]);
    if (count > max_labels_) {
      if (work.path.empty()) find_path(T, work);
      cut(t, count, work);
      count = max_labels_;
    }
    for (std::size_t k = 0; k < count; ++k) {
      out.tag.push_back(static_cast<TagId>(label_[work.place[k]]));
      strength.push_back(decay_[static_cast<std::size_t>(-state[t * step + work.place[k]])]);
    }
    out.first.push_back(static_cast<std::int32_t>(out.tag.size()));
  }
  return true;
}

void CoarseChain::best_labels(std::int32_t positions, CoarseWorkspace& work,
                              std::vector<std::int32_t>& out) const {
  if (work.path.empty()) find_path(static_cast<std::size_t>(positions), work);
  out.clear();
  for (const std::uint16_t lane : work.path) out.push_back(label_[lane]);
}

}  // namespace duilian
