// The neural parser: arrays in, trees out.
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/neural/parser.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Map = std::pair<Matrix<float>, Input<float>>;                    // weights, bias
using Side = std::tuple<Matrix<float>, Matrix<float>, Input<float>>;  // of inputs, recurrent; bias

[[nodiscard]] TrainedMatrix of(const Matrix<float>& matrix) {
  return {view(matrix), matrix.shape(0), matrix.shape(1)};
}
[[nodiscard]] TrainedMap of(const Map& map) { return {of(map.first), view(map.second)}; }
[[nodiscard]] TrainedLstm of(const Side& side) {
  return {{of(std::get<0>(side)), view(std::get<2>(side))}, of(std::get<1>(side))};
}

/// The maps are, in order: heads and dependents of arcs, then of relations.
[[nodiscard]] NeuralParser make(const std::vector<Matrix<float>>& tables,
                                const std::vector<std::size_t>& table_of, const Input<float>& root,
                                const std::vector<std::array<Side, 2>>& layers,
                                const std::array<Map, 4>& maps, const std::array<Matrix<float>, 3>& weights,
                                const std::vector<Map>& tagging, std::int32_t root_relation) {
  NeuralWeights found;
  for (const auto& table : tables) found.tables.push_back(of(table));
  found.table_of = table_of;
  found.root = view(root);
  for (const auto& layer : layers) found.layers.push_back({of(layer[0]), of(layer[1])});
  found.arc_head = of(maps[0]), found.arc_dependent = of(maps[1]);
  found.relation_head = of(maps[2]), found.relation_dependent = of(maps[3]);
  found.arc_weight = of(weights[0]), found.distance = of(weights[1]), found.relation_weight = of(weights[2]);
  for (const Map& map : tagging) found.tagging.push_back(of(map));
  return NeuralParser(found, root_relation);
}

}  // namespace

void bind_neural(nb::module_& m) {
  nb::class_<NeuralParser>(m, "NeuralParser")
      .def(
          "__init__",
          [](NeuralParser* self, const std::vector<Matrix<float>>& tables,
             const std::vector<std::size_t>& table_of, const Input<float>& root,
             const std::vector<std::array<Side, 2>>& layers, const std::array<Map, 4>& maps,
             const std::array<Matrix<float>, 3>& weights, const std::vector<Map>& tagging,
             std::int32_t root_relation) {
            new (self) NeuralParser(make(tables, table_of, root, layers, maps, weights, tagging, root_relation));
          },
          "tables"_a, "table_of"_a, "root"_a, "layers"_a, "maps"_a, "weights"_a, "tagging"_a,
          "root_relation"_a)
      .def_prop_ro("relations", &NeuralParser::relations)
      .def_prop_ro("tags", &NeuralParser::tags)
      .def(
          "answer",
          [](const NeuralParser& self, const Input<std::int64_t>& first, const Matrix<std::int32_t>& feature,
             const Input<std::int32_t>& head, bool finds_trees, bool finds_tags, std::size_t threads) {
            NeuralAnswer found = without_gil([&] {
              return self.answer({view(first), view(feature), view(head)}, {finds_trees, finds_tags}, threads);
            });
            return std::make_tuple(to_numpy(std::move(found.head)), to_numpy(std::move(found.relation)),
                                   to_numpy(std::move(found.tag), self.tags()), std::move(found.impossible));
          },
          "first"_a, "feature"_a, "head"_a, "finds_trees"_a, "finds_tags"_a, "threads"_a)
      .def(
          "arc_scores",
          [](const NeuralParser& self, const Matrix<std::int32_t>& feature) {
            ArcScores found = without_gil([&] { return self.arc_scores(view(feature)); });
            return to_numpy(std::move(found.value), static_cast<std::size_t>(found.words) + 1);
          },
          "feature"_a);
}

}  // namespace duilian::bindings
