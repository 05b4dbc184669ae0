#include "duilian/multitask/predictor.hpp"

#include <stdexcept>
#include <utility>

namespace duilian {

namespace {

class BestLabeler final : public SentenceLabeler {
 public:
  BestLabeler(const BestExpansionPredictor& predictor, std::span<const std::uint8_t> starts)
      : predictor_(predictor), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> known,
             std::span<std::int32_t> out) override {
    predictor_.own().score_states(sentences, 0, work_.own);
    forbid_labels(predictor_.own(), starts_, known, work_.own);
    if (!predictor_.decode(sentences, 0, work_, out)) throw std::invalid_argument("no analysis is legal");
  }

 private:
  const BestExpansionPredictor& predictor_;
  std::span<const std::uint8_t> starts_;
  BestExpansionPredictor::Work work_;
};

}  // namespace

BestExpansionPredictor::BestExpansionPredictor(std::int32_t labels, const Succession& rules,
                                               CompiledWeights weights, std::int32_t other_labels,
                                               const Succession& other_rules, CompiledWeights other_weights,
                                               LabelMap map, const TemplateSet& templates,
                                               const Folding& folding)
    : rules_(rules),
      other_rules_(other_rules),
      own_(labels, rules, std::move(weights), templates, folding),
      other_(other_labels, other_rules, std::move(other_weights), templates, folding),
      map_(std::move(map)) {
  check(map_, labels, other_labels);
}

bool BestExpansionPredictor::decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                                    std::span<std::int32_t> out) const {
  other_.score_states(sentences, sentence, work.other);
  work.best.choose(map_, work.other.state, other_.stride(), own_.stride(), work.own.state);
  const UniformChain chain = own_.chain(static_cast<std::int32_t>(out.size()), work.own);
  return work.best.try_labels(work.own.state, own_.stride(), chain.between,
                              {own_.labels(), rules_, own_.weights().transition},
                              {other_.labels(), other_rules_, other_.weights().transition}, out);
}

std::vector<std::int32_t> predict(const BestExpansionPredictor& predictor, const Sentences& sentences,
                                  const Constraints& constraints, std::size_t threads,
                                  std::int64_t& impossible) {
  std::vector<BestExpansionPredictor::Work> work(threads);
  return predict_with(
      predictor.own(), sentences, constraints, threads, impossible,
      [&](std::size_t thread, std::int64_t sentence) -> Predictor::Work& {
        predictor.own().score_states(sentences, sentence, work[thread].own);
        return work[thread].own;
      },
      [&](std::size_t thread, std::int64_t sentence, std::span<std::int32_t> out) {
        return predictor.decode(sentences, sentence, work[thread], out);
      });
}

std::unique_ptr<LabelModel> label_model(const BestExpansionPredictor& predictor,
                                        std::span<const std::uint8_t> starts) {
  return label_model(predictor.own(), starts, [&predictor](std::span<const std::uint8_t> kept) {
    return std::make_unique<BestLabeler>(predictor, kept);
  });
}

}  // namespace duilian
