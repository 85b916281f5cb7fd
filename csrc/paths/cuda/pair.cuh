// Pair: a path count with float32 mantissa and int32 exponent, for counts beyond 10^308 (a 1000 x 1000 grid has
// 10^600). It has half the size of the CPU's Wide. Sums have positive terms, so that float32 keeps a relative error of
// 1e-6 over thousands of levels.
#pragma once

#include <cstdint>

namespace torchcent::cuda {

struct Pair {
  // value = mantissa * 2^exponent. Stored values have a mantissa in [1, 2) or are kZero. Intermediate mantissas grow
  // only with the number of terms, far within the range of float.
  static constexpr int kZeroExponent = -(1 << 28);

  float mantissa;
  int exponent;

  Pair() = default;
  __device__ Pair(float m, int e) : mantissa(m), exponent(e) {}
  __device__ explicit Pair(double value) {
    const int64_t bits = __double_as_longlong(value);
    const int e = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    exponent = e == -1023 ? kZeroExponent : e;
    mantissa = e == -1023 ? 0.f : __double2float_rn(__longlong_as_double((bits & ~(0x7ffLL << 52)) | 1023LL << 52));
  }
  // Saturates to inf or 0 outside of the range of double.
  __device__ explicit operator double() const {
    if (exponent > 1023) return mantissa == 0 ? 0.0 : __longlong_as_double(0x7ffLL << 52);
    const int64_t e = max(exponent + 1023, 0);
    return static_cast<double>(mantissa) * __longlong_as_double(e << 52);
  }
  // 2^-k for k >= 0; 0 from 2^-127 on, where the other term of a sum dominates.
  __device__ static float shrink(int k) { return __int_as_float(max(127 - k, 0) << 23); }

  __device__ friend Pair operator+(Pair a, Pair b) {
    const int top = max(a.exponent, b.exponent);
    return {a.mantissa * shrink(top - a.exponent) + b.mantissa * shrink(top - b.exponent), top};
  }
  __device__ friend Pair operator*(Pair a, Pair b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }
  __device__ friend Pair operator/(Pair a, Pair b) {
    return {__fdiv_rn(a.mantissa, b.mantissa), a.exponent - b.exponent};
  }
};

__device__ inline double stored(double value) { return value; }
__device__ inline Pair stored(Pair value) {
  const int bits = __float_as_int(value.mantissa);
  if (bits == 0) return {0.f, Pair::kZeroExponent};
  return {__int_as_float((bits & 0x007fffff) | 0x3f800000), value.exponent + (bits >> 23) - 127};
}

__device__ inline double exchange(double value, int lane_mask) { return __shfl_xor_sync(~0u, value, lane_mask); }
__device__ inline Pair exchange(Pair value, int lane_mask) {
  return {__shfl_xor_sync(~0u, value.mantissa, lane_mask), __shfl_xor_sync(~0u, value.exponent, lane_mask)};
}

__device__ inline double lane_of(double value, int lane) { return __shfl_sync(~0u, value, lane); }
__device__ inline Pair lane_of(Pair value, int lane) {
  return {__shfl_sync(~0u, value.mantissa, lane), __shfl_sync(~0u, value.exponent, lane)};
}
__device__ inline double lane_before(double value, int distance) { return __shfl_up_sync(~0u, value, distance); }
__device__ inline Pair lane_before(Pair value, int distance) {
  return {__shfl_up_sync(~0u, value.mantissa, distance), __shfl_up_sync(~0u, value.exponent, distance)};
}

}  // namespace torchcent::cuda
