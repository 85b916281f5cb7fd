// The lane kernels for AVX2 processors.
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
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt")
#endif

#define TORCHCENT_ISA avx2
#define TORCHCENT_AVX2  // with some compilers, the pragma does not define __AVX2__
#include "kernels/cpu/lane_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
