// Forward-backward over the pairs of candidates of two sides (see pair_search.hpp).
#include "duilian/coupled/pair_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace duilian {

namespace {

// Largest range of scores at a unit or in a block: e^-400 is still a normal number.
constexpr double kMaxSpread = 200.0;
constexpr double kTiny = 1e-140;

class PairSearch {
 public:
  PairSearch(const CoupledShape& shape, const CoupledTransitions& between, const JointSource& source,
             const PairInput& input, SpaceWorkspace& joint, PairWorkspace& work)
      : shape_(shape),
        part_(shape.joint[0]),
        between_(between),
        source_(source),
        in_(input),
        joint_(joint),
        work_(work),
        is_pruned_(!input.prior.empty() && std::isfinite(input.bundle_gap)),
        share_(is_pruned_ ? std::exp(-input.bundle_gap) : 0.0),
        units_(input.candidates[0].positions()) {}

  [[nodiscard]] bool run() {
    find_states();
    if (!score_blocks() || !exponentiate() || !forward()) return false;
    backward();
    return true;
  }

  void sum_sides(std::vector<std::vector<double>>& side) const {
    side.resize(2);
    for (std::size_t k = 0; k < 2; ++k) {
      const TagSets& sets = in_.candidates[k];
      side[k].assign(sets.tag.size(), 0.0);
      for (std::int32_t t = 0; t < units_; ++t) {
        for (std::int32_t s = work_.first[t]; s < work_.first[t + 1]; ++s)
          side[k][sets.first[t] + work_.state[s].place[k]] += work_.alpha[s] * work_.beta[s];
      }
    }
  }

 private:
  [[nodiscard]] std::int32_t width(std::int32_t t) const { return work_.first[t + 1] - work_.first[t]; }

  [[nodiscard]] bool is_moot(std::int32_t t) const { return !in_.is_moot.empty() && in_.is_moot[t] != 0; }

  /// Finds the bundles of every unit that pruning leaves, and their scores.
  void find_states() {
    work_.state.clear();
    work_.emission.clear();
    work_.first.assign(1, 0);
    joint_.slot.resize(static_cast<std::size_t>(shape_.joint_labels()), 0);
    for (std::int32_t t = 0; t < units_; ++t) {
      if (is_moot(t) || (count(0, t) == 1 && count(1, t) == 1)) {
        add_state(t, 0, 0);
      } else {
        add_product(t);
        if (work_.state.size() - begin() > 1) score_states(t);
        if (is_pruned_ && work_.state.size() - begin() > 1) prune_by_joint();
      }
      if (work_.state.size() - begin() == 1) work_.emission.resize(begin());
      work_.emission.resize(work_.state.size(), 0.0);  // the score of a single bundle does not matter
      work_.first.push_back(static_cast<std::int32_t>(work_.state.size()));
    }
  }

  [[nodiscard]] std::int32_t count(std::size_t side, std::int32_t t) const {
    return in_.candidates[side].first[t + 1] - in_.candidates[side].first[t];
  }

  /// The first state of the unit under construction.
  [[nodiscard]] std::size_t begin() const { return static_cast<std::size_t>(work_.first.back()); }

  void add_state(std::int32_t t, std::int32_t a, std::int32_t b) {
    const auto tag = [&](std::size_t side, std::int32_t place) {
      return in_.candidates[side].tag[static_cast<std::size_t>(in_.candidates[side].first[t] + place)];
    };
    const TagId tags[2] = {tag(0, a), tag(1, b)};
    work_.state.push_back({{a, b}, {tags[0], tags[1]}, part_.bundles.find_pair(tags[0], tags[1])});
  }

  /// The probability of a candidate; none is hopeless by itself.
  [[nodiscard]] double prior(std::size_t side, std::int32_t t, std::int32_t place) const {
    constexpr double kMinPrior = 1e-12;
    return std::max(in_.prior[side][static_cast<std::size_t>(in_.candidates[side].first[t] + place)],
                    kMinPrior);
  }

  /// Adds every bundle of the candidates, unless the sides alone put it far below the best.
  void add_product(std::int32_t t) {
    const std::int32_t rows = count(0, t);
    const std::int32_t columns = count(1, t);
    work_.promise.clear();
    double best = 0.0;
    const auto for_each_bundle = [&](const auto& visit) {
      for (std::int32_t a = 0; a < rows; ++a) {
        for (std::int32_t b = 0; b < columns; ++b)
          visit(a, b, is_pruned_ ? prior(0, t, a) * prior(1, t, b) : 1.0);
      }
    };
    for_each_bundle([&](std::int32_t, std::int32_t, double promise) { best = std::max(best, promise); });
    const double threshold = share_ * share_ * best;
    for_each_bundle([&](std::int32_t a, std::int32_t b, double promise) {
      if (promise < threshold) return;
      add_state(t, a, b);
      work_.promise.push_back(promise);
    });
  }

  void score_states(std::int32_t t) {
    const auto count = work_.state.size() - begin();
    const PairState* state = work_.state.data() + begin();
    source_.score_sides(t);
    add_joint_features(t, {state, count});
    const double* score[2];
    for (std::size_t k = 0; k < 2; ++k)
      score[k] = in_.scores.state[k].data() + static_cast<std::size_t>(t) * shape_.shapes[k].stride();
    for (std::size_t s = 0; s < count; ++s) {
      double sum = score[0][state[s].tag[0]] + score[1][state[s].tag[1]] + work_.joint[s];
      if (t == 0) sum += edge(part_.linked, state[s].label);
      if (t + 1 == units_) sum += edge(state[s].label, part_.linked);
      work_.emission.push_back(sum);
    }
  }

  /// The score of a joint label at an end of the sentence, for which one argument is `linked`.
  [[nodiscard]] double edge(std::int32_t before, std::int32_t after) const {
    const std::int32_t label = std::min(before, after);
    if (label < 0 || label >= part_.linked) return 0.0;
    return between_.scale * between_.joint[0][static_cast<std::size_t>(before) * (part_.linked + 1) + after];
  }

  void add_joint_features(std::int32_t t, std::span<const PairState> states) {
    joint_.used.clear();
    for (const PairState& each : states) {
      if (each.label < 0) continue;
      joint_.used.push_back(each.label);
      joint_.slot[each.label] = static_cast<std::int32_t>(joint_.used.size());
    }
    work_.joint.assign(states.size(), 0.0);
    if (joint_.used.empty()) return;
    joint_.sum.assign(joint_.used.size() + 1, 0.0);
    source_.add(t, joint_.used, joint_.slot.data(), joint_.sum.data());
    for (std::size_t s = 0; s < states.size(); ++s) {
      if (states[s].label >= 0) work_.joint[s] = joint_.sum[joint_.slot[states[s].label]];
    }
    for (const std::int32_t label : joint_.used) joint_.slot[label] = 0;
  }

  /// Drops bundles that joint features put far below the best.
  void prune_by_joint() {
    const std::size_t count = work_.state.size() - begin();
    double* joint = work_.joint.data();
    kernels().exponentials(joint, kernels().peak(joint, count), count, joint);
    double best = 0.0;
    for (std::size_t s = 0; s < count; ++s) best = std::max(best, joint[s] *= work_.promise[s]);
    std::size_t to = begin();
    for (std::size_t s = 0; s < count; ++s) {
      if (joint[s] < share_ * best) continue;
      work_.state[to] = work_.state[begin() + s];
      work_.emission[to++] = work_.emission[begin() + s];
    }
    work_.state.resize(to);
    work_.emission.resize(to);
  }

  [[nodiscard]] const float* side_row(std::size_t side, TagId before) const {
    return between_.table[side].data() +
           static_cast<std::size_t>(before) * (static_cast<std::size_t>(shape_.labels[side]) + 1);
  }

  [[nodiscard]] double side_score(const PairState& before, const PairState& after) const {
    return static_cast<double>(side_row(0, before.tag[0])[after.tag[0]]) +
           static_cast<double>(side_row(1, before.tag[1])[after.tag[1]]);
  }

  /// Scores transitions; returns false if two single bundles may not follow each other, or there are too many
  /// pairs.
  [[nodiscard]] bool score_blocks() {
    if (!lay_out_blocks()) return false;
    work_.pending.clear();
    for (std::int32_t t = 0; t + 1 < units_; ++t) {
      const PairState* before = work_.state.data() + work_.first[t];
      const PairState* after = work_.state.data() + work_.first[t + 1];
      if (width(t) == 1 && width(t + 1) == 1) {
        if (!is_moot(t) && !is_moot(t + 1) && side_score(*before, *after) == kForbidden) return false;
      } else {
        score_block({before, static_cast<std::size_t>(width(t))},
                    {after, static_cast<std::size_t>(width(t + 1))}, work_.between.data() + work_.block[t]);
      }
    }
    for (const PendingScore& each : work_.pending)
      *each.score += static_cast<double>(between_.scale * *each.weight);
    return true;
  }

  [[nodiscard]] bool lay_out_blocks() {
    work_.block.clear();
    std::size_t size = 0;
    for (std::int32_t t = 0; t < units_; ++t) {
      work_.block.push_back(size);
      const auto cells = t + 1 == units_ ? 1 : static_cast<std::size_t>(width(t)) * width(t + 1);
      size += cells == 1 ? 0 : cells;
      if (std::cmp_greater(size, in_.max_pairs)) return false;
    }
    work_.between.resize(size);
    return true;
  }

  /// Joint transitions are first collected and prefetched: they are numerous and scattered.
  void score_block(std::span<const PairState> before, std::span<const PairState> after, double* score) {
    for (const PairState& from : before) {
      const float* first = side_row(0, from.tag[0]);
      const float* second = side_row(1, from.tag[1]);
      const bool is_linked = from.label >= 0 && from.label < part_.linked;
      const float* joint = between_.joint[0].data() +
                           (is_linked ? static_cast<std::size_t>(from.label) * (part_.linked + 1) : 0);
      for (const PairState& to : after) {
        *score = static_cast<double>(first[to.tag[0]]) + static_cast<double>(second[to.tag[1]]);
        if (is_linked && to.label >= 0 && to.label < part_.linked && *score != kForbidden) {
          __builtin_prefetch(joint + to.label);
          work_.pending.push_back({score, joint + to.label});
        }
        ++score;
      }
    }
  }

  /// Makes values relative to the highest; returns false if they are too far apart, or if there are none.
  [[nodiscard]] static bool shift(std::span<double> values) {
    double peak = kForbidden;
    for (const double each : values) peak = std::max(peak, each);
    if (peak == kForbidden) return false;
    double floor = 0.0;
    for (double& each : values) {
      each -= peak;
      if (each != kForbidden) floor = std::min(floor, each);
    }
    return floor >= -kMaxSpread;
  }

  /// Turns scores into exponentials, relative to the highest of each unit and block.
  [[nodiscard]] bool exponentiate() {
    for (std::int32_t t = 0; t < units_; ++t) {
      if (width(t) > 1 &&
          !shift({work_.emission.data() + work_.first[t], static_cast<std::size_t>(width(t))}))
        return false;
      const std::size_t end = t + 1 < units_ ? work_.block[t + 1] : work_.between.size();
      if (end > work_.block[t] && !shift({work_.between.data() + work_.block[t], end - work_.block[t]}))
        return false;
    }
    for (auto* values : {&work_.emission, &work_.between})
      kernels().exponentials(values->data(), 0.0, values->size(), values->data());
    return true;
  }

  /// alpha[j] = e[j] Σ_i alpha[i] E[i][j] / scale; returns false if a sum is too small to trust.
  [[nodiscard]] bool forward() {
    work_.alpha.assign(work_.emission.begin(), work_.emission.end());
    work_.scale.resize(static_cast<std::size_t>(units_));
    for (std::int32_t t = 0; t < units_; ++t) {
      double* alpha = work_.alpha.data() + work_.first[t];
      const bool has_block = t > 0 && (width(t) > 1 || width(t - 1) > 1);
      double scale = 0.0;
      for (std::int32_t j = 0; j < width(t); ++j) {
        if (has_block) alpha[j] *= reach(t, j);
        scale += alpha[j];
      }
      if (!(scale > kTiny)) return false;
      work_.scale[t] = scale;
      for (std::int32_t j = 0; j < width(t); ++j) alpha[j] /= scale;
    }
    return true;
  }

  /// Σ_i alpha[i] E[i][j] over the previous unit.
  [[nodiscard]] double reach(std::int32_t t, std::int32_t j) const {
    const double* before = work_.alpha.data() + work_.first[t - 1];
    const double* block = work_.between.data() + work_.block[t - 1] + j;
    double sum = 0.0;
    for (std::int32_t i = 0; i < width(t - 1); ++i) sum += before[i] * block[i * width(t)];
    return sum;
  }

  /// beta[i] = Σ_j E[i][j] e[j] beta[j] / scale. A single bundle is certain, whatever follows.
  void backward() {
    work_.beta.assign(work_.state.size(), 1.0);
    for (std::int32_t t = units_ - 2; t >= 0; --t) {
      if (width(t) == 1) continue;
      const double* block = work_.between.data() + work_.block[t];
      const std::int32_t next = work_.first[t + 1];
      const std::int32_t count = width(t + 1);
      for (std::int32_t i = 0; i < width(t); ++i, block += count) {
        double sum = 0.0;
        for (std::int32_t j = 0; j < count; ++j)
          sum += block[j] * work_.emission[next + j] * work_.beta[next + j];
        work_.beta[work_.first[t] + i] = sum / work_.scale[t + 1];
      }
    }
  }

  const CoupledShape& shape_;
  const JointPart& part_;
  const CoupledTransitions& between_;
  const JointSource& source_;
  const PairInput& in_;
  SpaceWorkspace& joint_;
  PairWorkspace& work_;
  bool is_pruned_;
  double share_;  // a bundle is dropped if it promises less than this share of the best
  std::int32_t units_;
};

}  // namespace

bool has_pair_shape(const CoupledShape& shape) {
  return shape.sides() == 2 && shape.mappings.empty() && shape.joint.size() == 1 &&
         shape.joint[0].sides == std::vector<std::int32_t>{0, 1} && shape.joint[0].offset == 0;
}

bool search_pairs(const CoupledShape& shape, const CoupledTransitions& between, const JointSource& source,
                  const PairInput& input, SpaceWorkspace& joint, PairWorkspace& work,
                  std::vector<std::vector<double>>& side) {
  PairSearch search(shape, between, source, input, joint, work);
  if (!search.run()) return false;
  search.sum_sides(side);
  return true;
}

}  // namespace duilian
