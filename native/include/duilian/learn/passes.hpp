// The passes of all learners, compiled once, for speed, with every kind of objective.
#pragma once

#include <cstdint>
#include <span>

#include "duilian/coupled/objective.hpp"
#include "duilian/dynamic/training.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "duilian/learn/perceptron.hpp"
#include "duilian/learn/rules.hpp"
#include "duilian/learn/touched.hpp"
#include "duilian/multitask/training.hpp"
#include "duilian/score/structure.hpp"
#include "duilian/score/tagging.hpp"
#include "duilian/tree/joint.hpp"
#include "duilian/tree/objective.hpp"
#include "duilian/two_chain/learning.hpp"

namespace duilian {

/// The numbers of the examples, in training order.
using Order = std::span<const std::int64_t>;

// Available for the models that passes.cpp instantiates.
template <class M>
[[nodiscard]] double adagrad_pass(const M& model, AdaGradRule rule, Order order, PassOptions options);
template <class M>
[[nodiscard]] double sparse_adagrad_pass(const M& model, SparseAdaGradRule rule, Order order,
                                         PassOptions options);
template <class M>
[[nodiscard]] double sgd_pass(const M& model, SgdRule rule, Order order, PassOptions options);
template <class M>
[[nodiscard]] double perceptron_pass(const M& model, PerceptronRule rule, Order order, PassOptions options);
template <class M>
[[nodiscard]] double passive_aggressive_pass(const M& model, const PassiveAggressiveRule& rule, Order order);

}  // namespace duilian
