// The kernels of neural networks, compiled for AVX-512.
#define DUILIAN_KERNELS neural_kernels_avx512
#define DUILIAN_KERNELS_NAME "avx512"
#define DUILIAN_LANES 16
#define DUILIAN_BLOCK_ROWS 6
#define DUILIAN_BLOCK_VECTORS 4
#include "kernels_impl.hpp"
