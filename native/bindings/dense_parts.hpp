// Scores of the parts of trees as arrays: what tests give to the charts.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "bindings.hpp"
#include "duilian/tree/grand_chart.hpp"

namespace duilian::bindings {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Tesseract = nb::ndarray<const double, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

/// Scores of parts written out, for tests: index n + 1 stands for nobody.
struct DenseParts {
  std::size_t side;
  const double *arcs, *siblings, *grandparents, *grand_siblings;

  DenseParts(const Matrix<double>& arc, const Cube& sibling, const Cube& grandparent,
             const Tesseract& grand_sibling)
      : side(arc.shape(0)),
        arcs(arc.data()),
        siblings(sibling.data()),
        grandparents(grandparent.data()),
        grand_siblings(grand_sibling.data()) {
    if (side < 2 || arc.size() != side * side || sibling.size() != side * (side + 1) * (side + 1) ||
        grandparent.size() != side * side * side ||
        (grand_sibling.size() != 0 && grand_sibling.size() != side * sibling.size()))
      throw std::invalid_argument("the scores of parts do not fit together");
  }

  [[nodiscard]] std::size_t place(std::int32_t word) const {
    return word == kNobody ? side : static_cast<std::size_t>(word);
  }
  [[nodiscard]] double arc(std::int32_t h, std::int32_t m) const { return arcs[place(h) * side + place(m)]; }
  [[nodiscard]] double sibling(std::int32_t h, std::int32_t s, std::int32_t m) const {
    return siblings[(place(h) * (side + 1) + place(s)) * (side + 1) + place(m)];
  }
  [[nodiscard]] double grandparent(std::int32_t g, std::int32_t h, std::int32_t m) const {
    return grandparents[(place(g) * side + place(h)) * side + place(m)];
  }
  [[nodiscard]] double grand_sibling(std::int32_t g, std::int32_t h, std::int32_t s, std::int32_t m) const {
    return grand_siblings[((place(g) * side + place(h)) * (side + 1) + place(s)) * (side + 1) + place(m)];
  }
};

}  // namespace duilian::bindings
