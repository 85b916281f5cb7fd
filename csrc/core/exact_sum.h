// Sums of float64 numbers whose bits do not depend on the order of the addends.
//
// An addend becomes three whole numbers of 31 bits, relative to the largest addend, and these are added up as integers.
// What lies 2^93 below the largest addend is cut off, so that up to 2^31 addends lose less than half a bit of float64.
// (A fixed version of the bins of Demmel and Nguyen 2015, "Parallel reproducible summation".)
#pragma once

#include <cmath>
#include <cstdint>

#include "core/column.h"

namespace torchcent {

inline constexpr int kPartBits = 31, kParts = 3;

// |value| < 2^exponent; the value is not 0.
TORCHCENT_ANYWHERE inline int exponent_of(double value) {
  int exponent = 0;
  frexp(value, &exponent);
  return exponent;
}

// Calls add(k, part k of the value), in units of 2^(exponent - 31 (k + 1)); |value| < 2^exponent.
template <class Add>
TORCHCENT_ANYWHERE inline void split_into_parts(double value, int exponent, Add add) {
  double rest = scalbn(value, kPartBits - exponent);
  for (int k = 0; k < kParts; ++k) {
    const double whole = trunc(rest);
    if (whole != 0) add(k, static_cast<int64_t>(whole));
    rest = (rest - whole) * static_cast<double>(int64_t{1} << kPartBits);
  }
}

// The float64 number next to the sum.
TORCHCENT_ANYWHERE inline double sum_of_parts(const int64_t* part, int exponent) {
  using Wide = unsigned __int128;
  __int128 sum = part[0];
  for (int k = 1; k < kParts; ++k) sum = sum * (int64_t{1} << kPartBits) + part[k];
  Wide size = sum < 0 ? -static_cast<Wide>(sum) : static_cast<Wide>(sum);
  int shift = 0;
  while (size >> (64 + shift) != 0) ++shift;
  const bool cut = (size & ((Wide{1} << shift) - 1)) != 0;  // 64 bits and whether any follow decide how to round
  const auto high = static_cast<uint64_t>(size >> shift) | static_cast<uint64_t>(cut);
  const double rounded = scalbn(static_cast<double>(high), exponent - kParts * kPartBits + shift);
  return sum < 0 ? -rounded : rounded;
}

}  // namespace torchcent
