#define DUILIAN_KERNELS kernels_baseline
#define DUILIAN_KERNELS_NAME "baseline"
#include "kernels_impl.hpp"
