// The k best analyses in one standard by a coupled tagger, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "duilian/coupled/space.hpp"

namespace duilian {

struct SideAnswer {
  std::vector<std::int32_t> label;  // [T]
  double score = 0.0;               // log Σ e^score over all paths of bundles with these labels
};

/// The k label sequences of a side whose best paths of bundles score highest, ordered by the total over all
/// their paths; fewer if there are fewer. In a tie, lower labels win.
[[nodiscard]] std::vector<SideAnswer> k_best_labels(const BundleSpace& space, std::size_t side, std::size_t k,
                                                    Workspace& work);

}  // namespace duilian
