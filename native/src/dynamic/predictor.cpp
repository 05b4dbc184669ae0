#include "duilian/dynamic/predictor.hpp"

#include <stdexcept>
#include <utility>

#include "duilian/features/evaluate.hpp"

namespace duilian {

namespace {

/// Scores from compiled weights.
class TableScorer final : public WordScorer {
 public:
  TableScorer(const WeightTable& table, const WordTemplates& templates, WordWindow& window,
              DynamicPredictor::Work& work)
      : table_(table), templates_(templates), window_(window), work_(work) {}

  void add(const History& history, std::int32_t t, double* state) override {
    window_.move_to(history, t);
    work_.keys.clear();
    templating::append_keys(templates_.set(), window_, 0, work_.keys);
    table_.find_all(work_.keys, work_.entry);
    for (const std::uint32_t entry : work_.entry) table_.add_to(entry, state);
  }

 private:
  const WeightTable& table_;
  const WordTemplates& templates_;
  WordWindow& window_;
  DynamicPredictor::Work& work_;
};

class DynamicLabeller final : public Labeller {
 public:
  DynamicLabeller(const DynamicPredictor& predictor, std::span<const std::uint8_t> starts)
      : predictor_(predictor), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> begins,
             std::span<std::int32_t> out) override {
    predictor_.plain().score(sentences, 0, work_.plain);
    forbid_inner_labels(predictor_.plain(), starts_, begins, work_.plain);
    if (!predictor_.decode(sentences, 0, work_, out)) throw std::invalid_argument("no analysis is legal");
  }

 private:
  const DynamicPredictor& predictor_;
  std::span<const std::uint8_t> starts_;
  DynamicPredictor::Work work_;
};

}  // namespace

DynamicPredictor::DynamicPredictor(std::int32_t labels, Succession rules, CompiledWeights weights,
                                   TemplateSet templates, TemplateSet word_templates, Folding folding,
                                   LabelWords words, DynamicOptions options)
    : plain_(labels, std::move(rules), std::move(weights), std::move(templates), std::move(folding)),
      word_templates_(std::move(word_templates)),
      words_(std::move(words)),
      options_(options) {
  const auto L = static_cast<std::size_t>(labels);
  if (words_.starts.size() != L || words_.ends.size() != L || words_.tag.size() != L)
    throw std::invalid_argument("what labels say of words does not fit the labels");
  if (options.beam < 1) throw std::invalid_argument("beam must be at least 1");
}

bool DynamicPredictor::decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                              std::span<std::int32_t> out) const {
  const UniformChain chain = plain_.chain(static_cast<std::int32_t>(out.size()), work.plain);
  if (word_templates_.set().templates.empty()) return try_best_labels(chain, work.plain.chain, out);
  WordWindow window(word_templates_, words_, sentences, sentence);
  TableScorer scorer(plain_.weights(), word_templates_, window, work);
  return try_dynamic_labels(chain, words_, scorer, options_, work.search, out);
}

std::vector<std::int32_t> predict(const DynamicPredictor& predictor, const Sentences& sentences,
                                  const Wishes& wishes, std::size_t threads, std::int64_t& impossible) {
  std::vector<DynamicPredictor::Work> work(threads);
  return predict_with(
      predictor.plain(), sentences, wishes, threads, impossible,
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
    return std::make_unique<DynamicLabeller>(predictor, kept);
  });
}

}  // namespace duilian
