// Chooses the instruction set at run time.
#include "duilian/chain/kernels.hpp"

#include <cstdlib>
#include <string_view>

namespace duilian {

namespace kernels_baseline {
const Kernels& set();
}
#ifdef DUILIAN_HAS_AVX2
namespace kernels_avx2 {
const Kernels& set();
}
#endif

namespace {

[[nodiscard]] const Kernels& choose() {
#ifdef DUILIAN_HAS_AVX2
  const char* wanted = std::getenv("DUILIAN_KERNELS");
  const bool wants_baseline = wanted != nullptr && std::string_view(wanted) == "baseline";
  if (!wants_baseline && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return kernels_avx2::set();
#endif
  return kernels_baseline::set();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

const Kernels& baseline_kernels() { return kernels_baseline::set(); }

}  // namespace duilian
