// Compiles and applies two trained chains (see predictor.hpp).
#include "duilian/two_chain/predictor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"
#include "duilian/score/compile.hpp"

namespace duilian {

namespace {

using V [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
constexpr std::int32_t kLanes = 4;

void check_weights(const TwoChainWeights& w, const TwoChainShape& shape) {
  check(static_cast<const WeightTable&>(w), static_cast<std::int32_t>(shape.slots()));
  if (w.clique.size() != shape.clique_weights())
    throw std::invalid_argument("the arrays of the two chains are inconsistent");
  if (!std::all_of(w.clique.begin(), w.clique.end(), [](float x) { return std::isfinite(x); }))
    throw std::invalid_argument("a weight of the two chains is not finite");
}

[[nodiscard]] TemplateSet letter_patterns(const TwoChainPatterns& patterns, const TwoChainShape& shape) {
  check(patterns, shape);
  PlaceSet of_letters = 0;
  for (std::size_t p = 0; p < shape.places().size(); ++p) {
    if (shape.places()[p].clique <= Clique::letters) of_letters |= PlaceSet{1} << p;
  }
  TemplateSet out = patterns.set;
  out.templates.clear();
  for (std::size_t k = 0; k < patterns.places.size(); ++k) {
    if ((patterns.places[k] & of_letters) != 0) out.templates.push_back(patterns.set.templates[k]);
  }
  return out;
}

}  // namespace

TwoChainWeights compile_two_chain(const TwoChainLayout& layout, std::span<const float> weights,
                                  std::span<const std::uint64_t> keys, float min_weight) {
  if (static_cast<std::int64_t>(weights.size()) != layout.weights() || keys.size() + 1 != layout.first.size())
    throw std::invalid_argument("the weights do not match the model");
  TwoChainWeights out;
  const std::size_t cliques = layout.shape.clique_weights();
  out.clique.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(cliques));
  compile_rows(layout.first, layout.slot, weights.subspan(cliques), keys, min_weight, out);
  return out;
}

TwoChainPredictor::TwoChainPredictor(TwoChainShape shape, TwoChainPatterns patterns, TwoChainWeights weights,
                                     Reading reading)
    : shape_((check_weights(weights, shape), std::move(shape))),
      patterns_(std::move(patterns)),
      all_templates_(patterns_.set),
      letter_templates_(letter_patterns(patterns_, shape_)),
      weights_(std::move(weights)),
      reading_(std::move(reading)),
      cliques_(shape_, {weights_.clique, 1.0F}),
      all_(records_for(shape_.displacement())),
      letters_(records_for(shape_.letter_displacement())) {}

/// The records for slots that have a displacement; a feature with none of them has a record without cells.
TwoChainPredictor::Records TwoChainPredictor::records_for(std::span<const std::int32_t> displacement) const {
  Records out;
  out.table.slot = weights_.slot;
  std::unordered_map<std::uint32_t, std::uint32_t> record_of;  // first entry → record
  std::vector<std::pair<std::uint16_t, float>> entries;
  for (std::uint64_t& slot : out.table.slot) {
    if (slot == kNoSlot) continue;
    const auto first = static_cast<std::uint32_t>(slot);
    const auto [place, is_new] = record_of.try_emplace(first, static_cast<std::uint32_t>(out.words.size()));
    slot = (slot >> 32U << 32U) | place->second;
    if (!is_new) continue;
    entries.clear();
    for (std::size_t k = first;; ++k) {
      const auto label = static_cast<std::uint16_t>(weights_.label[k] & ~kLastEntry);
      if (label < displacement.size()) entries.emplace_back(label, weights_.weight[k]);
      if ((weights_.label[k] & kLastEntry) != 0) break;
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t head = out.words.size();
    out.words.push_back(0);
    std::size_t cell = 0;  // where the weights of the last cell are
    std::int32_t begin = 0;
    for (const auto& [label, weight] : entries) {
      const std::int32_t to = displacement[label];
      if (out.words[head] == 0 || to - begin >= kLanes || to < begin) {
        ++out.words[head];
        begin = to & ~(kLanes - 1);
        out.words.push_back(std::bit_cast<std::uint32_t>(begin));
        cell = out.words.size();
        out.words.resize(cell + kLanes, 0);
      }
      out.words[cell + static_cast<std::size_t>(to - begin)] = std::bit_cast<std::uint32_t>(weight);
    }
    if (out.words.size() > std::numeric_limits<std::uint32_t>::max() - 8 * shape_.slots())
      throw std::invalid_argument("the model has too many weights");
  }
  return out;
}

void TwoChainPredictor::Records::add_to(std::uint32_t record, float* row) const {
  const std::uint32_t* word = words.data() + record;
  std::uint32_t cells = *word++;
  for (; cells > 0; --cells, word += 1 + kLanes) {
    V& to = *reinterpret_cast<V*>(row + std::bit_cast<std::int32_t>(*word));
    to = to + *reinterpret_cast<const V*>(word + 1);
  }
}

TwoChains TwoChainPredictor::chains(const Sentences& sentences, std::int64_t sentence, bool letters_only,
                                    Work& work) const {
  constexpr std::size_t kAhead = 16;
  const auto length = static_cast<std::size_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  const Records& records = letters_only ? letters_ : all_;
  const Around around = letters_only ? shape_.around_letters() : shape_.around();
  const std::size_t size = letters_only ? shape_.letter_row() : shape_.row();
  (letters_only ? letter_templates_ : all_templates_)
      .extract(sentences, sentence, around, work.keys, work.hashes, nullptr);
  const auto& keys = work.keys.value;
  work.record.resize(keys.size());
  for (std::size_t k = 0; k < std::min(kAhead, keys.size()); ++k) records.table.prefetch(keys[k]);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (k + kAhead < keys.size()) records.table.prefetch(keys[k + kAhead]);
    work.record[k] = records.table.find(keys[k]);
    if (work.record[k] != kNoEntry) __builtin_prefetch(records.words.data() + work.record[k]);
  }
  // A cell may begin before the first score of its feature and end after the last.
  work.rows.assign((length + 2 * shape_.padding()) * size + 2 * kLanes, 0.0F);
  float* rows = work.rows.data() + kLanes;
  const std::size_t skipped = shape_.padding() - static_cast<std::size_t>(around.before);
  for (std::size_t a = 0; a + 1 < work.keys.first.size(); ++a) {
    float* row = rows + (skipped + a) * size;
    for (std::int64_t f = work.keys.first[a]; f < work.keys.first[a + 1]; ++f) {
      if (work.record[f] != kNoEntry) records.add_to(work.record[f], row);
    }
  }
  return {shape_, cliques_, rows + shape_.padding() * size, length, size};
}

TwoChainLabels predict(const TwoChainPredictor& predictor, const Sentences& sentences, TwoChainMode mode,
                       std::span<const std::int32_t> letter, std::size_t threads) {
  predictor.check_sentences(sentences);
  const auto units = static_cast<std::size_t>(sentences.units());
  TwoChainLabels out{std::vector<std::int32_t>(units, 0), std::vector<std::int32_t>(units, kUnknownTag)};
  if (mode == TwoChainMode::tag) {
    if (letter.size() != units) throw std::invalid_argument("there must be a boundary letter for every unit");
    out.letter.assign(letter.begin(), letter.end());
  }
  const auto part = [&](std::vector<std::int32_t>& all, std::int64_t k) {
    const auto begin = static_cast<std::size_t>(sentences.begin_of(k));
    return std::span(all).subspan(begin, static_cast<std::size_t>(sentences.end_of(k)) - begin);
  };
  for (std::int64_t k = 0; mode == TwoChainMode::tag && k < sentences.size(); ++k) {
    predictor.shape().check_letters(part(out.letter, k));
  }
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  std::vector<TwoChainPredictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t n) {
    const auto k = static_cast<std::int64_t>(n);
    const TwoChains x = predictor.chains(sentences, k, mode == TwoChainMode::segment, work[thread]);
    float score = 0.0F;
    if (mode == TwoChainMode::segment) score = best_letters(x, work[thread].search, part(out.letter, k));
    if (mode == TwoChainMode::joint)
      score = best_path(x, work[thread].search, part(out.letter, k), part(out.tag, k));
    if (mode == TwoChainMode::tag)
      score = best_tags(x, work[thread].search, part(out.letter, k), part(out.tag, k));
    if (mode != TwoChainMode::segment && !x.shape.has_edge())
      agree_tags(x.shape, part(out.letter, k), part(out.tag, k));
    if (!std::isfinite(score)) throw std::invalid_argument("no path through the two chains is legal");
  });
  return out;
}

namespace {

void check_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0.0)
    throw std::invalid_argument("the scale of the scores must be above 0");
}

}  // namespace

std::vector<double> predict_marginals(const TwoChainPredictor& predictor, const Sentences& sentences,
                                      double scale, std::size_t threads) {
  check_scale(scale);
  predictor.check_sentences(sentences);
  const std::size_t labels = predictor.shape().letters() * predictor.shape().tags();
  std::vector<double> out(static_cast<std::size_t>(sentences.units()) * labels);
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  std::vector<TwoChainPredictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t n) {
    const auto k = static_cast<std::int64_t>(n);
    const auto found = marginals(predictor.chains(sentences, k, false, work[thread]), scale);
    std::copy(found.unit.begin(), found.unit.end(),
              out.begin() + sentences.begin_of(k) * static_cast<std::ptrdiff_t>(labels));
  });
  return out;
}

namespace {

[[nodiscard]] TwoChains one_sentence(const TwoChainPredictor& predictor, const Sentences& sentences,
                                     std::int64_t sentence, bool letters_only,
                                     TwoChainPredictor::Work& work) {
  if (sentence < 0 || sentence >= sentences.size())
    throw std::invalid_argument(concat("there is no sentence ", sentence));
  predictor.check_sentences(sentences);
  return predictor.chains(sentences, sentence, letters_only, work);
}

}  // namespace

std::vector<TwoChainPath> k_best(const TwoChainPredictor& predictor, const Sentences& sentences,
                                 std::int64_t sentence, std::size_t k, bool letters_only) {
  TwoChainPredictor::Work work;
  const TwoChains x = one_sentence(predictor, sentences, sentence, letters_only, work);
  return letters_only ? k_best_letters(x, k) : k_best_paths(x, k);
}

double log_partition(const TwoChainPredictor& predictor, const Sentences& sentences, std::int64_t sentence,
                     double scale) {
  check_scale(scale);
  TwoChainPredictor::Work work;
  return marginals(one_sentence(predictor, sentences, sentence, false, work), scale).log_partition;
}

double path_score(const TwoChainPredictor& predictor, const Sentences& sentences, std::int64_t sentence,
                  std::span<const std::int32_t> letter, std::span<const std::int32_t> tag) {
  TwoChainPredictor::Work work;
  const TwoChains x = one_sentence(predictor, sentences, sentence, tag.empty(), work);
  predictor.shape().check_letters(letter);
  const auto is_tag = [&](std::int32_t t) {
    return t >= 0 && t < static_cast<std::int32_t>(predictor.shape().tags());
  };
  if (letter.size() != x.length || (!tag.empty() && tag.size() != x.length) ||
      !std::all_of(tag.begin(), tag.end(), is_tag))
    throw std::invalid_argument("the path does not match the sentence");
  return path_score(x, letter, tag);
}

}  // namespace duilian
