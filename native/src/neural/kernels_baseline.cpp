// The kernels of neural networks, compiled for the baseline of the architecture.
#define DUILIAN_KERNELS neural_kernels_baseline
#define DUILIAN_KERNELS_NAME "baseline"
#define DUILIAN_LANES 4
#define DUILIAN_BLOCK_ROWS 2
#define DUILIAN_BLOCK_VECTORS 4
#include "kernels_impl.hpp"
