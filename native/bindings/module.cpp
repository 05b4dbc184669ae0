// The extension module `duilian._native`: every part binds itself.
#include "bindings.hpp"
#include "duilian/chain/kernels.hpp"

NB_MODULE(_native, m) {
  using namespace duilian::bindings;
  m.doc() = "The native core of Duilian: everything that runs per unit, per label or per arc.";
  m.def("kernel_set", [] { return duilian::kernels().name; });
  m.def("keep_what_is_left", [] { nb::set_leak_warnings(false); });  // until the process ends
  bind_text(m);
  bind_json(m);
  bind_storage(m);
  bind_lexicon(m);
  bind_features(m);
  bind_lattice(m);
  bind_chain(m);
  bind_tagger(m);
  bind_coupled(m);
  bind_coupled_predictor(m);
  bind_charts(m);
  bind_parser(m);
  bind_joint_parser(m);
  bind_two_chain(m);
  bind_two_chain_predictor(m);
  bind_dynamic(m);
  bind_multitask(m);
  bind_neural(m);
  bind_tree_learning(m);
  bind_learn(m);
}
