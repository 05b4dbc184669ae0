// One pass over the examples in mini-batches. The gradients of a batch are computed in parallel; then each
// thread updates its own share of the weights, going through the batch in order. So every weight sees the
// same changes in the same order for any number of threads, and results are identical to the last bit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "duilian/parallel.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

struct PassOptions {
  std::size_t batch = 1;
  std::size_t threads = 1;
};

/// Takes the steps of a pass, batch by batch.
template <Objective M, ChangeRule Rule>
class BatchPass {
 public:
  BatchPass(const M& model, Rule& rule, PassOptions options)
      : model_(model),
        rule_(rule),
        team_(options.threads),
        work_(options.threads),
        score_(options.batch),
        gradient_(options.batch),
        loss_(options.batch),
        group_((options.batch + kGroup - 1) / kGroup),
        dense_(static_cast<std::size_t>(model.dense())) {}

  /// One step; returns the summed loss.
  double run(std::span<const std::int64_t> batch) {
    const bool in_halves = ScoredInHalves<M> && team_.size() > 1;
    if (in_halves) score(batch);
    compute(batch, in_halves);
    double total = 0.0;
    for (std::size_t k = 0; k < batch.size(); ++k) total += loss_[k];
    if (!std::isfinite(total))
      throw std::runtime_error(
          "the loss is not finite: the step size is too large, or a gold sequence breaks the rules");
    rule_.begin(batch.size());
    team_.run([&](std::size_t thread) { apply(batch, thread); });
    return total;
  }

 private:
  // How many examples share a dense block: a block for each would fill the cache.
  static constexpr std::size_t kGroup = 2;

  struct alignas(kCacheSeparation) Group {
    std::vector<double> dense;
  };

  /// Every thread scores all examples from one half of the weights; threads with the same half divide the
  /// examples between them.
  void score(std::span<const std::int64_t> batch) {
    if constexpr (ScoredInHalves<M>) {
      team_.run([&](std::size_t thread) {
        const std::size_t half = thread % kHalves;
        const std::size_t threads = (team_.size() - half + kHalves - 1) / kHalves;
        for (std::size_t k = thread / kHalves; k < batch.size(); k += threads) {
          model_.score_half(rule_.view(), batch[k], half, score_[k][half]);
        }
      });
    }
  }

  void compute(std::span<const std::int64_t> batch, bool is_scored) {
    auto prepared = model_.prepare(rule_.view());
    sort_groups(batch);
    team_.for_each(turn_.size(), [&](std::size_t thread, std::size_t turn) {
      const std::size_t g = turn_[turn].second;
      group_[g].dense.assign(dense_.size(), 0.0);
      for (std::size_t k = g * kGroup; k < std::min(batch.size(), (g + 1) * kGroup); ++k) {
        Gradient& out = gradient_[k];
        out.sparse.clear();
        out.active.clear();
        out.change.clear();
        out.dense.swap(group_[g].dense);
        if constexpr (ScoredInHalves<M>) {
          if (is_scored) {
            loss_[k] = model_.compute_scored(prepared, rule_.view(), batch[k], score_[k], work_[thread], out);
          } else {
            loss_[k] = model_.compute(prepared, rule_.view(), batch[k], work_[thread], out);
          }
        } else {
          loss_[k] = model_.compute(prepared, rule_.view(), batch[k], work_[thread], out);
        }
        out.dense.swap(group_[g].dense);
      }
    });
  }

  /// Puts the longest groups first, so that no thread is left with a long one at the end of a batch.
  void sort_groups(std::span<const std::int64_t> batch) {
    turn_.clear();
    for (std::size_t g = 0; g * kGroup < batch.size(); ++g) turn_.emplace_back(0, g);
    if constexpr (Measured<M>) {
      if (team_.size() == 1) return;
      for (std::size_t k = 0; k < batch.size(); ++k) turn_[k / kGroup].first -= model_.length(batch[k]);
      std::sort(turn_.begin(), turn_.end());
    }
  }

  void apply(std::span<const std::int64_t> batch, std::size_t thread) {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      model_.apply(batch[k], gradient_[k], Share(thread, team_.size()), rule_);
    }
    // The dense block is divided, too: each thread updates a run of neighbours.
    const std::size_t groups = (batch.size() + kGroup - 1) / kGroup;
    const std::size_t from = dense_.size() * thread / team_.size();
    const std::size_t to = dense_.size() * (thread + 1) / team_.size();
    for (std::size_t w = from; w < to; ++w) {
      double total = 0.0;
      for (std::size_t g = 0; g < groups; ++g) total += group_[g].dense[w];
      dense_[w] = static_cast<float>(total);
    }
    rule_.change_row(static_cast<std::uint32_t>(from), std::span(dense_).subspan(from, to - from), 1.0F);
  }

  const M& model_;
  Rule& rule_;
  Team team_;
  std::vector<typename M::Work> work_;                      // [threads]
  std::vector<HalfScores> score_;                           // [batch]
  std::vector<Gradient> gradient_;                          // [batch]
  std::vector<double> loss_;                                // [batch]
  std::vector<Group> group_;                                // [groups]
  std::vector<std::pair<std::int64_t, std::size_t>> turn_;  // [groups]  minus its length, group
  std::vector<float> dense_;                                // summed over the batch
};

/// Calls rule.begin(batch size), then model.apply with this rule for every sentence, and rule.change for the
/// summed dense block; returns the summed loss. The rule owns the weights, visible through rule.view().
template <Objective M, ChangeRule Rule>
double run_pass(const M& model, Rule& rule, std::span<const std::int64_t> order, PassOptions options) {
  if (options.batch < 1 || options.threads < 1)
    throw std::invalid_argument("batch and threads must be at least 1");
  BatchPass<M, Rule> pass(model, rule, options);
  double total = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += options.batch) {
    total += pass.run(order.subspan(begin, std::min(options.batch, order.size() - begin)));
  }
  return total;
}

}  // namespace duilian
