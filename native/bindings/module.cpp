#include "bindings.hpp"
#include "duilian/chain/kernels.hpp"

NB_MODULE(_native, m) {
  using namespace duilian::bindings;
  m.doc() = "The native core of Duilian: everything that runs per unit, per label or per arc.";
  m.def("kernel_set", [] { return duilian::kernels().name; });
  // For benchmarks: one round is `burst_size` multiply-adds, or as many add-and-maxima.
  m.attr("burst_size") = duilian::kBurst * duilian::kLanes;
  m.def(
      "multiply_add_burst", [](std::size_t rounds) { return duilian::kernels().multiply_add_burst(rounds); },
      nb::arg("rounds"));
  m.def(
      "add_max_burst", [](std::size_t rounds) { return duilian::kernels().add_max_burst(rounds); },
      nb::arg("rounds"));
  bind_text(m);
  bind_lexicon(m);
  bind_features(m);
  bind_lattice(m);
  bind_chain(m);
  bind_tagger(m);
  bind_coupled(m);
  bind_tree(m);
  bind_joint(m);
  bind_two_chain(m);
  bind_dynamic(m);
  bind_multitask(m);
  bind_learn(m);
}
