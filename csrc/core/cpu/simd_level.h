// Selects the instruction set of the kernels.
#pragma once

#include <cstdint>

#include "core/codes.h"

namespace torchcent {

// The best that the processor supports and that is in this library, limited by TORCHCENT_SIMD; none if there is none.
Simd simd_in_use();

// Kernels are compiled once per instruction set, in a namespace of its name. Lane kernels (kernels/cpu/lane_kernels.h)
// compute many values side by side, in registers as wide as there are. Scalar kernels (kernels/cpu/scalar_kernels.h)
// take one source at a time, and gain nothing from AVX-512.
//
// These macros declare functions of the kernels, and call one for the instruction set in use. The functions are weak: a
// library for one machine has only the kernels of that (TORCHCENT_KERNELS in tools/kernels.py), and the others are
// null. On Windows a weak symbol must be there, and a library has all kernels.
#if defined(_WIN32)
#define TORCHCENT_WEAK
#else
#define TORCHCENT_WEAK __attribute__((weak))
#endif
#if defined(__x86_64__)
#define TORCHCENT_LANE_KERNEL(...)     \
  TORCHCENT_SCALAR_KERNEL(__VA_ARGS__) \
  namespace avx512 {                   \
  __VA_ARGS__ TORCHCENT_WEAK;          \
  }
#define TORCHCENT_SCALAR_KERNEL(...) \
  namespace portable {               \
  __VA_ARGS__ TORCHCENT_WEAK;        \
  }                                  \
  namespace avx2 {                   \
  __VA_ARGS__ TORCHCENT_WEAK;        \
  }
#define TORCHCENT_CALL_LANES(call) \
  (simd_in_use() == Simd::avx512 ? avx512::call : simd_in_use() == Simd::avx2 ? avx2::call : portable::call)
#define TORCHCENT_CALL_SCALAR(call) (simd_in_use() == Simd::portable ? portable::call : avx2::call)
#else
#define TORCHCENT_LANE_KERNEL(...) \
  namespace portable {             \
  __VA_ARGS__;                     \
  }
#define TORCHCENT_SCALAR_KERNEL(...) TORCHCENT_LANE_KERNEL(__VA_ARGS__)
#define TORCHCENT_CALL_LANES(call) portable::call
#define TORCHCENT_CALL_SCALAR(call) portable::call
#endif

// Does nothing: its address is that of a kernel if these kernels are in the library.
TORCHCENT_LANE_KERNEL(void lane_kernels())
TORCHCENT_SCALAR_KERNEL(void scalar_kernels())

inline bool cancelled(const int64_t* cancel) { return __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0; }

}  // namespace torchcent
