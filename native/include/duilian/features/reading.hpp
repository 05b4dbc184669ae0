// How a model reads text: the folding that features see it through, and its dictionary, if it has one.
#pragma once

#include <utility>

#include "duilian/features/dictionary.hpp"
#include "duilian/text/fold.hpp"

namespace duilian {

struct Reading {
  Reading(Folding given = {}, Dictionary words = {})  // NOLINT: a folding alone is a reading
      : folding(std::move(given)), dictionary(std::move(words)) {}

  Folding folding;
  Dictionary dictionary;
};

}  // namespace duilian
