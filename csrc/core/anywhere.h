// Marks functions that run on the CPU and on CUDA.
#pragma once

#ifdef __CUDACC__
#define TORCHCENT_ANYWHERE __host__ __device__
#else
#define TORCHCENT_ANYWHERE
#endif
