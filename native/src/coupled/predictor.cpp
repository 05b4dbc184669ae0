// Scores, prunes and decodes sentences with a compiled coupled tagger (see predictor.hpp).
#include "duilian/coupled/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace duilian {

namespace {

/// Joint features in the table: the entries after those of the sides.
class EntrySource final : public JointSource {
 public:
  EntrySource(const EntryTable& table, std::span<const std::uint32_t> entry,
              std::span<const std::size_t> first)
      : table_(table), entry_(entry), first_(first) {}

  void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
           double* sum) const override {
    const std::size_t last = first_[t + 1];
    for (std::size_t e = first_[t]; e < last; ++e) {
      if (e + 2 < last) table_.prefetch(entry_[e + 2]);
      table_.add_joint(entry_[e], wanted, slot, sum);
    }
  }

 private:
  const EntryTable& table_;
  std::span<const std::uint32_t> entry_;
  std::span<const std::size_t> first_;  // [T + 1]
};

/// The transitions of the sides and parts, cut out of one array, whose size `check` has verified.
[[nodiscard]] CoupledTransitions cut_transitions(const CoupledShape& shape,
                                                 const std::vector<float>& transition,
                                                 std::span<const std::int32_t> pruned_sides, bool of_pruner) {
  std::size_t at = 0;
  const auto take = [&](std::size_t size) {
    at += size;
    return std::span<const float>(transition).subspan(at - size, size);
  };
  std::vector<std::span<const float>> pruner;
  std::vector<std::span<const float>> side;
  std::vector<std::span<const float>> joint;
  const auto edge = [](std::int32_t labels) { return static_cast<std::size_t>(labels) + 1; };
  for (const std::int32_t k : pruned_sides)
    pruner.push_back(take(edge(shape.labels[k]) * edge(shape.labels[k])));
  for (std::size_t k = 0; k < shape.sides(); ++k)
    side.push_back(take(edge(shape.labels[k]) * edge(shape.labels[k])));
  for (const JointPart& part : shape.joint)
    joint.push_back(take(static_cast<std::size_t>(part.transitions())));
  for (std::size_t p = 0; of_pruner && p < pruner.size(); ++p) side[pruned_sides[p]] = pruner[p];
  return make_transitions(shape, side, joint, 1.0F);
}

/// The blocks of the pruners come first, then those of the sides; the sides that are pruned by them can wait.
[[nodiscard]] std::vector<std::int32_t> deferred_blocks(std::span<const std::int32_t> pruned_sides) {
  std::vector<std::int32_t> blocks(pruned_sides.begin(), pruned_sides.end());
  for (std::int32_t& block : blocks) block += static_cast<std::int32_t>(pruned_sides.size());
  return blocks;
}

/// Whether any label of a unit may be followed by any of the next, on every side.
[[nodiscard]] bool are_linked(const CoupledShape& shape, std::span<const TagSets> candidates,
                              std::int32_t t) {
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (shape.rules[k].is_free()) continue;
    for (const TagId before : candidates[k].at(t)) {
      for (const TagId after : candidates[k].at(t + 1)) {
        if (!shape.rules[k](before, after)) return false;
      }
    }
  }
  return true;
}

/// Whether a side has labels with different flags at any unit.
[[nodiscard]] bool is_any_open(const TagSets& candidates, const SideFlags& flags) {
  for (std::int32_t t = 0; t < candidates.positions(); ++t) {
    const auto labels = candidates.at(t);
    const std::uint8_t first = flags.of_label[static_cast<std::size_t>(labels[0])];
    for (const TagId each : labels) {
      if (flags.of_label[static_cast<std::size_t>(each)] != first) return true;
    }
  }
  return false;
}

/// Units with a single bundle cut a sentence into stretches that do not influence each other; those in which
/// no unit has candidates with different flags are moot. Not if some candidates may not follow each other:
/// then no path might be left of a stretch, and the whole sentence is searched in another way, with other
/// answers.
void mark_moot(const CoupledShape& shape, std::span<const TagSets> candidates, const SideFlags& flags,
               std::vector<std::uint8_t>& is_moot) {
  const TagSets& own = candidates[flags.side];
  const std::int32_t T = own.positions();
  is_moot.assign(static_cast<std::size_t>(T), 1);
  const auto flag = [&](TagId label) { return flags.of_label[static_cast<std::size_t>(label)]; };
  std::int32_t begin = 0;
  bool is_open = false;
  for (std::int32_t t = 0; t < T; ++t) {
    const auto labels = own.at(t);
    is_open =
        is_open || std::ranges::any_of(labels, [&](TagId each) { return flag(each) != flag(labels[0]); });
    if (t > begin) is_open = is_open || !are_linked(shape, candidates, t - 1);
    const bool is_cut =
        std::ranges::all_of(candidates, [&](const TagSets& sets) { return sets.at(t).size() == 1; });
    if (!is_cut && t + 1 < T) continue;
    if (is_open) std::fill(is_moot.begin() + begin, is_moot.begin() + t + 1, std::uint8_t{0});
    begin = t;
    is_open = false;
  }
}

/// Whoever writes a model file chooses its candidates: at most some 200 MB are laid out for a sentence.
[[nodiscard]] SearchOptions within_memory(SearchOptions options) {
  options.limits = {std::int64_t{1} << 21, std::int64_t{1} << 22};
  return options;
}

}  // namespace

CoupledPredictor::CoupledPredictor(CoupledShape shape, std::shared_ptr<const CoupledWeights> weights,
                                   TemplateSet templates, Reading reading, SearchOptions options)
    : shape_((check(*weights, shape), std::move(shape))),
      weights_(std::move(weights)),
      templates_(std::move(templates)),
      reading_(std::move(reading)),
      options_(within_memory(options)),
      between_(cut_transitions(shape_, weights_->transition, weights_->pruned_sides, false)),
      prune_between_(cut_transitions(shape_, weights_->transition, weights_->pruned_sides, true)) {
  if (!(options_.bundle_gap >= 0.0)) throw std::invalid_argument("the bundle gap must be at least 0");
  if (options_.pruning.coarse_window > 0.0)
    coarse_pruner_ =
        CoarsePruner::make(shape_, *weights_, prune_between_, options_.pruning, templates_.set());
  if (!coarse_pruner_) (void)all();
}

const EntryTable& CoupledPredictor::all() const {
  std::call_once(is_made_, [&] {
    all_.emplace(weights_->table, side_blocks(shape_, weights_->pruned_sides),
                 deferred_blocks(weights_->pruned_sides), shape_.joint_labels());
  });
  return *all_;
}

void CoupledPredictor::score(Work& work) const {
  const auto& keys = work.keys.value;
  const std::size_t length = work.keys.first.size() - 1;
  const std::size_t sides = shape_.sides();
  const EntryTable& table = all();
  const auto& pruned_sides = weights_->pruned_sides;
  SideScores& scores = work.search.scores;
  scores.state.resize(sides);
  scores.prune.resize(pruned_sides.empty() ? 0 : sides);
  // Padding is never read.
  for (std::size_t k = 0; k < sides; ++k) scores.state[k].resize(length * shape_.shapes[k].stride());
  for (const std::int32_t k : pruned_sides) scores.prune[k].resize(length * shape_.shapes[k].stride());
  work.row.resize(static_cast<std::size_t>(side_label_count(shape_, pruned_sides)));
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  work.deferred.clear();
  work.deferred_first.assign(1, 0);
  table.find_all(keys, work.entry);
  for (std::size_t t = 0; t < length; ++t) {
    std::fill(work.row.begin(), work.row.end(), 0.0F);
    for (auto k = static_cast<std::size_t>(work.keys.first[t]);
         k < static_cast<std::size_t>(work.keys.first[t + 1]); ++k) {
      constexpr std::size_t kEntryAhead = 12;
      constexpr std::size_t kRowAhead = 4;
      if (k + kEntryAhead < work.entry.size() && work.entry[k + kEntryAhead] != kNoEntry)
        table.prefetch(work.entry[k + kEntryAhead]);
      if (k + kRowAhead < work.entry.size() && work.entry[k + kRowAhead] != kNoEntry)
        table.prefetch_rows(work.entry[k + kRowAhead]);
      if (work.entry[k] == kNoEntry) continue;
      const std::uint32_t joint = table.add_sides(work.entry[k], work.row.data(), work.deferred);
      if (joint != kNoEntry) work.joint_entry.push_back(joint);
    }
    work.joint_first.push_back(work.joint_entry.size());
    work.deferred_first.push_back(work.deferred.size());
    const float* from = work.row.data();
    for (const std::int32_t k : pruned_sides) {
      std::copy_n(from, shape_.labels[k], scores.prune[k].data() + t * shape_.shapes[k].stride());
      from += shape_.labels[k];
    }
    for (std::size_t k = 0; k < sides; from += shape_.labels[k], ++k)
      std::copy_n(from, shape_.labels[k], scores.state[k].data() + t * shape_.shapes[k].stride());
  }
  const float* transition = weights_->transition.data();
  const auto add_all_edges = [&](std::size_t k, std::vector<double>& states) {
    const auto edge = static_cast<std::size_t>(shape_.labels[k]) + 1;
    add_edges(shape_.labels[k], shape_.rules[k], {{transition, edge * edge}}, shape_.shapes[k].stride(),
              states);
    transition += edge * edge;
  };
  for (const std::int32_t k : pruned_sides) add_all_edges(static_cast<std::size_t>(k), scores.prune[k]);
  for (std::size_t k = 0; k < sides; ++k) add_all_edges(k, scores.state[k]);
}

void CoupledPredictor::decode(SideChoice sides, Work& work) const {
  duilian::decode(shape_, options_.decoding, sides, work.search);
}

bool CoupledPredictor::prepare(const Sentences& sentences, std::int64_t sentence,
                               std::span<const Constraints> constraints, Work& work) const {
  return prune(sentences, sentence, constraints, work, [&](const JointSource& source) {
    return build(shape_, between_, source, options_, work.search);
  });
}

bool CoupledPredictor::answer(const Sentences& sentences, std::int64_t sentence,
                              std::span<const Constraints> constraints, SideChoice sides, Work& work) const {
  return prune(sentences, sentence, constraints, work, [&](const JointSource& source) {
    if (try_pairs(shape_, between_, source, options_, sides, work.search)) return true;
    if (!build(shape_, between_, source, options_, work.search)) return false;
    decode(sides, work);
    return true;
  });
}

bool CoupledPredictor::answer_flags(const Sentences& sentences, std::int64_t sentence,
                                    std::span<const Constraints> constraints, const SideFlags& flags,
                                    Work& work) const {
  if (coarse_pruner_) {
    check_columns(templates(), sentences);
    if (try_flags(sentences, sentence, constraints, flags, work)) return true;
  }
  return answer(sentences, sentence, constraints, {flags.side, flags.side + 1}, work);
}

bool CoupledPredictor::try_flags(const Sentences& sentences, std::int64_t sentence,
                                 std::span<const Constraints> constraints, const SideFlags& flags,
                                 Work& work) const {
  SearchWork& search = work.search;
  const UnitRange units{sentences.begin_of(sentence), sentences.end_of(sentence)};
  coarse_pruner_->score(sentences, sentence, constraints, work.look, search);
  if (!coarse_pruner_->prune_side(flags.side, units, work.look, search)) return false;
  search.place.resize(shape_.sides());
  if (!is_any_open(search.candidates[flags.side], flags)) {
    best_places(shape_.rules[flags.side], search.candidates[flags.side], search.prior[flags.side],
                search.place[flags.side]);
    return true;
  }
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    if (k != flags.side && !coarse_pruner_->prune_side(k, units, work.look, search)) return false;
  }
  mark_moot(shape_, search.candidates, flags, search.is_moot);
  const CoarsePruner::Source source(*coarse_pruner_, between_, constraints, units, work.look, search);
  return try_pairs(shape_, between_, source, options_, {flags.side, flags.side + 1}, search);
}

template <class Search>
bool CoupledPredictor::prune(const Sentences& sentences, std::int64_t sentence,
                             std::span<const Constraints> constraints, Work& work,
                             const Search& search) const {
  check_columns(templates(), sentences);
  work.search.is_moot.clear();
  if (coarse_pruner_) {
    const UnitRange units{sentences.begin_of(sentence), sentences.end_of(sentence)};
    coarse_pruner_->score(sentences, sentence, constraints, work.look, work.search);
    if (coarse_pruner_->prune(units, work.look, work.search) &&
        search(CoarsePruner::Source(*coarse_pruner_, between_, constraints, units, work.look, work.search)))
      return true;
  }
  work.search.listed.clear();
  extract(sentences, sentence, work);
  for (Pruning pruning = options_.pruning; pruning.max_candidates > 0; pruning.max_candidates /= 2) {
    const bool is_granted = prune_exactly(sentences, sentence, constraints, pruning, work);
    if (search(EntrySource(all(), work.joint_entry, work.joint_first))) return is_granted;
  }
  throw std::invalid_argument("the candidates of a sentence have too many bundles");
}

void CoupledPredictor::extract(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  check_columns(templates(), sentences);
  templates_.extract(sentences, sentence, {}, work.keys, work.hashes, nullptr);
}

bool CoupledPredictor::prune_exactly(const Sentences& sentences, std::int64_t sentence,
                                     std::span<const Constraints> constraints, Pruning pruning,
                                     Work& work) const {
  const auto units = static_cast<std::int32_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  score(work);
  const bool is_granted = apply_constraints(sentences, sentence, constraints, work);
  if (!is_granted) score(work);
  duilian::prune(shape_, prune_between_, pruning, units, {}, std::isfinite(options_.bundle_gap), work.search);
  if (!work.deferred.empty()) add_deferred_rows(work);
  return is_granted;
}

void CoupledPredictor::score_side(const Sentences& sentences, std::int64_t sentence, std::size_t side,
                                  Work& work, std::span<double> p) const {
  extract(sentences, sentence, work);
  score(work);
  const auto units = static_cast<std::int32_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  const UniformChain chain{units, work.search.scores.pruning(side).data(), prune_between_.side[side],
                           shape_.rules[side]};
  UniformMarginals& found = work.search.pruning.found;
  unit_marginals(chain, work.search.pruning.chain, found, 0.0);
  const auto labels = static_cast<std::size_t>(shape_.labels[side]);
  const std::size_t stride = shape_.shapes[side].stride();
  for (std::size_t t = 0; t < static_cast<std::size_t>(units); ++t)
    std::copy_n(found.unit.data() + t * stride, labels, p.data() + t * labels);
}

void CoupledPredictor::add_deferred_rows(Work& work) const {
  const auto& candidates = work.search.candidates;
  const auto pruners = static_cast<std::int32_t>(weights_->pruned_sides.size());
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    const auto has_one = [&](const TagSets& sets) { return sets.at(t).size() == 1; };
    if (std::all_of(candidates.begin(), candidates.end(), has_one))
      continue;  // the score of a single bundle does not matter
    const auto last = work.deferred_first[t + 1];
    for (std::size_t k = work.deferred_first[t]; k < last; ++k) {
      const auto side = static_cast<std::size_t>(work.deferred[k].block - pruners);
      const float* row = all().deferred_row(work.deferred[k]);
      double* state =
          work.search.scores.state[side].data() + static_cast<std::size_t>(t) * shape_.shapes[side].stride();
      for (const TagId label : candidates[side].at(t)) state[label] += row[label];
    }
  }
}

bool CoupledPredictor::apply_constraints(const Sentences& sentences, std::int64_t sentence,
                                         std::span<const Constraints> constraints, Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  SideScores& scores = work.search.scores;
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    if (!constraints[k].limits_labels(begin, end) && constraints[k].bonus.empty()) continue;
    for (auto* states : {&scores.state, &scores.prune}) {
      if (k < states->size() && !(*states)[k].empty())
        apply(constraints[k], shape_.labels[k], shape_.shapes[k].stride(), begin, end, (*states)[k]);
    }
    if (!constraints[k].limits_labels(begin, end)) continue;  // no path is forbidden
    const UniformChain chain{static_cast<std::int32_t>(end - begin), scores.state[k].data(), between_.side[k],
                             shape_.rules[k]};
    work.path.resize(static_cast<std::size_t>(end - begin));
    if (!try_best_labels(chain, work.search.pruning.chain, work.path)) return false;
  }
  return true;
}

}  // namespace duilian
