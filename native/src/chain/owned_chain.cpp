// Builds a chain from a lattice and scores per tag (see owned_chain.hpp).
#include "duilian/chain/owned_chain.hpp"

#include <utility>

namespace duilian {

OwnedChain make_chain(Lattice lattice, std::vector<double> state, std::span<const MatrixView> side,
                      std::span<const std::int32_t> label, MatrixView joint) {
  OwnedChain out{std::move(lattice), std::move(state), {}};
  out.between = make_transitions(out.lattice, [&](std::int32_t i, std::int32_t j) {
    double total = 0.0;
    for (std::size_t k = 0; k < side.size(); ++k)
      total += side[k](out.lattice.bundle(i)[k], out.lattice.bundle(j)[k]);
    const bool is_joint = !label.empty() && label[i] >= 0 && label[j] >= 0;
    return is_joint ? total + joint(label[i], label[j]) : total;
  });
  check(out.view());
  return out;
}

}  // namespace duilian
