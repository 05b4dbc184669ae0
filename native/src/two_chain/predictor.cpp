#include "duilian/two_chain/predictor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "duilian/parallel.hpp"

namespace duilian {

namespace {

using V = float __attribute__((vector_size(16), aligned(4), may_alias));
constexpr std::uint32_t kLanes = 4;
constexpr std::int32_t kGap = 3;  // so many zeros are added rather than a new run begun

void check_weights(const TwoChainWeights& w, const TwoChainShape& shape) {
  check(static_cast<const WeightTable&>(w), static_cast<std::int32_t>(shape.slots()));
  if (w.clique.size() != shape.clique_weights())
    throw std::invalid_argument("the arrays of the two chains do not fit together");
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
                                  std::span<const std::uint64_t> keys, float least) {
  if (static_cast<std::int64_t>(weights.size()) != layout.weights() || keys.size() + 1 != layout.first.size())
    throw std::invalid_argument("the weights do not fit the model");
  TwoChainWeights out;
  const auto cliques = static_cast<std::ptrdiff_t>(layout.shape.clique_weights());
  out.clique.assign(weights.begin(), weights.begin() + cliques);
  const float* value = weights.data() + cliques;
  std::vector<std::uint64_t> kept;
  std::vector<std::size_t> begins;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::size_t begin = out.label.size();
    for (std::int64_t k = layout.first[row]; k < layout.first[row + 1]; ++k) {
      if (value[k] != 0.0F && std::abs(value[k]) >= least) out.add(layout.slot[k], value[k]);
    }
    if (!out.end_feature(begin)) continue;
    kept.push_back(keys[row]);
    begins.push_back(begin);
  }
  out.place(kept, begins);
  return out;
}

TwoChainPredictor::TwoChainPredictor(TwoChainShape shape, TwoChainPatterns patterns, TwoChainWeights weights,
                                     Folding folding)
    : shape_((check_weights(weights, shape), std::move(shape))),
      patterns_(std::move(patterns)),
      letter_patterns_(letter_patterns(patterns_, shape_)),
      weights_(std::move(weights)),
      folding_(std::move(folding)),
      cliques_(shape_, {weights_.clique, 1.0F}) {
  build_records();
}

void TwoChainPredictor::build_records() {
  table_.slot = weights_.slot;
  std::unordered_map<std::uint32_t, std::uint32_t> record_of;  // first entry → record
  const std::vector<std::int32_t>& displacement = shape_.displacement();
  std::vector<std::pair<std::uint16_t, float>> entries;
  const auto is_of_letters = [&](std::uint16_t slot) { return slot < shape_.letter_slots(); };
  for (std::uint64_t& slot : table_.slot) {
    if (slot == kNoSlot) continue;
    const auto first = static_cast<std::uint32_t>(slot);
    const auto [place, is_new] = record_of.try_emplace(first, static_cast<std::uint32_t>(words_.size()));
    slot = (slot >> 32U << 32U) | place->second;
    if (!is_new) continue;
    entries.clear();
    for (std::size_t k = first;; ++k) {
      entries.emplace_back(static_cast<std::uint16_t>(weights_.label[k] & ~kLastEntry), weights_.weight[k]);
      if ((weights_.label[k] & kLastEntry) != 0) break;
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t head = words_.size();
    words_.resize(head + 2, 0);
    std::size_t size_at = 0;
    std::int32_t next = std::numeric_limits<std::int32_t>::min();  // where the run could go on
    bool was_of_letters = false;
    for (const auto& [label, weight] : entries) {
      const std::int32_t to = displacement[label];
      const bool goes_on =
          size_at != 0 && was_of_letters == is_of_letters(label) && to >= next && to - next <= kGap;
      if (!goes_on) {
        ++words_[head + 1];
        if (is_of_letters(label)) ++words_[head];
        words_.push_back(std::bit_cast<std::uint32_t>(to));
        size_at = words_.size();
        words_.push_back(0);
        next = to;
        was_of_letters = is_of_letters(label);
      }
      for (; next < to; ++next) words_.push_back(0), ++words_[size_at];
      words_.push_back(std::bit_cast<std::uint32_t>(weight));
      ++words_[size_at];
      next = to + 1;
    }
    if (words_.size() > std::numeric_limits<std::uint32_t>::max() - shape_.slots() * 3)
      throw std::invalid_argument("the model has too many weights");
  }
}

void TwoChainPredictor::add_record(std::uint32_t record, bool is_letters_alone, float* row) const {
  const std::uint32_t* word = words_.data() + record;
  std::uint32_t runs = is_letters_alone ? word[0] : word[1];
  for (word += 2; runs > 0; --runs) {
    float* y = row + std::bit_cast<std::int32_t>(word[0]);
    const std::uint32_t size = word[1];
    word += 2;
    std::uint32_t k = 0;
    for (; k + kLanes <= size; k += kLanes) {
      V& to = *reinterpret_cast<V*>(y + k);
      to = to + *reinterpret_cast<const V*>(word + k);
    }
    for (; k < size; ++k) y[k] += std::bit_cast<float>(word[k]);
    word += size;
  }
}

TwoChains TwoChainPredictor::chains(const Sentences& sentences, std::int64_t sentence, bool is_letters_alone,
                                    Work& work) const {
  constexpr std::size_t kAhead = 16;
  const auto length = static_cast<std::size_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  extract_keys_around(is_letters_alone ? letter_patterns_ : patterns_.set, sentences, sentence,
                      {shape_.before(), shape_.behind()}, work.keys, nullptr);
  const auto& keys = work.keys.value;
  work.record.resize(keys.size());
  for (std::size_t k = 0; k < std::min(kAhead, keys.size()); ++k) table_.prefetch(keys[k]);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (k + kAhead < keys.size()) table_.prefetch(keys[k + kAhead]);
    work.record[k] = table_.find(keys[k]);
    if (work.record[k] != kNoEntry) __builtin_prefetch(words_.data() + work.record[k]);
  }
  work.rows.assign((length + 2 * shape_.margin()) * shape_.row(), 0.0F);
  const std::size_t skipped = shape_.margin() - static_cast<std::size_t>(shape_.before());
  for (std::size_t a = 0; a + 1 < work.keys.first.size(); ++a) {
    float* row = work.rows.data() + (skipped + a) * shape_.row();
    for (std::int64_t f = work.keys.first[a]; f < work.keys.first[a + 1]; ++f) {
      if (work.record[f] != kNoEntry) add_record(work.record[f], is_letters_alone, row);
    }
  }
  return {shape_, cliques_, work.rows.data() + shape_.margin() * shape_.row(), length};
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
  Team team(threads);
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

std::vector<double> predict_marginals(const TwoChainPredictor& predictor, const Sentences& sentences,
                                      std::size_t threads) {
  predictor.check_sentences(sentences);
  const std::size_t labels = predictor.shape().letters() * predictor.shape().tags();
  std::vector<double> out(static_cast<std::size_t>(sentences.units()) * labels);
  Team team(threads);
  std::vector<TwoChainPredictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t n) {
    const auto k = static_cast<std::int64_t>(n);
    const auto found = marginals(predictor.chains(sentences, k, false, work[thread]));
    std::copy(found.unit.begin(), found.unit.end(),
              out.begin() + sentences.begin_of(k) * static_cast<std::ptrdiff_t>(labels));
  });
  return out;
}

}  // namespace duilian
