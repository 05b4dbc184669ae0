// Applies a compiled plain tagger, with and without constraints (see predictor.hpp).
#include "duilian/score/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "duilian/parallel.hpp"
#include "duilian/score/compile.hpp"

namespace duilian {

namespace {

// Share of a unit's sum. Skipping such labels is faster, especially those that constraints forbid.
constexpr double kNegligibleShare = 1e-12;

void check_weights(const CompiledWeights& w, std::int32_t labels) {
  check(static_cast<const WeightTable&>(w), labels);
  const auto edge = static_cast<std::size_t>(labels) + 1;
  if (w.transition.size() != edge * edge)
    throw std::invalid_argument("the arrays of the tagger are inconsistent");
  if (!std::all_of(w.transition.begin(), w.transition.end(), [](float x) { return std::isfinite(x); }))
    throw std::invalid_argument("a weight of the tagger is not finite");
}

}  // namespace

CompiledWeights compile_weights(const TaggerLayout& layout, std::span<const float> weights,
                                std::span<const std::uint64_t> keys, float min_weight) {
  CompiledWeights out;
  out.transition.assign(weights.begin(), weights.begin() + layout.transitions());
  const auto state = weights.subspan(static_cast<std::size_t>(layout.transitions()));
  compile_rows(layout.first, layout.all_labels(), state, keys, min_weight, out);
  return out;
}

Predictor::Predictor(std::int32_t labels, Succession rules, std::shared_ptr<const CompiledWeights> weights,
                     TemplateSet templates, Reading reading)
    : labels_((check_weights(*weights, labels), labels)),
      rules_(std::move(rules)),
      shape_(shape_of(labels, rules_)),
      kept_(std::move(weights)),
      weights_(*kept_),
      finder_(templates),
      code_finder_(std::move(templates)),
      reading_(std::move(reading)),
      between_(shape_, rules_, weights_.transition) {}

void Predictor::score_states(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  check_columns(templates(), sentences);
  const auto length = static_cast<std::size_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
  work.state.assign(length * stride(), 0.0);
  const auto add_all = [&](const auto& finder, const auto& table, auto& found, const auto& add) {
    finder.find(table, sentences, sentence, found);
    for (std::size_t t = 0; t < length; ++t) {
      const auto last = static_cast<std::size_t>(found.first[t + 1]);
      for (auto f = static_cast<std::size_t>(found.first[t]); f < last; ++f)
        add(found.found[f], work.state.data() + t * stride());
    }
  };
  if (const std::optional<CodedTable>& codes = coded()) {
    add_all(code_finder_, *codes, work.codes,
            [&](std::uint32_t found, double* state) { codes->add(found, state); });
  } else {
    add_all(finder_, static_cast<const WeightTable&>(weights_), work.entries,
            [&](std::uint32_t found, double* state) { weights_.add_to(found, state); });
  }
}

const std::optional<CodedTable>& Predictor::coded() const {
  std::call_once(is_coded_, [&] {
    if (stride() >= CodedTable::kLabels)
      coded_ = CodedTable::make(weights_, static_cast<std::size_t>(labels_));
  });
  return coded_;
}

void Predictor::score(const Sentences& sentences, std::int64_t sentence, Work& work) const {
  score_states(sentences, sentence, work);
  add_edges(labels_, rules_, {weights_.transition}, stride(), work.state);
}

UniformChain Predictor::chain(std::int32_t positions, const Work& work) const {
  return {positions, work.state.data(), between_, rules_};
}

Constraints make_constraints(TagSets allowed, std::span<const std::int64_t> unit,
                             std::span<const std::int32_t> label, std::span<const float> score) {
  if (unit.size() != label.size() || unit.size() != score.size())
    throw std::invalid_argument("the lists of bonuses differ in length");
  Constraints out{std::move(allowed), {}, {}, {}};
  for (std::size_t k = 0; k < unit.size(); ++k) out.bonus.push_back({unit[k], label[k], score[k]});
  return out;
}

namespace {

/// Sets of barred labels, each stored once, indexed by the facts that bar them.
class BarredSets {
 public:
  explicit BarredSets(std::span<const std::uint16_t> barred_by) : barred_by_(barred_by) {
    sets_.first.push_back(0);  // the first set bars nothing
  }

  /// The number of the set for a fact; that of the empty set if no label would be left.
  [[nodiscard]] std::uint16_t number(std::uint16_t fact) {
    if (fact == 0) return 0;
    for (const auto& [own, set] : known_) {  // there are only a few
      if (own == fact) return set;
    }
    const std::size_t before = sets_.tag.size();
    for (std::size_t label = 0; label < barred_by_.size(); ++label) {
      if ((fact & barred_by_[label]) != 0) sets_.tag.push_back(static_cast<TagId>(label));
    }
    const std::size_t count = sets_.tag.size() - before;
    const bool is_limit = count != 0 && count != barred_by_.size();
    if (is_limit)
      sets_.first.push_back(static_cast<std::int32_t>(sets_.tag.size()));
    else
      sets_.tag.resize(before);
    known_.emplace_back(fact, static_cast<std::uint16_t>(is_limit ? sets_.positions() - 1 : 0));
    return known_.back().second;
  }
  [[nodiscard]] TagSets finish() && { return std::move(sets_); }

 private:
  std::span<const std::uint16_t> barred_by_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> known_;
  TagSets sets_;
};

}  // namespace

Constraints restricted(const Constraints& constraints, std::span<const std::uint16_t> known,
                       std::span<const std::uint16_t> barred_by) {
  check(constraints, static_cast<std::int32_t>(barred_by.size()), static_cast<std::int64_t>(known.size()));
  if (!constraints.barred_at.empty())
    throw std::invalid_argument("the constraints already have facts about units");
  Constraints out{{}, constraints.bonus, std::vector<std::uint16_t>(known.size()), {}};
  BarredSets sets(barred_by);
  for (std::size_t unit = 0; unit < known.size(); ++unit) out.barred_at[unit] = sets.number(known[unit]);
  out.barred = std::move(sets).finish();
  if (constraints.allowed.positions() == 0) return out;
  auto& [first, tag] = out.allowed;
  for (std::size_t unit = 0; unit < known.size(); ++unit) {
    const auto allowed = constraints.allowed.at(static_cast<std::int32_t>(unit));
    const auto is_free = [&](TagId label) { return (known[unit] & barred_by[label]) == 0; };
    const std::size_t before = tag.size();
    std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(tag), is_free);
    if (tag.size() == before) tag.insert(tag.end(), allowed.begin(), allowed.end());
    first.push_back(static_cast<std::int32_t>(tag.size()));
  }
  return out;
}

std::vector<Constraints> restrictions(std::span<const std::uint16_t> known,
                                      std::span<const std::span<const std::uint16_t>> barred_by) {
  const auto united = [](std::span<const std::uint16_t> facts) {
    return std::accumulate(facts.begin(), facts.end(), 0U, std::bit_or<>());
  };
  unsigned bars = 0;
  for (const auto& side : barred_by) bars |= united(side);
  std::vector<Constraints> out;
  if ((united(known) & bars) == 0) return out;
  for (const auto& side : barred_by) out.push_back(restricted({}, known, side));
  return out;
}

namespace {

void check_barred(const Constraints& constraints, std::int32_t labels, std::int64_t units) {
  const auto& at = constraints.barred_at;
  const TagSets& sets = constraints.barred;
  check(sets);
  const auto is_in = [&](std::uint16_t set) { return set < sets.positions(); };
  const bool fits = at.empty() || (static_cast<std::int64_t>(at.size()) == units &&
                                   std::all_of(at.begin(), at.end(), is_in));
  if (!fits || std::any_of(sets.tag.begin(), sets.tag.end(), [&](TagId label) { return label >= labels; }))
    throw std::invalid_argument("the barred labels do not match the sentences");
}

}  // namespace

void check(const Constraints& constraints, std::int32_t labels, std::int64_t units) {
  check(constraints.allowed);
  if (constraints.allowed.positions() != 0 && constraints.allowed.positions() != units) {
    throw std::invalid_argument("the allowed labels do not match the sentences");
  }
  const auto is_label = [&](std::int32_t label) { return label >= 0 && label < labels; };
  TagId largest = -1;  // check() has refused negative ones
  for (const TagId label : constraints.allowed.tag) largest = std::max(largest, label);
  if (largest >= labels) throw std::invalid_argument("an allowed label is out of range");
  check_barred(constraints, labels, units);
  std::int64_t before = 0;
  for (const auto& bonus : constraints.bonus) {
    if (bonus.unit < before || bonus.unit >= units || !is_label(bonus.label) || !std::isfinite(bonus.score)) {
      throw std::invalid_argument("a bonus does not match the sentences, or bonuses are not in order");
    }
    before = bonus.unit;
  }
}

bool Constraints::limits_labels(std::int64_t begin, std::int64_t end) const {
  if (allowed.positions() != 0 && allowed.first[begin] != allowed.first[end]) return true;
  return !barred_at.empty() && std::any_of(barred_at.begin() + begin, barred_at.begin() + end,
                                           [](std::uint16_t set) { return set != 0; });
}

std::span<const Constraints::Bonus> Constraints::bonuses(std::int64_t begin, std::int64_t end) const {
  const auto by_unit = [](const Bonus& each, std::int64_t unit) { return each.unit < unit; };
  const auto first = std::lower_bound(bonus.begin(), bonus.end(), begin, by_unit);
  return {first, std::lower_bound(first, bonus.end(), end, by_unit)};
}

void apply(const Constraints& constraints, std::int32_t labels, std::size_t stride, std::int64_t begin,
           std::int64_t end, std::vector<double>& state) {
  const auto row = [&](std::int64_t unit) {
    return state.data() + static_cast<std::size_t>(unit - begin) * stride;
  };
  for (const Constraints::Bonus& each : constraints.bonuses(begin, end))
    row(each.unit)[each.label] += each.score;
  constraints.for_each_limit(
      begin, end, [&](std::int64_t unit, TagId label) { row(unit)[label] = kForbidden; },
      [&](std::int64_t unit, std::span<const TagId> allowed) {
        for (TagId label = 0; label < labels; ++label) {
          if (!std::binary_search(allowed.begin(), allowed.end(), label)) row(unit)[label] = kForbidden;
        }
      });
}

void apply(const Constraints& constraints, const Predictor& predictor, const Sentences& sentences,
           std::int64_t sentence, Predictor::Work& work) {
  apply(constraints, predictor.labels(), predictor.stride(), sentences.begin_of(sentence),
        sentences.end_of(sentence), work.state);
}

std::vector<std::int32_t> predict_with(
    const Predictor& predictor, const Sentences& sentences, const Constraints& constraints,
    std::size_t threads, std::int64_t& impossible,
    const std::function<Predictor::Work&(std::size_t, std::int64_t)>& score,
    const std::function<bool(std::size_t, std::int64_t, std::span<std::int32_t>)>& decode) {
  check(constraints, predictor.labels(), sentences.units());
  std::vector<std::int32_t> labels(static_cast<std::size_t>(sentences.units()));
  std::vector<std::uint8_t> is_impossible(static_cast<std::size_t>(sentences.size()), 0);
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const auto length = static_cast<std::size_t>(sentences.end_of(sentence) - sentences.begin_of(sentence));
    const auto out =
        std::span(labels).subspan(static_cast<std::size_t>(sentences.begin_of(sentence)), length);
    apply(constraints, predictor, sentences, sentence, score(thread, sentence));
    if (decode(thread, sentence, out)) return;
    is_impossible[k] = 1;
    score(thread, sentence);
    if (!decode(thread, sentence, out)) throw std::invalid_argument("no path through the lattice is legal");
  });
  impossible = std::count(is_impossible.begin(), is_impossible.end(), 1);
  return labels;
}

std::vector<std::int32_t> predict(const Predictor& predictor, const Sentences& sentences,
                                  const Constraints& constraints, std::size_t threads,
                                  std::int64_t& impossible) {
  Borrowed<Predictor::Work> work(predictor.spare(), std::min(threads, Team::kMaxThreads));
  return predict_with(
      predictor, sentences, constraints, threads, impossible,
      [&](std::size_t thread, std::int64_t sentence) -> Predictor::Work& {
        predictor.score(sentences, sentence, work[thread]);
        return work[thread];
      },
      [&](std::size_t thread, std::int64_t, std::span<std::int32_t> out) {
        const auto chain = predictor.chain(static_cast<std::int32_t>(out.size()), work[thread]);
        return try_best_labels(chain, work[thread].chain, out);
      });
}

std::vector<double> predict_marginals(const Predictor& predictor, const Sentences& sentences,
                                      const Constraints& constraints, std::size_t threads) {
  check(constraints, predictor.labels(), sentences.units());
  const auto L = static_cast<std::size_t>(predictor.labels());
  std::vector<double> out(static_cast<std::size_t>(sentences.units()) * L);
  Team team(threads, static_cast<std::size_t>(sentences.size()));
  std::vector<Predictor::Work> work(team.size());
  team.for_each(static_cast<std::size_t>(sentences.size()), [&](std::size_t thread, std::size_t k) {
    const auto sentence = static_cast<std::int64_t>(k);
    const std::int64_t begin = sentences.begin_of(sentence);
    const std::int64_t length = sentences.end_of(sentence) - begin;
    if (length == 0) return;
    predictor.score(sentences, sentence, work[thread]);
    apply(constraints, predictor, sentences, sentence, work[thread]);
    unit_marginals(predictor.chain(static_cast<std::int32_t>(length), work[thread]), work[thread].chain,
                   work[thread].found, kNegligibleShare);
    for (std::int64_t t = 0; t < length; ++t) {
      std::copy_n(work[thread].found.unit.data() + static_cast<std::size_t>(t) * predictor.stride(), L,
                  out.data() + static_cast<std::size_t>(begin + t) * L);
    }
  });
  return out;
}

OwnedChain constrained_chain(const Predictor& predictor, const Sentences& sentences,
                             const Constraints& constraints, std::int64_t sentence) {
  Predictor::Work work;
  check(constraints, predictor.labels(), sentences.units());
  predictor.score(sentences, sentence, work);
  apply(constraints, predictor, sentences, sentence, work);
  const auto length = sentences.end_of(sentence) - sentences.begin_of(sentence);
  return spell_out(predictor.chain(static_cast<std::int32_t>(length), work));
}

}  // namespace duilian
