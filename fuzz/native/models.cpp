// Feeds arrays of a model file to native code: each must be refused or give an answer. The arrays start out
// valid, with features that occur in the text, and are then corrupted; no checksum protects them here.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "duilian/coupled/predictor.hpp"
#include "duilian/dynamic/predictor.hpp"
#include "duilian/multitask/predictor.hpp"
#include "duilian/tree/parser.hpp"
#include "duilian/two_chain/predictor.hpp"

namespace fuzzing {

using namespace duilian;

namespace {

constexpr const char* kTemplates = "w[0]\nw[-1] w[0]\n";

[[nodiscard]] Sentences text(const Reading& reading, bool is_one = false) {
  Sentences out(reading, {});
  const std::vector<std::string> units = {"中", "国", "人", "a", "。"};
  out.add(units, {});
  if (!is_one) out.add(std::span(units).first(1), {});
  return out;
}

[[nodiscard]] Succession rules(Bytes& bytes, std::int32_t labels) {
  Succession out;
  if (bytes.below(2) == 0) return out;
  out.tags = labels;
  for (std::int32_t k = 0; k < (labels + 1) * (labels + 1); ++k) {
    out.allows.push_back(bytes.below(4) == 3 ? 0 : 1);
  }
  return out;
}

/// Weights of ascending labels for the features of the text.
[[nodiscard]] WeightTable table(Bytes& bytes, const TemplateSet& templates, const Sentences& sentences,
                                std::int32_t labels) {
  WeightTable out;
  std::vector<std::uint64_t> kept;
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> keys = extract_keys(templates, sentences).value;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::uint64_t key : keys) {
    const std::size_t begin = out.label.size();
    for (std::int32_t label = bytes.below(labels + 1); label < labels; label += 1 + bytes.below(labels))
      out.add(static_cast<std::uint16_t>(label), bytes.weight());
    if (!out.end_feature(begin)) continue;
    kept.push_back(key);
    begins.push_back(begin);
  }
  out.place(kept, begins);
  return out;
}

void spoil(Bytes& bytes, WeightTable& table) {
  bytes.spoil(table.slot);
  bytes.spoil(table.label);
  bytes.spoil(table.weight);
}

[[nodiscard]] std::vector<float> weights(Bytes& bytes, std::size_t count) {
  std::vector<float> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(k % 7 == 0 ? bytes.weight() : 0.25F);
  bytes.spoil(out);
  return out;
}

[[nodiscard]] CompiledWeights compiled(Bytes& bytes, const TemplateSet& templates, const Sentences& sentences,
                                       std::int32_t labels) {
  CompiledWeights out{table(bytes, templates, sentences, labels), {}};
  out.transition = weights(bytes, static_cast<std::size_t>((labels + 1) * (labels + 1)));
  spoil(bytes, out);
  return out;
}

/// A reading with a dictionary of a few words, whose trie is corrupted.
[[nodiscard]] Reading reading(Bytes& bytes) {
  if (bytes.below(4) != 1) return {};
  const std::vector<std::u32string> words = {U"中", U"中国", U"中国人", U"国人"};
  DictionaryArrays arrays = make_trie(words, std::vector<std::uint32_t>{9, 8, 2, 1},
                                      std::vector<std::uint8_t>{0, 1, 1, 0}, {"n", "ns"});
  bytes.spoil(arrays.alphabet);
  bytes.spoil(arrays.symbol);
  bytes.spoil(arrays.flags);
  bytes.spoil(arrays.frequency);
  bytes.spoil(arrays.tag);
  Dictionary dictionary(std::move(arrays));
  static_cast<void>(dictionary.words());
  return {Folding(), std::move(dictionary)};
}

void ask_plain(Bytes& bytes) {
  const Reading read = reading(bytes);
  const TemplateSet templates = parse_templates(read.dictionary ? "w[0]\nlx[0]\njg[0] w[0]" : kTemplates);
  const Sentences sentences = text(read);
  const std::int32_t labels = 1 + bytes.below(5);
  Succession between = rules(bytes, labels);
  const Predictor predictor(labels, std::move(between), compiled(bytes, templates, sentences, labels),
                            templates, read);
  std::int64_t impossible = 0;
  static_cast<void>(predict(predictor, sentences, {}, 1, impossible));
  if (impossible == 0) static_cast<void>(predict_marginals(predictor, sentences, {}, 1));
}

[[nodiscard]] CoupledShape coupled_shape(Bytes& bytes) {
  std::vector<std::int32_t> labels = {1 + bytes.below(4), 1 + bytes.below(4)};
  std::vector<Succession> between;
  for (const std::int32_t each : labels) between.push_back(rules(bytes, each));
  CoupledShape shape = make_shape(labels, std::move(between), {});
  if (bytes.below(8) == 1) return shape;
  std::vector<TagId> bundles;
  for (std::int32_t a = 0; a < labels[0]; ++a) {
    for (std::int32_t b = 0; b < labels[1]; ++b) {
      if (bytes.below(4) != 1) bundles.insert(bundles.end(), {static_cast<TagId>(a), static_cast<TagId>(b)});
    }
  }
  std::vector<std::int32_t> sides = {0, 1};
  bytes.spoil(sides);
  bytes.spoil(bundles);
  add_joint_part(shape, std::move(sides), bundles, bytes.below(8));
  return shape;
}

void ask_coupled(Bytes& bytes) {
  const TemplateSet templates = parse_templates(kTemplates);
  const Sentences sentences = text({});
  CoupledShape shape = coupled_shape(bytes);
  CoupledWeights arrays;
  if (bytes.below(3) == 1) arrays.pruned_sides = {bytes.below(2)};
  const std::int32_t labels = side_label_count(shape, arrays.pruned_sides) + shape.joint_labels();
  std::size_t transitions = 0;
  for (const std::int32_t each : side_blocks(shape, arrays.pruned_sides))
    transitions += static_cast<std::size_t>((each + 1) * (each + 1));
  for (const JointPart& part : shape.joint) transitions += static_cast<std::size_t>(part.transitions());
  arrays.table = table(bytes, templates, sentences, labels);
  arrays.transition = weights(bytes, transitions);
  spoil(bytes, arrays.table);
  bytes.spoil(arrays.pruned_sides);
  const Pruning pruning{1 + bytes.below(4), bytes.below(2) == 0 ? 0.9 : 1.0, 0.0,
                        bytes.below(3) == 1 ? 4.0 : 0.0};
  const CoupledPredictor predictor(std::move(shape), std::make_shared<CoupledWeights>(std::move(arrays)),
                                   templates, {}, {pruning, static_cast<Decoding>(bytes.below(2))});
  static_cast<void>(predict(predictor, sentences, {}, true, 1));
  double log_z = 0.0;
  static_cast<void>(k_best(predictor, text({}, true), 0, {}, 3, log_z));
}

void ask_two_chain(Bytes& bytes) {
  TwoChainOptions options;
  options.letters = 1 + bytes.below(4);
  options.tags = 1 + bytes.below(4);
  options.rules = rules(bytes, options.letters);
  options.continues.assign(static_cast<std::size_t>(options.letters), 0);
  options.continues.back() = static_cast<std::uint8_t>(bytes.below(2));
  options.has_edge = bytes.below(2) == 0;
  for (std::int32_t k = 0; k < 3; ++k)
    options.places.push_back({static_cast<Clique>(bytes.below(kCliques)), bytes.below(5) - 2});
  bytes.spoil(options.continues);
  const TwoChainShape shape(options);
  std::vector<PlaceSet> places = {1U + static_cast<PlaceSet>(bytes.below(7)),
                                  1U + static_cast<PlaceSet>(bytes.below(7))};
  bytes.spoil(places);
  const TwoChainPatterns patterns{parse_templates(kTemplates), std::move(places)};
  const Sentences sentences = text({});
  TwoChainWeights arrays{table(bytes, patterns.set, sentences, static_cast<std::int32_t>(shape.slots())), {}};
  arrays.clique = weights(bytes, shape.clique_weights());
  spoil(bytes, arrays);
  const TwoChainPredictor predictor(shape, patterns, std::move(arrays), {});
  static_cast<void>(predict(predictor, sentences, TwoChainMode::joint, {}, 1));
  static_cast<void>(predict(predictor, sentences, TwoChainMode::segment, {}, 1));
  static_cast<void>(k_best(predictor, sentences, 0, 3, bytes.below(2) == 0));
  static_cast<void>(predict_marginals(predictor, sentences, 1.0, 1));
}

void ask_dynamic(Bytes& bytes) {
  const std::int32_t labels = 1 + bytes.below(5);
  std::vector<std::uint8_t> starts, ends;
  for (std::int32_t l = 0; l < labels; ++l) {
    starts.push_back(static_cast<std::uint8_t>(bytes.below(2)));
    ends.push_back(static_cast<std::uint8_t>(bytes.below(2)));
  }
  bytes.spoil(starts);
  LabelWords words(std::move(starts), std::move(ends),
                   std::vector<std::u32string>(static_cast<std::size_t>(labels), U"n"));
  const TemplateSet templates = parse_templates(kTemplates);
  const Sentences sentences = text({});
  Succession between = rules(bytes, labels);
  DynamicOptions options;
  options.beam = static_cast<std::size_t>(bytes.below(5));
  options.kind_gap = bytes.weight();
  const DynamicPredictor predictor(labels, std::move(between), compiled(bytes, templates, sentences, labels),
                                   templates, parse_templates("@pos[-1] w[0]\nw[-1] w[0]\nlen[-1] w[1]"), {},
                                   std::move(words), options);
  std::int64_t impossible = 0;
  static_cast<void>(predict(predictor, sentences, {}, 1, impossible));
}

void ask_multitask(Bytes& bytes) {
  const std::int32_t labels = 1 + bytes.below(4);
  const std::int32_t others = 1 + bytes.below(4);
  const TemplateSet templates = parse_templates(kTemplates);
  const Sentences sentences = text({});
  LabelMap map;
  for (std::int32_t l = 0; l < labels; ++l) {
    for (std::int32_t other = bytes.below(others); other < others; other += 1 + bytes.below(2))
      map.to.push_back(other);
    map.first.push_back(static_cast<std::int32_t>(map.to.size()));
  }
  bytes.spoil(map.first);
  bytes.spoil(map.to);
  const Succession own_rules = rules(bytes, labels);
  const Succession other_rules = rules(bytes, others);
  CompiledWeights own = compiled(bytes, templates, sentences, labels);
  const BestExpansionPredictor predictor(labels, own_rules, std::move(own), others, other_rules,
                                         compiled(bytes, templates, sentences, others), map, templates, {});
  std::int64_t impossible = 0;
  static_cast<void>(predict(predictor, sentences, {}, 1, impossible));
}

void ask_parser(Bytes& bytes) {
  ParserShape shape;
  shape.order = bytes.below(5);
  shape.bits = 3 + bytes.below(6);
  shape.relation_bits = 4 + bytes.below(4);
  shape.pruning_bits = 4 + bytes.below(4);
  shape.tag_bits = 4 + bytes.below(4);
  shape.relations = bytes.below(4);
  shape.tags = bytes.below(3);
  for (std::int32_t k = 0; k < 3; ++k) shape.tag_class.push_back(static_cast<std::uint8_t>(bytes.below(5)));
  if (bytes.below(2) == 0) shape.of_roots.assign(static_cast<std::size_t>(shape.relations), 0);
  bytes.spoil(shape.of_roots);
  const TreeParser parser(shape);
  const auto fill = [&](std::int64_t count) {
    std::vector<float> out;
    for (std::int64_t k = 0; k < count; ++k) out.push_back(k % 16 == 0 ? bytes.weight() : 0.0F);
    return out;
  };
  TreeData data{text({}), {}, {}, {}, {}, {}, {}};
  const auto units = static_cast<std::size_t>(data.sentences.units());
  for (std::size_t k = 0; k < units; ++k) data.tag.push_back(bytes.below(3));
  data.head.assign(units, kUnknown);
  data.relation.assign(units, kUnknown);
  bytes.spoil(data.tag);
  bytes.spoil(data.head);
  bytes.spoil(data.relation);
  check(data, 3, shape.relations);
  if (shape.tags > 0) return;  // needs guide trees
  ParseOptions options;
  options.min_share = bytes.below(2) == 0 ? 0.0 : 0.01;
  options.keeps_heads = bytes.below(2) == 0;
  static_cast<void>(parse(parser, fill(shape.weights()), fill(shape.pruning_weights()), data, options, 1));
}

}  // namespace

void attack(std::span<const std::uint8_t> input) {
  Bytes bytes(input);
  constexpr void (*kKinds[])(Bytes&) = {ask_plain,   ask_coupled,   ask_two_chain,
                                        ask_dynamic, ask_multitask, ask_parser};
  kKinds[bytes.below(6)](bytes);
}

}  // namespace fuzzing
