#include "duilian/coupled/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

namespace {

/// How many labels each side has in the table.
[[nodiscard]] std::vector<std::int32_t> side_blocks(const CoupledShape& shape, bool has_pruner) {
  std::vector<std::int32_t> blocks(shape.labels);
  if (has_pruner) blocks.insert(blocks.end(), shape.labels.begin(), shape.labels.end());
  return blocks;
}

[[nodiscard]] std::int32_t side_label_count(const CoupledShape& shape, bool has_pruner) {
  const std::int32_t sum = std::accumulate(shape.labels.begin(), shape.labels.end(), 0);
  return has_pruner ? 2 * sum : sum;
}

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
                                                 const std::vector<float>& transition, bool has_pruner,
                                                 bool of_pruner) {
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
  for (std::size_t k = 0; has_pruner && k < shape.sides(); ++k)
    pruner.push_back(take(edge(shape.labels[k]) * edge(shape.labels[k])));
  for (std::size_t k = 0; k < shape.sides(); ++k)
    side.push_back(take(edge(shape.labels[k]) * edge(shape.labels[k])));
  for (const JointPart& part : shape.joint)
    joint.push_back(take(static_cast<std::size_t>(part.transitions())));
  const auto finite = [](float x) { return std::isfinite(x); };
  if (at != transition.size() || !std::all_of(transition.begin(), transition.end(), finite))
    throw std::invalid_argument("the transitions do not fit the tagger");
  return make_transitions(shape, of_pruner && has_pruner ? pruner : side, joint, 1.0F);
}

}  // namespace

CoupledWeights compile_coupled(const CoupledLayout& layout, std::span<const float> weights,
                               std::span<const std::span<const float>> pruner,
                               std::span<const std::uint64_t> keys, float least) {
  const CoupledShape& shape = layout.shape;
  CoupledWeights out;
  out.has_pruner = !pruner.empty();
  const std::int32_t side_labels = side_label_count(shape, out.has_pruner);
  if (side_labels + shape.joint_labels() > 0x8000)
    throw std::invalid_argument(concat(side_labels + shape.joint_labels(), " labels are more than 32,768"));
  if (weights.size() != static_cast<std::size_t>(layout.weights) ||
      keys.size() + 1 != layout.joint_first.size() || (out.has_pruner && pruner.size() != shape.sides()))
    throw std::invalid_argument("the weights do not fit the model");
  std::vector<std::span<const float>> sides(pruner.begin(), pruner.end());
  for (std::size_t k = 0; k < shape.sides(); ++k) sides.push_back(layout.side({weights}, k).value);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const TaggerLayout& side = layout.separate[k % shape.sides()];
    if (sides[k].size() != static_cast<std::size_t>(side.weights()))
      throw std::invalid_argument("the weights do not fit the model");
    out.transition.insert(out.transition.end(), sides[k].begin(), sides[k].begin() + side.transitions());
  }
  const auto joint_from = weights.begin() + layout.joint_state_at;
  const std::int64_t joint_at =
      layout.joint_transition_at.empty() ? layout.joint_state_at : layout.joint_transition_at[0];
  out.transition.insert(out.transition.end(), weights.begin() + joint_at, joint_from);
  std::vector<std::uint64_t> kept;
  std::vector<std::size_t> begins;
  const auto add = [&](std::int64_t label, float w) {
    if (w != 0.0F && std::abs(w) >= least) out.table.add(static_cast<std::uint16_t>(label), w);
  };
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::size_t begin = out.table.label.size();
    std::int32_t offset = 0;
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const TaggerLayout& side = layout.separate[k % shape.sides()];
      for (std::int64_t w = side.first[row]; w < side.first[row + 1]; ++w)
        add(offset + side.label[w], sides[k][static_cast<std::size_t>(side.transitions() + w)]);
      offset += side.labels;
    }
    for (std::int64_t w = layout.joint_first[row]; w < layout.joint_first[row + 1]; ++w)
      add(side_labels + layout.joint_label[w], joint_from[w]);
    if (!out.table.end_feature(begin)) continue;
    kept.push_back(keys[row]);
    begins.push_back(begin);
  }
  out.table.place(kept, begins);
  return out;
}

CoupledPredictor::CoupledPredictor(CoupledShape shape, CoupledWeights weights, TemplateSet templates,
                                   Folding folding, SearchOptions options)
    : shape_(std::move(shape)),
      table_(weights.table, side_blocks(shape_, weights.has_pruner), shape_.joint_labels()),
      transition_(std::move(weights.transition)),
      has_pruner_(weights.has_pruner),
      templates_(std::move(templates)),
      folding_(std::move(folding)),
      options_(options),
      between_(cut_transitions(shape_, transition_, has_pruner_, false)),
      prune_between_(cut_transitions(shape_, transition_, has_pruner_, true)) {
  if (!(options_.margin >= 0.0)) throw std::invalid_argument("the margin must be at least 0");
}

CoupledWeights CoupledPredictor::weights() const { return {table_.restore(), transition_, has_pruner_}; }

void CoupledPredictor::score(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  work.keys.first.assign(1, 0);
  work.keys.value.clear();
  extract_keys(templates_, sentences, sentence, sentence + 1, work.keys);
  const auto& keys = work.keys.value;
  const std::size_t length = work.keys.first.size() - 1;
  const std::size_t sides = shape_.sides();
  SideScores& scores = work.search.scores;
  scores.state.resize(sides);
  scores.prune.resize(has_pruner_ ? sides : 0);
  for (std::size_t k = 0; k < sides; ++k) scores.state[k].assign(length * shape_.shapes[k].stride(), 0.0);
  for (std::size_t k = 0; k < scores.prune.size(); ++k)
    scores.prune[k].assign(length * shape_.shapes[k].stride(), 0.0);
  work.row.resize(static_cast<std::size_t>(side_label_count(shape_, has_pruner_)));
  work.joint_entry.clear();
  work.joint_first.assign(1, 0);
  table_.find_all(keys, work.entry);
  for (std::size_t t = 0; t < length; ++t) {
    std::fill(work.row.begin(), work.row.end(), 0.0F);
    for (auto k = static_cast<std::size_t>(work.keys.first[t]);
         k < static_cast<std::size_t>(work.keys.first[t + 1]); ++k) {
      if (work.entry[k] == kNoEntry) continue;
      const std::uint32_t joint = table_.add_sides(work.entry[k], work.row.data());
      if (joint != kNoEntry) work.joint_entry.push_back(joint);
    }
    work.joint_first.push_back(work.joint_entry.size());
    const float* from = work.row.data();
    for (std::size_t k = 0; k < scores.prune.size(); from += shape_.labels[k], ++k)
      std::copy_n(from, shape_.labels[k], scores.prune[k].data() + t * shape_.shapes[k].stride());
    for (std::size_t k = 0; k < sides; from += shape_.labels[k], ++k)
      std::copy_n(from, shape_.labels[k], scores.state[k].data() + t * shape_.shapes[k].stride());
  }
  const float* transition = transition_.data();
  const auto add_all_edges = [&](std::vector<std::vector<double>>& states) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto edge = static_cast<std::size_t>(shape_.labels[k]) + 1;
      add_edges(shape_.labels[k], shape_.rules[k], {{transition, edge * edge}}, shape_.shapes[k].stride(),
                states[k]);
      transition += edge * edge;
    }
  };
  add_all_edges(scores.prune);
  add_all_edges(scores.state);
}

void CoupledPredictor::analyse(const Sentences& sentences, std::int64_t sentence,
                               std::span<const TagSets> allowed, Work& work) const {
  const std::int64_t begin = sentences.begin_of(sentence);
  const std::int64_t end = sentences.end_of(sentence);
  score(sentences, sentence, work);
  if (!allowed.empty()) restrict_scores(shape_, allowed, begin, end, work.search.scores);
  search(end - begin, work);
}

void CoupledPredictor::search(std::int64_t units, Work& work) const {
  prune(shape_, prune_between_, options_.pruning, static_cast<std::int32_t>(units), {},
        std::isfinite(options_.margin), work.search);
  build(shape_, between_, EntrySource(table_, work), options_.margin, work.search);
  decode(shape_, options_.decoding, work.search);
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

/// Calls visit(thread, sentence, its analysis) for every sentence that is not empty.
template <class Visit>
void analyse_all(const CoupledPredictor& predictor, const Sentences& sentences,
                 std::span<const TagSets> allowed, std::size_t threads, const Visit& visit) {
  check_allowed(predictor, allowed, sentences);
  Team team(threads);
  std::vector<CoupledPredictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t s) {
    const auto sentence = static_cast<std::int64_t>(s);
    if (sentences.begin_of(sentence) == sentences.end_of(sentence)) return;
    predictor.analyse(sentences, sentence, allowed, work[thread]);
    visit(thread, s, work[thread].search);
  });
}

}  // namespace

CoupledAnswers predict(const CoupledPredictor& predictor, const Sentences& sentences,
                       std::span<const TagSets> allowed, bool with_candidates, std::size_t threads) {
  std::vector<std::int64_t> first{0};
  for (std::int64_t s = 0; s < sentences.size(); ++s) first.push_back(sentences.end_of(s));
  AnswerCollector answers(predictor.shape().sides(), first, with_candidates);
  analyse_all(predictor, sentences, allowed, threads,
              [&](std::size_t, std::size_t s, const SearchWork& found) { answers.add(s, found); });
  return answers.finish();
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
    predictor_.search(static_cast<std::int64_t>(out.size()), work_);
    const TagSets& candidates = work_.search.candidates[side_];
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] = candidates.tag[static_cast<std::size_t>(candidates.first[t] + work_.search.place[side_][t])];
  }

 private:
  void forbid_inner_labels(std::size_t t) {
    for (auto* scores : {&work_.search.scores.state, &work_.search.scores.prune}) {
      for (std::size_t k = 0; k < scores->size(); ++k) {
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
