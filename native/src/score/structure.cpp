// Compares the best labels of a plain tagger with gold, for the passive-aggressive learner.
#include "duilian/score/structure.hpp"

#include <algorithm>
#include <stdexcept>

namespace duilian {

TaggingStructure::TaggingStructure(const TaggerLayout& layout, const TaggingData& data)
    : layout_(layout), data_(data) {
  const auto is_known = [](std::int32_t label) { return label >= 0; };
  if (!std::all_of(data.label.begin(), data.label.end(), is_known))
    throw std::invalid_argument("passive-aggressive learning needs a label for every unit");
}

double TaggingStructure::respond(WeightView weights, std::int64_t sentence, std::size_t, Work& work,
                                 std::vector<Delta>& difference) const {
  const std::int64_t begin = data_.first[sentence];
  const std::int64_t end = data_.first[sentence + 1];
  const auto length = static_cast<std::size_t>(end - begin);
  if (length == 0) return 0.0;
  score_units(layout_, weights, data_.features, begin, end, work.state);
  const LabelTransitions between = score_transitions(layout_, weights);
  work.guess.resize(length);
  if (!try_best_labels({static_cast<std::int32_t>(length), work.state.data(), between, layout_.rules},
                       work.chain, work.guess))
    throw std::invalid_argument("no path through the lattice is legal");
  const std::int32_t* gold = data_.label.data() + begin;
  const std::int32_t edge = layout_.labels;
  const auto add_transition = [&](std::int32_t before, std::int32_t after, float sign) {
    difference.push_back({static_cast<std::uint32_t>(before * (edge + 1) + after), sign});
  };
  const auto add_features = [&](std::int64_t unit, std::int32_t label, float sign) {
    for (std::int64_t f = data_.features.first[unit]; f < data_.features.first[unit + 1]; ++f) {
      const std::uint32_t row = data_.features.value[f];
      const std::int64_t found = layout_.find(row, label);
      if (found >= 0)
        difference.push_back({static_cast<std::uint32_t>(found), sign * data_.features.strength_of(f)});
    }
  };
  for (std::size_t t = 0; t <= length; ++t) {
    const std::int32_t right = t < length ? gold[t] : edge, wrong = t < length ? work.guess[t] : edge;
    const std::int32_t right_before = t > 0 ? gold[t - 1] : edge,
                       wrong_before = t > 0 ? work.guess[t - 1] : edge;
    if (right != wrong || right_before != wrong_before) {
      add_transition(right_before, right, 1.0F);
      add_transition(wrong_before, wrong, -1.0F);
    }
    if (right == wrong) continue;
    add_features(begin + static_cast<std::int64_t>(t), right, 1.0F);
    add_features(begin + static_cast<std::int64_t>(t), wrong, -1.0F);
  }
  return 1.0;
}

}  // namespace duilian
