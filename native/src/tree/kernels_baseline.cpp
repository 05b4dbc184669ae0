#define DUILIAN_TREE_KERNELS tree_kernels_baseline
#include "kernels_impl.hpp"
