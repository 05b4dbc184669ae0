// Compiles and applies a trained tagger with dynamic features (see predictor.hpp).
#include "duilian/dynamic/predictor.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace duilian {

namespace {

class DynamicLabeler final : public SentenceLabeler {
 public:
  DynamicLabeler(const DynamicPredictor& predictor, std::span<const std::uint8_t> starts)
      : predictor_(predictor), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> known,
             std::span<std::int32_t> out) override {
    predictor_.plain().score(sentences, 0, work_.plain);
    forbid_labels(predictor_.plain(), starts_, known, work_.plain);
    if (!predictor_.decode(sentences, 0, work_, out))
      throw std::invalid_argument("no path through the lattice is legal");
  }

 private:
  const DynamicPredictor& predictor_;
  std::span<const std::uint8_t> starts_;
  DynamicPredictor::Work work_;
};

/// Word weights are numerous, and small ones matter less than those of units. Dropping them up to five times
/// the size makes a model a quarter smaller and a tenth faster (no loss on dev, 0.05 on test sets).
constexpr float kWordShare = 5.0F;

}  // namespace

CompiledWeights compile_dynamic(const TaggerLayout& layout, std::span<const float> weights,
                                std::span<const std::uint64_t> keys, std::size_t unit_rows,
                                const LabelWords& words, float min_weight) {
  check(words, layout.labels);
  if (keys.size() + 1 != layout.first.size() || unit_rows > keys.size() ||
      weights.size() != static_cast<std::size_t>(layout.weights()))
    throw std::invalid_argument("the weights do not match the features");
  CompiledTable out({weights.begin(), weights.begin() + layout.transitions()});
  const auto add = [&](std::size_t row, std::uint64_t key, KindSet kinds, float smallest) {
    layout.for_each(row, weights, [&](std::int32_t label, float weight) {
      if (has(kinds, words.kind_of(static_cast<std::size_t>(label))))
        out.add(static_cast<std::uint16_t>(label), weight, smallest);
    });
    out.end_feature(key);
  };
  for (std::size_t row = 0; row < unit_rows; ++row) add(row, keys[row], kEveryKind, min_weight);
  for (std::size_t row = unit_rows; row < keys.size(); ++row) {
    for (const Kind kind : {kBetween, kInside})
      add(row, keys[row] ^ kAboutKind[kind], set_of(kind), kWordShare * min_weight);
  }
  // Lookups usually fail, because most words that a path might have are unknown.
  return std::move(out).finish(unit_rows < keys.size() ? Room::wide : Room::small);
}

DynamicPredictor::DynamicPredictor(std::int32_t labels, Succession rules, CompiledWeights weights,
                                   TemplateSet templates, TemplateSet word_templates, Reading reading,
                                   LabelWords words, DynamicOptions options)
    : plain_(labels, std::move(rules), std::move(weights), std::move(templates), std::move(reading)),
      word_templates_(std::move(word_templates)),
      sorted_(word_templates_),
      words_(std::move(words)),
      options_(options) {
  check(words_, labels);
  if (options.beam < 1) throw std::invalid_argument("beam must be at least 1");
}

bool DynamicPredictor::decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                              std::span<std::int32_t> out) const {
  const UniformChain chain = plain_.chain(static_cast<std::int32_t>(out.size()), work.plain);
  if (word_templates_.set().templates.empty()) return try_best_labels(chain, work.plain.chain, out);
  WordWindow window(word_templates_, words_, sentences, sentence);
  TableScorer scorer(plain_.weights(), sorted_, words_, window, out.size(), plain_.stride(), work.words);
  return try_dynamic_labels(chain, words_, scorer, options_, work.search, out);
}

std::vector<std::int32_t> predict(const DynamicPredictor& predictor, const Sentences& sentences,
                                  const Constraints& constraints, std::size_t threads,
                                  std::int64_t& impossible) {
  std::vector<DynamicPredictor::Work> work(threads);
  return predict_with(
      predictor.plain(), sentences, constraints, threads, impossible,
      [&](std::size_t thread, std::int64_t sentence) -> Predictor::Work& {
        predictor.plain().score(sentences, sentence, work[thread].plain);
        return work[thread].plain;
      },
      [&](std::size_t thread, std::int64_t sentence, std::span<std::int32_t> out) {
        return predictor.decode(sentences, sentence, work[thread], out);
      });
}

std::unique_ptr<LabelModel> label_model(const DynamicPredictor& predictor,
                                        std::span<const std::uint8_t> starts) {
  return label_model(predictor.plain(), starts, [&predictor](std::span<const std::uint8_t> kept) {
    return std::make_unique<DynamicLabeler>(predictor, kept);
  });
}

}  // namespace duilian
