// The instruction set of the kernels in use.
#include "core/cpu/simd_level.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <string_view>

namespace torchcent {

namespace {

#if defined(__x86_64__)
// What the processor has and the system saves. With zig, __builtin_cpu_supports is false always.
Simd of_processor() {
  unsigned a, b, c, d, saved, high;
  constexpr unsigned kSaved = bit_OSXSAVE | bit_FMA | bit_POPCNT, kAvx2 = bit_AVX2 | bit_BMI | bit_BMI2;
  constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSaved) != kSaved) return Simd::portable;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  constexpr unsigned kYmm = 0x06, kZmm = 0xe6;  // state components that the system saves
  if ((saved & kYmm) != kYmm || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kAvx2) != kAvx2)
    return Simd::portable;
  return (saved & kZmm) == kZmm && (b & kAvx512) == kAvx512 ? Simd::avx512 : Simd::avx2;
}

Simd find_level() {
  const char* wish = std::getenv("TORCHCENT_SIMD");
  const std::string_view limit = wish == nullptr ? "" : wish;
  const Simd best = limit == "portable" ? Simd::portable : of_processor();
  const bool avx2_scalars = avx2::scalar_kernels != nullptr;
  if (best == Simd::avx512 && limit != "avx2" && avx512::lane_kernels != nullptr && avx2_scalars) return Simd::avx512;
  if (best != Simd::portable && avx2::lane_kernels != nullptr && avx2_scalars) return Simd::avx2;
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
