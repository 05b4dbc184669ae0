// The kernels of chains, compiled for the baseline of the architecture.
#define DUILIAN_KERNELS kernels_baseline
#define DUILIAN_KERNELS_NAME "baseline"
#include "kernels_impl.hpp"
