// The lane kernels for any processor.
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

// On x86-64 only processors without AVX2, and the tests, run these: -O1 compiles them in half of the time.
#if defined(TORCHCENT_RELEASE) && defined(__x86_64__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#define TORCHCENT_ISA portable
#include "kernels/cpu/lane_kernels.h"
