// Scores and chooses the tags of a converted tree (see tree_tags.hpp).
#include "duilian/tree/tree_tags.hpp"

#include <algorithm>

namespace duilian {

namespace {

// Directions are 0 … 3 in the places of keys; this distinguishes a word's own relation from those below it.
constexpr std::int32_t kOwn = 8;

}  // namespace

/// Calls visit(row) for every feature of a word: its arc, its own relation, those of its dependents.
template <class Visit>
void TreeTagModel::visit_rows(const RelationTask& task, std::span<const std::int32_t> relations,
                              std::int32_t m, const Visit& visit) const {
  const auto start = static_cast<std::uint32_t>(start_);
  const auto row = [&](std::uint32_t key, std::uint32_t place) { visit(start + ((key >> shift_) ^ place)); };
  const auto nearby = [&](std::uint32_t key, std::uint32_t place) {
    if (place == without_distance(place)) row(key, place);
  };
  const std::int32_t h = task.heads[m];
  const auto node_h = static_cast<std::size_t>(h), node_m = static_cast<std::size_t>(m);
  task.keys.arc(h, m, node_h, node_m, nearby);
  task.keys.below(node_h, node_m, relations[m], kOwn + (h < m ? 1 : 0), row);
  for (const std::int32_t c : task.dependents[m]) {
    const std::int32_t turn = (h < m ? 2 : 0) + (m < c ? 1 : 0);
    task.keys.child(node_h, node_m, static_cast<std::size_t>(c), turn, row);
    task.keys.below(node_h, node_m, relations[c], turn, row);
  }
}

void TreeTagModel::score_word(std::span<const float> weights, const RelationTask& task,
                              std::span<const std::int32_t> relations, std::int32_t m,
                              std::vector<float>& out) const {
  out.assign(static_cast<std::size_t>(tags_), 0.0F);
  visit_rows(task, relations, m, [&](std::uint32_t row) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += weights[row + k];
  });
}

std::vector<std::int32_t> TreeTagModel::label(std::span<const float> weights, const RelationTask& task,
                                              std::span<const std::int32_t> relations) const {
  std::vector<std::int32_t> found(task.heads.size(), kNobody);
  std::vector<float> score;
  for (std::size_t m = 1; m < found.size() && tags_ > 0; ++m) {
    score_word(weights, task, relations, static_cast<std::int32_t>(m), score);
    found[m] = static_cast<std::int32_t>(std::max_element(score.begin(), score.end()) - score.begin());
  }
  return found;
}

double TreeTagModel::score(std::span<const float> weights, const RelationTask& task,
                           std::span<const std::int32_t> relations, std::int32_t word,
                           std::int32_t tag) const {
  double total = 0.0;
  visit_rows(task, relations, word, [&](std::uint32_t row) {
    total += static_cast<double>(weights[row + static_cast<std::uint32_t>(tag)]);
  });
  return total;
}

std::int32_t TreeTagModel::list_changes(std::span<const float> weights, const RelationTask& task,
                                        std::span<const std::int32_t> relations,
                                        std::span<const std::int32_t> known, float cost,
                                        std::vector<Delta>& changes) const {
  std::int32_t wrong = 0;
  std::vector<float> score;
  for (std::size_t m = 1; m < task.heads.size() && tags_ > 0; ++m) {
    if (known[m] < 0) continue;
    const auto word = static_cast<std::int32_t>(m);
    score_word(weights, task, relations, word, score);
    score[static_cast<std::size_t>(known[m])] -= cost;
    const auto guess =
        static_cast<std::int32_t>(std::max_element(score.begin(), score.end()) - score.begin());
    if (guess == known[m]) continue;
    ++wrong;
    visit_rows(task, relations, word, [&](std::uint32_t row) {
      changes.push_back({row + static_cast<std::uint32_t>(known[m]), 1.0F});
      changes.push_back({row + static_cast<std::uint32_t>(guess), -1.0F});
    });
  }
  return wrong;
}

}  // namespace duilian
