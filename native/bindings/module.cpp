#include "bindings.hpp"
#include "duilian/chain/kernels.hpp"

NB_MODULE(_native, m) {
  using namespace duilian::bindings;
  m.doc() = "The native core of Duilian: everything that runs per unit, per label or per arc.";
  m.def("kernel_set", [] { return duilian::kernels().name; });
  bind_text(m);
  bind_features(m);
  bind_lattice(m);
  bind_chain(m);
  bind_model(m);
}
