// Finds the dense core and the diagonals in the rules of a side, and fills them with scores.
#include "duilian/chain/label_transitions.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "duilian/chain/transitions.hpp"

namespace duilian {

namespace {

using Flags = std::vector<std::uint8_t>;

/// The run of the most frequent rows (or columns) of the rules; empty if they are not adjacent.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
};

[[nodiscard]] Run run_of_fullest(const std::vector<Flags>& lines) {
  const auto count = [](const Flags& line) { return std::count(line.begin(), line.end(), 1); };
  const auto fullest = std::max_element(lines.begin(), lines.end(),
                                        [&](const Flags& a, const Flags& b) { return count(a) < count(b); });
  const auto begin = static_cast<std::size_t>(fullest - lines.begin());
  std::size_t end = begin;
  while (end < lines.size() && lines[end] == *fullest) ++end;
  const bool is_scattered =
      std::find(lines.begin() + static_cast<std::ptrdiff_t>(end), lines.end(), *fullest) != lines.end();
  return is_scattered ? Run{} : Run{begin, end};
}

/// The legal pairs outside the core, as diagonals.
void find_diagonals(const std::vector<Flags>& legal, TransitionShape& shape) {
  const auto is_in_core = [&](std::size_t i, std::size_t j) {
    return i >= shape.row0 && i < shape.row0 + shape.rows && j >= shape.col0 && j < shape.col0 + shape.cols;
  };
  std::map<std::ptrdiff_t, std::vector<std::size_t>> by_distance;  // j - i → the i, ascending
  for (std::size_t i = 0; i < shape.labels; ++i) {
    for (std::size_t j = 0; j < shape.labels; ++j) {
      if (legal[i][j] != 0 && !is_in_core(i, j)) {
        by_distance[static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i)].push_back(i);
      }
    }
  }
  for (const auto& [distance, starts] : by_distance) {
    for (std::size_t k = 0; k < starts.size();) {
      std::size_t end = k + 1;
      while (end < starts.size() && starts[end] == starts[end - 1] + 1) ++end;
      const auto j0 = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(starts[k]) + distance);
      shape.diagonals.push_back({starts[k], j0, end - k, shape.arcs});
      shape.arcs += end - k;
      k = end;
    }
  }
}

void find_reachable(const std::vector<Flags>& legal, const Succession& rules, TransitionShape& shape) {
  Flags now(shape.labels);
  for (std::size_t l = 0; l < shape.labels; ++l) now[l] = rules(rules.tags, static_cast<TagId>(l)) ? 1 : 0;
  for (;;) {
    shape.reachable.push_back(now);
    Flags next(shape.labels, 0);
    for (std::size_t i = 0; i < shape.labels; ++i) {
      for (std::size_t j = 0; now[i] != 0 && j < shape.labels; ++j) next[j] |= legal[i][j];
    }
    if (next == now) return;
    // Rules under which positions alternate forever are not boundary rules. Treating all labels as reachable
    // is safe: it only sends more sentences to the log domain.
    if (shape.reachable.size() > 8) next.assign(shape.labels, 1);
    if (next == now) return;
    now = std::move(next);
    if (shape.reachable.size() > 9) return;
  }
}

}  // namespace

TransitionShape shape_of(std::int32_t labels, const Succession& rules) {
  if (labels < 1) throw std::invalid_argument("a side needs at least one label");
  const std::size_t edge = static_cast<std::size_t>(labels) + 1;
  if (!rules.is_free() && (rules.tags != labels || rules.allows.size() != edge * edge)) {
    throw std::invalid_argument("the succession does not match the labels");
  }
  TransitionShape shape;
  shape.labels = static_cast<std::size_t>(labels);
  std::vector<Flags> legal(shape.labels, Flags(shape.labels));
  std::vector<Flags> turned = legal;
  for (TagId i = 0; i < labels; ++i) {
    for (TagId j = 0; j < labels; ++j) turned[j][i] = legal[i][j] = rules(i, j) ? 1 : 0;
  }
  const Run rows = run_of_fullest(legal);
  const Run cols = run_of_fullest(turned);
  bool is_block = rows.end > rows.begin && cols.end > cols.begin;
  for (std::size_t i = rows.begin; is_block && i < rows.end; ++i) {
    for (std::size_t j = cols.begin; is_block && j < cols.end; ++j) is_block = legal[i][j] != 0;
  }
  if (is_block) {
    shape.row0 = rows.begin;
    shape.rows = rows.end - rows.begin;
    shape.col0 = cols.begin;
    shape.cols = cols.end - cols.begin;
    find_diagonals(legal, shape);
  }
  // Many short diagonals cost more than a dense matrix with gaps.
  if (!is_block || shape.diagonals.size() > 16) {
    shape.row0 = shape.col0 = 0;
    shape.rows = shape.cols = shape.labels;
    shape.diagonals.clear();
    shape.arcs = 0;
  }
  find_reachable(legal, rules.is_free() ? Succession{labels, {}} : rules, shape);
  return shape;
}

LabelTransitions::LabelTransitions(const TransitionShape& kept_shape, const Succession& rules,
                                   std::span<const float> score, bool has_exponentials)
    : shape(kept_shape) {
  const std::size_t edge = shape.labels + 1;
  const std::size_t stride = padded(shape.cols);
  double floor = std::numeric_limits<double>::infinity();
  peak = kForbidden;
  const auto note = [&](double x) {
    peak = std::max(peak, x);
    floor = std::min(floor, x);
    return x;
  };
  core.assign(shape.rows * stride, kForbidden);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.cols; ++j) {
      const std::size_t from = shape.row0 + i;
      const std::size_t to = shape.col0 + j;
      if (rules(static_cast<TagId>(from), static_cast<TagId>(to)))
        core[i * stride + j] = note(score[from * edge + to]);
    }
  }
  for (const Diagonal& d : shape.diagonals) {
    for (std::size_t k = 0; k < d.size; ++k) arc.push_back(note(score[(d.i0 + k) * edge + d.j0 + k]));
  }
  if (peak == kForbidden) peak = floor = 0.0;
  spread = peak - floor;
  if (!has_exponentials) return;
  exp_core.resize(core.size());
  kernels().exponentials(core.data(), peak, core.size(), exp_core.data());
  exp_arc.resize(arc.size());
  kernels().exponentials(arc.data(), peak, arc.size(), exp_arc.data());
  core_turned.assign(shape.cols * padded(shape.rows), kForbidden);
  exp_core_turned.assign(shape.cols * padded(shape.rows), 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.cols; ++j) {
      core_turned[j * padded(shape.rows) + i] = core[i * stride + j];
      exp_core_turned[j * padded(shape.rows) + i] = exp_core[i * stride + j];
    }
  }
}

double LabelTransitions::score(std::size_t before, std::size_t after) const {
  if (before - shape.row0 < shape.rows && after - shape.col0 < shape.cols) {
    return core[(before - shape.row0) * padded(shape.cols) + after - shape.col0];
  }
  for (const Diagonal& d : shape.diagonals) {
    if (before - d.i0 < d.size && after - d.j0 == before - d.i0) return arc[d.at + before - d.i0];
  }
  return kForbidden;
}

}  // namespace duilian
