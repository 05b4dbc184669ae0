// Numbers the slots, scores and weights of two chains (see shape.hpp).
#include "duilian/two_chain/shape.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"

namespace duilian {

namespace {

constexpr std::int32_t kFarthest = 32;
constexpr std::size_t kMaxSlots = 0x8000;  // entries of a weight table have 15 bits for a slot
constexpr float kNever = -std::numeric_limits<float>::infinity();

void check_options(const TwoChainOptions& o) {
  if (o.letters < 1 || o.tags < 1 || o.rules.tags != o.letters ||
      o.continues.size() != static_cast<std::size_t>(o.letters))
    throw std::invalid_argument("the letters and tags of the two chains are inconsistent");
  if (o.places.empty() || o.places.size() > kMaxPlaces)
    throw std::invalid_argument(concat("two chains need 1 to ", kMaxPlaces, " places for features"));
  for (std::size_t k = 0; k < o.places.size(); ++k) {
    const Place& place = o.places[k];
    if (static_cast<std::size_t>(place.clique) >= kCliques || place.offset < -kFarthest ||
        place.offset > kFarthest)
      throw std::invalid_argument("a place of the two chains is out of range");
    if (k > 0 && o.places[k - 1].clique > place.clique)
      throw std::invalid_argument("the places of the two chains are not in order");
  }
}

}  // namespace

TwoChainShape::TwoChainShape(TwoChainOptions options)
    : options_((check_options(options), std::move(options))),
      letters_(static_cast<std::size_t>(options_.letters)),
      tags_(static_cast<std::size_t>(options_.tags)),
      width_((tags_ + kLanes - 1) / kLanes * kLanes) {
  const std::size_t sizes[kCliques] = {letters_, letters_ * letters_, width_, letters_ * width_,
                                       tags_ * width_};
  for (std::size_t c = 0; c < kCliques; ++c) {
    // The scores of tags begin at a vector boundary.
    if (c == static_cast<std::size_t>(Clique::tag)) row_ = (row_ + kLanes - 1) / kLanes * kLanes;
    at_[c] = row_;
    row_ += sizes[c];
  }
  for (const Place& place : options_.places) {
    before_ = std::max<std::int64_t>(before_, -place.offset);
    after_ = std::max<std::int64_t>(after_, place.offset);
    first_slot_.push_back(displacement_.size());
    const bool is_padded =
        place.clique == Clique::tag || place.clique == Clique::letter_tag || place.clique == Clique::tags;
    const auto base = -static_cast<std::int64_t>(place.offset) * static_cast<std::int64_t>(row_) +
                      static_cast<std::int64_t>(at(place.clique));
    for (std::size_t v = 0; v < values(place.clique); ++v) {
      const std::size_t inside = is_padded ? v / tags_ * width_ + v % tags_ : v;
      displacement_.push_back(static_cast<std::int32_t>(base + static_cast<std::int64_t>(inside)));
    }
    if (place.clique <= Clique::letters) {
      const auto apart = place.offset * static_cast<std::int32_t>(letter_row());
      for (std::size_t v = 0; v < values(place.clique); ++v) {
        letter_displacement_.push_back(static_cast<std::int32_t>(at(place.clique) + v) - apart);
      }
      letter_slots_ = displacement_.size();
      around_letters_ = around();
    }
    if (displacement_.size() > kMaxSlots)
      throw std::invalid_argument(concat("too many tags for two chains: ", tags_));
  }
  first_slot_.push_back(displacement_.size());

  const std::size_t S = letters_, T = tags_;
  start_at_ = S + S * S;
  c1_at_ = start_at_ + (has_edge() ? S * T : T);
  c2_at_ = c1_at_ + (has_edge() ? S * S * T : 0);
  letter_tag_at_ = c2_at_ + (has_edge() ? S * T * T : T * T);
  clique_weights_ = letter_tag_at_ + (has_edge() ? 0 : S * T);
}

std::size_t TwoChainShape::values(Clique clique) const {
  const std::size_t count[kCliques] = {letters_, letters_ * letters_, tags_, letters_ * tags_, tags_ * tags_};
  return count[static_cast<std::size_t>(clique)];
}

void TwoChainShape::check_letters(std::span<const std::int32_t> letter) const {
  for (std::size_t i = 0; i < letter.size(); ++i) {
    if (letter[i] < 0 || letter[i] >= options_.letters)
      throw std::invalid_argument(concat("unit ", i + 1, " has no boundary letter"));
    const auto here = static_cast<std::size_t>(letter[i]);
    const bool is_legal =
        i == 0 ? may_start(here) : may_follow(static_cast<std::size_t>(letter[i - 1]), here);
    if (!is_legal || (i + 1 == letter.size() && !may_end(here)))
      throw std::invalid_argument(concat("the given boundaries are not legal at unit ", i + 1));
  }
}

CliqueScores::CliqueScores(const TwoChainShape& shape, WeightView weights) {
  const std::size_t S = shape.letters(), T = shape.tags(), W = shape.width();
  const auto value = [&](std::size_t k) { return weights[static_cast<std::int64_t>(k)]; };
  start.resize(S);
  letters.resize(S * S);
  start_tag.resize(S * W);
  c1.resize(S * S * W);
  c2.resize(S * T * W);
  for (std::size_t s = 0; s < S; ++s) {
    start[s] = shape.may_start(s) ? value(shape.start(s)) : kNever;
    for (std::size_t s1 = 0; s1 < S; ++s1) {
      letters[s1 * S + s] = shape.may_follow(s1, s) ? value(shape.letters(s1, s)) : kNever;
      for (std::size_t t1 = 0; shape.has_edge() && t1 < T; ++t1) {
        c1[(s1 * S + s) * W + t1] = value(shape.c1(s1, s, t1));
      }
    }
    for (std::size_t t = 0; t < T; ++t) {
      const float bias = shape.has_edge() ? 0.0F : value(shape.letter_tag(s, t));
      start_tag[s * W + t] = value(shape.start(s, t)) + bias;
      for (std::size_t t1 = 0; t1 < T; ++t1) c2[(s * T + t1) * W + t] = value(shape.c2(s, t1, t)) + bias;
    }
  }
}

}  // namespace duilian
