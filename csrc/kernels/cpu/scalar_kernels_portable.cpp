// The scalar kernels for any processor.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "chains/chains.h"
#include "core/cpu/map.h"
#include "core/cpu/team.h"
#include "hierarchy/cpu/source_batches.h"
#include "tiny/cpu/tiny_search.h"

// On x86-64 only processors without AVX2, and the tests, run these: -O1 compiles them in half of the time.
#if defined(TORCHCENT_RELEASE) && defined(__x86_64__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#define TORCHCENT_ISA portable
#include "kernels/cpu/scalar_kernels.h"
