#include "duilian/tree/joint.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "dense_parts.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// The same for nodes, with the scores of tags.
struct DenseTaggedParts : DenseParts {
  const double *tags, *pairs;

  [[nodiscard]] double tag(std::int32_t b) const { return tags[place(b)]; }
  [[nodiscard]] double tag_pair(std::int32_t a, std::int32_t b) const {
    return pairs[place(a) * side + place(b)];
  }
};

using Answer = std::tuple<double, std::vector<std::int32_t>, std::vector<std::int32_t>>;

[[nodiscard]] Answer without_root(TaggedTree found) {
  if (!found.heads.empty()) {
    found.heads.erase(found.heads.begin());
    found.nodes.erase(found.nodes.begin());
  }
  return {found.score, std::move(found.heads), std::move(found.nodes)};
}

/// `counts` is how many tags each word has; parts go by nodes.
[[nodiscard]] Answer best_dense_tagged_tree(std::int32_t order, const Input<std::int32_t>& counts,
                                            DenseTaggedParts parts, std::span<const std::uint8_t> allowed) {
  NodeSet nodes;
  nodes.reset();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts.data()[k] < 1) throw std::invalid_argument("a word has no candidate tag");
    nodes.add_word(counts.data()[k]);
  }
  const std::size_t words = counts.size() + 1;
  if (static_cast<std::size_t>(nodes.size()) != parts.side || allowed.size() != words * words)
    throw std::invalid_argument("the scores of parts do not fit together");
  ArcSet arcs;
  allow_nodes(nodes, allowed, {}, arcs);
  JointWork work;
  if (order == 1) return without_root(best_tagged_tree<1>(parts, nodes, arcs, work));
  if (order == 2) return without_root(best_tagged_tree<2>(parts, nodes, arcs, work));
  return without_root(best_tagged_tree<3>(parts, nodes, arcs, work));
}

[[nodiscard]] JointData joint_data(const TreeData& tree, const Input<std::int64_t>& first,
                                   const Input<std::int32_t>& tag, const Input<std::uint8_t>& likelihood,
                                   const Input<std::int32_t>& gold, std::int32_t tags,
                                   std::int32_t relations) {
  JointData built{tree, to_vector(first), to_vector(tag), to_vector(likelihood), to_vector(gold)};
  check(built, tags, relations);
  return built;
}

}  // namespace

void bind_joint(nb::module_& m) {
  m.def(
      "best_tagged_tree",
      [](std::int32_t order, const Input<std::int32_t>& counts, const Input<double>& tags,
         const Matrix<double>& pairs, const Matrix<double>& arcs, const Cube& siblings,
         const Cube& grandparents, const Tesseract& grand_siblings, const Matrix<std::uint8_t>& allowed) {
        const DenseParts parts(arcs, siblings, grandparents, grand_siblings);
        if (tags.size() != parts.side || pairs.size() != parts.side * parts.side)
          throw std::invalid_argument("the scores of parts do not fit together");
        return best_dense_tagged_tree(order, counts, {parts, tags.data(), pairs.data()},
                                      {allowed.data(), allowed.size()});
      },
      "order"_a, "counts"_a, "tags"_a, "pairs"_a, "arcs"_a, "siblings"_a, "grandparents"_a,
      "grand_siblings"_a, "allowed"_a);

  nb::class_<JointData>(m, "JointData")
      .def(
          "__init__",
          [](JointData* self, const TreeData& tree, const Input<std::int64_t>& first,
             const Input<std::int32_t>& tag, const Input<std::uint8_t>& likelihood,
             const Input<std::int32_t>& gold, std::int32_t tags, std::int32_t relations) {
            new (self) JointData(joint_data(tree, first, tag, likelihood, gold, tags, relations));
          },
          "tree"_a, "first"_a, "tag"_a, "likelihood"_a, "gold"_a, "tags"_a, "relations"_a);

  nb::class_<JointParser>(m, "JointParser")
      .def(
          "__init__",
          [](JointParser* self, const TreeParser& tree, std::int32_t tag_bits, const TemplateSet& templates) {
            new (self) JointParser(JointShape{tree.shape(), tag_bits}, templates);
          },
          "tree"_a, "tag_bits"_a, "templates"_a)
      .def_prop_ro("weights", [](const JointParser& self) { return self.shape().weights(); })
      .def(
          "score",
          [](const JointParser& self, const Input<float>& weights, const JointData& data,
             std::int64_t sentence, const std::vector<std::int32_t>& heads,
             const std::vector<std::int32_t>& nodes) {
            JointParseWork work;
            self.prepare(data, sentence, work);
            TaggedTree tree{0.0, {-1}, {0}};
            tree.heads.insert(tree.heads.end(), heads.begin(), heads.end());
            tree.nodes.insert(tree.nodes.end(), nodes.begin(), nodes.end());
            return self.score({weights.data(), weights.size()}, tree, self.shape().tree.order, work);
          },
          "weights"_a, "data"_a, "sentence"_a, "heads"_a, "nodes"_a)
      .def(
          "parse",
          [](const JointParser& self, const Input<float>& weights, const Input<float>& pruning,
             const JointData& data, const ParseOptions& options, std::size_t threads) {
            JointParsed found = without_gil([&] {
              return parse(self, {weights.data(), weights.size()}, {pruning.data(), pruning.size()}, data,
                           options, threads);
            });
            return std::make_tuple(to_numpy(std::move(found.tag)), to_numpy(std::move(found.trees.head)),
                                   to_numpy(std::move(found.trees.relation)),
                                   to_numpy(std::move(found.trees.score)), std::move(found.trees.simplified),
                                   std::move(found.trees.impossible));
          },
          "weights"_a, "pruning"_a, "data"_a, "options"_a, "threads"_a);
}

}  // namespace duilian::bindings
