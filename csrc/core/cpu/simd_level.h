// Selects the instruction set of the kernels.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/codes.h"

namespace torchcent {

// The best supported by the processor, limited by TORCHCENT_SIMD.
inline Simd simd_in_use() {
  static const Simd level = [] {
    const char* wish = std::getenv("TORCHCENT_SIMD");
    const std::string_view limit = wish == nullptr ? "" : wish;
#if defined(__x86_64__)
    if (limit == "portable") return Simd::portable;
    if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
      return Simd::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
      return Simd::avx2;
#endif
    return Simd::portable;
  }();
  return level;
}

// Kernels are compiled once per instruction set, in a namespace of its name. Lane kernels (core/cpu/lane_kernels.h)
// compute many values side by side, in registers as wide as there are. Scalar kernels (core/cpu/scalar_kernels.h) take
// one source at a time, and gain nothing from AVX-512.
//
// These macros declare functions of the kernels, and call one for the instruction set in use.
#if defined(__x86_64__)
#define TORCHCENT_LANE_KERNEL(...) \
  namespace portable {             \
  __VA_ARGS__;                     \
  }                                \
  namespace avx2 {                 \
  __VA_ARGS__;                     \
  }                                \
  namespace avx512 {               \
  __VA_ARGS__;                     \
  }
#define TORCHCENT_SCALAR_KERNEL(...) \
  namespace portable {               \
  __VA_ARGS__;                       \
  }                                  \
  namespace avx2 {                   \
  __VA_ARGS__;                       \
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

inline bool cancelled(const int64_t* cancel) { return __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0; }

}  // namespace torchcent
