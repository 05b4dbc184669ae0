// How a model reads text: what features see of its characters, and the words it knows from a dictionary.
#pragma once

#include <utility>

#include "duilian/features/dictionary.hpp"
#include "duilian/text/fold.hpp"

namespace duilian {

struct Reading {
  Reading(Folding given = {}, Dictionary words = {})  // NOLINT: a folding alone is a way to read
      : folding(std::move(given)), dictionary(std::move(words)) {}

  Folding folding;
  Dictionary dictionary;
};

}  // namespace duilian
