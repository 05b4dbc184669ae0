// Chains: scored lattices and the questions to them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/chain/owned_chain.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using PathTuple = std::tuple<double, Array<std::int32_t>>;

/// Scratch memory that a thread reuses from call to call.
[[nodiscard]] Workspace& scratch() {
  thread_local Workspace work;
  return work;
}

[[nodiscard]] Marginals find_marginals(const OwnedChain& chain) {
  Marginals found;
  marginals(chain.view(), scratch(), found);
  return found;
}

[[nodiscard]] MatrixView matrix(const Matrix<double>& values) { return {values.data(), values.shape(1)}; }

[[nodiscard]] PathTuple to_tuple(Path path) { return {path.score, to_numpy(std::move(path.states))}; }

void bind_sums(nb::class_<OwnedChain>& chain) {
  chain
      .def(
          "log_partition", [](const OwnedChain& self) { return log_partition(self.view(), scratch()); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("unit_marginals",
           [](const OwnedChain& self) {
             return to_numpy(without_gil([&] { return find_marginals(self).unit; }));
           })
      .def("summed_pair_marginals",
           [](const OwnedChain& self) {
             return std::make_tuple(to_numpy(self.between.block_of),
                                    to_numpy(without_gil([&] { return find_marginals(self).pair; })));
           })
      .def("pair_marginals",
           [](const OwnedChain& self) {
             return to_numpy(without_gil([&] { return pair_marginals(self.view(), scratch()); }));
           })
      .def(
          "entropy", [](const OwnedChain& self) { return entropy(self.view(), scratch()); },
          nb::call_guard<nb::gil_scoped_release>());
}

void bind_paths(nb::class_<OwnedChain>& chain) {
  chain
      .def("best_path",
           [](const OwnedChain& self) {
             return to_tuple(without_gil([&] { return best_path(self.view(), scratch()); }));
           })
      .def(
          "k_best",
          [](const OwnedChain& self, std::int32_t k) {
            std::vector<PathTuple> out;
            for (Path& path : without_gil([&] { return k_best(self.view(), k); }))
              out.push_back(to_tuple(std::move(path)));
            return out;
          },
          "k"_a)
      .def(
          "path_score",
          [](const OwnedChain& self, const Input<std::int32_t>& states) {
            return path_score(self.view(), view(states));
          },
          "states"_a);
}

}  // namespace

void bind_chain(nb::module_& m) {
  nb::class_<OwnedChain> chain(m, "Chain");
  chain
      .def(
          "__init__",
          [](OwnedChain* self, const Lattice& lattice, const Input<double>& state,
             const std::vector<Matrix<double>>& sides, const Input<std::int32_t>& label,
             const Matrix<double>& joint) {
            std::vector<MatrixView> side;
            for (const Matrix<double>& each : sides) side.push_back(matrix(each));
            new (self) OwnedChain(make_chain(lattice, to_vector(state), side, view(label), matrix(joint)));
          },
          "lattice"_a, "state"_a, "sides"_a, "label"_a, "joint"_a)
      .def_prop_ro(
          "tags", [](const OwnedChain& self) { return to_numpy(self.lattice.tag); }, nb::rv_policy::move);
  bind_sums(chain);
  bind_paths(chain);
}

}  // namespace duilian::bindings
