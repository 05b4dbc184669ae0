// Instantiates the passes of all learners here, so that they compile once.
#include "duilian/learn/passes.hpp"

namespace duilian {

template <class M>
double adagrad_pass(const M& model, AdaGradRule rule, Order order, PassOptions options) {
  check_weights(model, rule.weights.size());
  check_weights(model, rule.squares.size());
  return run_pass(model, rule, order, options);
}

template <class M>
double sparse_adagrad_pass(const M& model, SparseAdaGradRule rule, Order order, PassOptions options) {
  check_weights(model, rule.weights.size());
  return run_pass(model, rule, order, options);
}

template <class M>
double sgd_pass(const M& model, SgdRule rule, Order order, PassOptions options) {
  check_weights(model, rule.weights.size());
  return run_pass(model, rule, order, options);
}

template <class M>
double perceptron_pass(const M& model, PerceptronRule rule, Order order, PassOptions options) {
  check_weights(model, rule.weights.size());
  check_weights(model, rule.lag.size());
  return run_pass(model, rule, order, options);
}

template <class M>
double passive_aggressive_pass(const M& model, const PassiveAggressiveRule& rule, Order order) {
  return run_pass(model, rule, order);
}

template double adagrad_pass(const TaggingObjective&, AdaGradRule, Order, PassOptions);
template double adagrad_pass(const CoupledObjective&, AdaGradRule, Order, PassOptions);
template double adagrad_pass(const DynamicObjective&, AdaGradRule, Order, PassOptions);
template double adagrad_pass(const MultitaskObjective&, AdaGradRule, Order, PassOptions);
template double adagrad_pass(const PruningObjective&, AdaGradRule, Order, PassOptions);

template double sparse_adagrad_pass(const CoupledObjective&, SparseAdaGradRule, Order, PassOptions);

template double sgd_pass(const TaggingObjective&, SgdRule, Order, PassOptions);
template double sgd_pass(const CoupledObjective&, SgdRule, Order, PassOptions);

template double perceptron_pass(const TreeObjective&, PerceptronRule, Order, PassOptions);
template double perceptron_pass(const JointObjective&, PerceptronRule, Order, PassOptions);

template double passive_aggressive_pass(const TaggingStructure&, const PassiveAggressiveRule&, Order);
template double passive_aggressive_pass(const TwoChainStructure&, const PassiveAggressiveRule&, Order);
template double passive_aggressive_pass(const DynamicTraining&, const PassiveAggressiveRule&, Order);
template double passive_aggressive_pass(const MultitaskTraining&, const PassiveAggressiveRule&, Order);

}  // namespace duilian
