// Arithmetic of Markov clustering, shared by the CPU and CUDA, so that a flow has the same bits on both and the
// symmetries of its graph: rounding decides no tie.
//
// - Sums of a column (mass, squares, powers) are integers, which can be added in any order.
// - Entries of an expanded column are sums in the order of the rows of the column that is expanded. In short columns
//   and small graphs (kExactNodes), they are summed in float64, which represents a product of two float32 exactly, and
//   rounded once. Otherwise, they are summed in float32 by fused multiply-adds, except the products that
//   mcl/cpu/flow_filter.h omits.
#pragma once

#include "paths/betweenness.h"  // TORCHCENT_HD

namespace torchcent::TORCHCENT_ISA {

constexpr float kLeast = 1.17549435e-38f;  // smallest normal float32; smaller values are not entries

constexpr double kUnit = 0x1p60;  // of sums of values up to 1: room for 8

TORCHCENT_HD inline int64_t in_units(double value, double unit = kUnit) { return static_cast<int64_t>(value * unit); }
TORCHCENT_HD inline double from_units(int64_t units) { return static_cast<double>(units) * (1 / kUnit); }
// A limit for sums; limits that no sum reaches are equal.
TORCHCENT_HD inline int64_t limit_in_units(double mass) { return in_units(mass < 0 ? 0 : mass < 4 ? mass : 4); }

// The unit for sums of `count` powers of at most 1: sums are below 2^62.
TORCHCENT_HD inline double unit_of_powers(int32_t count) {
  int bits = 0;
  while (count >> bits != 0) ++bits;
  return static_cast<double>(int64_t{1} << (62 - bits));
}

TORCHCENT_HD inline double multiply_add(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#elif defined(TORCHCENT_AVX2) || defined(TORCHCENT_AVX512) || defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// x ** r for x in (0, 1], vectorisable: no branches, no calls. log2 by the series of atanh, 2 ** y by Taylor's series
// around 0, both in float64. The relative error is below 1e-8, so that only the rounding to float32 matters. Results
// too small for float32 are 0.
TORCHCENT_HD inline float power(float x, double r) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  const uint32_t shifted = bits - 0x3f3504f3u;  // mantissa to [sqrt(1/2), sqrt(2))
  const double exponent = static_cast<int32_t>(shifted) >> 23;
  const uint32_t mantissa_bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
  float mantissa;
  __builtin_memcpy(&mantissa, &mantissa_bits, 4);
  const double m = mantissa, s = (m - 1) / (m + 1), q = s * s;
  double series = 1.0 / 13;
  series = multiply_add(series, q, 1.0 / 11);
  series = multiply_add(series, q, 1.0 / 9);
  series = multiply_add(series, q, 1.0 / 7);
  series = multiply_add(series, q, 1.0 / 5);
  series = multiply_add(series, q, 1.0 / 3);
  series = multiply_add(series, q, 1);
  constexpr double kTwoOverLn2 = 2.8853900817779268, kLn2 = 0.69314718055994531;
  double y = r * multiply_add(kTwoOverLn2 * s, series, exponent);
  y = y < -200 ? -200 : y;
  const int32_t whole = static_cast<int32_t>(y - 0.5);  // y <= 0: rounds to nearest
  const double f = (y - whole) * kLn2;                  // within +-0.35
  double e = 1.0 / 362880;
  e = multiply_add(e, f, 1.0 / 40320);
  e = multiply_add(e, f, 1.0 / 5040);
  e = multiply_add(e, f, 1.0 / 720);
  e = multiply_add(e, f, 1.0 / 120);
  e = multiply_add(e, f, 1.0 / 24);
  e = multiply_add(e, f, 1.0 / 6);
  e = multiply_add(e, f, 0.5);
  e = multiply_add(e, f, 1);
  e = multiply_add(e, f, 1);
  const uint64_t scale_bits = static_cast<uint64_t>(static_cast<uint32_t>(whole + 1023)) << 52;
  double scale;
  __builtin_memcpy(&scale, &scale_bits, 8);
  return static_cast<float>(e * scale);
}

// A share of the largest entry of a column to the power r: it does not overflow, and the largest does not underflow.
TORCHCENT_HD inline float inflated(float share, double r) {
  return r == 2 ? share * share : power(share < 1 ? share : 1.0f, r);
}

}  // namespace torchcent::TORCHCENT_ISA
