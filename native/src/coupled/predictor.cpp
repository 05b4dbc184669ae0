#include "duilian/coupled/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace duilian {

namespace {

/// Joint features in the table: the entries that scoring the sides has passed by.
class EntrySource final : public JointSource {
 public:
  EntrySource(const EntryTable& table, const CoupledPredictor::Work& work) : table_(table), work_(work) {}

  void add(std::int32_t t, std::span<const std::int32_t> wanted, const std::int32_t* slot,
           double* sum) const override {
    const std::size_t last = work_.joint_first[t + 1];
    for (std::size_t e = work_.joint_first[t]; e < last; ++e) {
      if (e + 2 < last) table_.prefetch_entry(work_.joint_entry[e + 2]);
      table_.add_joint(work_.joint_entry[e], wanted, slot, sum);
    }
  }

 private:
  const EntryTable& table_;
  const CoupledPredictor::Work& work_;
};

/// The transitions of the sides and parts, cut out of one array. Throws if its size does not fit.
[[nodiscard]] CoupledTransitions cut_transitions(const CoupledShape& shape,
                                                 const std::vector<float>& transition,
                                                 std::span<const std::int32_t> pruned_sides, bool of_pruner) {
  std::size_t at = 0;
  const auto take = [&](std::size_t size) {
    if (transition.size() - at < size) throw std::invalid_argument("the transitions do not fit the tagger");
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
  const auto finite = [](float x) { return std::isfinite(x); };
  if (at != transition.size() || !std::all_of(transition.begin(), transition.end(), finite))
    throw std::invalid_argument("the transitions do not fit the tagger");
  for (std::size_t p = 0; of_pruner && p < pruner.size(); ++p) side[pruned_sides[p]] = pruner[p];
  return make_transitions(shape, side, joint, 1.0F);
}

/// Behind the blocks of the pruners stand those of the sides: what they prune for can wait.
[[nodiscard]] std::vector<std::int32_t> late_blocks(std::span<const std::int32_t> pruned_sides) {
  std::vector<std::int32_t> blocks(pruned_sides.begin(), pruned_sides.end());
  for (std::int32_t& block : blocks) block += static_cast<std::int32_t>(pruned_sides.size());
  return blocks;
}

}  // namespace

CoupledPredictor::CoupledPredictor(CoupledShape shape, std::shared_ptr<const CoupledWeights> weights,
                                   TemplateSet templates, Folding folding, SearchOptions options)
    : shape_(std::move(shape)),
      weights_(std::move(weights)),
      templates_(std::move(templates)),
      folding_(std::move(folding)),
      options_(options),
      between_(cut_transitions(shape_, weights_->transition, weights_->pruned_sides, false)),
      prune_between_(cut_transitions(shape_, weights_->transition, weights_->pruned_sides, true)) {
  if (!(options_.margin >= 0.0)) throw std::invalid_argument("the margin must be at least 0");
  check(weights_->table, side_label_count(shape_, weights_->pruned_sides) + shape_.joint_labels());
  check_order(weights_->table);
  if (options_.pruning.window > 0.0) prune_by_rough_scores();
  if (!rough_) (void)all();
}

const EntryTable& CoupledPredictor::all() const {
  std::call_once(is_made_, [&] {
    all_.emplace(weights_->table, side_blocks(shape_, weights_->pruned_sides),
                 late_blocks(weights_->pruned_sides), shape_.joint_labels());
  });
  return *all_;
}

void CoupledPredictor::prune_by_rough_scores() {
  // Where the labels of each side's pruner stand: its own, or the side's.
  std::vector<std::int32_t> first(shape_.sides());
  std::vector<std::span<const float>> transition(shape_.sides());
  std::vector<std::uint8_t> is_found(shape_.sides(), 0);
  const std::vector<std::int32_t> sizes = side_blocks(shape_, weights_->pruned_sides);
  std::int32_t label = 0;
  std::size_t at = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    const std::size_t k = b < weights_->pruned_sides.size()
                              ? static_cast<std::size_t>(weights_->pruned_sides[b])
                              : b - weights_->pruned_sides.size();
    const std::size_t edge = static_cast<std::size_t>(sizes[b]) + 1;
    if (is_found[k] == 0) {
      first[k] = label;
      transition[k] = std::span<const float>(weights_->transition).subspan(at, edge * edge);
    }
    is_found[k] = 1;
    label += sizes[b];
    at += edge * edge;
  }
  std::vector<RoughTable::Block> blocks;
  const auto lay_out = [&](double scale) {
    rough_pruner_.clear();
    blocks.clear();
    for (std::size_t k = 0; k < shape_.sides(); ++k) {
      constexpr std::int32_t kMost = 24;
      constexpr double kOwn = 0.8;  // scores that also answer are surer than those of a pruner
      const RoughWindow window{options_.pruning.window * (has_pruner(k) ? 1.0 : kOwn),
                               std::max(options_.pruning.most, kMost)};
      rough_pruner_.emplace_back(shape_.shapes[k], shape_.rules[k], transition[k], scale, window);
      blocks.push_back({first[k], rough_pruner_[k].lanes(), rough_pruner_[k].stride()});
    }
  };
  lay_out(1.0);
  rough_scale_ = RoughTable::scale_for(weights_->table, blocks, templates_.templates.size());
  const auto is_ready = [](const RoughPruner& each) { return each.is_ready(); };
  if (rough_scale_ == 0.0 || !std::all_of(rough_pruner_.begin(), rough_pruner_.end(), is_ready)) return;
  lay_out(rough_scale_);
  for (const std::vector<float>& table : prune_between_.table) {
    std::vector<float>& exponential = rough_between_.emplace_back(table);
    const float peak = *std::max_element(table.begin(), table.end());
    for (float& each : exponential) each = std::exp(each - peak);
  }
  rough_.emplace(weights_->table, blocks, rough_scale_, set_rest_apart());
}

std::vector<EntryTable::Begins> CoupledPredictor::set_rest_apart() {
  const auto& pruned = weights_->pruned_sides;
  std::vector<std::int32_t> blocks;
  std::vector<std::int32_t> number(
      static_cast<std::size_t>(side_label_count(shape_, pruned) + shape_.joint_labels()), -1);
  std::int32_t label = 0;
  for (const std::int32_t k : pruned) label += shape_.labels[k];
  std::int32_t next = 0;
  for (std::size_t k = 0; k < shape_.sides(); label += shape_.labels[k], ++k) {
    if (!has_pruner(k)) continue;
    blocks.push_back(shape_.labels[k]);
    std::iota(number.begin() + label, number.begin() + label + shape_.labels[k], next);
    next += shape_.labels[k];
  }
  std::iota(number.begin() + label, number.end(), next);
  const WeightTable& from = weights_->table;
  WeightTable to;
  to.slot = {kNoSlot};  // nobody looks features up in it
  std::vector<std::uint8_t> has_any;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < from.label.size(); ++k) {
    const std::int32_t own = number[from.label[k] & ~kLastEntry];
    if (own >= 0) to.add(static_cast<std::uint16_t>(own), from.weight[k]);
    if ((from.label[k] & kLastEntry) == 0) continue;
    has_any.push_back(to.end_feature(begin) ? 1 : 0);
    begin = to.label.size();
  }
  std::vector<std::int32_t> late(blocks.size());
  std::iota(late.begin(), late.end(), 0);
  rest_.emplace(to, blocks, late, shape_.joint_labels());
  std::vector<EntryTable::Begins> out;
  const std::vector<EntryTable::Begins> found = rest_->begins();
  std::size_t at = 0;
  for (const std::uint8_t each : has_any)
    out.push_back(each != 0 ? found[at++] : EntryTable::Begins{kNoEntry, kNoEntry});
  return out;
}

bool CoupledPredictor::has_pruner(std::size_t side) const {
  const auto& pruned = weights_->pruned_sides;
  return std::binary_search(pruned.begin(), pruned.end(), static_cast<std::int32_t>(side));
}

void CoupledPredictor::score(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  work.keys.first.assign(1, 0);
  work.keys.value.clear();
  extract_keys(templates_, sentences, sentence, sentence + 1, work.keys);
  const auto& keys = work.keys.value;
  const std::size_t length = work.keys.first.size() - 1;
  const std::size_t sides = shape_.sides();
  const EntryTable& table = all();
  const auto& pruned_sides = weights_->pruned_sides;
  SideScores& scores = work.search.scores;
  scores.state.resize(sides);
  scores.prune.resize(pruned_sides.empty() ? 0 : sides);
  // What pads a row is never read.
  for (std::size_t k = 0; k < sides; ++k) scores.state[k].resize(length * shape_.shapes[k].stride());
  for (const std::int32_t k : pruned_sides) scores.prune[k].resize(length * shape_.shapes[k].stride());
  work.row.resize(static_cast<std::size_t>(side_label_count(shape_, pruned_sides)));
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  work.late.clear();
  work.late_first.assign(1, 0);
  table.find_all(keys, work.entry);
  for (std::size_t t = 0; t < length; ++t) {
    std::fill(work.row.begin(), work.row.end(), 0.0F);
    for (auto k = static_cast<std::size_t>(work.keys.first[t]);
         k < static_cast<std::size_t>(work.keys.first[t + 1]); ++k) {
      constexpr std::size_t kEntryAhead = 12;
      constexpr std::size_t kRowAhead = 4;
      if (k + kEntryAhead < work.entry.size() && work.entry[k + kEntryAhead] != kNoEntry)
        table.prefetch_entry(work.entry[k + kEntryAhead]);
      if (k + kRowAhead < work.entry.size() && work.entry[k + kRowAhead] != kNoEntry)
        table.prefetch_rows(work.entry[k + kRowAhead]);
      if (work.entry[k] == kNoEntry) continue;
      const std::uint32_t joint = table.add_sides(work.entry[k], work.row.data(), work.late);
      if (joint != kNoEntry) work.joint_entry.push_back(joint);
    }
    work.joint_first.push_back(work.joint_entry.size());
    work.late_first.push_back(work.late.size());
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
                               std::span<const Wishes> wishes, Work& work) const {
  if (!rough_ || !prune_roughly(sentences, sentence, wishes, work))
    return prepare_exactly(sentences, sentence, wishes, work);
  score_candidates(sentences, sentence, wishes, work);
  build(shape_, between_, EntrySource(*rest_, work), options_.margin, work.search);
  return true;
}

bool CoupledPredictor::prepare_exactly(const Sentences& sentences, std::int64_t sentence,
                                       std::span<const Wishes> wishes, Work& work) const {
  const auto units = static_cast<std::int32_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  score(sentences, sentence, work);
  const bool is_granted = wish(sentences, sentence, wishes, work);
  if (!is_granted) score(sentences, sentence, work);
  prune(shape_, prune_between_, options_.pruning, units, {}, std::isfinite(options_.margin), work.search);
  if (!work.late.empty()) add_late_rows(work);
  build(shape_, between_, EntrySource(all(), work), options_.margin, work.search);
  return is_granted;
}

void CoupledPredictor::add_late_rows(Work& work) const {
  const auto& candidates = work.search.candidates;
  const auto pruners = static_cast<std::int32_t>(weights_->pruned_sides.size());
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    const auto has_one = [&](const TagSets& sets) { return sets.at(t).size() == 1; };
    if (std::all_of(candidates.begin(), candidates.end(), has_one)) continue;  // no score matters there
    const auto last = work.late_first[t + 1];
    for (std::size_t k = work.late_first[t]; k < last; ++k) {
      const auto side = static_cast<std::size_t>(work.late[k].block - pruners);
      const float* row = all().late_row(work.late[k]);
      double* state =
          work.search.scores.state[side].data() + static_cast<std::size_t>(t) * shape_.shapes[side].stride();
      for (const TagId label : candidates[side].at(t)) state[label] += row[label];
    }
  }
}

namespace {

/// Whether labels are given at any unit of a sentence.
[[nodiscard]] bool gives_labels(const Wishes& wishes, std::int64_t begin, std::int64_t end) {
  const auto& first = wishes.allowed.first;
  return wishes.allowed.positions() != 0 && first[begin] != first[end];
}

/// Calls add(unit, label, score) for the bonuses of a sentence.
template <class Add>
void for_each_bonus(const Wishes& wishes, std::int64_t begin, std::int64_t end, const Add& add) {
  const auto by_unit = [](const Wishes::Bonus& bonus, std::int64_t unit) { return bonus.unit < unit; };
  for (auto it = std::lower_bound(wishes.bonus.begin(), wishes.bonus.end(), begin, by_unit);
       it != wishes.bonus.end() && it->unit < end; ++it) {
    add(static_cast<std::size_t>(it->unit - begin), static_cast<std::size_t>(it->label), it->score);
  }
}

}  // namespace

bool CoupledPredictor::wish(const Sentences& sentences, std::int64_t sentence, std::span<const Wishes> wishes,
                            Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  SideScores& scores = work.search.scores;
  for (std::size_t k = 0; k < wishes.size(); ++k) {
    if (wishes[k].allowed.positions() == 0 && wishes[k].bonus.empty()) continue;
    for (auto* states : {&scores.state, &scores.prune}) {
      if (k < states->size() && !(*states)[k].empty())
        apply(wishes[k], shape_.labels[k], shape_.shapes[k].stride(), begin, end, (*states)[k]);
    }
    if (!gives_labels(wishes[k], begin, end)) continue;  // no path is closed
    const UniformChain chain{static_cast<std::int32_t>(end - begin), scores.state[k].data(), between_.side[k],
                             shape_.rules[k]};
    work.path.resize(static_cast<std::size_t>(end - begin));
    if (!try_best_labels(chain, work.search.pruning.chain, work.path)) return false;
  }
  return true;
}

bool CoupledPredictor::prune_roughly(const Sentences& sentences, std::int64_t sentence,
                                     std::span<const Wishes> wishes, Work& work) const {
  work.keys.first.assign(1, 0);
  work.keys.value.clear();
  extract_keys(templates_, sentences, sentence, sentence + 1, work.keys);
  rough_->score(work.keys.first, work.keys.value, work.record, work.rough, work.rest, work.rest_first);
  wish_roughly(sentences, sentence, wishes, work);
  const auto units = static_cast<std::int32_t>(work.keys.first.size() - 1);
  SearchWork& search = work.search;
  search.candidates.resize(shape_.sides());
  search.prior.resize(shape_.sides());
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    if (!rough_pruner_[k].choose(units, work.rough.data() + rough_->offset(k), rough_->stride(), work.pruning,
                                 work.list.labels, work.list.strength) ||
        !choose_from(work.list, shape_.labels[k], rough_between_[k], options_.pruning, search.pruning,
                     search.candidates[k], search.prior[k]))
      return false;
    auto& keep = search.pruning.keep;
    if (trim_candidates(shape_.rules[k], keep, search.candidates[k], &search.prior[k])) continue;
    rough_pruner_[k].best_labels(units, work.pruning, work.path);
    add_labels(work.path, search.candidates[k], &search.prior[k]);
    if (!trim_candidates(shape_.rules[k], keep, search.candidates[k], &search.prior[k])) return false;
  }
  return true;
}

void CoupledPredictor::wish_roughly(const Sentences& sentences, std::int64_t sentence,
                                    std::span<const Wishes> wishes, Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  for (std::size_t k = 0; k < wishes.size(); ++k) {
    const std::vector<std::uint16_t>& lane = rough_pruner_[k].lanes();
    const auto row = [&](std::size_t t) {
      return work.rough.data() + t * rough_->stride() + rough_->offset(k);
    };
    for_each_bonus(wishes[k], begin, end, [&](std::size_t t, std::size_t label, float score) {
      constexpr double kMost = 32000.0;
      Rough& own = row(t)[lane[label]];
      own = static_cast<Rough>(std::clamp(own + std::round(score * rough_scale_), -kMost, kMost));
    });
    if (!gives_labels(wishes[k], begin, end)) continue;
    const std::size_t stride = rough_pruner_[k].stride();
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const auto allowed = wishes[k].allowed.at(static_cast<std::int32_t>(unit));
      if (allowed.empty()) continue;
      Rough* own = row(static_cast<std::size_t>(unit - begin));
      work.place.assign(own, own + stride);
      std::fill_n(own, stride, kRoughForbidden);
      for (const TagId label : allowed) own[lane[label]] = work.place[lane[label]];
    }
  }
}

void CoupledPredictor::score_candidates(const Sentences& sentences, std::int64_t sentence,
                                        std::span<const Wishes> wishes, Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  const auto length = static_cast<std::size_t>(end - begin);
  auto& state = work.search.scores.state;
  state.resize(shape_.sides());
  // Only candidates are ever looked at.
  for (std::size_t k = 0; k < shape_.sides(); ++k) state[k].resize(length * shape_.shapes[k].stride());
  work.wanted.resize(weights_->pruned_sides.size());
  work.row.resize(static_cast<std::size_t>(side_label_count(shape_, weights_->pruned_sides)));
  gather_rest(work);
  for (std::size_t t = 0; t < length; ++t) score_unit(static_cast<std::int32_t>(t), work);
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    const std::size_t stride = shape_.shapes[k].stride();
    const auto labels = static_cast<std::size_t>(shape_.labels[k]);
    const float* edge = between_.table[k].data();
    for (const TagId l : work.search.candidates[k].at(0))
      state[k][static_cast<std::size_t>(l)] += edge[labels * (labels + 1) + static_cast<std::size_t>(l)];
    for (const TagId l : work.search.candidates[k].at(static_cast<std::int32_t>(length) - 1))
      state[k][(length - 1) * stride + static_cast<std::size_t>(l)] +=
          edge[static_cast<std::size_t>(l) * (labels + 1) + labels];
  }
  for (std::size_t p = 0; !wishes.empty() && p < weights_->pruned_sides.size(); ++p) {
    const auto k = static_cast<std::size_t>(weights_->pruned_sides[p]);
    for_each_bonus(wishes[k], begin, end, [&](std::size_t t, std::size_t label, float score) {
      state[k][t * shape_.shapes[k].stride() + label] += score;
    });
  }
}

void CoupledPredictor::gather_rest(Work& work) const {
  const auto& candidates = work.search.candidates;
  work.late_entry.clear();
  work.late_entry_first.assign(1, 0);
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    const auto unit = static_cast<std::size_t>(t);
    const auto has_choice = [&](const TagSets& sets) { return sets.at(t).size() > 1; };
    if (std::any_of(candidates.begin(), candidates.end(), has_choice)) {
      for (std::size_t k = work.rest_first[unit]; k < work.rest_first[unit + 1]; ++k) {
        const EntryTable::Begins& own = work.rest[k];
        if (own.late != kNoEntry) {
          rest_->prefetch_entry(own.late);
          work.late_entry.push_back(own.late);
        }
        if (own.joint != kNoEntry) {
          rest_->prefetch_entry(own.joint);
          work.joint_entry.push_back(own.joint);
        }
      }
    }
    work.late_entry_first.push_back(work.late_entry.size());
    work.joint_first.push_back(work.joint_entry.size());
  }
}

void CoupledPredictor::score_unit(std::int32_t t, Work& work) const {
  const auto unit = static_cast<std::size_t>(t);
  const auto& candidates = work.search.candidates;
  const auto state_of = [&](std::size_t k) {
    return work.search.scores.state[k].data() + unit * shape_.shapes[k].stride();
  };
  const auto& pruned = weights_->pruned_sides;
  const bool has_rest = work.late_entry_first[unit] != work.late_entry_first[unit + 1];
  for (std::size_t k = 0; k < shape_.sides(); ++k) {
    // A side without a pruner has been pruned by its own scores.
    const Rough* rough = work.rough.data() + unit * rough_->stride() + rough_->offset(k);
    const std::vector<std::uint16_t>& lane = rough_pruner_[k].lanes();
    const double share = has_pruner(k) ? 0.0 : 1.0 / rough_scale_;
    double* state = state_of(k);
    for (const TagId l : candidates[k].at(t)) state[l] = share * rough[lane[l]];
  }
  if (!has_rest) return;
  std::size_t at = 0;
  for (std::size_t p = 0; p < pruned.size(); at += static_cast<std::size_t>(shape_.labels[pruned[p]]), ++p) {
    work.wanted[p] = candidates[pruned[p]].at(t);
    for (const TagId l : work.wanted[p]) work.row[at + static_cast<std::size_t>(l)] = 0.0F;
  }
  for (std::size_t k = work.late_entry_first[unit]; k < work.late_entry_first[unit + 1]; ++k)
    rest_->add_wanted(work.late_entry[k], work.wanted, work.row.data());
  at = 0;
  for (std::size_t p = 0; p < pruned.size(); at += static_cast<std::size_t>(shape_.labels[pruned[p]]), ++p) {
    double* state = state_of(static_cast<std::size_t>(pruned[p]));
    for (const TagId l : work.wanted[p]) state[l] = work.row[at + static_cast<std::size_t>(l)];
  }
}

}  // namespace duilian
