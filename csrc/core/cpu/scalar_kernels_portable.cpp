// The scalar kernels for any processor.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "chains/chains.h"
#include "core/cpu/team.h"
#include "tiny/cpu/tiny_search.h"

// Few x86-64 processors run these, and tests: -O1 compiles them in half of the time.
#if defined(TORCHCENT_RELEASE) && defined(__x86_64__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#define TORCHCENT_ISA portable
#include "core/cpu/scalar_kernels.h"
