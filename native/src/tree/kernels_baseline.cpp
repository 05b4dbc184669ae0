// The kernels of trees, compiled for the baseline of the architecture.
#define DUILIAN_TREE_KERNELS tree_kernels_baseline
#include "kernels_impl.hpp"
