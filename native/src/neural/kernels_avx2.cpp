// The kernels of neural networks, compiled for AVX2 and FMA.
#define DUILIAN_KERNELS neural_kernels_avx2
#define DUILIAN_KERNELS_NAME "avx2"
#define DUILIAN_LANES 8
#define DUILIAN_BLOCK_ROWS 3
#define DUILIAN_BLOCK_VECTORS 4
#include "kernels_impl.hpp"
