// Chooses the same instruction set as chains do.
#include "duilian/tree/kernels.hpp"

#include "duilian/chain/kernels.hpp"

namespace duilian {

namespace tree_kernels_baseline {
const TreeKernels& set();
}
#ifdef DUILIAN_HAS_AVX2
namespace tree_kernels_avx2 {
const TreeKernels& set();
}
#endif

const TreeKernels& tree_kernels() {
#ifdef DUILIAN_HAS_AVX2
  static const bool is_baseline = &kernels() == &baseline_kernels();
  if (!is_baseline) return tree_kernels_avx2::set();
#endif
  return tree_kernels_baseline::set();
}

const TreeKernels& baseline_tree_kernels() { return tree_kernels_baseline::set(); }

}  // namespace duilian
