#define DUILIAN_TREE_KERNELS tree_kernels_avx2
#include "kernels_impl.hpp"
