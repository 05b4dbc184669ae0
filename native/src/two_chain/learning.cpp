// Features, layout and passive-aggressive training of two chains (see learning.hpp).
#include "duilian/two_chain/learning.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"
#include "duilian/score/pairs.hpp"

namespace duilian {

namespace {

/// Where the features of a sentence begin, those around it included.
[[nodiscard]] std::int64_t anchors_of(const TwoChainShape& shape, std::int64_t first_unit,
                                      std::int64_t sentence) {
  return first_unit + sentence * (shape.before() + shape.after());
}

/// The index of a clique's value in its block.
[[nodiscard]] std::size_t value_of(const TwoChainShape& shape, Clique clique, std::size_t i,
                                   std::span<const std::int32_t> letter, std::span<const std::int32_t> tag) {
  const auto at = [](std::span<const std::int32_t> row, std::size_t k) {
    return static_cast<std::size_t>(row[k]);
  };
  switch (clique) {
    case Clique::letter:
      return at(letter, i);
    case Clique::letters:
      return at(letter, i - 1) * shape.letters() + at(letter, i);
    case Clique::tag:
      return at(tag, i);
    case Clique::letter_tag:
      return at(letter, i) * shape.tags() + at(tag, i);
    default:
      return at(tag, i - 1) * shape.tags() + at(tag, i);
  }
}

[[nodiscard]] bool is_pair(Clique clique) { return clique == Clique::letters || clique == Clique::tags; }
[[nodiscard]] bool needs_tags(Clique clique) { return clique >= Clique::tag; }

/// Scores the rows [L][row] of a sentence, after `padding` extra rows.
void score_rows(const TwoChainLayout& layout, WeightView weights, const FeatureRows& features,
                std::int64_t anchors, std::size_t length, bool letters_only, std::vector<float>& rows) {
  const TwoChainShape& shape = layout.shape;
  rows.assign((length + 2 * shape.padding()) * shape.row(), 0.0F);
  const std::size_t limit = letters_only ? shape.letter_slots() : shape.slots();
  const float* value = weights.value.data() + shape.clique_weights();
  const std::int32_t* displacement = shape.displacement().data();
  const std::int64_t count = static_cast<std::int64_t>(length) + shape.before() + shape.after();
  for (std::int64_t a = 0; a < count; ++a) {
    float* row = rows.data() +
                 (shape.padding() + static_cast<std::size_t>(a) - static_cast<std::size_t>(shape.before())) *
                     shape.row();
    for (std::int64_t f = features.first[anchors + a]; f < features.first[anchors + a + 1]; ++f) {
      const std::uint32_t feature = features.value[f];
      for (std::int64_t k = layout.first[feature]; k < layout.first[feature + 1] && layout.slot[k] < limit;
           ++k) {
        row[displacement[layout.slot[k]]] += weights.scale * value[k];
      }
    }
  }
}

/// Calls take(row or kNoRow, places) for every feature at every unit of a sentence and around it, and next()
/// after each unit.
template <class Take, class Next>
void for_each_key(const TwoChainShape& shape, const TwoChainPatterns& patterns, const Sentences& sentences,
                  const Take& take, const Next& next) {
  check(patterns, shape);
  check_columns(patterns.set, sentences);
  const AnchorTemplates templates(patterns.set);
  FeatureKeys keys;
  std::vector<std::uint64_t> scratch;
  std::vector<std::uint16_t> pattern;
  for (std::int64_t sentence = 0; sentence < sentences.size(); ++sentence) {
    templates.extract(sentences, sentence, shape.around(), keys, scratch, &pattern);
    for (std::size_t u = 0; u + 1 < keys.first.size(); ++u) {
      for (std::int64_t k = keys.first[u]; k < keys.first[u + 1]; ++k) take(keys.value[k], pattern[k]);
      next();
    }
  }
}

}  // namespace

void check(const TwoChainPatterns& patterns, const TwoChainShape& shape) {
  if (patterns.places.size() != patterns.set.templates.size())
    throw std::invalid_argument("the places do not match the patterns");
  for (const PlaceSet places : patterns.places) {
    if (places == 0 || (shape.places().size() < kMaxPlaces && (places >> shape.places().size()) != 0))
      throw std::invalid_argument("a pattern's places are out of range");
  }
}

TwoChainFeatures index_two_chain(const TwoChainShape& shape, const TwoChainPatterns& patterns,
                                 const Sentences& sentences, std::uint32_t min_count) {
  KeyCounter counter;
  std::vector<std::uint16_t> pattern;  // [numbers]
  std::vector<std::uint32_t> number;
  std::vector<std::int64_t> first{0};
  for_each_key(
      shape, patterns, sentences,
      [&](std::uint64_t key, std::uint16_t from) {
        number.push_back(counter.add(key));
        if (counter.size() > pattern.size()) pattern.push_back(from);
      },
      [&] { first.push_back(static_cast<std::int64_t>(number.size())); });
  TwoChainFeatures out;
  out.keys = counter.frequent(min_count);
  std::vector<std::uint32_t> row(counter.size(), kNoRow);
  for (std::uint32_t k = 0; k < row.size(); ++k) {
    if (counter.count(k) < min_count) continue;
    row[k] = static_cast<std::uint32_t>(out.places.size());
    out.places.push_back(patterns.places[pattern[k]]);
  }
  for (std::size_t u = 0; u + 1 < first.size(); ++u) {
    for (std::int64_t k = first[u]; k < first[u + 1]; ++k) {
      if (row[number[k]] != kNoRow) out.rows.value.push_back(row[number[k]]);
    }
    out.rows.first.push_back(static_cast<std::int64_t>(out.rows.value.size()));
  }
  return out;
}

FeatureRows find_two_chain(const TwoChainShape& shape, const TwoChainPatterns& patterns,
                           const Sentences& sentences, const FeatureIndex& index) {
  FeatureRows out;
  for_each_key(
      shape, patterns, sentences,
      [&](std::uint64_t key, std::uint16_t) {
        const std::uint32_t row = index.find(key);
        if (row != kNoRow) out.value.push_back(row);
      },
      [&] { out.first.push_back(static_cast<std::int64_t>(out.value.size())); });
  return out;
}

void check(const TwoChainData& data, const TwoChainShape& shape) {
  check(data.features);
  if (data.first.empty() || data.first.front() != 0 || !std::is_sorted(data.first.begin(), data.first.end()))
    throw std::invalid_argument("the sentences of the two chains are not in order");
  const auto units = static_cast<std::size_t>(data.first.back());
  const auto sentences = static_cast<std::int64_t>(data.first.size()) - 1;
  if (data.letter.size() != units || data.tag.size() != units ||
      static_cast<std::int64_t>(data.features.first.size()) !=
          anchors_of(shape, data.first.back(), sentences) + 1)
    throw std::invalid_argument("the arrays of the two chains are inconsistent");
  for (std::int64_t k = 0; k < sentences; ++k) {
    const std::span all(data.letter);
    shape.check_letters(all.subspan(static_cast<std::size_t>(data.first[k]),
                                    static_cast<std::size_t>(data.first[k + 1] - data.first[k])));
    for (std::int64_t u = data.first[k]; u < data.first[k + 1]; ++u) {
      if (data.tag[u] < kUnknownTag || data.tag[u] >= static_cast<std::int32_t>(shape.tags()))
        throw std::invalid_argument("a tag of the two chains is out of range");
      const bool is_inside = u > data.first[k] && shape.continues(static_cast<std::size_t>(data.letter[u]));
      if (is_inside && data.tag[u] != data.tag[u - 1])
        throw std::invalid_argument("the units of a word have different tags");
    }
  }
}

TwoChainLayout lay_out_two_chain(const TwoChainShape& shape, const TwoChainData& data,
                                 std::span<const PlaceSet> places, std::int64_t full_from) {
  check(data, shape);
  const auto rows = static_cast<std::int64_t>(places.size());
  std::vector<std::int64_t> seen(places.size(), 0);
  for (const std::uint32_t row : data.features.value) {
    if (row >= places.size()) throw std::invalid_argument("a feature row is out of range");
    ++seen[row];
  }
  PairSet pairs;
  for (std::size_t r = 0; r < places.size(); ++r) {
    for (std::size_t p = 0; seen[r] >= full_from && p < shape.places().size(); ++p) {
      if (((places[r] >> p) & 1U) == 0) continue;
      for (std::size_t v = 0; v < shape.values(shape.places()[p].clique); ++v) {
        pairs.add(static_cast<std::uint32_t>(r), static_cast<std::int32_t>(shape.first_slot(p) + v));
      }
    }
  }
  for (std::size_t k = 0; k + 1 < data.first.size(); ++k) {
    const auto length = static_cast<std::size_t>(data.first[k + 1] - data.first[k]);
    const auto letter = std::span(data.letter).subspan(static_cast<std::size_t>(data.first[k]), length);
    const auto tag = std::span(data.tag).subspan(static_cast<std::size_t>(data.first[k]), length);
    const std::int64_t anchors =
        anchors_of(shape, data.first[k], static_cast<std::int64_t>(k)) + shape.before();
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t p = 0; p < shape.places().size(); ++p) {
        const Place place = shape.places()[p];
        if (is_pair(place.clique) && i == 0) continue;
        if (needs_tags(place.clique) && tag[i] == kUnknownTag) continue;
        if (place.clique == Clique::tags && tag[i - 1] == kUnknownTag) continue;
        const auto slot =
            static_cast<std::int32_t>(shape.first_slot(p) + value_of(shape, place.clique, i, letter, tag));
        const std::int64_t anchor = anchors + static_cast<std::int64_t>(i) + place.offset;
        for (std::int64_t f = data.features.first[anchor]; f < data.features.first[anchor + 1]; ++f) {
          const std::uint32_t row = data.features.value[f];
          if (((places[row] >> p) & 1U) != 0 && seen[row] < full_from) pairs.add(row, slot);
        }
      }
    }
  }
  TwoChainLayout out{shape, {0}, {}, {places.begin(), places.end()}};
  pairs.write_to(rows, out.first, out.slot);
  return out;
}

TwoChainStructure::TwoChainStructure(const TwoChainLayout& layout, const TwoChainData& data,
                                     TwoChainLearning learning)
    : layout_(layout), data_(data), learning_(std::move(learning)) {
  check(data, layout.shape);
  if (learning_.modes.empty()) throw std::invalid_argument("there must be at least one mode to learn");
  if (!(learning_.cost > 0.0)) throw std::invalid_argument("the cost of an error must be above 0");
  for (std::size_t k = 0; k + 1 < data.first.size(); ++k) {
    tagged_.push_back(std::any_of(data.tag.begin() + data.first[k], data.tag.begin() + data.first[k + 1],
                                  [](std::int32_t tag) { return tag != kUnknownTag; }));
  }
}

std::size_t TwoChainStructure::answers(std::int64_t sentence) const {
  if (has_tags(sentence)) return learning_.modes.size();
  // Without tags, only letters alone can be learned.
  return static_cast<std::size_t>(
      std::count(learning_.modes.begin(), learning_.modes.end(), TwoChainMode::segment));
}

double TwoChainStructure::respond(WeightView weights, std::int64_t sentence, std::size_t answer, Work& work,
                                  std::vector<Delta>& difference) const {
  const TwoChainMode mode = has_tags(sentence) ? learning_.modes[answer] : TwoChainMode::segment;
  const TwoChainShape& shape = layout_.shape;
  const auto begin = static_cast<std::size_t>(data_.first[sentence]);
  const auto length = static_cast<std::size_t>(data_.first[sentence + 1]) - begin;
  if (length == 0) return 0.0;
  score_rows(layout_, weights, data_.features, anchors_of(shape, data_.first[sentence], sentence), length,
             mode == TwoChainMode::segment, work.rows);
  const CliqueScores cliques(shape, weights);
  const TwoChains x{shape, cliques, work.rows.data() + shape.padding() * shape.row(), length, shape.row()};
  const auto letter = std::span(data_.letter).subspan(begin, length);
  const auto tag = std::span(data_.tag).subspan(begin, length);
  work.letter.assign(letter.begin(), letter.end());
  work.tag.assign(length, kUnknownTag);
  if (mode == TwoChainMode::segment) {
    if (learning_.is_per_label) add_costs(sentence, mode, work);
    best_letters(x, work.search, work.letter);
    add_difference(sentence, {letter, {}}, {work.letter, {}}, difference);
  } else {
    // Where tags are unknown, the best answer that agrees with the known ones serves as gold.
    work.gold_tag.assign(tag.begin(), tag.end());
    if (std::find(tag.begin(), tag.end(), kUnknownTag) != tag.end())
      best_tags(x, work.search, letter, work.gold_tag);
    if (learning_.is_per_label) add_costs(sentence, mode, work);
    if (mode == TwoChainMode::joint) {
      best_path(x, work.search, work.letter, work.tag);
    } else {
      best_tags(x, work.search, letter, work.tag);
    }
    add_difference(sentence, {letter, work.gold_tag}, {work.letter, work.tag}, difference);
  }
  if (!learning_.is_per_label) return learning_.cost;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < length; ++i) {
    wrong += work.letter[i] != letter[i] ? 1U : 0U;
    if (mode != TwoChainMode::segment) wrong += work.tag[i] != work.gold_tag[i] ? 1U : 0U;
  }
  return learning_.cost * static_cast<double>(wrong);
}

/// Adds the cost to the score of every wrong letter and tag.
double TwoChainStructure::add_costs(std::int64_t sentence, TwoChainMode mode, Work& work) const {
  const TwoChainShape& shape = layout_.shape;
  const auto begin = static_cast<std::size_t>(data_.first[sentence]);
  const auto length = static_cast<std::size_t>(data_.first[sentence + 1]) - begin;
  const auto cost = static_cast<float>(learning_.cost);
  for (std::size_t i = 0; i < length; ++i) {
    float* row = work.rows.data() + (shape.padding() + i) * shape.row();
    for (std::size_t s = 0; s < shape.letters(); ++s) {
      if (static_cast<std::int32_t>(s) != data_.letter[begin + i]) row[shape.at(Clique::letter) + s] += cost;
    }
    for (std::size_t t = 0; mode != TwoChainMode::segment && t < shape.tags(); ++t) {
      if (static_cast<std::int32_t>(t) != work.gold_tag[i]) row[shape.at(Clique::tag) + t] += cost;
    }
  }
  return learning_.cost;
}

void TwoChainStructure::add_features(std::int64_t sentence, std::size_t i, Clique clique, std::size_t value,
                                     float sign, std::vector<Delta>& out) const {
  const TwoChainShape& shape = layout_.shape;
  const std::int64_t unit =
      anchors_of(shape, data_.first[sentence], sentence) + shape.before() + static_cast<std::int64_t>(i);
  for (std::size_t p = 0; p < shape.places().size(); ++p) {
    if (shape.places()[p].clique != clique) continue;
    const auto slot = static_cast<std::uint16_t>(shape.first_slot(p) + value);
    const std::int64_t anchor = unit + shape.places()[p].offset;
    for (std::int64_t f = data_.features.first[anchor]; f < data_.features.first[anchor + 1]; ++f) {
      const std::uint32_t row = data_.features.value[f];
      if (((layout_.places[row] >> p) & 1U) == 0) continue;
      const auto begin = layout_.slot.begin() + layout_.first[row];
      const auto end = layout_.slot.begin() + layout_.first[row + 1];
      const auto found = std::lower_bound(begin, end, slot);
      if (found == end || *found != slot) continue;
      out.push_back({static_cast<std::uint32_t>(shape.clique_weights() +
                                                static_cast<std::size_t>(found - layout_.slot.begin())),
                     sign});
    }
  }
}

void TwoChainStructure::add_difference(std::int64_t sentence, const Path& gold, const Path& guess,
                                       std::vector<Delta>& out) const {
  const TwoChainShape& shape = layout_.shape;
  const bool has_tags = !gold.tag.empty();
  const auto add_cliques = [&](const Path& path, std::size_t i, float sign) {
    const auto add = [&](std::size_t weight) { out.push_back({static_cast<std::uint32_t>(weight), sign}); };
    const auto s = static_cast<std::size_t>(path.letter[i]);
    const std::size_t s1 = i == 0 ? 0 : static_cast<std::size_t>(path.letter[i - 1]);
    add(i == 0 ? shape.start(s) : shape.letters(s1, s));
    if (!has_tags) return;
    const auto t = static_cast<std::size_t>(path.tag[i]);
    const std::size_t t1 = i == 0 ? 0 : static_cast<std::size_t>(path.tag[i - 1]);
    if (!shape.has_edge()) add(shape.letter_tag(s, t));
    if (i == 0) return add(shape.start(s, t));
    if (shape.has_edge()) add(shape.c1(s1, s, t1));
    add(shape.c2(s, t1, t));
  };
  for (std::size_t i = 0; i < gold.letter.size(); ++i) {
    const auto differs = [&](std::size_t k) {
      return gold.letter[k] != guess.letter[k] || (has_tags && gold.tag[k] != guess.tag[k]);
    };
    if (!differs(i) && (i == 0 || !differs(i - 1))) continue;
    add_cliques(gold, i, 1.0F);
    add_cliques(guess, i, -1.0F);
    for (std::size_t c = 0; c < kCliques; ++c) {
      const auto clique = static_cast<Clique>(c);
      if ((is_pair(clique) && i == 0) || (needs_tags(clique) && !has_tags)) continue;
      const std::size_t right = value_of(shape, clique, i, gold.letter, gold.tag);
      const std::size_t wrong = value_of(shape, clique, i, guess.letter, guess.tag);
      if (right == wrong) continue;
      add_features(sentence, i, clique, right, 1.0F, out);
      add_features(sentence, i, clique, wrong, -1.0F, out);
    }
  }
}

TwoChainLabels label_two_chain(const TwoChainLayout& layout, WeightView weights, const TwoChainData& data,
                               TwoChainMode mode, std::size_t threads) {
  const TwoChainShape& shape = layout.shape;
  check(data, shape);
  if (static_cast<std::int64_t>(weights.value.size()) != layout.weights())
    throw std::invalid_argument(concat("the weights do not match the model: expected ", layout.weights(),
                                       ", found ", weights.value.size()));
  TwoChainLabels out{data.letter, std::vector<std::int32_t>(data.tag.size(), kUnknownTag)};
  const CliqueScores cliques(shape, weights);
  Team team(threads, data.first.size() - 1);
  std::vector<TwoChainWork> work(team.size());
  team.for_each(data.first.size() - 1, [&](std::size_t thread, std::size_t k) {
    const auto begin = static_cast<std::size_t>(data.first[k]);
    const auto length = static_cast<std::size_t>(data.first[k + 1]) - begin;
    TwoChainWork& mine = work[thread];
    score_rows(layout, weights, data.features, anchors_of(shape, data.first[k], static_cast<std::int64_t>(k)),
               length, mode == TwoChainMode::segment, mine.rows);
    const TwoChains x{shape, cliques, mine.rows.data() + shape.padding() * shape.row(), length, shape.row()};
    const auto letter = std::span(out.letter).subspan(begin, length);
    const auto tag = std::span(out.tag).subspan(begin, length);
    if (mode == TwoChainMode::segment) best_letters(x, mine.search, letter);
    if (mode == TwoChainMode::joint) best_path(x, mine.search, letter, tag);
    if (mode == TwoChainMode::tag) best_tags(x, mine.search, letter, tag);
    if (mode != TwoChainMode::segment && !shape.has_edge()) agree_tags(shape, letter, tag);
  });
  return out;
}

}  // namespace duilian
