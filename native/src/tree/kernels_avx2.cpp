// The kernels of trees, compiled for AVX2 and FMA.
#define DUILIAN_TREE_KERNELS tree_kernels_avx2
#include "kernels_impl.hpp"
