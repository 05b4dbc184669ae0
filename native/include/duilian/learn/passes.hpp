// The learners' passes for every kind of objective, compiled once and for speed.
#pragma once

#include <cstdint>
#include <span>

#include "duilian/coupled/objective.hpp"
#include "duilian/dynamic/training.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/passive_aggressive.hpp"
#include "duilian/learn/perceptron.hpp"
#include "duilian/learn/rules.hpp"
#include "duilian/multitask/training.hpp"
#include "duilian/score/structure.hpp"
#include "duilian/score/tagging.hpp"
#include "duilian/tree/joint.hpp"
#include "duilian/tree/objective.hpp"
#include "duilian/two_chain/learning.hpp"

namespace duilian {

[[nodiscard]] double adagrad_pass(const TaggingObjective& model, AdaGradRule rule,
                                  std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double adagrad_pass(const CoupledObjective& model, AdaGradRule rule,
                                  std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double adagrad_pass(const DynamicObjective& model, AdaGradRule rule,
                                  std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double adagrad_pass(const MultitaskObjective& model, AdaGradRule rule,
                                  std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double sgd_pass(const TaggingObjective& model, SgdRule rule,
                              std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double sgd_pass(const CoupledObjective& model, SgdRule rule,
                              std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double adagrad_pass(const PruningObjective& model, AdaGradRule rule,
                                  std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double perceptron_pass(const JointObjective& model, PerceptronRule rule,
                                     std::span<const std::int64_t> order, PassOptions options);
[[nodiscard]] double perceptron_pass(const TreeObjective& model, PerceptronRule rule,
                                     std::span<const std::int64_t> order, PassOptions options);

[[nodiscard]] double passive_aggressive_pass(const DynamicTraining& model, const PassiveAggressiveRule& rule,
                                             std::span<const std::int64_t> order);
[[nodiscard]] double passive_aggressive_pass(const MultitaskTraining& model,
                                             const PassiveAggressiveRule& rule,
                                             std::span<const std::int64_t> order);
[[nodiscard]] double passive_aggressive_pass(const TaggingStructure& model, const PassiveAggressiveRule& rule,
                                             std::span<const std::int64_t> order);
[[nodiscard]] double passive_aggressive_pass(const TwoChainStructure& model,
                                             const PassiveAggressiveRule& rule,
                                             std::span<const std::int64_t> order);

}  // namespace duilian
