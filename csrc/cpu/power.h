// x ** r for many x of (0, 1], as the compiler can vectorise it: no branch, no call.
#pragma once

namespace torchcent::TORCHCENT_ISA {

// log2 by the series of atanh, 2 ** y by Taylor's series around 0, both in float64: relative error below 1e-8, so
// that rounding to float32 is all that is lost. Results too small for float32 are 0.
inline float power(float x, double r) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  const uint32_t shifted = bits - 0x3f3504f3u;  // mantissa to [sqrt(1/2), sqrt(2))
  const double exponent = static_cast<int32_t>(shifted) >> 23;
  const uint32_t mantissa_bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
  float mantissa;
  memcpy(&mantissa, &mantissa_bits, 4);
  const double m = mantissa, s = (m - 1) / (m + 1), q = s * s;
  double series = 1.0 / 13;
  series = series * q + 1.0 / 11;
  series = series * q + 1.0 / 9;
  series = series * q + 1.0 / 7;
  series = series * q + 1.0 / 5;
  series = series * q + 1.0 / 3;
  series = series * q + 1;
  constexpr double kTwoOverLn2 = 2.8853900817779268, kLn2 = 0.69314718055994531;
  double y = r * (exponent + kTwoOverLn2 * s * series);
  y = y < -200 ? -200 : y;
  const int32_t whole = static_cast<int32_t>(y - 0.5);  // y <= 0: to the nearest
  const double f = (y - whole) * kLn2;                  // within +-0.35
  double e = 1.0 / 362880;
  e = e * f + 1.0 / 40320;
  e = e * f + 1.0 / 5040;
  e = e * f + 1.0 / 720;
  e = e * f + 1.0 / 120;
  e = e * f + 1.0 / 24;
  e = e * f + 1.0 / 6;
  e = e * f + 0.5;
  e = e * f + 1;
  e = e * f + 1;
  const uint64_t scale_bits = static_cast<uint64_t>(static_cast<uint32_t>(whole + 1023)) << 52;
  double scale;
  memcpy(&scale, &scale_bits, 8);
  return static_cast<float>(e * scale);
}

}  // namespace torchcent::TORCHCENT_ISA
