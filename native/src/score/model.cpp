#include "duilian/score/model.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/score/pairs.hpp"

namespace duilian {

namespace {

[[nodiscard]] std::uint64_t pack(std::uint64_t high, std::uint64_t low) { return (high << 32U) | low; }

[[nodiscard]] std::uint64_t transition_key(std::int32_t before, std::int32_t after) {
  return pack(static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(after));
}

/// Calls visit(row, state) for every feature and state of the lattice.
template <class Visit>
void for_each_row_and_state(const FeatureRows& features, std::int64_t first_unit, const Lattice& lattice,
                            const Visit& visit) {
  for (std::int32_t t = 0; t < lattice.positions(); ++t) {
    const std::int64_t unit = first_unit + t;
    for (std::int64_t f = features.first[unit]; f < features.first[unit + 1]; ++f) {
      for (std::int32_t s = lattice.first[t]; s < lattice.first[t + 1]; ++s) visit(features.value[f], s);
    }
  }
}

void lay_out_separate(Model& model, std::int64_t rows, const FeatureRows& features,
                      std::span<const Example> examples) {
  for (std::size_t k = 0; k < model.tags.size(); ++k) {
    PairSet pairs;
    for (const Example& example : examples) {
      for_each_row_and_state(
          features, example.first_unit, example.correct,
          [&](std::uint32_t row, std::int32_t s) { pairs.add(row, example.correct.bundle(s)[k]); });
    }
    Part& part = model.separate.emplace_back();
    part.labels = model.tags[k];
    pairs.write_to(rows, part.first, part.label);
  }
}

/// Numbers every transition of the lattice, start and stop included.
void add_neighbours(const Lattice& lattice, const std::vector<std::int32_t>& label, Part& part) {
  const auto add = [&](std::int32_t before, std::int32_t after) {
    part.transitions.insert(transition_key(before, after));
  };
  const std::int32_t T = lattice.positions();
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t j = lattice.first[t]; j < lattice.first[t + 1]; ++j) {
      if (t == 0) add(part.edge(), label[j]);
      if (t + 1 == T) add(label[j], part.edge());
      for (std::int32_t i = lattice.first[t == 0 ? 0 : t - 1]; i < lattice.first[t]; ++i)
        add(label[i], label[j]);
    }
  }
}

void lay_out_joint(Model& model, std::int64_t rows, const FeatureRows& features,
                   std::span<const Example> examples, JointFeatures which) {
  PairSet pairs;
  Part part;
  part.is_dense = false;
  for (const Example& example : examples) {
    const Lattice& lattice = which == JointFeatures::correct ? example.correct : example.possible;
    std::vector<std::int32_t> label;
    for (std::int32_t s = 0; s < lattice.states(); ++s)
      label.push_back(model.bundles.insert(lattice.bundle(s)));
    for_each_row_and_state(features, example.first_unit, lattice,
                           [&](std::uint32_t row, std::int32_t s) { pairs.add(row, label[s]); });
    add_neighbours(lattice, label, part);
  }
  part.labels = model.bundles.size();
  pairs.write_to(rows, part.first, part.label);
  model.joint = std::move(part);
}

/// Dense transitions first, so that learners can treat them as one block.
void place_weights(Model& model) {
  std::int64_t at = 0;
  for (Part& part : model.separate) {
    part.transition_at = at;
    at += static_cast<std::int64_t>(part.labels + 1) * (part.labels + 1);
  }
  model.dense = at;
  const auto place_states = [&](Part& part) {
    part.state_at = at;
    at += static_cast<std::int64_t>(part.label.size());
  };
  for (Part& part : model.separate) place_states(part);
  if (model.joint) {
    place_states(*model.joint);
    model.joint->transition_at = at;
    at += static_cast<std::int64_t>(model.joint->transitions.size());
  }
  model.weights = at;
  if (at > 0xFFFFFFFFLL) throw std::invalid_argument("more than 2^32 weights");
}

void check_example(const Model& model, const FeatureRows& features, const Example& example) {
  for (const Lattice* lattice : {&example.possible, &example.correct}) {
    check(*lattice);
    if (lattice->sides != static_cast<std::int32_t>(model.tags.size()) ||
        lattice->positions() != example.possible.positions()) {
      throw std::invalid_argument("an example's lattices do not fit the model");
    }
    for (std::size_t k = 0; k < lattice->tag.size(); ++k) {
      if (lattice->tag[k] >= model.tags[k % model.tags.size()])
        throw std::invalid_argument("a tag is out of range");
    }
  }
  const std::int64_t end = example.first_unit + example.possible.positions();
  if (example.first_unit < 0 || end >= static_cast<std::int64_t>(features.first.size())) {
    throw std::invalid_argument("an example lies outside the features");
  }
}

}  // namespace

std::int64_t Part::transition(std::int32_t before, std::int32_t after) const {
  if (is_dense) return transition_at + static_cast<std::int64_t>(before) * (labels + 1) + after;
  const std::uint32_t found = transitions.find(transition_key(before, after));
  return found == kNoRow ? -1 : transition_at + found;
}

BundleIndex::BundleIndex(std::span<const std::int32_t> tags) {
  std::uint64_t radix = 1;
  for (const std::int32_t count : tags) {
    radix_.push_back(radix);
    const auto n = static_cast<std::uint64_t>(std::max(count, 1));
    if (radix > std::numeric_limits<std::uint64_t>::max() / n) {
      throw std::invalid_argument("the product of the tag sets passes 2^64 bundles");
    }
    radix *= n;
  }
}

std::uint64_t BundleIndex::key(std::span<const TagId> bundle) const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < bundle.size(); ++k) sum += radix_[k] * static_cast<std::uint64_t>(bundle[k]);
  return sum;
}

std::int32_t BundleIndex::insert(std::span<const TagId> bundle) {
  const auto id = static_cast<std::int32_t>(table_.insert(key(bundle)));
  if (static_cast<std::size_t>(id) * bundle.size() == bundles_.size()) {
    bundles_.insert(bundles_.end(), bundle.begin(), bundle.end());
  }
  return id;
}

std::int32_t BundleIndex::find(std::span<const TagId> bundle) const {
  const std::uint32_t found = table_.find(key(bundle));
  return found == kNoRow ? -1 : static_cast<std::int32_t>(found);
}

Model lay_out_model(std::vector<std::int32_t> tags, std::vector<Succession> successions, std::int64_t rows,
                    const FeatureRows& features, std::span<const Example> examples, JointFeatures joint) {
  Model model;
  model.bundles = BundleIndex(tags);
  model.tags = std::move(tags);
  model.successions = std::move(successions);
  if (model.successions.size() != model.tags.size()) {
    throw std::invalid_argument(
        concat(model.successions.size(), " successions for ", model.tags.size(), " sides"));
  }
  for (const std::uint32_t row : features.value) {
    if (row >= rows) throw std::invalid_argument("a feature row is out of range");
  }
  for (const Example& example : examples) check_example(model, features, example);
  lay_out_separate(model, rows, features, examples);
  if (joint != JointFeatures::none) lay_out_joint(model, rows, features, examples, joint);
  place_weights(model);
  return model;
}

}  // namespace duilian
