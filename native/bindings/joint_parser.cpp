// The joint parser: tags and trees in one search.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/tree/joint.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_data(nb::module_& m) {
  nb::class_<JointData>(m, "JointData")
      .def(
          "__init__",
          [](JointData* self, const TreeData& tree, const Input<std::int64_t>& first,
             const Input<std::int32_t>& tag, const Input<std::uint8_t>& likelihood,
             const Input<std::int32_t>& gold, std::int32_t tags, std::int32_t relations) {
            JointData built{tree, to_vector(first), to_vector(tag), to_vector(likelihood), to_vector(gold)};
            check(built, tags, relations);
            new (self) JointData(std::move(built));
          },
          "tree"_a, "first"_a, "tag"_a, "likelihood"_a, "gold"_a, "tags"_a, "relations"_a);
}

}  // namespace

void bind_joint_parser(nb::module_& m) {
  bind_data(m);
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
            return tree_score(self, view(weights), data, sentence, heads, nodes);
          },
          "weights"_a, "data"_a, "sentence"_a, "heads"_a, "nodes"_a)
      .def(
          "parse",
          [](const JointParser& self, const Input<float>& weights, const Input<float>& pruning,
             const JointData& data, const ParseOptions& options, std::size_t threads) {
            JointParsed found = without_gil(
                [&] { return parse(self, view(weights), view(pruning), data, options, threads); });
            return std::make_tuple(to_numpy(std::move(found.tag)), to_numpy(std::move(found.trees.head)),
                                   to_numpy(std::move(found.trees.relation)),
                                   to_numpy(std::move(found.trees.score)), std::move(found.trees.simplified),
                                   std::move(found.trees.impossible));
          },
          "weights"_a, "pruning"_a, "data"_a, "options"_a, "threads"_a);
}

}  // namespace duilian::bindings
