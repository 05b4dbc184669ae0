// The kernels of coarse scores, compiled for AVX-512; the others are those for AVX2.
#include <immintrin.h>

#include "duilian/chain/kernels.hpp"

namespace duilian {

namespace kernels_avx2 {
const Kernels& set();
}

namespace kernels_avx512 {
namespace {

using Size = decltype(sizeof 0);
constexpr Size kLane = kMaxCoarseLanes;
#include "coarse_impl.hpp"

}  // namespace

const Kernels& set() {
  static const Kernels made = [] {
    Kernels all = kernels_avx2::set();
    all.name = "avx512";
    all.coarse_lanes = kLane;
    all.coarse_add_rows = coarse_add_rows;
    all.coarse_start = coarse_start;
    all.coarse_forward = coarse_forward;
    all.coarse_backward = coarse_backward;
    all.coarse_at_least = coarse_at_least;
    all.coarse_sums = coarse_sums;
    return all;
  }();
  return made;
}

}  // namespace kernels_avx512
}  // namespace duilian
