// Charts over scores of parts given as arrays, which tests compare with enumeration.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "trees.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Tesseract = nb::ndarray<const double, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

void bind_arcs(nb::module_& m) {
  m.def(
      "best_tree",
      [](const Matrix<double>& scores) {
        EisnerWork work;
        return to_tuple(best_tree(arc_scores(view(scores), scores.shape(0)), work));
      },
      "scores"_a);
  m.def(
      "arc_marginals",
      [](const Matrix<double>& scores) {
        EisnerWork work;
        std::vector<double> marginal;
        const double log_z = arc_marginals(arc_scores(view(scores), scores.shape(0)), work, marginal);
        return std::make_tuple(log_z, to_numpy(std::move(marginal), scores.shape(0)));
      },
      "scores"_a);
  m.def(
      "k_best_trees",
      [](const Matrix<double>& scores, std::int32_t k) {
        return to_tuples(k_best_trees(arc_scores(view(scores), scores.shape(0)), k));
      },
      "scores"_a, "k"_a);
}

}  // namespace

void bind_charts(nb::module_& m) {
  bind_arcs(m);
  m.def(
      "best_grand_tree",
      [](const Matrix<double>& arcs, const Cube& siblings, const Cube& grandparents,
         const Tesseract& grand_siblings, const Matrix<std::uint8_t>& allowed) {
        const DenseParts parts{view(arcs), view(siblings), view(grandparents), view(grand_siblings),
                               arcs.shape(0)};
        return to_tuple(best_dense_tree(parts, view(allowed)));
      },
      "arcs"_a, "siblings"_a, "grandparents"_a, "grand_siblings"_a, "allowed"_a);
  m.def(
      "best_tagged_tree",
      [](std::int32_t order, const Input<std::int32_t>& counts, const Input<double>& tags,
         const Matrix<double>& pairs, const Matrix<double>& arcs, const Cube& siblings,
         const Cube& grandparents, const Tesseract& grand_siblings, const Matrix<std::uint8_t>& allowed) {
        const DenseTaggedParts parts{
            {view(arcs), view(siblings), view(grandparents), view(grand_siblings), arcs.shape(0)},
            view(tags),
            view(pairs)};
        return to_tuple(best_dense_tagged_tree(parts, order, view(counts), view(allowed)));
      },
      "order"_a, "counts"_a, "tags"_a, "pairs"_a, "arcs"_a, "siblings"_a, "grandparents"_a,
      "grand_siblings"_a, "allowed"_a);
}

}  // namespace duilian::bindings
