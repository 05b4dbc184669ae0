// Applies one side of a multi-task tagger that expands the best mapped label (see predictor.hpp).
#include "duilian/multitask/predictor.hpp"

#include <algorithm>
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
    predictor_.own().score(sentences, 0, work_.own);
    forbid_labels(predictor_.own(), starts_, known, work_.own);
    if (!predictor_.decode(sentences, 0, work_, out))
      throw std::invalid_argument("no path through the lattice is legal");
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
                                               const LabelMap& map, const TemplateSet& templates,
                                               const Reading& reading)
    : rules_(rules),
      other_rules_(other_rules),
      own_(labels, rules, std::move(weights), templates, reading),
      other_(other_labels, other_rules, std::move(other_weights), templates, reading),
      pairs_((check(map, labels, other_labels), map), other_labels),
      steps_(pairs_, own_.chain(0, {}).between, {other_labels, other_rules_, other_.weights().transition}) {}

bool BestExpansionPredictor::decode(const Sentences& sentences, std::int64_t sentence, Work& work,
                                    std::span<std::int32_t> out) const {
  other_.score_states(sentences, sentence, work.other);
  const UniformChain chain = own_.chain(static_cast<std::int32_t>(out.size()), work.own);
  const SideTransitions own{own_.labels(), rules_, own_.weights().transition};
  const PairScores scores{pairs_,         steps_,           chain.between, own,
                          work.own.state, work.other.state, own_.stride(), other_.stride()};
  if (!work.best.try_best(scores, work.found)) return false;
  std::copy(work.found.label.begin(), work.found.label.end(), out.begin());
  return true;
}

std::vector<std::int32_t> predict(const BestExpansionPredictor& predictor, const Sentences& sentences,
                                  const Constraints& constraints, std::size_t threads,
                                  std::int64_t& impossible) {
  std::vector<BestExpansionPredictor::Work> work(threads);
  return predict_with(
      predictor.own(), sentences, constraints, threads, impossible,
      [&](std::size_t thread, std::int64_t sentence) -> Predictor::Work& {
        predictor.own().score(sentences, sentence, work[thread].own);
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
