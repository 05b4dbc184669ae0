// Chooses the same instruction set as chains do.
#include "duilian/neural/kernels.hpp"

#include <string_view>
#include <vector>

#include "duilian/chain/kernels.hpp"

namespace duilian {

namespace neural_kernels_baseline {
const NeuralKernels& set();
}
#ifdef DUILIAN_HAS_AVX2
namespace neural_kernels_avx2 {
const NeuralKernels& set();
}
namespace neural_kernels_avx512 {
const NeuralKernels& set();
}
#endif

namespace {

[[nodiscard]] const NeuralKernels& set_of([[maybe_unused]] std::string_view name) {
#ifdef DUILIAN_HAS_AVX2
  if (name == neural_kernels_avx2::set().name) return neural_kernels_avx2::set();
  if (name == neural_kernels_avx512::set().name) return neural_kernels_avx512::set();
#endif
  return neural_kernels_baseline::set();
}

}  // namespace

const NeuralKernels& neural_kernels() {
  static const NeuralKernels& chosen = set_of(kernels().name);
  return chosen;
}

std::span<const NeuralKernels* const> all_neural_kernels() {
  static const std::vector<const NeuralKernels*> found = [] {
    std::vector<const NeuralKernels*> sets;
    for (const Kernels* each : all_kernels()) sets.push_back(&set_of(each->name));
    return sets;
  }();
  return found;
}

}  // namespace duilian
