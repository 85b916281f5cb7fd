// The instruction set of the kernels in use.
#include "core/cpu/simd_level.h"

#include <cstdlib>
#include <string_view>

namespace torchcent {

namespace {

#if defined(__x86_64__)
Simd find_level() {
  const char* wish = std::getenv("TORCHCENT_SIMD");
  const std::string_view limit = wish == nullptr ? "" : wish;
  const bool any = limit != "portable", avx2_lanes = avx2::lane_kernels != nullptr,
             avx2_scalars = avx2::scalar_kernels != nullptr, avx512_lanes = avx512::lane_kernels != nullptr;
  if (any && limit != "avx2" && avx512_lanes && avx2_scalars && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return Simd::avx512;
  if (any && avx2_lanes && avx2_scalars && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return Simd::avx2;
  return portable::lane_kernels != nullptr && portable::scalar_kernels != nullptr ? Simd::portable : Simd::none;
}
#else
Simd find_level() { return Simd::portable; }
#endif

}  // namespace

Simd simd_in_use() {
  static const Simd level = find_level();
  return level;
}

}  // namespace torchcent
