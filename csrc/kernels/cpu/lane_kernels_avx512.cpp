// The lane kernels for AVX-512 processors.
#if defined(__x86_64__)
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "core/cpu/map.h"
#include "dense/eigen.h"
#include "distances/cpu/distance_search.h"
#include "hierarchy/cpu/source_batches.h"
#include "mcl/mcl_step.h"
#include "paths/search.h"
#include "tiny/cpu/tiny_search.h"
#include "weighted/weighted_search.h"

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi,bmi2,popcnt,prfchw"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi,bmi2,popcnt,prfchw")
#endif

#define TORCHCENT_ISA avx512
#define TORCHCENT_AVX512  // with some compilers, the pragma does not define __AVX512F__
#include "kernels/cpu/lane_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
