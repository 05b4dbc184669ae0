// The neural parser: from features of words to trees.
#include "duilian/neural/parser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

namespace {

constexpr float kSlope = 0.1F;            // of leaky rectifiers
constexpr std::size_t kGroup = 12;        // sentences that go through the LSTMs in step
constexpr std::size_t kGroupRows = 1024;  // rows of a group, unless one sentence has more
constexpr std::size_t kRelationRows = 12;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(concat("a neural parser's ", what, " do not fit together"));
}

void check_map(const TrainedMap& map, std::size_t inputs, const char* what) {
  require(map.weight.columns == inputs && map.weight.rows > 0 && map.bias.size() == map.weight.rows, what);
}

/// Checks all sizes; returns the number of inputs of the first layer.
std::size_t check_encoder(const NeuralWeights& weights) {
  std::size_t inputs = 0;
  for (const std::size_t table : weights.table_of) {
    require(table < weights.tables.size(), "tables");
    inputs += weights.tables[table].columns;
  }
  require(inputs > 0 && weights.root.size() == inputs, "tables");
  require(!weights.layers.empty(), "layers");
  const std::size_t cells = weights.layers.front()[0].recurrent.columns;
  require(cells > 0, "layers");
  std::size_t width = inputs;
  for (const auto& layer : weights.layers) {
    for (const TrainedLstm& side : layer) {
      check_map(side.input, width, "layers");
      require(side.input.weight.rows == 4 * cells && side.recurrent.rows == 4 * cells, "layers");
      require(side.recurrent.columns == cells, "layers");
    }
    width = 2 * cells;
  }
  return inputs;
}

void check_scorers(const NeuralWeights& weights) {
  const std::size_t width = 2 * weights.layers.front()[0].recurrent.columns;
  for (const TrainedMap* map : {&weights.arc_head, &weights.arc_dependent, &weights.relation_head,
                                &weights.relation_dependent})
    check_map(*map, width, "scorers");
  const std::size_t arcs = weights.arc_head.weight.rows, size = weights.relation_head.weight.rows;
  require(weights.arc_dependent.weight.rows == arcs && weights.relation_dependent.weight.rows == size,
          "scorers");
  require(weights.arc_weight.rows == arcs + 1 && weights.arc_weight.columns == arcs, "weights of arcs");
  require(weights.distance.rows == 2 && weights.distance.columns == kFarthest + 1, "distances");
  require(weights.relation_weight.rows == size + 1 && weights.relation_weight.columns % (size + 1) == 0 &&
              weights.relation_weight.columns > 0,
          "weights of relations");
  require(weights.tagging.empty() || weights.tagging.size() == 2, "layers for tags");
  if (weights.tagging.empty()) return;
  check_map(weights.tagging[0], width, "layers for tags");
  check_map(weights.tagging[1], weights.tagging[0].weight.rows, "layers for tags");
}

[[nodiscard]] Linear plain(const TrainedMap& trained, const Spread& inputs) {
  return Linear(trained, inputs, Spread{trained.weight.rows, trained.weight.rows});
}

/// Sentences of similar length together, longest first.
[[nodiscard]] std::vector<std::vector<std::size_t>> groups_of(std::span<const std::int64_t> first,
                                                              std::size_t threads) {
  const std::size_t count = first.size() - 1;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto words = [&](std::size_t s) { return static_cast<std::size_t>(first[s + 1] - first[s]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return words(a) > words(b); });
  const std::size_t most = std::clamp(count / std::max<std::size_t>(threads, 1), std::size_t{1}, kGroup);
  std::vector<std::vector<std::size_t>> found;
  std::size_t rows = 0;
  for (const std::size_t s : order) {
    if (words(s) == 0) break;
    rows += words(s) + 1;
    if (found.empty() || found.back().size() == most || rows > kGroupRows) {
      found.emplace_back();
      rows = words(s) + 1;
    }
    found.back().push_back(s);
  }
  return found;
}

}  // namespace

struct NeuralParser::Work {
  std::vector<RowRange> sentences;
  std::vector<float> rows, next;
  LstmWork lstm;
  std::vector<float> head, dependent, product, value, hidden;
  Panels heads;
  ArcScores scores;
  EisnerWork eisner;
};

NeuralParser::NeuralParser(const NeuralWeights& weights, std::int32_t root_relation)
    : table_of_(weights.table_of),
      root_(weights.root.begin(), weights.root.end()),
      root_relation_(root_relation) {
  const std::size_t inputs = check_encoder(weights);
  check_scorers(weights);
  for (const TrainedMatrix& table : weights.tables)
    tables_.push_back({table.rows, table.columns, {table.value.begin(), table.value.end()}});
  Spread spread{inputs, inputs};
  for (const auto& layer : weights.layers) {
    layers_.emplace_back(layer, spread);
    spread = {layer[0].recurrent.columns, layers_.back().room()};
  }
  arc_head_ = plain(weights.arc_head, spread);
  arc_dependent_ = plain(weights.arc_dependent, spread);
  relation_head_ = plain(weights.relation_head, spread);
  relation_dependent_ = plain(weights.relation_dependent, spread);
  arcs_ = weights.arc_weight.columns;
  std::vector<std::size_t> place(arcs_);
  std::iota(place.begin(), place.end(), std::size_t{0});
  arc_weight_ = Linear(weights.arc_weight, place);
  distance_.assign(weights.distance.value.begin(), weights.distance.value.end());
  relation_size_ = weights.relation_head.weight.rows;
  relations_ = weights.relation_weight.columns / (relation_size_ + 1);
  require(root_relation >= -1 && root_relation < static_cast<std::int32_t>(relations_), "relations");
  // The scores of all relations for one number of a head follow each other.
  relation_room_ = rounded_up(relations_, kNeuralLanes);
  place.resize(weights.relation_weight.columns);
  for (std::size_t j = 0; j < place.size(); ++j)
    place[j] = j % (relation_size_ + 1) * relation_room_ + j / (relation_size_ + 1);
  relation_weight_ = Linear(weights.relation_weight, place);
  if (weights.tagging.empty()) return;
  const std::size_t hidden = weights.tagging[0].weight.rows;
  tagging_ = {plain(weights.tagging[0], spread), plain(weights.tagging[1], Spread{hidden, hidden})};
  tags_ = weights.tagging[1].weight.rows;
}

void NeuralParser::check(const NeuralSentences& sentences) const {
  const std::size_t words = sentences.head.size(), features = table_of_.size();
  const auto& first = sentences.first;
  bool fits = !first.empty() && first.front() == 0 && first.back() == static_cast<std::int64_t>(words) &&
              sentences.feature.size() == words * features && std::is_sorted(first.begin(), first.end());
  for (std::size_t k = 0; fits && k < sentences.feature.size(); ++k) {
    const std::int32_t number = sentences.feature[k];
    fits = number >= 0 && static_cast<std::size_t>(number) < tables_[table_of_[k % features]].rows;
  }
  for (std::size_t s = 0; fits && s + 1 < first.size(); ++s) {
    for (std::int64_t word = first[s]; fits && word < first[s + 1]; ++word) {
      const std::int32_t head = sentences.head[static_cast<std::size_t>(word)];
      fits = head >= -1 && head <= first[s + 1] - first[s];
    }
  }
  if (!fits) throw std::invalid_argument("features or heads of words are out of range");
}

void NeuralParser::embed(std::span<const std::int32_t> feature, std::vector<float>& rows) const {
  for (std::size_t k = 0; k < feature.size(); ++k) {
    const Table& table = tables_[table_of_[k % table_of_.size()]];
    const float* from = &table.value[static_cast<std::size_t>(feature[k]) * table.columns];
    rows.insert(rows.end(), from, from + table.columns);
  }
}

void NeuralParser::encode(Work& work) const {
  std::size_t stride = root_.size();
  for (const LstmLayer& layer : layers_) {
    layer.run(work.rows, stride, work.sentences, work.lstm, work.next);
    std::swap(work.rows, work.next);
    stride = 2 * layer.room();
  }
}

void NeuralParser::score_arcs(const RowRange& own, Work& work) const {
  const std::size_t stride = 2 * layers_.back().room(), n = own.size - 1;
  const float* rows = &work.rows[own.begin * stride];
  arc_head_.apply(rows, stride, own.size, work.head);
  arc_dependent_.apply(rows, stride, own.size, work.dependent);
  neural_kernels().leak(kSlope, work.head.size(), work.head.data());
  neural_kernels().leak(kSlope, work.dependent.size(), work.dependent.data());
  arc_weight_.apply(work.dependent.data(), arc_dependent_.outputs(), own.size, work.product);
  work.heads.reset(arcs_, own.size);
  for (std::size_t h = 0; h <= n; ++h) work.heads.set_column(h, &work.head[h * arc_head_.outputs()]);
  const std::size_t room = work.heads.columns();
  work.value.assign(own.size * room, 0.0F);
  work.heads.add_product(work.product.data(), arc_weight_.outputs(), own.size, work.value.data(), room);
  work.scores.reset(static_cast<std::int32_t>(n));
  for (std::size_t m = 1; m <= n; ++m) {
    float* score = &work.value[m * room];
    for (std::size_t h = 0; h <= n; ++h) {
      const std::size_t far = std::min(h > m ? h - m : m - h, kFarthest);
      score[h] += distance_[(h > m ? 0 : kFarthest + 1) + far];
    }
    score[m] = -std::numeric_limits<float>::infinity();
    const double top = *std::max_element(score, score + n + 1);
    double total = 0.0;
    for (std::size_t h = 0; h <= n; ++h) total += std::exp(score[h] - top);
    total = top + std::log(total);
    for (std::size_t h = 0; h <= n; ++h)
      work.scores.at(static_cast<std::int32_t>(h), static_cast<std::int32_t>(m)) = score[h] - total;
  }
}

std::int32_t NeuralParser::best_relation(std::int32_t head, const std::vector<float>& score) const {
  if (head == 0 && root_relation_ >= 0) return root_relation_;
  std::int32_t best = -1;
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(relations_); ++r) {
    const auto at = [&](std::int32_t each) { return score[static_cast<std::size_t>(each)]; };
    if (r != root_relation_ && (best < 0 || at(r) > at(best))) best = r;
  }
  return std::max(best, 0);
}

void NeuralParser::choose_relations(const RowRange& own, const std::int32_t* head, Work& work,
                                    std::int32_t* relation) const {
  const std::size_t stride = 2 * layers_.back().room(), n = own.size - 1;
  const float* rows = &work.rows[own.begin * stride];
  relation_head_.apply(rows, stride, own.size, work.head);
  relation_dependent_.apply(rows, stride, own.size, work.dependent);
  neural_kernels().leak(kSlope, work.head.size(), work.head.data());
  neural_kernels().leak(kSlope, work.dependent.size(), work.dependent.data());
  const std::size_t room = relation_weight_.outputs();
  work.value.resize(relation_room_);
  work.hidden.assign(relation_size_ + 1, 1.0F);
  for (std::size_t from = 1; from <= n; from += kRelationRows) {
    const std::size_t count = std::min(kRelationRows, n + 1 - from);
    relation_weight_.apply(&work.dependent[from * relation_dependent_.outputs()],
                           relation_dependent_.outputs(), count, work.product);
    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t h = head[from + k - 1];
      if (h < 0) continue;
      std::copy_n(&work.head[static_cast<std::size_t>(h) * relation_head_.outputs()], relation_size_,
                  work.hidden.begin());
      neural_kernels().times_rows(work.hidden.data(), &work.product[k * room], relation_size_ + 1,
                                  relation_room_, work.value.data());
      relation[from + k - 1] = best_relation(h, work.value);
    }
  }
}

void NeuralParser::weigh_tags(const RowRange& own, Work& work, float* p) const {
  const std::size_t stride = 2 * layers_.back().room(), n = own.size - 1;
  tagging_[0].apply(&work.rows[(own.begin + 1) * stride], stride, n, work.head);
  neural_kernels().leak(kSlope, work.head.size(), work.head.data());
  tagging_[1].apply(work.head.data(), tagging_[0].outputs(), n, work.value);
  for (std::size_t word = 0; word < n; ++word, p += tags_) {
    const float* score = &work.value[word * tagging_[1].outputs()];
    const float top = *std::max_element(score, score + tags_);
    float total = 0.0F;
    for (std::size_t tag = 0; tag < tags_; ++tag) total += p[tag] = std::exp(score[tag] - top);
    for (std::size_t tag = 0; tag < tags_; ++tag) p[tag] /= total;
  }
}

void NeuralParser::answer_group(const NeuralSentences& sentences, const std::vector<std::size_t>& group,
                                const NeuralQuestion& question, Work& work, NeuralAnswer& out) const {
  work.sentences.clear(), work.rows.clear();
  std::size_t rows = 0;
  for (const std::size_t s : group) {
    const auto begin = static_cast<std::size_t>(sentences.first[s]);
    const auto words = static_cast<std::size_t>(sentences.first[s + 1]) - begin;
    work.sentences.push_back({rows, words + 1});
    rows += words + 1;
    work.rows.insert(work.rows.end(), root_.begin(), root_.end());
    embed(sentences.feature.subspan(begin * table_of_.size(), words * table_of_.size()), work.rows);
  }
  encode(work);
  for (std::size_t k = 0; k < group.size(); ++k) {
    const RowRange& own = work.sentences[k];
    const auto begin = static_cast<std::size_t>(sentences.first[group[k]]);
    if (question.finds_tags) weigh_tags(own, work, &out.tag[begin * tags_]);
    if (question.finds_trees) {
      score_arcs(own, work);
      for (std::size_t m = 1; m < own.size; ++m) {
        const std::int32_t given = sentences.head[begin + m - 1];
        if (given < 0) continue;
        for (std::int32_t h = 0; h < static_cast<std::int32_t>(own.size); ++h)
          if (h != given) work.scores.at(h, static_cast<std::int32_t>(m)) = kNoTree;
      }
      const ScoredTree best = best_tree(work.scores, work.eisner);
      if (best.heads.empty()) continue;
      std::copy(best.heads.begin() + 1, best.heads.end(),
                out.head.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    choose_relations(own, &out.head[begin], work, &out.relation[begin]);
  }
}

NeuralAnswer NeuralParser::answer(const NeuralSentences& sentences, const NeuralQuestion& question,
                                  std::size_t threads) const {
  check(sentences);
  const NeuralQuestion asked{question.finds_trees, question.finds_tags && tags_ > 0};
  NeuralAnswer out;
  out.head.assign(sentences.head.begin(), sentences.head.end());
  if (asked.finds_trees) std::fill(out.head.begin(), out.head.end(), -1);
  out.relation.assign(out.head.size(), -1);
  if (asked.finds_tags) out.tag.assign(out.head.size() * tags_, 0.0F);
  const auto groups = groups_of(sentences.first, threads);
  Team team(threads, groups.size());
  std::vector<Work> work(threads);
  team.for_each(groups.size(), [&](std::size_t thread, std::size_t k) {
    answer_group(sentences, groups[k], asked, work[thread], out);
  });
  for (std::size_t s = 0; asked.finds_trees && s + 1 < sentences.first.size(); ++s) {
    const auto begin = static_cast<std::size_t>(sentences.first[s]);
    if (sentences.first[s] < sentences.first[s + 1] && out.head[begin] < 0)
      out.impossible.push_back(static_cast<std::int64_t>(s));
  }
  return out;
}

ArcScores NeuralParser::arc_scores(std::span<const std::int32_t> feature) const {
  const auto words = static_cast<std::int64_t>(feature.size() / table_of_.size());
  const std::vector<std::int64_t> first{0, words};
  const std::vector<std::int32_t> head(static_cast<std::size_t>(words), -1);
  check({first, feature, head});
  Work work;
  work.rows = root_;
  embed(feature, work.rows);
  work.sentences = {{0, static_cast<std::size_t>(words) + 1}};
  encode(work);
  score_arcs(work.sentences.front(), work);
  return work.scores;
}

}  // namespace duilian
