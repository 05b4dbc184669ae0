// Training with dynamic features: features of gold paths, the search with weights in training, and both ways
// to learn (see training.hpp).
#include "duilian/dynamic/training.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "duilian/features/evaluate.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

namespace {

/// Scores with weights in training.
class TrainingScorer final : public WordScorer {
 public:
  TrainingScorer(const TaggerLayout& layout, WeightView weights, const WordTemplates& templates,
                 const LabelWords& words, const KeyTable& index, std::size_t first_row, WordWindow& window,
                 DynamicTraining::Work& work)
      : layout_(layout),
        weights_(weights),
        templates_(templates),
        words_(words),
        index_(index),
        first_row_(first_row),
        window_(window),
        work_(work) {}

  void add(const FollowedHistories& followed, std::int32_t t, KindSet kinds, double* state) override {
    const bool is_one = kinds == kEveryKind && followed[kBetween] == followed[kInside];
    DynamicTraining::FollowedRows& at = work_.followed[static_cast<std::size_t>(t)];
    for (const Kind kind : {kBetween, kInside}) {
      if (!has(kinds, kind)) continue;
      if (is_one && kind == kInside) {
        at.begin[kind] = at.begin[kBetween];
      } else {
        at.begin[kind] = work_.rows.size();
        find_rows(followed[kind], t);
      }
      at.end[kind] = work_.rows.size();
      add_rows(work_.rows_of(t, kind), kind, state);
    }
  }

 private:
  /// Adds the weights of rows for labels of one kind.
  void add_rows(std::span<const std::uint32_t> rows, Kind kind, double* state) const {
    const float* value = weights_.value.data() + layout_.transitions();
    for (const std::uint32_t row : rows) {
      layout_.for_each_place(row, [&](std::int32_t label, std::int64_t k) {
        if (words_.kind_of(static_cast<std::size_t>(label)) == kind)
          state[label] += static_cast<double>(weights_.scale) * value[k];
      });
    }
  }

  void find_rows(const History& history, std::int32_t t) {
    window_.move_to(history, t);
    work_.keys.clear();
    templating::append_keys(templates_.set(), window_, 0, work_.keys);
    for (const std::uint64_t key : work_.keys) index_.prefetch(key);
    for (const std::uint64_t key : work_.keys) {
      const std::uint32_t found = index_.find(key);
      if (found != kNoRow) work_.rows.push_back(static_cast<std::uint32_t>(first_row_) + found);
    }
  }

  const TaggerLayout& layout_;
  WeightView weights_;
  const WordTemplates& templates_;
  const LabelWords& words_;
  const KeyTable& index_;
  std::size_t first_row_;
  WordWindow& window_;
  DynamicTraining::Work& work_;
};

void check_labels(const LabelWords& words, std::int32_t labels, const Sentences& sentences,
                  std::span<const std::int32_t> label) {
  check(words, labels);
  if (static_cast<std::int64_t>(label.size()) != sentences.units())
    throw std::invalid_argument("the labels do not match the sentences");
  if (std::any_of(label.begin(), label.end(), [&](std::int32_t l) { return l < 0 || l >= labels; }))
    throw std::invalid_argument("a label is out of range");
}

}  // namespace

DynamicTraining::DynamicTraining(std::int32_t labels, Succession rules, LabelWords words,
                                 const TemplateSet& templates, TemplateSet word_templates,
                                 const Sentences& sentences, std::vector<std::int32_t> label,
                                 FeatureOptions options, DynamicOptions search)
    : words_(std::move(words)),
      word_templates_(std::move(word_templates)),
      sentences_(sentences),
      options_(options),
      search_{.beam = 1, .kind_gap = search.kind_gap, .path_gap = search.path_gap},
      units_({}) {
  check_labels(words_, labels, sentences, label);
  data_.first = sentences.first();
  data_.label = std::move(label);
  IndexedFeatures found = index_features(templates, sentences, options.min_count, options.threads);
  keys_ = std::move(found.keys);
  data_.features = std::move(found.rows);
  units_ = FeatureIndex(keys_);
  TaggingData all{{}, data_.first, data_.label, {}};
  index_words(all.features);
  layout_ = lay_out_tagger(labels, std::move(rules), static_cast<std::int64_t>(keys_.size()), all,
                           options.full_from);
}

/// Indexes the word features of gold paths; `all` receives the rows of unit and word features.
void DynamicTraining::index_words(FeatureRows& all) {
  const FeatureKeys found = word_keys(word_templates_, words_, sentences_, data_.label);
  KeyCounter counter;
  for (const std::uint64_t key : found.value) counter.add(key);
  const std::size_t first_row = keys_.size();
  for (const std::uint64_t key : counter.frequent(options_.min_word_count)) {
    word_index_.insert(key);
    keys_.push_back(key);
  }
  const FeatureRows& units = data_.features;
  for (std::size_t unit = 0; unit + 1 < found.first.size(); ++unit) {
    all.value.insert(all.value.end(), units.value.begin() + units.first[unit],
                     units.value.begin() + units.first[unit + 1]);
    for (std::int64_t k = found.first[unit]; k < found.first[unit + 1]; ++k) {
      const std::uint32_t row = word_index_.find(found.value[static_cast<std::size_t>(k)]);
      if (row != kNoRow) all.value.push_back(static_cast<std::uint32_t>(first_row + row));
    }
    all.first.push_back(static_cast<std::int64_t>(all.value.size()));
  }
}

bool DynamicTraining::decode(WeightView weights, const LabelTransitions& between, const Sentences& sentences,
                             std::int64_t sentence, Work& work) const {
  const std::int64_t length = sentences.end_of(sentence) - sentences.begin_of(sentence);
  add_edges(layout_.labels, layout_.rules, weights, layout_.shape.stride(), work.state);
  work.guess.resize(static_cast<std::size_t>(length));
  work.rows.clear();
  work.followed.assign(static_cast<std::size_t>(length), {});
  WordWindow window(word_templates_, words_, sentences, sentence);
  TrainingScorer scorer(layout_, weights, word_templates_, words_, word_index_, unit_rows(), window, work);
  const UniformChain chain{static_cast<std::int32_t>(length), work.state.data(), between, layout_.rules};
  return try_dynamic_labels(chain, words_, scorer, search_, work.search, work.guess);
}

bool DynamicTraining::search(WeightView weights, const LabelTransitions& between, std::int64_t sentence,
                             Work& work) const {
  return decode(weights, between, sentences_, sentence, work);
}

void DynamicTraining::add_row(std::uint32_t row, std::int32_t label, float sign,
                              std::vector<Delta>& difference) const {
  const std::int64_t weight = layout_.find(row, label);
  if (weight >= 0) difference.push_back({static_cast<std::uint32_t>(weight), sign});
}

void DynamicTraining::add_words(std::int32_t t, std::int32_t label, float sign, const Work& work,
                                std::vector<Delta>& difference) const {
  const Kind kind = words_.kind_of(static_cast<std::size_t>(label));
  for (const std::uint32_t row : work.rows_of(t, kind)) add_row(row, label, sign, difference);
}

void DynamicTraining::add_transitions(std::span<const std::int32_t> labels, float sign,
                                      std::vector<Delta>& difference) const {
  std::int32_t before = layout_.labels;
  const auto add = [&](std::int32_t after) {
    difference.push_back({static_cast<std::uint32_t>(before * (layout_.labels + 1) + after), sign});
    before = after;
  };
  for (const std::int32_t label : labels) add(label);
  add(layout_.labels);
}

double DynamicTraining::respond(WeightView weights, std::int64_t sentence, std::size_t, Work& work,
                                std::vector<Delta>& difference) const {
  assert(weights.scale == 1.0F);  // as the passive-aggressive learner keeps them
  const std::int64_t begin = sentences_.begin_of(sentence);
  const std::span gold(data_.label.data() + begin,
                       static_cast<std::size_t>(sentences_.end_of(sentence) - begin));
  const LabelTransitions between(layout_.shape, layout_.rules,
                                 weights.value.first(static_cast<std::size_t>(layout_.transitions())), false);
  score_state_parts(layout_, weights, data_.features, begin, sentences_.end_of(sentence), work.state);
  if (!decode(weights, between, sentences_, sentence, work))
    throw std::invalid_argument("no path through the lattice is legal");
  if (std::equal(gold.begin(), gold.end(), work.guess.begin())) return 0.0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    if (gold[t] == work.guess[t]) continue;
    const auto place = static_cast<std::int32_t>(t);
    add_words(place, gold[t], 1.0F, work, difference);
    add_words(place, work.guess[t], -1.0F, work, difference);
    for (std::int64_t f = data_.features.first[begin + place]; f < data_.features.first[begin + place + 1];
         ++f) {
      add_row(data_.features.value[f], gold[t], 1.0F, difference);
      add_row(data_.features.value[f], work.guess[t], -1.0F, difference);
    }
  }
  add_transitions(gold, 1.0F, difference);
  add_transitions(work.guess, -1.0F, difference);
  return 1.0;
}

std::vector<std::int32_t> DynamicTraining::tag(WeightView weights, const Sentences& sentences,
                                               const FeatureRows& rows, std::size_t threads) const {
  if (static_cast<std::int64_t>(rows.first.size()) != sentences.units() + 1)
    throw std::invalid_argument("the feature rows do not match the sentences");
  const LabelTransitions between = score_transitions(layout_, weights);
  std::vector<std::int32_t> out(static_cast<std::size_t>(sentences.units()));
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  std::vector<Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    score_state_parts(layout_, weights, rows, sentences.begin_of(sentence), sentences.end_of(sentence),
                      work[thread].state);
    if (!decode(weights, between, sentences, sentence, work[thread]))
      throw std::invalid_argument("no path through the lattice is legal");
    std::copy(work[thread].guess.begin(), work[thread].guess.end(),
              out.begin() + sentences.begin_of(sentence));
  });
  return out;
}

FeatureRows DynamicTraining::rows(const TemplateSet& templates, const Sentences& sentences,
                                  std::size_t threads) const {
  return extract_rows(templates, sentences, units_, threads);
}

template <class Take>
void DynamicObjective::for_each_word_weight(std::int32_t t, const DynamicTraining::Work& work,
                                            const Take& take) const {
  const TaggerLayout& layout = training_.layout();
  for (const Kind kind : {kBetween, kInside}) {
    for (const std::uint32_t row : work.rows_of(t, kind)) {
      layout.for_each_place(row, [&](std::int32_t label, std::int64_t k) {
        if (training_.words().kind_of(static_cast<std::size_t>(label)) == kind)
          take(static_cast<std::uint16_t>(label), k);
      });
    }
  }
}

double DynamicObjective::compute(const Prepared& between, WeightView weights, std::int64_t sentence,
                                 Work& work, Gradient& out) const {
  const TaggerLayout& layout = training_.layout();
  const std::size_t stride = layout.shape.stride();
  HalfScores& score = work.plain.score;
  for (std::size_t half = 0; half < kHalves; ++half) plain_.score_half(weights, sentence, half, score[half]);
  DynamicTraining::Work& dynamic = work.dynamic;
  dynamic.state = score[0];
  for (std::size_t k = 0; k < dynamic.state.size(); ++k) dynamic.state[k] += score[1][k];
  if (!training_.search(weights, between, sentence, dynamic))
    throw std::invalid_argument("no path through the lattice is legal");
  const float* value = weights.value.data() + layout.transitions();
  for (std::size_t t = 0; t < dynamic.guess.size(); ++t) {
    double* state = score[0].data() + t * stride;
    for_each_word_weight(static_cast<std::int32_t>(t), dynamic, [&](std::uint16_t label, std::int64_t k) {
      state[label] += static_cast<double>(weights.scale) * value[k];
    });
  }
  const double loss = plain_.compute_scored(between, weights, sentence, score, work.plain, out);
  const auto L = static_cast<std::size_t>(layout.labels);
  for (std::size_t a = 0; a < out.active.size(); ++a) {
    for_each_word_weight(out.active[a], dynamic, [&](std::uint16_t label, std::int64_t k) {
      const float change = out.change[a * L + label];
      if (change != 0.0F)
        out.sparse.push_back({static_cast<std::uint32_t>(layout.transitions() + k), change});
    });
  }
  return loss;
}

}  // namespace duilian
