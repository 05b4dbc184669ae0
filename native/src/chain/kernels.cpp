// Chooses the instruction set at run time.
#include "duilian/chain/kernels.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

namespace duilian {

namespace kernels_baseline {
const Kernels& set();
}
#ifdef DUILIAN_HAS_AVX2
namespace kernels_avx2 {
const Kernels& set();
}
namespace kernels_avx512 {
const Kernels& set();
}
#endif

namespace {

#ifdef DUILIAN_HAS_AVX2
[[nodiscard]] bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512vnni");
}
#endif

/// The sets that this machine can run, the slowest first.
[[nodiscard]] std::vector<const Kernels*> usable() {
  std::vector<const Kernels*> found{&kernels_baseline::set()};
#ifdef DUILIAN_HAS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back(&kernels_avx2::set());
    if (has_avx512()) found.push_back(&kernels_avx512::set());
  }
#endif
  return found;
}

[[nodiscard]] const Kernels& choose() {
  const char* wanted = std::getenv("DUILIAN_KERNELS");
  for (const Kernels* each : all_kernels()) {
    if (wanted != nullptr && std::string_view(wanted) == each->name) return *each;
  }
  return *all_kernels().back();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> found = usable();
  return found;
}

const Kernels& baseline_kernels() { return kernels_baseline::set(); }

}  // namespace duilian
