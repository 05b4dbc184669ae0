// The joint parser: scores of tagged trees, search, training and whole corpora (see joint.hpp).
#include "duilian/tree/joint.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/tree/parsing.hpp"

namespace duilian {

/// Scores of the parts of tagged trees, by nodes.
class WeighedTags : public WeighedParts<> {
 public:
  WeighedTags(const JointParser& parser, std::span<const float> weights, const JointParseWork& work)
      : WeighedParts(NumberedParts(work.keys, {}, work.nodes.word), weights, parser.shape().tree.bits),
        parser_(parser),
        weights_(weights),
        work_(work) {}

  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const {
    const double score = WeighedParts::arc(h, m);
    const auto& word = work_.nodes.word;
    return work_.head_cost != 0.0 && work_.gold.heads[word[m]] != word[h] ? score + work_.head_cost : score;
  }
  [[nodiscard]] double tag(std::int32_t node) const {
    float total = 0.0F;
    parser_.visit_tag(work_, node, [&](std::uint32_t weight) { total += weights_[weight]; });
    const double score = static_cast<double>(total);
    const std::int32_t word = work_.nodes.word[node];
    return work_.head_cost != 0.0 && work_.gold.nodes[word] != node ? score + work_.head_cost : score;
  }
  [[nodiscard]] double tag_pair(std::int32_t a, std::int32_t b) const {
    return static_cast<double>(weights_[parser_.pair_weight(work_.atoms[a].tag, work_.atoms[b].tag)]);
  }

 private:
  const JointParser& parser_;
  std::span<const float> weights_;
  const JointParseWork& work_;
};

namespace {

constexpr std::uint64_t kLikelihoodFeature = 0xC2B2AE3D27D4EB4FU;

[[nodiscard]] const JointShape& checked(const JointShape& shape) {
  check(shape.tree);
  if (shape.tag_bits < 4 || shape.tag_bits > 28)
    throw std::invalid_argument(concat("a table of weights must have 4 to 28 bits, got ", shape.tag_bits));
  if (shape.tags() < 1) throw std::invalid_argument("a joint parser needs tags");
  if (shape.weights() > std::int64_t{0xFFFFFFFF})
    throw std::invalid_argument("the tables of weights are too large");
  return shape;
}

}  // namespace

void check(const JointData& data, std::int32_t tags, std::int32_t relations) {
  check(data.tree, tags - 1, relations);
  const auto units = static_cast<std::size_t>(data.tree.sentences.units());
  if (data.first.size() != units + 1 || data.first[0] != 0 || data.gold.size() != units ||
      data.first.back() != static_cast<std::int64_t>(data.tag.size()) ||
      data.likelihood.size() != data.tag.size())
    throw std::invalid_argument(
        "every word needs its candidates and a gold tag, every candidate a likelihood");
  for (std::size_t k = 0; k < units; ++k) {
    if (data.first[k] >= data.first[k + 1]) throw std::invalid_argument("a word has no candidate tag");
    if (data.gold[k] < kUnknown || data.gold[k] >= tags)
      throw std::invalid_argument(concat("tag ", data.gold[k], " does not exist"));
  }
  for (const std::int32_t tag : data.tag) {
    if (tag < 0 || tag >= tags) throw std::invalid_argument(concat("tag ", tag, " does not exist"));
  }
}

JointParser::JointParser(JointShape shape, TemplateSet templates)
    : shape_(std::move(shape)), tree_(checked(shape_).tree), templates_(std::move(templates)) {
  if (!templates_.columns.empty())
    throw std::invalid_argument("templates of a joint parser must not use columns");
}

void JointParser::prepare(const JointData& data, std::int64_t sentence, Work& work) const {
  tree_.prepare(data.tree, sentence, work.words);
  const std::int64_t begin = data.tree.sentences.begin_of(sentence);
  const auto n = static_cast<std::int64_t>(work.words.nodes.size()) - 1;
  work.nodes.reset();
  work.atoms.assign(1, work.words.nodes[0]);
  work.likelihood.assign(1, 0);
  work.head_cost = 0.0;
  for (std::int64_t m = 1; m <= n; ++m) {
    const auto unit = static_cast<std::size_t>(begin + m - 1);
    work.nodes.add_word(static_cast<std::int32_t>(data.first[unit + 1] - data.first[unit]));
    for (std::int64_t c = data.first[unit]; c < data.first[unit + 1]; ++c) {
      work.atoms.push_back(work.words.nodes[m]);
      work.atoms.back().tag = data.tag[c];
      work.likelihood.push_back(data.likelihood[c]);
    }
  }
  work.keys.reset(work.atoms, {false, shape_.tree.order, false, work.words.has_hints});
  work.keys.set_context(work.words.context, shape_.tree.tag_class);
  work.features.first.assign(1, 0);
  work.features.value.clear();
  extract_keys(templates_, data.tree.sentences, sentence, sentence + 1, work.features);
}

template <class Visit>
void JointParser::visit_tag(const Work& work, std::int32_t node, const Visit& visit) const {
  const auto unit = static_cast<std::size_t>(work.nodes.word[node]) - 1;
  const auto tag = static_cast<std::uint64_t>(work.atoms[node].tag) + 1;
  const auto start = static_cast<std::uint32_t>(shape_.tag_start());
  const auto shift = static_cast<std::uint32_t>(64 - shape_.tag_bits);
  const auto visit_key = [&](std::uint64_t key) { visit(start + static_cast<std::uint32_t>(key >> shift)); };
  for (std::int64_t k = work.features.first[unit]; k < work.features.first[unit + 1]; ++k)
    visit_key(mix(work.features.value[k], tag));
  const std::uint64_t likelihood = mix(kLikelihoodFeature, work.likelihood[node]);
  visit_key(mix(likelihood, 0));
  visit_key(mix(likelihood, tag));
}

std::uint32_t JointParser::pair_weight(std::int32_t before, std::int32_t tag) const {
  return static_cast<std::uint32_t>(shape_.pair_start() + std::int64_t{before + 1} * shape_.tags() + tag);
}

TaggedTree JointParser::search(std::span<const float> weights, std::int32_t order, Work& work,
                               std::span<const std::uint8_t> usable) const {
  allow_nodes(work.nodes, work.words.allowed, usable, work.arcs);
  WeighedTags parts(*this, weights, work);
  switch (order) {
    case 1:
      return best_tagged_tree<1>(parts, work.nodes, work.arcs, work.chart);
    case 2:
      return best_tagged_tree<2>(parts, work.nodes, work.arcs, work.chart);
    default:
      return best_tagged_tree<3>(parts, work.nodes, work.arcs, work.chart);
  }
}

double JointParser::score(std::span<const float> weights, const TaggedTree& tree, std::int32_t order,
                          Work& work) const {
  double total = 0.0;
  const std::uint32_t shift = shift_of(shape_.tree.bits);
  for_each_part(tree.heads, TreeShape(tree.heads), order, NumberedParts(work.keys, tree.nodes),
                [&](std::uint32_t key, std::uint32_t place) {
                  total += static_cast<double>(weights[(key >> shift) ^ place]);
                });
  const WeighedTags tags(*this, weights, work);
  for (std::size_t m = 1; m < tree.nodes.size(); ++m)
    total += tags.tag(tree.nodes[m]) + tags.tag_pair(tree.nodes[m - 1], tree.nodes[m]);
  return total;
}

void JointParser::list_changes(const TaggedTree& gold, const TaggedTree& guess, Work& work,
                               std::vector<Delta>& changes) const {
  const TreeShape gold_shape(gold.heads);
  const TreeShape guess_shape(guess.heads);
  const std::uint32_t shift = shift_of(shape_.tree.bits);
  const auto is_same = [&](std::int32_t word) { return gold.nodes[word] == guess.nodes[word]; };
  const auto list = [&](const TaggedTree& ours, const TreeShape& our, const TaggedTree& theirs,
                        const TreeShape& their, float sign) {
    for_each_difference(
        ours.heads, our, theirs.heads, their, shape_.tree.order, NumberedParts(work.keys, ours.nodes),
        is_same,
        [&](std::uint32_t key, std::uint32_t place) { changes.push_back({(key >> shift) ^ place, sign}); });
    for (std::int32_t m = 1; m < static_cast<std::int32_t>(ours.nodes.size()); ++m) {
      if (!is_same(m))
        visit_tag(work, ours.nodes[m], [&](std::uint32_t weight) { changes.push_back({weight, sign}); });
      if (!is_same(m) || !is_same(m - 1))
        changes.push_back({pair_weight(tag_of(work, ours.nodes[m - 1]), tag_of(work, ours.nodes[m])), sign});
    }
  };
  list(gold, gold_shape, guess, guess_shape, 1.0F);
  list(guess, guess_shape, gold, gold_shape, -1.0F);
}

void JointParser::choose(const TaggedTree& tree, Work& work) const {
  for (std::size_t m = 1; m < tree.nodes.size(); ++m) work.words.nodes[m] = work.atoms[tree.nodes[m]];
  if (shape_.tree.relations > 0)
    work.words.keys.reset(work.words.nodes, {false, 1, true, work.words.has_hints});
}

namespace {

/// Whether the tables of the search are small enough. Arcs between words are arcs between all their nodes.
[[nodiscard]] bool is_within_memory(const JointParseWork& work, const ParseOptions& options) {
  const std::size_t side = work.words.nodes.size();
  const auto tags = [&](std::size_t word) {
    return static_cast<double>(work.nodes.first[word + 1] - work.nodes.first[word]);
  };
  double arcs = 0.0;
  for (std::size_t h = 0; h < side; ++h) {
    for (std::size_t m = 1; m < side; ++m) {
      if (h != m && work.words.allowed[h * side + m] != 0) arcs += tags(h) * tags(m);
    }
  }
  const auto nodes = static_cast<double>(work.nodes.size());
  return std::max(arcs, nodes) * nodes <= static_cast<double>(options.most_cells);
}

/// The best tree of order 1 for the tags of the plain tagger.
[[nodiscard]] ParsedSentence parse_plainly(const JointParser& parser, std::span<const float> weights,
                                           JointParseWork& work) {
  const ScoredTree best = parser.tree().search(weights, 1, work.words);
  ParsedSentence found{best.score, best.heads, {}, true};
  if (!best.heads.empty()) found.relations = parser.tree().label(weights, best.heads, work.words);
  return found;
}

}  // namespace

JointParsed parse(const JointParser& parser, std::span<const float> weights, std::span<const float> pruning,
                  const JointData& data, ParseOptions options, std::size_t threads) {
  JointParsed out;
  out.tag = data.tree.tag;
  const auto parse_one = [&](std::int64_t sentence, const Heads& given, JointParseWork& work) {
    parser.prepare(data, sentence, work);
    work.words.relations.keeps_pairs = true;
    const std::int32_t order = order_for(parser.shape().tree, given.size() - 1, options);
    const Heads kept = options.keeps_heads ? given : free_heads(given.size());
    parser.tree().prune(pruning, kept, options.min_share, work.words);
    if (!is_within_memory(work, options)) return parse_plainly(parser, weights, work);
    const TaggedTree best = parser.search(weights, order, work);
    ParsedSentence found{best.score, best.heads, {}, order != parser.shape().tree.order};
    if (best.heads.empty()) return found;
    parser.choose(best, work);
    found.relations = parser.tree().label(weights, best.heads, work.words);
    const auto begin = static_cast<std::size_t>(data.tree.sentences.begin_of(sentence));
    for (std::size_t m = 1; m < best.nodes.size(); ++m)
      out.tag[begin + m - 1] = parser.tag_of(work, best.nodes[m]);
    return found;
  };
  out.trees = parse_all<JointParseWork>(data.tree, threads, parse_one);
  return out;
}

double tree_score(const JointParser& parser, std::span<const float> weights, const JointData& data,
                  std::int64_t sentence, std::span<const std::int32_t> heads,
                  std::span<const std::int32_t> nodes) {
  JointParseWork work;
  parser.prepare(data, sentence, work);
  TaggedTree tree{0.0, {-1}, {0}};
  tree.heads.insert(tree.heads.end(), heads.begin(), heads.end());
  tree.nodes.insert(tree.nodes.end(), nodes.begin(), nodes.end());
  return parser.score(weights, tree, parser.shape().tree.order, work);
}

JointObjective::JointObjective(const JointParser& parser, const JointData& data,
                               std::vector<std::uint8_t> allowed, std::vector<std::int32_t> guessed,
                               ParseOptions options)
    : parser_(parser),
      data_(data),
      allowed_(data.tree, std::move(allowed)),
      relation_trees_(data.tree, std::move(guessed)),
      options_(options) {}

TaggedTree JointObjective::gold_of(std::span<const float> weights, std::int64_t sentence, std::int32_t order,
                                   Work& work) const {
  TaggedTree gold;
  gold.heads = heads_of(data_.tree, sentence);
  gold.nodes.assign(gold.heads.size(), 0);
  const auto begin = static_cast<std::size_t>(data_.tree.sentences.begin_of(sentence));
  std::vector<std::uint8_t> usable(work.atoms.size(), 1);
  bool has_all_tags = true;
  for (std::size_t m = 1; m < gold.heads.size(); ++m) {
    const std::int32_t tag = data_.gold[begin + m - 1];
    std::int32_t found = kUnknown;
    for (std::int32_t node = work.nodes.first[m]; node < work.nodes.first[m + 1]; ++node) {
      if (work.atoms[node].tag == tag) found = node;
    }
    if (found == kUnknown) {
      has_all_tags = false;
      continue;
    }
    gold.nodes[m] = found;
    for (std::int32_t node = work.nodes.first[m]; node < work.nodes.first[m + 1]; ++node)
      usable[node] = node == found;
  }
  if (has_all_tags && is_whole(gold.heads)) return gold;
  allowed_.copy(sentence, gold.heads, work.words.allowed);
  return parser_.search(weights, order, work, usable);
}

double JointObjective::compute(const Prepared&, WeightView weights, std::int64_t sentence, Work& work,
                               Gradient& out) const {
  const std::int64_t begin = data_.tree.sentences.begin_of(sentence);
  const auto n = static_cast<std::size_t>(data_.tree.sentences.end_of(sentence) - begin);
  if (n == 0) return 0.0;
  parser_.prepare(data_, sentence, work);
  const std::int32_t order = order_for(parser_.shape().tree, n, options_);
  const TaggedTree gold = gold_of(weights.value, sentence, order, work);
  if (gold.heads.empty()) return 0.0;
  allowed_.copy(sentence, free_heads(n + 1), work.words.allowed);
  for (std::size_t m = 1; m <= n; ++m)
    work.words.allowed[static_cast<std::size_t>(gold.heads[m]) * (n + 1) + m] = 1;
  work.head_cost = options_.head_cost;
  work.words.relations.relation_cost = options_.relation_cost;
  work.gold = gold;
  const TaggedTree guess = parser_.search(weights.value, order, work);
  double wrong = 0.0;
  for (std::size_t m = 1; m <= n; ++m)
    wrong += (guess.heads[m] != gold.heads[m] ? 1.0 : 0.0) + (guess.nodes[m] != gold.nodes[m] ? 1.0 : 0.0);
  if (wrong > 0.0) parser_.list_changes(gold, guess, work, out.sparse);
  // Relations are learned as they will be predicted: over the tags that the search found.
  parser_.choose(guess, work);
  return wrong + relation_trees_.list_changes(parser_.tree(), weights.value, sentence, gold.heads, work.words,
                                              out.sparse);
}

}  // namespace duilian
