// One pass over examples in mini-batches. A batch's gradients are computed in parallel; then every thread
// applies its share of the weights, going through the batch in order. So each weight sees the same changes in
// the same order for any number of threads, and the result is the same to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "duilian/parallel.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

struct PassOptions {
  std::size_t batch = 1;
  std::size_t threads = 1;
};

/// Calls rule.begin(batch size), then for every sentence model.apply with this rule, and rule.change for the
/// summed dense block; gives the summed loss. The rule owns the weights: rule.view() shows them.
template <Objective M, ChangeRule Rule>
double run_pass(const M& model, Rule& rule, std::span<const std::int64_t> order, PassOptions options) {
  if (options.batch < 1 || options.threads < 1)
    throw std::invalid_argument("batch and threads must be at least 1");
  Team team(options.threads);
  std::vector<typename M::Work> work(options.threads);
  std::vector<Gradient> gradient(options.batch);
  std::vector<double> loss(options.batch);
  std::vector<float> dense(static_cast<std::size_t>(model.dense()));  // summed over the batch
  double total = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += options.batch) {
    const std::size_t count = std::min(options.batch, order.size() - begin);
    auto prepared = model.prepare(rule.view());
    team.for_each(count, [&](std::size_t thread, std::size_t k) {
      gradient[k].sparse.clear();
      gradient[k].active.clear();
      gradient[k].change.clear();
      gradient[k].dense.assign(dense.size(), 0.0);
      loss[k] = model.compute(prepared, rule.view(), order[begin + k], work[thread], gradient[k]);
    });
    for (std::size_t k = 0; k < count; ++k) total += loss[k];
    if (!std::isfinite(total))
      throw std::runtime_error(
          "the loss is not finite: the step size is too large, or a gold sequence breaks the rules");
    rule.begin(count);
    team.run([&](std::size_t thread) {
      for (std::size_t k = 0; k < count; ++k) {
        model.apply(order[begin + k], gradient[k], Share(thread, options.threads), rule);
      }
      // The dense block is shared out too, a run of neighbours for each thread.
      const std::size_t from = dense.size() * thread / options.threads;
      const std::size_t to = dense.size() * (thread + 1) / options.threads;
      for (std::size_t w = from; w < to; ++w) {
        double total_change = 0.0;
        for (std::size_t k = 0; k < count; ++k) total_change += gradient[k].dense[w];
        dense[w] = static_cast<float>(total_change);
      }
      rule.change_row(static_cast<std::uint32_t>(from), std::span(dense).subspan(from, to - from), 1.0F);
    });
  }
  return total;
}

}  // namespace duilian
