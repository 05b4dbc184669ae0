// The parser: its data, options and answers, and the pruning of arcs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/tree/parsing.hpp"
#include "trees.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_input(nb::module_& m) {
  nb::class_<TreeData>(m, "TreeData")
      .def(
          "__init__",
          [](TreeData* self, const Sentences& sentences, const Input<std::int32_t>& tag,
             const Input<std::int32_t>& head, const Input<std::int32_t>& relation, std::int32_t tags,
             std::int32_t relations) {
            TreeData built{sentences, to_vector(tag), to_vector(head), to_vector(relation)};
            check(built, tags, relations);
            new (self) TreeData(std::move(built));
          },
          "sentences"_a, "tag"_a, "head"_a, "relation"_a, "tags"_a, "relations"_a)
      .def(
          "with_guide",
          [](const TreeData& self, const Input<std::int32_t>& head, const Input<std::int32_t>& relation,
             const Input<std::int32_t>& wanted_tag, std::int32_t wanted_tags) {
            TreeData guided = self;
            guided.guide_head = to_vector(head);
            guided.guide_relation = to_vector(relation);
            guided.wanted_tag = to_vector(wanted_tag);
            check_guide(guided, wanted_tags);
            return guided;
          },
          "head"_a, "relation"_a, "wanted_tag"_a, "wanted_tags"_a)
      .def(
          "with_hints",
          [](const TreeData& self, const Input<std::int32_t>& hint) {
            TreeData hinted = self;
            hinted.hint = to_vector(hint);
            if (hinted.hint.size() != hinted.tag.size())
              throw std::invalid_argument("every word needs a hint");
            return hinted;
          },
          "hint"_a);

  nb::class_<ParseOptions>(m, "ParseOptions")
      .def(
          "__init__",
          [](ParseOptions* self, double min_share, std::int32_t longest, bool keeps_heads, double head_cost,
             double relation_cost) {
            new (self) ParseOptions{min_share, longest, keeps_heads, head_cost, relation_cost};
          },
          "min_share"_a, "longest"_a, "keeps_heads"_a, "head_cost"_a, "relation_cost"_a);
}

[[nodiscard]] auto answer(Parsed found) {
  return std::make_tuple(to_numpy(std::move(found.head)), to_numpy(std::move(found.relation)),
                         to_numpy(std::move(found.score)), std::move(found.simplified),
                         std::move(found.impossible), to_numpy(std::move(found.tag)));
}

void bind_coded_weights(nb::module_& m) {
  nb::class_<CodedWeights>(m, "CodedWeights")
      .def_static(
          "decode",
          [](const Input<std::uint8_t>& used, const Input<std::uint8_t>& place, const Input<float>& code,
             std::size_t trees, std::size_t size) {
            return without_gil(
                [&] { return CodedWeights::decode(view(used), view(place), view(code), trees, size); });
          },
          "used"_a, "place"_a, "code"_a, "trees"_a, "size"_a)
      .def_static(
          "spread",
          [](const Input<std::uint8_t>& used, const Input<std::uint8_t>& place, const Input<float>& code,
             std::size_t size) {
            return to_numpy(
                without_gil([&] { return CodedWeights::spread(view(used), view(place), view(code), size); }));
          },
          "used"_a, "place"_a, "code"_a, "size"_a)
      .def_static(
          "check",
          [](const Input<std::uint8_t>& used, std::size_t places, std::size_t size) {
            CodedWeights::check(view(used), places, size);
          },
          "used"_a, "places"_a, "size"_a)
      .def("dense", [](const CodedWeights& self) { return to_numpy(self.dense()); });
}

void bind_search(nb::class_<TreeParser>& parser) {
  parser
      .def(
          "parse",
          [](const TreeParser& self, const Input<float>& weights, const Input<float>& pruning,
             const TreeData& data, const ParseOptions& options, std::size_t threads) {
            Parsed found = without_gil(
                [&] { return parse(self, view(weights), view(pruning), data, options, threads); });
            return answer(std::move(found));
          },
          "weights"_a, "pruning"_a, "data"_a, "options"_a, "threads"_a)
      .def(
          "parse_coded",
          [](const TreeParser& self, const CodedWeights& weights, const Input<float>& pruning,
             const TreeData& data, const ParseOptions& options, std::size_t threads) {
            Parsed found =
                without_gil([&] { return parse(self, weights, view(pruning), data, options, threads); });
            return answer(std::move(found));
          },
          "weights"_a, "pruning"_a, "data"_a, "options"_a, "threads"_a)
      .def(
          "k_best",
          [](const TreeParser& self, const Input<float>& weights, const Input<float>& pruning,
             const TreeData& data, std::int64_t sentence, std::int32_t k, const ParseOptions& options) {
            return to_tuples(without_gil([&] {
              return k_best_trees(self, view(weights), view(pruning), data, sentence, k, options);
            }));
          },
          "weights"_a, "pruning"_a, "data"_a, "sentence"_a, "k"_a, "options"_a)
      .def(
          "head_probabilities",
          [](const TreeParser& self, const Input<float>& pruning, const TreeData& data, std::size_t threads) {
            return to_numpy(
                without_gil([&] { return head_probabilities(self, view(pruning), data, threads); }));
          },
          "pruning"_a, "data"_a, "threads"_a)
      .def(
          "allowed_arcs",
          [](const TreeParser& self, const Input<float>& pruning, const TreeData& data, double min_share,
             std::size_t threads) {
            return to_numpy(
                without_gil([&] { return allowed_arcs(self, view(pruning), data, min_share, threads); }));
          },
          "pruning"_a, "data"_a, "min_share"_a, "threads"_a);
}

void bind_scores(nb::class_<TreeParser>& parser) {
  parser
      .def(
          "tree_score",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data,
             std::int64_t sentence) { return tree_score(self, view(weights), data, sentence); },
          "weights"_a, "data"_a, "sentence"_a)
      .def(
          "relation_score",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data, std::int64_t sentence,
             std::int32_t head) { return relation_score(self, view(weights), data, sentence, head); },
          "weights"_a, "data"_a, "sentence"_a, "head"_a)
      .def(
          "arc_scores",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data,
             std::int64_t sentence) {
            ArcScores found = arc_scores(self, view(weights), data, sentence);
            return to_numpy(std::move(found.value), static_cast<std::size_t>(found.words) + 1);
          },
          "weights"_a, "data"_a, "sentence"_a);
}

}  // namespace

void bind_parser(nb::module_& m) {
  bind_input(m);
  bind_coded_weights(m);
  nb::class_<TreeParser> parser(m, "TreeParser");
  parser
      .def(
          "__init__",
          [](TreeParser* self, std::int32_t order, std::int32_t bits, std::int32_t relation_bits,
             std::int32_t pruning_bits, std::int32_t relations, const Input<std::uint8_t>& tag_class,
             const Input<std::uint8_t>& of_roots, std::int32_t tag_bits, std::int32_t tags) {
            new (self) TreeParser(ParserShape{order, bits, relation_bits, pruning_bits, relations,
                                              to_vector(tag_class), to_vector(of_roots), tag_bits, tags});
          },
          "order"_a, "bits"_a, "relation_bits"_a, "pruning_bits"_a, "relations"_a, "tag_class"_a,
          "of_roots"_a, "tag_bits"_a, "tags"_a)
      .def_prop_ro("weights", [](const TreeParser& self) { return self.shape().weights(); })
      .def_prop_ro("tree_weights", [](const TreeParser& self) { return self.shape().tree_weights(); })
      .def_prop_ro("pruning_weights", [](const TreeParser& self) { return self.shape().pruning_weights(); });
  bind_search(parser);
  bind_scores(parser);
  m.def(
      "guide_links",
      [](const Input<std::int32_t>& heads, const Input<std::int32_t>& relations) {
        Heads rooted = to_vector(heads);
        std::vector<std::int32_t> named = to_vector(relations);
        rooted.insert(rooted.begin(), -1);
        named.insert(named.begin(), -1);
        if (named.size() != rooted.size() || !is_tree(rooted))
          throw std::invalid_argument("a guide needs a tree, with a relation for each word");
        GuideTree guide;
        guide.reset(rooted, named);
        std::vector<std::int64_t> shapes, paths;
        for (std::size_t h = 0; h < rooted.size(); ++h) {
          for (std::size_t d = 0; d < rooted.size(); ++d) {
            shapes.push_back(guide.link(h, d).shape);
            paths.push_back(guide.link(h, d).path);
          }
        }
        return std::make_tuple(to_numpy(std::move(shapes), rooted.size()),
                               to_numpy(std::move(paths), rooted.size()));
      },
      "heads"_a, "relations"_a);
  m.def(
      "count_allowed",
      [](const TreeData& data, const Input<std::uint8_t>& allowed) {
        const PruningCounts found = count_allowed(data, view(allowed));
        return std::make_tuple(found.words, found.kept, found.gold);
      },
      "data"_a, "allowed"_a);
}

}  // namespace duilian::bindings
