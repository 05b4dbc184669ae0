// Answers for whole corpora by a coupled tagger.
#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/coupled/predictor.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

namespace {

void check_constraints(const CoupledPredictor& predictor, std::span<const Constraints> constraints,
                       const Sentences& sentences) {
  if (!constraints.empty() && constraints.size() != predictor.shape().sides())
    throw std::invalid_argument("the constraints are for a different number of sides");
  for (std::size_t k = 0; k < constraints.size(); ++k)
    check(constraints[k], predictor.shape().labels[k], sentences.units());
}

/// Given labels as constraints; empty if none are given.
[[nodiscard]] std::vector<Constraints> as_constraints(std::span<const TagSets> allowed) {
  std::vector<Constraints> out;
  for (const TagSets& each : allowed) out.push_back({each, {}, {}, {}});
  return out;
}

/// Calls visit(thread, sentence, scratch) for every sentence that is not empty.
template <class Visit>
void for_each_sentence(const CoupledPredictor& predictor, const Sentences& sentences, std::size_t threads,
                       const Visit& visit) {
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  Borrowed<CoupledPredictor::Work> work(predictor.spare(), team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t s) {
    const auto sentence = static_cast<std::int64_t>(s);
    if (sentences.begin_of(sentence) < sentences.end_of(sentence)) visit(thread, sentence, work[thread]);
  });
}

/// Calls visit(thread, sentence, its analysis) for every sentence that is not empty.
template <class Visit>
void analyse_all(const CoupledPredictor& predictor, const Sentences& sentences,
                 std::span<const TagSets> allowed, std::size_t threads, const Visit& visit) {
  const std::vector<Constraints> given = as_constraints(allowed);
  check_constraints(predictor, given, sentences);
  for_each_sentence(predictor, sentences, threads,
                    [&](std::size_t thread, std::int64_t sentence, CoupledPredictor::Work& work) {
                      if (!predictor.prepare(sentences, sentence, given, work))
                        throw std::invalid_argument("no path through the lattice is legal");
                      predictor.decode({0, predictor.shape().sides()}, work);
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

CoupledAnswers predict_constrained(const CoupledPredictor& predictor, const Sentences& sentences,
                                   std::span<const Constraints> constraints, bool with_candidates,
                                   std::size_t threads, std::int64_t& impossible) {
  check_constraints(predictor, constraints, sentences);
  const std::vector<std::int64_t> first = begins_of(sentences);
  AnswerCollector answers(predictor.shape().sides(), first, with_candidates);
  std::vector<std::uint8_t> is_impossible(static_cast<std::size_t>(sentences.size()), 0);
  for_each_sentence(
      predictor, sentences, threads, [&](std::size_t, std::int64_t sentence, CoupledPredictor::Work& work) {
        if (!predictor.answer(sentences, sentence, constraints, {0, predictor.shape().sides()}, work))
          is_impossible[sentence] = 1;
        answers.add(static_cast<std::size_t>(sentence), work.search);
      });
  impossible = std::count(is_impossible.begin(), is_impossible.end(), 1);
  return answers.finish();
}

std::vector<std::int32_t> predict_flags(const CoupledPredictor& predictor, const Sentences& sentences,
                                        std::span<const Constraints> constraints, const SideFlags& flags,
                                        std::size_t threads, std::int64_t& impossible) {
  check_constraints(predictor, constraints, sentences);
  const auto& labels = predictor.shape().labels;
  if (flags.side >= labels.size()) throw std::invalid_argument(concat("there is no side ", flags.side));
  if (flags.of_label.size() != static_cast<std::size_t>(labels[flags.side]))
    throw std::invalid_argument("the flags do not match the labels");
  std::vector<std::int32_t> out(static_cast<std::size_t>(sentences.units()));
  std::vector<std::uint8_t> is_impossible(static_cast<std::size_t>(sentences.size()), 0);
  for_each_sentence(predictor, sentences, threads,
                    [&](std::size_t, std::int64_t sentence, CoupledPredictor::Work& work) {
                      if (!predictor.answer_flags(sentences, sentence, constraints, flags, work))
                        is_impossible[sentence] = 1;
                      const TagSets& candidates = work.search.candidates[flags.side];
                      const std::vector<std::int32_t>& place = work.search.place[flags.side];
                      for (std::size_t t = 0; t < place.size(); ++t)
                        out[static_cast<std::size_t>(sentences.begin_of(sentence)) + t] =
                            candidates.tag[static_cast<std::size_t>(candidates.first[t] + place[t])];
                    });
  impossible = std::count(is_impossible.begin(), is_impossible.end(), 1);
  return out;
}

std::vector<double> side_probabilities(const CoupledPredictor& predictor, const Sentences& sentences,
                                       std::size_t side, std::size_t threads) {
  if (side >= predictor.shape().sides()) throw std::invalid_argument(concat("there is no side ", side));
  const auto labels = static_cast<std::size_t>(predictor.shape().labels[side]);
  std::vector<double> p(static_cast<std::size_t>(sentences.units()) * labels);
  for_each_sentence(
      predictor, sentences, threads, [&](std::size_t, std::int64_t sentence, CoupledPredictor::Work& work) {
        const auto begin = static_cast<std::size_t>(sentences.begin_of(sentence));
        predictor.score_side(sentences, sentence, side, work, std::span(p).subspan(begin * labels));
      });
  return p;
}

WordColumns words_of_side(const CoupledAnswers& answers, const SideWords& how, LabelledUnits units) {
  if (how.side >= answers.label.size()) throw std::invalid_argument(concat("there is no side ", how.side));
  units.label = answers.label[how.side];
  units.p = answers.p[how.side];
  WordColumns words = words_of_labels(how.edges, units);
  if (how.curve != nullptr) how.curve->apply(words.p);
  return words;
}

std::vector<SideAnswer> k_best(const CoupledPredictor& predictor, const Sentences& sentences,
                               std::size_t side, std::span<const Constraints> constraints, std::size_t k,
                               double& log_z) {
  if (side >= predictor.shape().sides()) throw std::invalid_argument(concat("there is no side ", side));
  check_constraints(predictor, constraints, sentences);
  if (sentences.size() != 1 || sentences.units() == 0)
    throw std::invalid_argument("k-best analyses need exactly one sentence, which must not be empty");
  CoupledPredictor::Work work;
  (void)predictor.prepare(sentences, 0, constraints, work);
  log_z = log_partition(work.search.space.chain(), work.search.chain);
  return k_best_labels(work.search.space, side, k, work.search.chain);
}

namespace {

class SideLabeler final : public SentenceLabeler {
 public:
  SideLabeler(const CoupledPredictor& predictor, std::size_t side,
              const std::vector<std::vector<std::uint8_t>>& starts)
      : predictor_(predictor), side_(side), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> known,
             std::span<std::int32_t> out) override {
    const bool has_any = std::any_of(known.begin(), known.end(), tells_of_edges);
    if (has_any) constrain(known);
    (void)predictor_.answer(
        sentences, 0, has_any ? std::span<const Constraints>(constraints_) : std::span<const Constraints>(),
        {side_, side_ + 1}, work_);
    const TagSets& candidates = work_.search.candidates[side_];
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] = candidates.tag[static_cast<std::size_t>(candidates.first[t] + work_.search.place[side_][t])];
  }

 private:
  /// Constrains every side: where a word begins, to labels that begin one; where none does, to the others.
  void constrain(std::span<const std::uint8_t> known) {
    constraints_.resize(starts_.size());
    for (std::size_t k = 0; k < starts_.size(); ++k) {
      TagSets& allowed = constraints_[k].allowed;
      allowed = {};
      for (const std::uint8_t each : known) {
        for (std::size_t l = 0; tells_of_edges(each) && l < starts_[k].size(); ++l) {
          if (!is_barred(each, starts_[k][l] != 0)) allowed.tag.push_back(static_cast<TagId>(l));
        }
        allowed.first.push_back(static_cast<std::int32_t>(allowed.tag.size()));
      }
    }
  }
  const CoupledPredictor& predictor_;
  std::size_t side_;
  const std::vector<std::vector<std::uint8_t>>& starts_;
  std::vector<Constraints> constraints_;
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
    if (!fits) throw std::invalid_argument("the options do not match the labels");
  }
  [[nodiscard]] std::int32_t labels() const override { return predictor_.shape().labels[side_]; }
  [[nodiscard]] const TemplateSet& templates() const override { return predictor_.templates(); }
  [[nodiscard]] const Reading& reading() const override { return predictor_.reading(); }
  [[nodiscard]] std::unique_ptr<SentenceLabeler> labeler() const override {
    return std::make_unique<SideLabeler>(predictor_, side_, starts_);
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
    throw std::invalid_argument(concat("there is no side ", std::max(side_a, side_b)));
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
