// How a model reads text: the folding that features see it through, and its dictionary, if it has one.
// In training, a share of the sentences may be read blind: the dictionary says nothing about their units.
#pragma once

#include <utility>

#include "duilian/features/dictionary.hpp"
#include "duilian/text/fold.hpp"

namespace duilian {

struct Reading {
  Reading(Folding given = {}, Dictionary words = {}, double share = 0.0)  // NOLINT: a folding is a reading
      : folding(std::move(given)), dictionary(std::move(words)), blind(share) {}

  Folding folding;
  Dictionary dictionary;
  double blind;
};

}  // namespace duilian
