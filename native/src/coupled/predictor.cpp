#include "duilian/coupled/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/parallel.hpp"

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

CoupledPredictor::CoupledPredictor(CoupledShape shape, CoupledWeights weights, TemplateSet templates,
                                   Folding folding, SearchOptions options)
    : shape_(std::move(shape)),
      table_(weights.table, side_blocks(shape_, weights.pruned_sides), late_blocks(weights.pruned_sides),
             shape_.joint_labels()),
      transition_(std::move(weights.transition)),
      pruned_sides_(std::move(weights.pruned_sides)),
      templates_(std::move(templates)),
      folding_(std::move(folding)),
      options_(options),
      between_(cut_transitions(shape_, transition_, pruned_sides_, false)),
      prune_between_(cut_transitions(shape_, transition_, pruned_sides_, true)) {
  if (!(options_.margin >= 0.0)) throw std::invalid_argument("the margin must be at least 0");
}

CoupledWeights CoupledPredictor::weights() const { return {table_.restore(), transition_, pruned_sides_}; }

void CoupledPredictor::score(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  work.keys.first.assign(1, 0);
  work.keys.value.clear();
  extract_keys(templates_, sentences, sentence, sentence + 1, work.keys);
  const auto& keys = work.keys.value;
  const std::size_t length = work.keys.first.size() - 1;
  const std::size_t sides = shape_.sides();
  SideScores& scores = work.search.scores;
  scores.state.resize(sides);
  scores.prune.resize(pruned_sides_.empty() ? 0 : sides);
  // What pads a row is never read.
  for (std::size_t k = 0; k < sides; ++k) scores.state[k].resize(length * shape_.shapes[k].stride());
  for (const std::int32_t k : pruned_sides_) scores.prune[k].resize(length * shape_.shapes[k].stride());
  work.row.resize(static_cast<std::size_t>(side_label_count(shape_, pruned_sides_)));
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  work.late.clear();
  work.late_first.assign(1, 0);
  table_.find_all(keys, work.entry);
  for (std::size_t t = 0; t < length; ++t) {
    std::fill(work.row.begin(), work.row.end(), 0.0F);
    for (auto k = static_cast<std::size_t>(work.keys.first[t]);
         k < static_cast<std::size_t>(work.keys.first[t + 1]); ++k) {
      constexpr std::size_t kEntryAhead = 12;
      constexpr std::size_t kRowAhead = 4;
      if (k + kEntryAhead < work.entry.size() && work.entry[k + kEntryAhead] != kNoEntry)
        table_.prefetch_entry(work.entry[k + kEntryAhead]);
      if (k + kRowAhead < work.entry.size() && work.entry[k + kRowAhead] != kNoEntry)
        table_.prefetch_rows(work.entry[k + kRowAhead]);
      if (work.entry[k] == kNoEntry) continue;
      const std::uint32_t joint = table_.add_sides(work.entry[k], work.row.data(), work.late);
      if (joint != kNoEntry) work.joint_entry.push_back(joint);
    }
    work.joint_first.push_back(work.joint_entry.size());
    work.late_first.push_back(work.late.size());
    const float* from = work.row.data();
    for (const std::int32_t k : pruned_sides_) {
      std::copy_n(from, shape_.labels[k], scores.prune[k].data() + t * shape_.shapes[k].stride());
      from += shape_.labels[k];
    }
    for (std::size_t k = 0; k < sides; from += shape_.labels[k], ++k)
      std::copy_n(from, shape_.labels[k], scores.state[k].data() + t * shape_.shapes[k].stride());
  }
  const float* transition = transition_.data();
  const auto add_all_edges = [&](std::size_t k, std::vector<double>& states) {
    const auto edge = static_cast<std::size_t>(shape_.labels[k]) + 1;
    add_edges(shape_.labels[k], shape_.rules[k], {{transition, edge * edge}}, shape_.shapes[k].stride(),
              states);
    transition += edge * edge;
  };
  for (const std::int32_t k : pruned_sides_) add_all_edges(static_cast<std::size_t>(k), scores.prune[k]);
  for (std::size_t k = 0; k < sides; ++k) add_all_edges(k, scores.state[k]);
}

void CoupledPredictor::analyse(const Sentences& sentences, std::int64_t sentence,
                               std::span<const TagSets> allowed, Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  score(sentences, sentence, work);
  if (!allowed.empty()) restrict_scores(shape_, allowed, begin, end, work.search.scores);
  build_space(end - begin, work);
  decode({0, shape_.sides()}, work);
}

void CoupledPredictor::build_space(std::int64_t units, Work& work) const {
  prune(shape_, prune_between_, options_.pruning, static_cast<std::int32_t>(units), {},
        std::isfinite(options_.margin), work.search);
  if (!work.late.empty()) add_late_rows(work);
  build(shape_, between_, EntrySource(table_, work), options_.margin, work.search);
}

void CoupledPredictor::add_late_rows(Work& work) const {
  const auto& candidates = work.search.candidates;
  const auto pruners = static_cast<std::int32_t>(pruned_sides_.size());
  for (std::int32_t t = 0; t < candidates[0].positions(); ++t) {
    const auto has_one = [&](const TagSets& sets) { return sets.at(t).size() == 1; };
    if (std::all_of(candidates.begin(), candidates.end(), has_one)) continue;  // no score matters there
    const auto last = work.late_first[t + 1];
    for (std::size_t k = work.late_first[t]; k < last; ++k) {
      const auto side = static_cast<std::size_t>(work.late[k].block - pruners);
      const float* row = table_.late_row(work.late[k]);
      double* state =
          work.search.scores.state[side].data() + static_cast<std::size_t>(t) * shape_.shapes[side].stride();
      for (const TagId label : candidates[side].at(t)) state[label] += row[label];
    }
  }
}

void CoupledPredictor::decode(SideChoice sides, Work& work) const {
  duilian::decode(shape_, options_.decoding, sides, work.search);
}

bool CoupledPredictor::score_wished(const Sentences& sentences, std::int64_t sentence,
                                    std::span<const Wishes> wishes, Work& work) const {
  score(sentences, sentence, work);
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  SideScores& scores = work.search.scores;
  for (std::size_t k = 0; k < wishes.size(); ++k) {
    if (wishes[k].allowed.positions() == 0 && wishes[k].bonus.empty()) continue;
    for (auto* states : {&scores.state, &scores.prune}) {
      if (k < states->size() && !(*states)[k].empty())
        apply(wishes[k], shape_.labels[k], shape_.shapes[k].stride(), begin, end, (*states)[k]);
    }
    const auto& given = wishes[k].allowed.first;
    if (wishes[k].allowed.positions() == 0 || given[begin] == given[end]) continue;  // no path is closed
    const UniformChain chain{static_cast<std::int32_t>(end - begin), scores.state[k].data(), between_.side[k],
                             shape_.rules[k]};
    work.path.resize(static_cast<std::size_t>(end - begin));
    if (try_best_labels(chain, work.search.pruning.chain, work.path)) continue;
    score(sentences, sentence, work);
    return false;
  }
  return true;
}

namespace {

void check_allowed(const CoupledPredictor& predictor, std::span<const TagSets> allowed,
                   const Sentences& sentences) {
  if (!allowed.empty() && allowed.size() != predictor.shape().sides())
    throw std::invalid_argument("given labels for another number of sides");
  for (std::size_t k = 0; k < allowed.size(); ++k) {
    check(allowed[k]);
    const auto is_label = [&](TagId l) { return l >= 0 && l < predictor.shape().labels[k]; };
    if ((allowed[k].positions() != 0 && allowed[k].positions() != sentences.units()) ||
        !std::all_of(allowed[k].tag.begin(), allowed[k].tag.end(), is_label))
      throw std::invalid_argument("the given labels do not fit the sentences");
  }
}

/// Calls visit(thread, sentence, scratch) for every sentence that is not empty.
template <class Visit>
void for_each_sentence(const Sentences& sentences, std::size_t threads, const Visit& visit) {
  Team team(threads);
  std::vector<CoupledPredictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t s) {
    const auto sentence = static_cast<std::int64_t>(s);
    if (sentences.begin_of(sentence) < sentences.end_of(sentence)) visit(thread, sentence, work[thread]);
  });
}

/// Calls visit(thread, sentence, its analysis) for every sentence that is not empty.
template <class Visit>
void analyse_all(const CoupledPredictor& predictor, const Sentences& sentences,
                 std::span<const TagSets> allowed, std::size_t threads, const Visit& visit) {
  check_allowed(predictor, allowed, sentences);
  for_each_sentence(sentences, threads,
                    [&](std::size_t thread, std::int64_t sentence, CoupledPredictor::Work& work) {
                      predictor.analyse(sentences, sentence, allowed, work);
                      visit(thread, static_cast<std::size_t>(sentence), work.search);
                    });
}

[[nodiscard]] std::vector<std::int64_t> begins_of(const Sentences& sentences) {
  std::vector<std::int64_t> first{0};
  for (std::int64_t s = 0; s < sentences.size(); ++s) first.push_back(sentences.end_of(s));
  return first;
}

}  // namespace

CoupledAnswers predict(const CoupledPredictor& predictor, const Sentences& sentences,
                       std::span<const TagSets> allowed, bool with_candidates, std::size_t threads) {
  const std::vector<std::int64_t> first = begins_of(sentences);
  AnswerCollector answers(predictor.shape().sides(), first, with_candidates);
  analyse_all(predictor, sentences, allowed, threads,
              [&](std::size_t, std::size_t s, const SearchWork& found) { answers.add(s, found); });
  return answers.finish();
}

namespace {

void check_wishes(const CoupledPredictor& predictor, std::span<const Wishes> wishes,
                  const Sentences& sentences) {
  if (!wishes.empty() && wishes.size() != predictor.shape().sides())
    throw std::invalid_argument("wishes for another number of sides");
  for (std::size_t k = 0; k < wishes.size(); ++k)
    check(wishes[k], predictor.shape().labels[k], sentences.units());
}

}  // namespace

CoupledAnswers predict_wished(const CoupledPredictor& predictor, const Sentences& sentences,
                              std::span<const Wishes> wishes, bool with_candidates, std::size_t threads,
                              std::int64_t& impossible) {
  check_wishes(predictor, wishes, sentences);
  const std::vector<std::int64_t> first = begins_of(sentences);
  AnswerCollector answers(predictor.shape().sides(), first, with_candidates);
  std::vector<std::uint8_t> is_impossible(static_cast<std::size_t>(sentences.size()), 0);
  for_each_sentence(sentences, threads,
                    [&](std::size_t, std::int64_t sentence, CoupledPredictor::Work& work) {
                      if (!predictor.score_wished(sentences, sentence, wishes, work))
                        is_impossible[sentence] = 1;
                      predictor.build_space(sentences.end_of(sentence) - sentences.begin_of(sentence), work);
                      predictor.decode({0, predictor.shape().sides()}, work);
                      answers.add(static_cast<std::size_t>(sentence), work.search);
                    });
  impossible = std::count(is_impossible.begin(), is_impossible.end(), 1);
  return answers.finish();
}

std::vector<SideAnswer> k_best(const CoupledPredictor& predictor, const Sentences& sentences,
                               std::size_t side, std::span<const Wishes> wishes, std::size_t k,
                               double& log_z) {
  if (side >= predictor.shape().sides()) throw std::invalid_argument("a side that is not there");
  check_wishes(predictor, wishes, sentences);
  if (sentences.size() != 1 || sentences.units() == 0)
    throw std::invalid_argument("the best analyses are of one sentence that is not empty");
  CoupledPredictor::Work work;
  (void)predictor.score_wished(sentences, 0, wishes, work);
  predictor.build_space(sentences.units(), work);
  log_z = log_partition(work.search.space.chain(), work.search.chain);
  return k_best_labels(work.search.space, side, k, work.search.chain);
}

namespace {

class SideLabeller final : public Labeller {
 public:
  SideLabeller(const CoupledPredictor& predictor, std::size_t side,
               const std::vector<std::vector<std::uint8_t>>& starts)
      : predictor_(predictor), side_(side), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> begins,
             std::span<std::int32_t> out) override {
    predictor_.score(sentences, 0, work_);
    for (std::size_t t = 0; t < begins.size(); ++t) {
      if (begins[t] != 0) forbid_inner_labels(t);
    }
    predictor_.build_space(static_cast<std::int64_t>(out.size()), work_);
    predictor_.decode({side_, side_ + 1}, work_);
    const TagSets& candidates = work_.search.candidates[side_];
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] = candidates.tag[static_cast<std::size_t>(candidates.first[t] + work_.search.place[side_][t])];
  }

 private:
  void forbid_inner_labels(std::size_t t) {
    for (auto* scores : {&work_.search.scores.state, &work_.search.scores.prune}) {
      for (std::size_t k = 0; k < scores->size(); ++k) {
        if ((*scores)[k].empty()) continue;
        double* state = (*scores)[k].data() + t * predictor_.shape().shapes[k].stride();
        for (std::size_t l = 0; l < starts_[k].size(); ++l) {
          if (starts_[k][l] == 0) state[l] = kForbidden;
        }
      }
    }
  }
  const CoupledPredictor& predictor_;
  std::size_t side_;
  const std::vector<std::vector<std::uint8_t>>& starts_;
  CoupledPredictor::Work work_;
};

class SideModel final : public LabelModel {
 public:
  SideModel(const CoupledPredictor& predictor, std::size_t side,
            std::vector<std::vector<std::uint8_t>> starts)
      : predictor_(predictor), side_(side), starts_(std::move(starts)) {
    const auto& labels = predictor.shape().labels;
    bool fits = side < labels.size() && starts_.size() == labels.size();
    for (std::size_t k = 0; fits && k < labels.size(); ++k)
      fits = starts_[k].size() == static_cast<std::size_t>(labels[k]);
    if (!fits) throw std::invalid_argument("the options do not fit the labels");
  }
  [[nodiscard]] std::int32_t labels() const override { return predictor_.shape().labels[side_]; }
  [[nodiscard]] const TemplateSet& templates() const override { return predictor_.templates(); }
  [[nodiscard]] const Folding& folding() const override { return predictor_.folding(); }
  [[nodiscard]] std::unique_ptr<Labeller> labeller() const override {
    return std::make_unique<SideLabeller>(predictor_, side_, starts_);
  }

 private:
  const CoupledPredictor& predictor_;
  std::size_t side_;
  std::vector<std::vector<std::uint8_t>> starts_;
};

}  // namespace

std::unique_ptr<LabelModel> label_model(const CoupledPredictor& predictor, std::size_t side,
                                        std::vector<std::vector<std::uint8_t>> starts) {
  return std::make_unique<SideModel>(predictor, side, std::move(starts));
}

std::vector<double> count_pairs(const CoupledPredictor& predictor, const Sentences& sentences,
                                std::span<const TagSets> allowed, std::size_t side_a, std::size_t side_b,
                                std::size_t threads) {
  const auto& labels = predictor.shape().labels;
  if (side_a >= labels.size() || side_b >= labels.size())
    throw std::invalid_argument("a side that is not there");
  const auto columns = static_cast<std::size_t>(labels[side_b]);
  const std::size_t size = static_cast<std::size_t>(labels[side_a]) * columns;
  std::vector<std::vector<double>> counts(threads, std::vector<double>(size, 0.0));
  analyse_all(predictor, sentences, allowed, threads,
              [&](std::size_t thread, std::size_t, const SearchWork& found) {
                for (std::int32_t s = 0; s < found.space.lattice.states(); ++s) {
                  const auto bundle = found.space.lattice.bundle(s);
                  counts[thread][static_cast<std::size_t>(bundle[side_a]) * columns + bundle[side_b]] +=
                      found.found.unit[s];
                }
              });
  for (std::size_t t = 1; t < threads; ++t)
    std::transform(counts[0].begin(), counts[0].end(), counts[t].begin(), counts[0].begin(), std::plus<>());
  return std::move(counts[0]);
}

}  // namespace duilian
