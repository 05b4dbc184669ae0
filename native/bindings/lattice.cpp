// Lattices, the sets and rules they are made from, and the operations on them.
#include "duilian/lattice/lattice.hpp"

#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

[[nodiscard]] std::vector<std::uint8_t> flat(const Matrix<std::uint8_t>& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

void bind_class(nb::module_& m) {
  nb::class_<Lattice>(m, "Lattice")
      .def(
          "__init__",
          [](Lattice* self, std::int32_t sides, const Input<std::int32_t>& first,
             const Input<std::int32_t>& tag) {
            Lattice built{sides, to_vector(first), to_vector(tag)};
            check(built);
            new (self) Lattice(std::move(built));
          },
          "sides"_a, "first"_a, "tag"_a)
      .def_ro("sides", &Lattice::sides)
      .def_prop_ro("positions", &Lattice::positions)
      .def_prop_ro("states", &Lattice::states)
      .def_prop_ro(
          "first", [](const Lattice& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "tags",
          [](const Lattice& self) { return to_numpy(self.tag, static_cast<std::size_t>(self.sides)); },
          nb::rv_policy::move)
      .def("equals", [](const Lattice& self, const Lattice& other) { return self == other; }, "other"_a);
}

void bind_sets(nb::module_& m) {
  nb::class_<TagSets>(m, "TagSets")
      .def(
          "__init__",
          [](TagSets* self, const Input<std::int32_t>& first, const Input<std::int32_t>& tag) {
            TagSets built{to_vector(first), to_vector(tag)};
            check(built);
            new (self) TagSets(std::move(built));
          },
          "first"_a, "tag"_a)
      .def_prop_ro(
          "first", [](const TagSets& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro("tags", [](const TagSets& self) { return to_numpy(self.tag); }, nb::rv_policy::move);
  nb::class_<SideMapping>(m, "SideMapping")
      .def(
          "__init__",
          [](SideMapping* self, std::int32_t side_a, std::int32_t side_b,
             const Matrix<std::uint8_t>& allows) {
            new (self) SideMapping{side_a, side_b, static_cast<std::int32_t>(allows.shape(1)), flat(allows)};
          },
          "side_a"_a, "side_b"_a, "allows"_a);
  nb::class_<Succession>(m, "Succession")
      .def(
          "__init__",
          [](Succession* self, std::int32_t tags, const Matrix<std::uint8_t>& allows) {
            new (self) Succession{tags, flat(allows)};
          },
          "tags"_a, "allows"_a);
}

void bind_operations(nb::module_& m) {
  m.def(
      "complete_lattice",
      [](std::int32_t positions, const std::vector<std::int32_t>& tags) {
        return complete_lattice(positions, tags);
      },
      "positions"_a, "tags"_a);
  m.def(
      "product_lattice",
      [](const std::vector<TagSets>& sides, const std::vector<SideMapping>& mappings) {
        return product_lattice(sides, mappings);
      },
      "sides"_a, "mappings"_a);
  m.def("restrict", & restrict, "lattice"_a, "side"_a, "allowed"_a);
  m.def("intersect", &intersect, "a"_a, "b"_a);
  m.def("unite", &unite, "a"_a, "b"_a);
  m.def(
      "trim",
      [](const Lattice& lattice, const std::vector<Succession>& successions) {
        return trim(lattice, successions);
      },
      "lattice"_a, "successions"_a);
  m.def(
      "locate", [](const Lattice& inner, const Lattice& outer) { return to_numpy(locate(inner, outer)); },
      "inner"_a, "outer"_a);
}

}  // namespace

void bind_lattice(nb::module_& m) {
  bind_class(m);
  bind_sets(m);
  bind_operations(m);
}

}  // namespace duilian::bindings
