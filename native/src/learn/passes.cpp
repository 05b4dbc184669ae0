#include "duilian/learn/passes.hpp"

namespace duilian {

double adagrad_pass(const TaggingObjective& model, AdaGradRule rule, std::span<const std::int64_t> order,
                    PassOptions options) {
  return run_pass(model, rule, order, options);
}

double adagrad_pass(const CoupledObjective& model, AdaGradRule rule, std::span<const std::int64_t> order,
                    PassOptions options) {
  return run_pass(model, rule, order, options);
}

double adagrad_pass(const DynamicObjective& model, AdaGradRule rule, std::span<const std::int64_t> order,
                    PassOptions options) {
  return run_pass(model, rule, order, options);
}

double adagrad_pass(const MultitaskObjective& model, AdaGradRule rule, std::span<const std::int64_t> order,
                    PassOptions options) {
  return run_pass(model, rule, order, options);
}

double sgd_pass(const TaggingObjective& model, SgdRule rule, std::span<const std::int64_t> order,
                PassOptions options) {
  return run_pass(model, rule, order, options);
}

double sgd_pass(const CoupledObjective& model, SgdRule rule, std::span<const std::int64_t> order,
                PassOptions options) {
  return run_pass(model, rule, order, options);
}

double adagrad_pass(const PruningObjective& model, AdaGradRule rule, std::span<const std::int64_t> order,
                    PassOptions options) {
  return run_pass(model, rule, order, options);
}

double perceptron_pass(const JointObjective& model, PerceptronRule rule, std::span<const std::int64_t> order,
                       PassOptions options) {
  return run_pass(model, rule, order, options);
}

double perceptron_pass(const TreeObjective& model, PerceptronRule rule, std::span<const std::int64_t> order,
                       PassOptions options) {
  return run_pass(model, rule, order, options);
}

double passive_aggressive_pass(const DynamicTraining& model, const PassiveAggressiveRule& rule,
                               std::span<const std::int64_t> order) {
  return run_pass(model, rule, order);
}

double passive_aggressive_pass(const MultitaskTraining& model, const PassiveAggressiveRule& rule,
                               std::span<const std::int64_t> order) {
  return run_pass(model, rule, order);
}

double passive_aggressive_pass(const TaggingStructure& model, const PassiveAggressiveRule& rule,
                               std::span<const std::int64_t> order) {
  return run_pass(model, rule, order);
}

double passive_aggressive_pass(const TwoChainStructure& model, const PassiveAggressiveRule& rule,
                               std::span<const std::int64_t> order) {
  return run_pass(model, rule, order);
}

}  // namespace duilian
