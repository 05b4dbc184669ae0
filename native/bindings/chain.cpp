#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/chain/uniform.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using PathTuple = std::tuple<double, Array<std::int32_t>>;

/// Scratch that a thread keeps from call to call.
[[nodiscard]] Workspace& scratch() {
  thread_local Workspace work;
  return work;
}

[[nodiscard]] Marginals find_marginals(const OwnedChain& chain) {
  Marginals found;
  marginals(chain.view(), scratch(), found);
  return found;
}

[[nodiscard]] PathTuple to_tuple(Path path) { return {path.score, to_numpy(std::move(path.states))}; }

}  // namespace

void bind_chain(nb::module_& m) {
  nb::class_<OwnedChain>(m, "Chain")
      .def(
          "__init__",
          [](OwnedChain* self, const Lattice& lattice, const Input<double>& state,
             const std::vector<Matrix<double>>& sides, const Input<std::int32_t>& label,
             const Matrix<double>& joint) {
            const auto score = [&](std::int32_t i, std::int32_t j) {
              double total = 0.0;
              for (std::size_t k = 0; k < sides.size(); ++k) {
                total += sides[k](lattice.bundle(i)[k], lattice.bundle(j)[k]);
              }
              const bool is_joint = label.size() > 0 && label(i) >= 0 && label(j) >= 0;
              return is_joint ? total + joint(label(i), label(j)) : total;
            };
            OwnedChain built{lattice, to_vector(state), make_transitions(lattice, score)};
            check(built.view());
            new (self) OwnedChain(std::move(built));
          },
          "lattice"_a, "state"_a, "sides"_a, "label"_a, "joint"_a)
      .def_prop_ro(
          "tags", [](const OwnedChain& self) { return to_numpy(self.lattice.tag); }, nb::rv_policy::move)
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
          nb::call_guard<nb::gil_scoped_release>())
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
            return path_score(self.view(), std::span(states.data(), states.size()));
          },
          "states"_a);
}

}  // namespace duilian::bindings
