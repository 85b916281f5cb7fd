// The lane kernels for AVX-512 processors.
#if defined(__x86_64__)
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "distances/cpu/distance_search.h"
#include "hierarchy/cpu/source_batches.h"
#include "mcl/mcl_step.h"
#include "paths/search.h"
#include "tiny/cpu/tiny_search.h"
#include "weighted/weighted_search.h"

#include <immintrin.h>

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi,bmi2,popcnt,prfchw")

#define TORCHCENT_ISA avx512
#define TORCHCENT_AVX512  // with some compilers, the pragma does not define __AVX512F__
#include "kernels/cpu/lane_kernels.h"
#endif
