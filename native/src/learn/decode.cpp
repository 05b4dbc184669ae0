#include "duilian/learn/decode.hpp"

#include <stdexcept>

#include "duilian/parallel.hpp"

namespace duilian {

std::vector<std::vector<TagId>> decode_all(const Model& model, WeightView weights,
                                           const FeatureRows& features,
                                           std::span<const std::int64_t> first_units,
                                           std::span<const Lattice> lattices, DecodeOptions options) {
  if (first_units.size() != lattices.size()) throw std::invalid_argument("one first unit per lattice");
  if (weights.value.size() != static_cast<std::size_t>(model.weights)) {
    throw std::invalid_argument("the weights do not fit the model");
  }
  std::vector<std::vector<TagId>> found(lattices.size());
  Team team(options.threads);
  std::vector<ScoreWorkspace> work(team.size());
  team.for_each(lattices.size(), [&](std::size_t thread, std::size_t k) {
    const auto scored = score_lattice(model, weights, features, first_units[k], lattices[k], work[thread]);
    found[k] = options.by_marginals ? decode_marginals(model, scored, lattices[k], work[thread])
                                    : decode_path(scored, lattices[k], work[thread]);
  });
  return found;
}

}  // namespace duilian
