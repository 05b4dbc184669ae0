// Scores and finds the relations in the chains of dependents of a tree (see relations.hpp).
#include "duilian/tree/relations.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "duilian/features/sentences.hpp"
#include "duilian/tree/kernels.hpp"

namespace duilian {

namespace {

/// The head itself, as a link in the chain of its dependents.
constexpr std::int32_t kItself = 0;
constexpr std::size_t kBounds = 2;  // in each row of pairs
constexpr std::size_t kLine = 16;   // weights in a cache line
constexpr float kFar = 1e6F;  // larger than any difference between relations, yet exact in sums with them
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// The chain of a word: its dependents without punctuation marks, and the word itself among them.
void list_links(const RelationTask& task, std::int32_t head, std::vector<std::int32_t>& links) {
  links.clear();
  bool has_itself = false;
  for (const std::int32_t m : task.dependents[head]) {
    if (m > head && !has_itself) links.push_back(kItself), has_itself = true;
    if (!task.is_mark(m)) links.push_back(m);
  }
  if (!has_itself) links.push_back(kItself);
}

}  // namespace

TreeShape::TreeShape(const Heads& heads) : inner(heads.size(), kNobody) {
  for (auto& side : last) side.assign(heads.size(), kNobody);
  const auto n = static_cast<std::int32_t>(heads.size()) - 1;
  for (std::int32_t m = 1; m <= n; ++m) {  // those to the right of their heads, from the inside out
    const std::int32_t h = heads[m];
    if (h < m) inner[m] = std::exchange(last[1][h], m);
  }
  for (std::int32_t m = n; m >= 1; --m) {
    const std::int32_t h = heads[m];
    if (h > m) inner[m] = std::exchange(last[0][h], m);
  }
}

RelationTask::RelationTask(const Heads& tree, const PartKeys& part_keys, std::span<const NodeAtoms> nodes,
                           std::span<const std::uint8_t> tag_classes)
    : heads(tree), keys(part_keys), words(nodes), classes(tag_classes), shape(tree), dependents(tree.size()) {
  for (std::size_t m = 1; m < tree.size(); ++m) dependents[tree[m]].push_back(static_cast<std::int32_t>(m));
  upwards.push_back(0);
  for (std::size_t k = 0; k < upwards.size(); ++k) {
    for (const std::int32_t m : dependents[upwards[k]]) {
      if (!dependents[m].empty()) upwards.push_back(m);
    }
  }
  std::reverse(upwards.begin(), upwards.end());
}

bool RelationTask::is_mark(std::int32_t word) const {
  const std::int32_t tag = words[word].tag;
  return tag >= 0 && static_cast<std::size_t>(tag) < classes.size() && classes[tag] == kMark;
}

/// Calls visit(row) for every feature of the arc into m; a row is where its weights for all relations begin.
/// Distance is left out: it says much about heads but little about relations.
template <class Visit>
void RelationModel::visit_rows(const RelationTask& task, std::int32_t m, std::span<const std::int32_t> below,
                               const Visit& visit) const {
  const auto start = static_cast<std::uint32_t>(start_);
  const auto row = [&](std::uint32_t key, std::uint32_t place) { visit(start + ((key >> shift_) ^ place)); };
  const auto nearby = [&](std::uint32_t key, std::uint32_t place) {
    if (place == without_distance(place)) row(key, place);
  };
  const PartKeys& keys = task.keys;
  const auto node = [&](std::int32_t word) {
    return word == kNobody ? keys.nobody() : static_cast<std::size_t>(word);
  };
  const std::int32_t h = task.heads[m];
  const std::int32_t to_right = h < m ? 1 : 0;
  keys.arc(h, m, node(h), node(m), nearby);
  keys.sibling(node(h), node(task.shape.inner[m]), node(m), place_without_distance(h < m), row);
  const std::int32_t g = h == 0 ? kNobody : task.heads[h];
  keys.grandparent(node(g), node(h), node(m), 2 * to_right + (g < h ? 1 : 0), row);
  for (const std::int32_t c : task.dependents[m]) {
    const std::int32_t turn = 2 * to_right + (m < c ? 1 : 0);
    keys.child(node(h), node(m), node(c), turn, row);
    keys.below(node(h), node(m), below[c], turn, row);
  }
}

void RelationModel::score_dependents(std::span<const float> weights, const RelationTask& task,
                                     std::int32_t head, std::span<const std::int32_t> below,
                                     RelationWork& work) const {
  const auto count = static_cast<std::size_t>(relations_);
  for (const std::int32_t m : task.dependents[head]) {
    float* out = work.score.data() + static_cast<std::size_t>(m) * count;
    work.rows.clear();
    visit_rows(task, m, below, [&](std::uint32_t row) {
      const float* from = weights.data() + row;
      for (std::size_t k = 0; k < count; k += kLine) __builtin_prefetch(from + k);
      __builtin_prefetch(from + count - 1);
      work.rows.push_back(row);
    });
    tree_kernels().add_rows(weights.data(), work.rows.data(), work.rows.size(), count, out);
  }
}

/// Calls visit(row) for the pair that begins with `before`: a relation, size() for the start, or size() + 1
/// for the head itself. After the relations, a row has weights for the head itself and for the end.
template <class Visit>
void RelationModel::visit_pair_rows(std::int32_t before, std::int32_t tag, const Visit& visit) const {
  const auto start = static_cast<std::uint32_t>(start_);
  const std::uint64_t key = mix(201, static_cast<std::uint64_t>(before) + 1);
  visit(start + static_cast<std::uint32_t>(mix(key, 1) >> 32U >> shift_));
  visit(start +
        static_cast<std::uint32_t>(mix(key, static_cast<std::uint64_t>(tag + 16) + 2) >> 32U >> shift_));
}

/// Calls visit(weight) for the pairs of neighbours in a word's chain.
template <class Visit>
void RelationModel::visit_pairs(const RelationTask& task, std::int32_t head,
                                std::span<const std::int32_t> relation, const Visit& visit) const {
  std::vector<std::int32_t> links;
  list_links(task, head, links);
  std::int32_t before = relations_;
  for (std::size_t t = 0; t <= links.size(); ++t) {
    const bool is_end = t == links.size();
    const bool is_itself = !is_end && links[t] == kItself;
    const std::int32_t after = is_end ? relations_ + 1 : is_itself ? relations_ : relation[links[t]];
    visit_pair_rows(before, task.words[head].tag,
                    [&](std::uint32_t row) { visit(row + static_cast<std::uint32_t>(after)); });
    before = is_itself ? relations_ + 1 : after;
  }
}

/// The scores of pairs below a word with this tag, [before][after], each row with its largest and smallest
/// for relations; cached for the next word.
const float* RelationModel::pairs_of(std::span<const float> weights, std::int32_t tag,
                                     RelationWork& work) const {
  const auto width = static_cast<std::size_t>(relations_) + 2;
  const auto seen = std::find(work.pair_tags.begin(), work.pair_tags.end(), tag);
  const std::size_t stride = width + kBounds;
  const std::size_t start = static_cast<std::size_t>(seen - work.pair_tags.begin()) * width * stride;
  if (seen != work.pair_tags.end()) return work.pair.data() + start;
  work.pair_tags.push_back(tag);
  work.pair.resize(start + width * stride, 0.0F);
  for (std::size_t before = 0; before < width; ++before) {
    float* pair = work.pair.data() + start + before * stride;
    visit_pair_rows(static_cast<std::int32_t>(before), tag, [&](std::uint32_t row) {
      for (std::size_t k = 0; k < width; ++k) pair[k] += weights[row + k];
    });
    const auto [low, high] = std::minmax_element(pair, pair + relations_);
    pair[width] = *high, pair[width + 1] = *low;
  }
  return work.pair.data() + start;
}

void RelationModel::begin(const RelationTask& task, RelationWork& work) const {
  work.score.assign(static_cast<std::size_t>(relations_) * task.heads.size(), 0.0F);
  if (work.keeps_pairs) return;
  work.pair.clear();
  work.pair_tags.clear();
}

/// Writes the best relations of work.links to `found`.
///   best[t + 1, l] = score of l + max_k best[t, k] + pair(k, l)
void RelationModel::label_chain(const float* pairs, RelationWork& work, std::span<std::int32_t> found) const {
  const auto L = static_cast<std::size_t>(relations_);
  const std::size_t width = L + 2, stride = width + kBounds;
  const std::vector<std::int32_t>& links = work.links;
  work.best.assign((links.size() + 1) * width, kNever);
  work.from.assign((links.size() + 1) * width, 0);
  work.best[L] = 0.0F;  // the start
  for (std::size_t t = 0; t < links.size(); ++t) {
    const float* now = work.best.data() + t * width;
    float* next = work.best.data() + (t + 1) * width;
    std::int32_t* back = work.from.data() + (t + 1) * width;
    const bool is_itself = links[t] == kItself;
    float least = kNever;  // every relation can be reached with this score
    for (std::size_t k = 0; k < width; ++k) least = std::max(least, now[k] + pairs[k * stride + width + 1]);
    for (std::size_t k = 0; k < width; ++k) {
      if (now[k] == kNever) continue;
      const float* pair = pairs + k * stride;
      if (is_itself) {
        const float score = now[k] + pair[L];
        if (score > next[L + 1]) next[L + 1] = score, back[L + 1] = static_cast<std::int32_t>(k);
        continue;
      }
      if (now[k] + pair[width] < least) continue;
      for (std::size_t l = 0; l < L; ++l) {
        const float score = now[k] + pair[l];
        back[l] = score > next[l] ? static_cast<std::int32_t>(k) : back[l];
        next[l] = std::max(next[l], score);
      }
    }
    if (is_itself) continue;
    const float* own = work.score.data() + static_cast<std::size_t>(links[t]) * L;
    for (std::size_t l = 0; l < L; ++l) next[l] += own[l];
  }
  const float* last = work.best.data() + links.size() * width;
  std::size_t top = 0;
  for (std::size_t k = 1; k < width; ++k) {
    if (last[k] + pairs[k * stride + L + 1] > last[top] + pairs[top * stride + L + 1]) top = k;
  }
  for (std::size_t t = links.size(); t-- > 0;) {
    if (links[t] != kItself) found[links[t]] = static_cast<std::int32_t>(top);
    top = static_cast<std::size_t>(work.from[(t + 1) * width + top]);
  }
}

/// The best relations of a word's dependents, whose own scores are ready.
void RelationModel::label_dependents(std::span<const float> weights, const RelationTask& task,
                                     std::int32_t head, RelationWork& work,
                                     std::span<std::int32_t> found) const {
  for (const std::int32_t m : task.dependents[head]) {
    const float* own = work.score.data() + static_cast<std::size_t>(m) * static_cast<std::size_t>(relations_);
    if (task.is_mark(m)) found[m] = static_cast<std::int32_t>(std::max_element(own, own + relations_) - own);
  }
  list_links(task, head, work.links);
  if (work.links.size() < 2) return;
  label_chain(pairs_of(weights, task.words[head].tag, work), work, found);
}

/// Rules out root relations for other words, and other relations for roots.
void RelationModel::bar_relations(const RelationTask& task, std::int32_t head, RelationWork& work) const {
  if (std::find(of_roots_.begin(), of_roots_.end(), 0) == of_roots_.end()) return;
  if (std::find(of_roots_.begin(), of_roots_.end(), 1) == of_roots_.end()) return;
  for (const std::int32_t m : task.dependents[head]) {
    float* own = work.score.data() + static_cast<std::size_t>(m) * static_cast<std::size_t>(relations_);
    for (std::size_t k = 0; k < of_roots_.size(); ++k) {
      if ((of_roots_[k] != 0) != (head == 0)) own[k] = kNever;
    }
  }
}

std::vector<std::int32_t> RelationModel::label(std::span<const float> weights, const RelationTask& task,
                                               RelationWork& work) const {
  std::vector<std::int32_t> found(task.heads.size(), kNobody);
  if (relations_ == 0) return found;
  begin(task, work);
  for (const std::int32_t head : task.upwards) {
    score_dependents(weights, task, head, found, work);
    bar_relations(task, head, work);
    label_dependents(weights, task, head, work, found);
  }
  return found;
}

double RelationModel::chain_score(std::span<const float> weights, const RelationTask& task, std::int32_t head,
                                  std::span<const std::int32_t> relation) const {
  double total = 0.0;
  for (const std::int32_t m : task.dependents[head]) {
    visit_rows(task, m, relation, [&](std::uint32_t row) {
      total += static_cast<double>(weights[row + static_cast<std::uint32_t>(relation[m])]);
    });
  }
  visit_pairs(task, head, relation,
              [&](std::uint32_t weight) { total += static_cast<double>(weights[weight]); });
  return total;
}

/// Adds `value` to the scores of all relations except the known one.
void RelationModel::add_to_others(const RelationTask& task, std::int32_t head,
                                  std::span<const std::int32_t> known, float value,
                                  RelationWork& work) const {
  for (const std::int32_t m : task.dependents[head]) {
    float* own = work.score.data() + static_cast<std::size_t>(m) * static_cast<std::size_t>(relations_);
    for (std::int32_t k = 0; k < relations_ && known[m] >= 0; ++k) {
      if (k != known[m]) own[k] += value;
    }
  }
}

std::int32_t RelationModel::list_changes(std::span<const float> weights, const RelationTask& task,
                                         std::span<const std::int32_t> known, RelationWork& work,
                                         std::vector<Delta>& changes) const {
  if (relations_ == 0) return 0;
  begin(task, work);
  std::vector<std::int32_t> gold(known.begin(), known.end());
  std::vector<std::int32_t> guess(task.heads.size(), kNobody);
  std::int32_t wrong = 0;
  for (const std::int32_t head : task.upwards) {
    const auto& dependents = task.dependents[head];
    score_dependents(weights, task, head, gold, work);
    const auto is_known = [&](std::int32_t m) { return known[m] >= 0; };
    if (std::none_of(dependents.begin(), dependents.end(), is_known)) {
      label_dependents(weights, task, head, work, gold);
      continue;
    }
    if (!std::all_of(dependents.begin(), dependents.end(), is_known)) {
      add_to_others(task, head, known, -kFar, work);
      label_dependents(weights, task, head, work, gold);
      add_to_others(task, head, known, kFar, work);
    }
    add_to_others(task, head, known, static_cast<float>(work.relation_cost), work);
    label_dependents(weights, task, head, work, guess);
    std::int32_t wrong_here = 0;
    for (const std::int32_t m : dependents) {
      if (gold[m] == guess[m]) continue;
      ++wrong_here;
      visit_rows(task, m, gold, [&](std::uint32_t row) {
        changes.push_back({row + static_cast<std::uint32_t>(gold[m]), 1.0F});
        changes.push_back({row + static_cast<std::uint32_t>(guess[m]), -1.0F});
      });
    }
    if (wrong_here == 0) continue;
    wrong += wrong_here;
    visit_pairs(task, head, gold, [&](std::uint32_t weight) { changes.push_back({weight, 1.0F}); });
    visit_pairs(task, head, guess, [&](std::uint32_t weight) { changes.push_back({weight, -1.0F}); });
  }
  return wrong;
}

}  // namespace duilian
