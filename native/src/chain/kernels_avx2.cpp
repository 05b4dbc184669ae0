// The kernels of chains, compiled for AVX2 and FMA.
#define DUILIAN_KERNELS kernels_avx2
#define DUILIAN_KERNELS_NAME "avx2"
#include "kernels_impl.hpp"
