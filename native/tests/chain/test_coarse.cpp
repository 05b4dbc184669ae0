// Compares coarse pruning with its definition in whole numbers, label by label.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "duilian/chain/coarse.hpp"
#include "random_uniform.hpp"

using namespace duilian;
using testing::for_each_uniform_case;
using testing::UniformCase;

namespace {

/// What coarse pruning should find, from scores that never saturate.
class CoarseTwin {
 public:
  CoarseTwin(const UniformCase& x, double scale, double window)
      : x_(x), scale_(scale), width_(static_cast<std::int64_t>(std::round(window * scale))) {
    for (TagId i = 0; i <= x.labels; ++i) {
      for (TagId j = 0; j <= x.labels; ++j) {
        if (x.rules(i, j)) peak_ = std::max(peak_, raw(i, j));
      }
    }
    go_forward();
    go_backward();
  }

  [[nodiscard]] bool has_path() const { return best(0) > kNone / 2; }
  [[nodiscard]] std::vector<TagId> candidates(std::int32_t t) const {
    std::vector<TagId> out;
    for (TagId l = 0; l < x_.labels; ++l) {
      if (through(t, l) >= best(t) - width_) out.push_back(l);
    }
    return out;
  }
  /// The gap is that of the best label outside the window; or of the best beginning that ends there, if that
  /// is smaller. Lanes of other labels may be looked at, too.
  [[nodiscard]] double share(std::int32_t t, bool of_all_lanes) const {
    std::int64_t gap = 8000;
    const auto& row = alpha_[static_cast<std::size_t>(t)];
    const std::int64_t high = *std::max_element(row.begin(), row.end());
    const auto first = static_cast<TagId>(x_.shape.row0);
    const auto last = static_cast<TagId>(x_.shape.row0 + x_.shape.rows);
    for (TagId l = 0; l < x_.labels; ++l) {
      if (through(t, l) < best(t) - width_) gap = std::min(gap, best(t) - through(t, l));
      const std::int64_t own = row[static_cast<std::size_t>(l)];
      const bool is_row = of_all_lanes || (l >= first && l < last);
      if (is_row && own < high - 5 * width_ / 4) gap = std::min(gap, high - own);
    }
    return 1.0 / (1.0 + std::exp(-static_cast<double>(gap) / scale_));
  }
  [[nodiscard]] double strength(std::int32_t t, TagId label) const {
    std::int64_t high = state(t, 0);
    for (TagId l = 1; l < x_.labels; ++l) high = std::max(high, state(t, l));
    return std::exp(static_cast<double>(state(t, label) - high) / scale_);
  }

 private:
  static constexpr std::int64_t kNone = -1'000'000'000;

  [[nodiscard]] double raw(TagId i, TagId j) const {
    return x_.table[static_cast<std::size_t>(i * (x_.labels + 1) + j)];
  }
  [[nodiscard]] std::int64_t between(TagId i, TagId j) const {
    return x_.rules(i, j) ? std::llround((raw(i, j) - peak_) * scale_) : kNone;
  }
  [[nodiscard]] std::int64_t state(std::int32_t t, TagId l) const {
    return x_.at(t, l) == kForbidden ? kNone : std::llround(x_.at(t, l) * scale_);
  }
  /// Pairs of the core count only if the first label is not far below the best.
  [[nodiscard]] bool is_open(std::int32_t t, TagId i, TagId j) const {
    const TransitionShape& s = x_.shape;
    const auto is_in = [](TagId label, std::size_t first, std::size_t size) {
      return static_cast<std::size_t>(label) >= first && static_cast<std::size_t>(label) < first + size;
    };
    if (!is_in(i, s.row0, s.rows) || !is_in(j, s.col0, s.cols)) return true;
    const auto& row = alpha_[static_cast<std::size_t>(t)];
    return row[static_cast<std::size_t>(i)] >= *std::max_element(row.begin(), row.end()) - 5 * width_ / 4;
  }
  void go_forward() {
    for (std::int32_t t = 0; t < x_.positions; ++t) {
      std::vector<std::int64_t> row;
      for (TagId j = 0; j < x_.labels; ++j) {
        std::int64_t high = t == 0 ? between(x_.labels, j) : kNone;
        for (TagId i = 0; t > 0 && i < x_.labels; ++i) {
          if (is_open(t - 1, i, j)) high = std::max(high, at(alpha_, t - 1, i) + between(i, j));
        }
        row.push_back(std::max(high + state(t, j), kNone));
      }
      alpha_.push_back(row);
    }
  }
  void go_backward() {
    beta_.assign(alpha_.size(), std::vector<std::int64_t>(static_cast<std::size_t>(x_.labels), kNone));
    for (std::int32_t t = x_.positions - 1; t >= 0; --t) {
      for (TagId i = 0; i < x_.labels; ++i) {
        std::int64_t high = t + 1 == x_.positions ? between(i, x_.labels) : kNone;
        for (TagId j = 0; t + 1 < x_.positions && j < x_.labels; ++j) {
          if (is_open(t, i, j)) high = std::max(high, between(i, j) + state(t + 1, j) + at(beta_, t + 1, j));
        }
        beta_[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)] = std::max(high, kNone);
      }
    }
  }
  using Table = std::vector<std::vector<std::int64_t>>;
  [[nodiscard]] static std::int64_t at(const Table& table, std::int32_t t, TagId l) {
    return table[static_cast<std::size_t>(t)][static_cast<std::size_t>(l)];
  }
  [[nodiscard]] std::int64_t through(std::int32_t t, TagId l) const {
    return at(alpha_, t, l) + at(beta_, t, l);
  }
  [[nodiscard]] std::int64_t best(std::int32_t t) const {
    std::int64_t high = through(t, 0);
    for (TagId l = 1; l < x_.labels; ++l) high = std::max(high, through(t, l));
    return high;
  }

  const UniformCase& x_;
  double scale_;
  std::int64_t width_;
  double peak_ = -std::numeric_limits<double>::infinity();
  Table alpha_, beta_;
};

/// The scores of a case in the layout of a pruner.
[[nodiscard]] std::vector<CoarseScore> coarse_states(const UniformCase& x, const CoarseChain& pruner,
                                                     double scale) {
  std::vector<CoarseScore> out(static_cast<std::size_t>(x.positions) * pruner.stride(), kCoarseForbidden);
  for (std::int32_t t = 0; t < x.positions; ++t) {
    for (TagId l = 0; l < x.labels; ++l) {
      const double score = std::clamp(std::round(x.at(t, l) * scale), -32000.0, 32000.0);
      if (x.at(t, l) != kForbidden)
        out[static_cast<std::size_t>(t) * pruner.stride() + pruner.lanes()[l]] =
            static_cast<CoarseScore>(score);
    }
  }
  return out;
}

[[nodiscard]] bool is_moderate(const UniformCase& x) {
  const auto is_small = [](double score) { return score == kForbidden || std::abs(score) <= 3.0; };
  return std::all_of(x.state.begin(), x.state.end(), is_small) &&
         std::all_of(x.table.begin(), x.table.end(), is_small);
}

/// Whether a path through the candidates is legal, and none of them is forbidden.
[[nodiscard]] bool is_open(const UniformCase& x, const TagSets& candidates) {
  std::vector<std::uint8_t> reached(static_cast<std::size_t>(x.labels) + 1, 0);
  reached.back() = 1;
  for (std::int32_t t = 0; t <= x.positions; ++t) {
    std::vector<std::uint8_t> next(reached.size(), 0);
    const std::vector<TagId> stop{x.labels};
    const std::span<const TagId> labels = t < x.positions ? candidates.at(t) : stop;
    for (const TagId j : labels) {
      if (t < x.positions && x.at(t, j) == kForbidden) return false;
      for (TagId i = 0; i <= x.labels; ++i) {
        if (reached[static_cast<std::size_t>(i)] != 0 && x.rules(i, j)) next[static_cast<std::size_t>(j)] = 1;
      }
    }
    reached = next;
  }
  return reached.back() != 0;
}

/// Calls test(case, pruner, states, scale) for random cases that can be laid out, with all sets of kernels.
template <class Test>
void for_each_coarse_case(CoarseWindow window, double scale, const Test& test) {
  for_each_uniform_case(150, 7, [&](const UniformCase& x, const UniformChain&, const OwnedChain&) {
    for (const Kernels* how : all_kernels()) {
      const CoarseChain pruner(x.shape, x.rules, x.table, scale, window, *how);
      test(x, pruner, coarse_states(x, pruner, scale));
    }
  });
}

}  // namespace

TEST(coarse_candidates_match_the_definition) {
  CoarseWorkspace work;
  int compared = 0;
  int cut = 0;
  for (const double window : {0.0, 0.5, 3.0, 100.0}) {
    constexpr double kScale = 16.0;
    for_each_coarse_case(
        {window, 1000}, kScale, [&](const UniformCase& x, const CoarseChain& pruner, auto state) {
          if (!is_moderate(x)) return;
          const CoarseTwin twin(x, kScale, window);
          TagSets found;
          std::vector<float> p;
          std::vector<float> share;
          const bool is_found =
              pruner.choose(x.positions, state.data(), pruner.stride(), work, found, p, share);
          CHECK(is_found == twin.has_path());
          if (!is_found) return;
          for (std::int32_t t = 0; t < x.positions; ++t) {
            const std::vector<TagId> wanted = twin.candidates(t);
            CHECK(std::equal(wanted.begin(), wanted.end(), found.at(t).begin(), found.at(t).end()));
            const auto found_share = static_cast<double>(share[static_cast<std::size_t>(t)]);
            CHECK(found_share >= twin.share(t, true) - 1e-6 && found_share <= twin.share(t, false) + 1e-6);
            for (std::size_t k = 0; k < wanted.size(); ++k)
              CHECK_NEAR(p[static_cast<std::size_t>(found.first[t]) + k], twin.strength(t, wanted[k]), 1e-6);
            cut += wanted.size() < static_cast<std::size_t>(x.labels) ? 1 : 0;
          }
          ++compared;
        });
  }
  CHECK(compared > 200 && cut > 200);
}

TEST(coarse_candidates_leave_a_legal_path_whatever_the_scores) {
  CoarseWorkspace work;
  int found_any = 0;
  for (const std::int32_t max_labels : {1, 2, 1000}) {
    for_each_coarse_case(
        {3.0, max_labels}, 16.0, [&](const UniformCase& x, const CoarseChain& pruner, auto state) {
          TagSets found;
          std::vector<float> p;
          std::vector<float> share;
          if (!pruner.choose(x.positions, state.data(), pruner.stride(), work, found, p, share)) return;
          for (std::int32_t t = 0; t < x.positions; ++t)
            CHECK(!found.at(t).empty() && found.at(t).size() <= static_cast<std::size_t>(max_labels));
          CHECK(is_open(x, found));
          CHECK(std::all_of(p.begin(), p.end(), [](float each) { return each >= 0.0F && each <= 1.0F; }));
          ++found_any;
        });
  }
  CHECK(found_any > 500);
}

TEST(equal_coarse_scores_are_cut_to_a_path) {
  const Succession rules = {};
  const TransitionShape shape = shape_of(40, rules);
  const std::vector<float> table(41 * 41, 0.0F);
  const CoarseChain pruner(shape, rules, table, 256.0, {4.0, 3});
  std::vector<CoarseScore> state(5 * pruner.stride(), kCoarseForbidden);
  for (std::size_t t = 0; t < 5; ++t) {
    for (const std::uint16_t lane : pruner.lanes()) state[t * pruner.stride() + lane] = 0;
  }
  CoarseWorkspace work;
  TagSets found;
  std::vector<float> p;
  std::vector<float> share;
  CHECK(pruner.choose(5, state.data(), pruner.stride(), work, found, p, share));
  for (std::int32_t t = 0; t < 5; ++t) CHECK(found.at(t).size() == 3);
}
