#define DUILIAN_KERNELS kernels_avx2
#define DUILIAN_KERNELS_NAME "avx2"
#include "kernels_impl.hpp"
