// Losses of parsers: gold trees against the best ones, and log likelihood for pruning (see objective.hpp).
#include "duilian/tree/objective.hpp"

#include <cmath>
#include <stdexcept>

#include "duilian/concat.hpp"

namespace duilian {

AllowedArcs::AllowedArcs(const TreeData& data, std::vector<std::uint8_t> allowed)
    : allowed_(std::move(allowed)), first_(arcs_before(data)) {
  if (!allowed_.empty() && allowed_.size() != first_.back())
    throw std::invalid_argument("the allowed arcs do not match the sentences");
}

void AllowedArcs::copy(std::int64_t sentence, const Heads& given, std::vector<std::uint8_t>& out) const {
  if (allowed_.empty()) {
    out.assign(given.size() * given.size(), 1);
  } else {
    const auto from = allowed_.begin() + static_cast<std::ptrdiff_t>(first_[sentence]);
    out.assign(from, from + static_cast<std::ptrdiff_t>(given.size() * given.size()));
  }
  keep_given(given, out);
}

RelationTrees::RelationTrees(const TreeData& data, std::vector<std::int32_t> guessed)
    : data_(data), guessed_(std::move(guessed)) {
  if (guessed_.empty()) return;
  if (guessed_.size() != data.head.size())
    throw std::invalid_argument("the guessed heads do not match the sentences");
  for (std::int64_t k = 0; k < data.sentences.size(); ++k) {
    if (!is_tree(guess_of(k)))
      throw std::invalid_argument(concat("the guessed heads of sentence ", k + 1, " are not a tree"));
  }
}

Heads RelationTrees::guess_of(std::int64_t sentence) const {
  Heads heads(1, kUnknown);
  heads.insert(heads.end(), guessed_.begin() + data_.sentences.begin_of(sentence),
               guessed_.begin() + data_.sentences.end_of(sentence));
  return heads;
}

std::int32_t RelationTrees::list_changes(const TreeParser& parser, std::span<const float> weights,
                                         std::int64_t sentence, const Heads& gold, ParseWork& work,
                                         std::vector<Delta>& changes) const {
  std::vector<std::int32_t> known = relations_of(data_, sentence);
  std::int32_t wrong = parser.list_relation_changes(weights, gold, known, work, changes);
  if (guessed_.empty()) return wrong;
  const Heads guessed = guess_of(sentence);
  for (std::size_t m = 1; m < guessed.size(); ++m) {
    if (guessed[m] != gold[m]) known[m] = kUnknown;
  }
  return wrong + parser.list_relation_changes(weights, guessed, known, work, changes);
}

TreeObjective::TreeObjective(const TreeParser& parser, const TreeData& data,
                             std::vector<std::uint8_t> allowed, std::vector<std::int32_t> guessed,
                             ParseOptions options)
    : parser_(parser),
      data_(data),
      allowed_(data, std::move(allowed)),
      relation_trees_(data, std::move(guessed)),
      options_(options) {}

double TreeObjective::compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work,
                              Gradient& out) const {
  Heads gold = heads_of(data_, sentence);
  if (gold.size() < 2) return 0.0;
  parser_.prepare(data_, sentence, work);
  const std::int32_t order = order_for(parser_.shape(), gold.size() - 1, options_);
  if (!is_whole(gold)) {
    allowed_.copy(sentence, gold, work.allowed);
    gold = parser_.search(weights.value, order, work).heads;
    if (gold.empty()) return 0.0;
  }
  allowed_.copy(sentence, free_heads(gold.size()), work.allowed);
  const std::size_t side = gold.size();
  for (std::size_t m = 1; m < side; ++m) work.allowed[static_cast<std::size_t>(gold[m]) * side + m] = 1;
  work.head_cost = options_.head_cost;
  work.relations.relation_cost = options_.relation_cost;
  work.gold = gold;
  const ScoredTree guess = parser_.search(weights.value, order, work);
  double wrong = 0.0;
  for (std::size_t m = 1; m < side; ++m) wrong += guess.heads[m] != gold[m] ? 1.0 : 0.0;
  if (wrong > 0.0) parser_.list_changes(gold, guess.heads, work, out.sparse);
  wrong += relation_trees_.list_changes(parser_, weights.value, sentence, gold, work, out.sparse);
  if (!data_.has_guide()) return wrong;
  std::vector<std::int32_t> tags(1, kUnknown);
  tags.insert(tags.end(), data_.wanted_tag.begin() + data_.sentences.begin_of(sentence),
              data_.wanted_tag.begin() + data_.sentences.end_of(sentence));
  return wrong +
         parser_.list_tag_changes(weights.value, gold, relations_of(data_, sentence), tags, work, out.sparse);
}

double PruningObjective::compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work,
                                 Gradient& out) const {
  constexpr double kSmall = 1e-3;  // arcs with a smaller gradient are skipped
  const Heads gold = heads_of(data_, sentence);
  if (gold.size() < 2 || !is_whole(gold)) return 0.0;
  parser_.prepare(data_, sentence, work);
  parser_.score_pruning_arcs(weights.value, work);
  double loss = arc_marginals(work.scores, work.eisner, work.marginal);
  const auto n = static_cast<std::int32_t>(gold.size()) - 1;
  const auto shift = static_cast<std::uint32_t>(32 - parser_.shape().pruning_bits);
  for (std::int32_t m = 1; m <= n; ++m) {
    loss -= work.scores.at(gold[m], m);
    for (std::int32_t h = 0; h <= n; ++h) {
      if (h == m) continue;
      const double wanted = (gold[m] == h ? 1.0 : 0.0) - work.marginal[work.scores.place(h, m)];
      if (std::abs(wanted) < kSmall) continue;
      work.keys.pruning_arc(h, m, static_cast<std::size_t>(h), static_cast<std::size_t>(m),
                            [&](std::uint32_t key, std::uint32_t place) {
                              out.sparse.push_back({(key >> shift) ^ place, static_cast<float>(wanted)});
                            });
    }
  }
  return loss;
}

}  // namespace duilian
