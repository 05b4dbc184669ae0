#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "dense_parts.hpp"
#include "duilian/tree/objective.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// Arc scores from a matrix [n + 1][n + 1] of heads and dependents.
[[nodiscard]] ArcScores arc_scores(const Matrix<double>& scores) {
  if (scores.shape(0) != scores.shape(1) || scores.shape(0) < 2)
    throw std::invalid_argument("the scores of arcs must be a square of at least 2");
  ArcScores built(static_cast<std::int32_t>(scores.shape(0)) - 1);
  std::copy(scores.data(), scores.data() + scores.size(), built.value.begin());
  for (std::int32_t k = 0; k <= built.words; ++k) built.at(k, k) = built.at(k, 0) = kNoTree;
  return built;
}

[[nodiscard]] std::tuple<double, std::vector<std::int32_t>> without_root(ScoredTree tree) {
  if (!tree.heads.empty()) tree.heads.erase(tree.heads.begin());
  return {tree.score, std::move(tree.heads)};
}

void bind_charts(nb::module_& m) {
  m.def(
      "best_tree",
      [](const Matrix<double>& scores) {
        EisnerWork work;
        return without_root(best_tree(arc_scores(scores), work));
      },
      "scores"_a);
  m.def(
      "arc_marginals",
      [](const Matrix<double>& scores) {
        EisnerWork work;
        std::vector<double> marginal;
        const double log_z = arc_marginals(arc_scores(scores), work, marginal);
        return std::make_tuple(log_z, to_numpy(std::move(marginal), scores.shape(0)));
      },
      "scores"_a);
  m.def(
      "k_best_trees",
      [](const Matrix<double>& scores, std::int32_t k) {
        std::vector<std::tuple<double, std::vector<std::int32_t>>> found;
        for (ScoredTree& tree : k_best_trees(arc_scores(scores), k))
          found.push_back(without_root(std::move(tree)));
        return found;
      },
      "scores"_a, "k"_a);
  m.def(
      "best_grand_tree",
      [](const Matrix<double>& arcs, const Cube& siblings, const Cube& grandparents,
         const Tesseract& grand_siblings, const Matrix<std::uint8_t>& allowed) {
        const std::size_t side = arcs.shape(0);
        DenseParts parts(arcs, siblings, grandparents, grand_siblings);
        if (allowed.size() != side * side)
          throw std::invalid_argument("the scores of parts do not fit together");
        ArcSet set;
        set.reset(static_cast<std::int32_t>(side) - 1, {allowed.data(), allowed.size()});
        GrandWork work;
        return without_root(grand_siblings.size() == 0 ? best_grand_tree<false>(parts, set, work)
                                                       : best_grand_tree<true>(parts, set, work));
      },
      "arcs"_a, "siblings"_a, "grandparents"_a, "grand_siblings"_a, "allowed"_a);
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_charts(m);

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
          "sentences"_a, "tag"_a, "head"_a, "relation"_a, "tags"_a, "relations"_a);

  nb::class_<ParseOptions>(m, "ParseOptions")
      .def(
          "__init__",
          [](ParseOptions* self, double min_share, std::int32_t longest, bool keeps_heads, double head_cost,
             double relation_cost) {
            new (self) ParseOptions{min_share, longest, keeps_heads, head_cost, relation_cost};
          },
          "min_share"_a, "longest"_a, "keeps_heads"_a, "head_cost"_a, "relation_cost"_a);

  nb::class_<TreeParser>(m, "TreeParser")
      .def(
          "__init__",
          [](TreeParser* self, std::int32_t order, std::int32_t bits, std::int32_t relation_bits,
             std::int32_t pruning_bits, std::int32_t relations, const Input<std::uint8_t>& tag_class) {
            new (self) TreeParser(
                ParserShape{order, bits, relation_bits, pruning_bits, relations, to_vector(tag_class)});
          },
          "order"_a, "bits"_a, "relation_bits"_a, "pruning_bits"_a, "relations"_a, "tag_class"_a)
      .def_prop_ro("weights", [](const TreeParser& self) { return self.shape().weights(); })
      .def_prop_ro("pruning_weights", [](const TreeParser& self) { return self.shape().pruning_weights(); })
      .def(
          "parse",
          [](const TreeParser& self, const Input<float>& weights, const Input<float>& pruning,
             const TreeData& data, const ParseOptions& options, std::size_t threads) {
            Parsed found = without_gil([&] {
              return parse(self, {weights.data(), weights.size()}, {pruning.data(), pruning.size()}, data,
                           options, threads);
            });
            return std::make_tuple(to_numpy(std::move(found.head)), to_numpy(std::move(found.relation)),
                                   to_numpy(std::move(found.score)), std::move(found.simplified),
                                   std::move(found.impossible));
          },
          "weights"_a, "pruning"_a, "data"_a, "options"_a, "threads"_a)
      .def(
          "tree_score",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data,
             std::int64_t sentence) {
            ParseWork work;
            self.prepare(data, sentence, work);
            return self.tree_score({weights.data(), weights.size()}, heads_of(data, sentence),
                                   self.shape().order, work);
          },
          "weights"_a, "data"_a, "sentence"_a)
      .def(
          "k_best",
          [](const TreeParser& self, const Input<float>& weights, const Input<float>& pruning,
             const TreeData& data, std::int64_t sentence, std::int32_t k, const ParseOptions& options) {
            const std::vector<ScoredTree> found = without_gil([&] {
              return k_best_trees(self, {weights.data(), weights.size()}, {pruning.data(), pruning.size()},
                                  data, sentence, k, options);
            });
            std::vector<std::tuple<double, std::vector<std::int32_t>>> trees;
            for (const ScoredTree& tree : found) trees.push_back(without_root(tree));
            return trees;
          },
          "weights"_a, "pruning"_a, "data"_a, "sentence"_a, "k"_a, "options"_a)
      .def(
          "relation_score",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data, std::int64_t sentence,
             std::int32_t head) {
            ParseWork work;
            self.prepare(data, sentence, work);
            return self.relation_score({weights.data(), weights.size()}, data, sentence, head, work);
          },
          "weights"_a, "data"_a, "sentence"_a, "head"_a)
      .def(
          "arc_scores",
          [](const TreeParser& self, const Input<float>& weights, const TreeData& data,
             std::int64_t sentence) {
            ParseWork work;
            self.prepare(data, sentence, work);
            self.score_arcs({weights.data(), weights.size()}, work);
            const auto side = static_cast<std::size_t>(work.scores.words) + 1;
            return to_numpy(std::move(work.scores.value), side);
          },
          "weights"_a, "data"_a, "sentence"_a)
      .def(
          "allowed_arcs",
          [](const TreeParser& self, const Input<float>& pruning, const TreeData& data, double min_share,
             std::size_t threads) {
            return to_numpy(without_gil([&] {
              return allowed_arcs(self, {pruning.data(), pruning.size()}, data, min_share, threads);
            }));
          },
          "pruning"_a, "data"_a, "min_share"_a, "threads"_a);
  m.def(
      "count_allowed",
      [](const TreeData& data, const Input<std::uint8_t>& allowed) {
        const PruningCounts found = count_allowed(data, {allowed.data(), allowed.size()});
        return std::make_tuple(found.words, found.kept, found.gold);
      },
      "data"_a, "allowed"_a);
}

}  // namespace duilian::bindings
