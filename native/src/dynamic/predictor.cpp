#include "duilian/dynamic/predictor.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "duilian/features/evaluate.hpp"

namespace duilian {

namespace {

constexpr std::array<std::uint64_t, kKinds> kAboutKind{0xB5297A4D'3F84D5B5U, 0x68E31DA4'1B56C4E9U};

/// Scores from compiled weights.
class TableScorer final : public WordScorer {
 public:
  TableScorer(const Predictor& plain, const TemplateSet& tags, const TemplateSet& others,
              const LabelWords& words, WordWindow& window, DynamicPredictor::Work& work)
      : table_(plain.weights()),
        tags_(tags),
        others_(others),
        words_(words),
        window_(window),
        work_(work),
        stride_(plain.stride()) {}

  void add(const Heard& heard, std::int32_t t, KindSet kinds, double* state) override {
    // The entries of both kinds are asked for before any is read: memory has time to answer.
    work_.keys.clear();
    for (const Kind kind : {kBetween, kInside}) {
      if (!has(kinds, kind)) continue;
      window_.move_to(heard[kind], t);
      find_keys(others_, kind);
      if (!tags_.templates.empty()) add_tags(kind, state);
    }
    table_.find_all(work_.keys, work_.entry);
    for (const std::uint32_t entry : work_.entry) table_.add_to(entry, state);
  }

 private:
  void find_keys(const TemplateSet& templates, Kind kind) {
    const std::size_t begin = work_.keys.size();
    templating::append_keys(templates, window_, 0, work_.keys);
    for (std::size_t k = begin; k < work_.keys.size(); ++k) work_.keys[k] ^= kAboutKind[kind];
  }

  void add_tags(Kind kind, double* state) {
    const double* row = tag_row(kind);
    for (const LabelWords::Run& run : words_.runs) {
      if (run.kind != kind) continue;
      for (std::size_t l = run.begin; l < run.end; ++l) state[l] += row[l];
    }
  }

  /// What the tags of the window's words say, from where it was kept; found if it was not.
  const double* tag_row(Kind kind) {
    DynamicPredictor::TagRows& kept = work_.tags;
    if (kept.key.empty()) {
      kept.key.assign(DynamicPredictor::TagRows::kRows, 0);
      kept.row = std::make_unique_for_overwrite<double[]>(DynamicPredictor::TagRows::kRows * stride_);
    }
    const std::uint64_t key = (window_.tags_key() ^ kAboutKind[kind]) | 1U;
    const std::size_t place = (key >> 32U) % DynamicPredictor::TagRows::kRows;
    double* row = kept.row.get() + place * stride_;
    if (kept.key[place] == key) return row;
    kept.key[place] = key;
    std::fill_n(row, stride_, 0.0);
    const std::size_t begin = work_.keys.size();
    find_keys(tags_, kind);
    for (std::size_t k = begin; k < work_.keys.size(); ++k) table_.add_to(table_.find(work_.keys[k]), row);
    work_.keys.resize(begin);
    return row;
  }

  const WeightTable& table_;
  const TemplateSet& tags_;
  const TemplateSet& others_;
  const LabelWords& words_;
  WordWindow& window_;
  DynamicPredictor::Work& work_;
  std::size_t stride_;
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

CompiledWeights compile_dynamic(const TaggerLayout& layout, std::span<const float> weights,
                                std::span<const std::uint64_t> keys, std::size_t unit_rows,
                                const LabelWords& words, float least) {
  check(words, layout.labels);
  if (keys.size() + 1 != layout.first.size() || unit_rows > keys.size() ||
      weights.size() != static_cast<std::size_t>(layout.weights()))
    throw std::invalid_argument("the weights do not fit the features");
  CompiledTable out({weights.begin(), weights.begin() + layout.transitions()});
  const auto add = [&](std::size_t row, std::uint64_t key, KindSet kinds) {
    layout.for_each(row, weights, [&](std::int32_t label, float weight) {
      if (has(kinds, words.kind_of(static_cast<std::size_t>(label))))
        out.add(static_cast<std::uint16_t>(label), weight, least);
    });
    out.end_feature(key);
  };
  for (std::size_t row = 0; row < unit_rows; ++row) add(row, keys[row], kEveryKind);
  for (std::size_t row = unit_rows; row < keys.size(); ++row) {
    for (const Kind kind : {kBetween, kInside}) add(row, keys[row] ^ kAboutKind[kind], set_of(kind));
  }
  return std::move(out).finish();
}

DynamicPredictor::DynamicPredictor(std::int32_t labels, Succession rules, CompiledWeights weights,
                                   TemplateSet templates, TemplateSet word_templates, Folding folding,
                                   LabelWords words, DynamicOptions options)
    : plain_(labels, std::move(rules), std::move(weights), std::move(templates), std::move(folding)),
      word_templates_(std::move(word_templates)),
      tag_templates_(word_templates_.part(true)),
      other_templates_(word_templates_.part(false)),
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
  TableScorer scorer(plain_, tag_templates_, other_templates_, words_, window, work);
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
