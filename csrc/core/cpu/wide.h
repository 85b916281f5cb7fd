// Wide: a double with a separate exponent, for path counts beyond 10^308 (a 1000 x 1000 grid has 10^600). value =
// fraction * 2^(512 exponent) with |fraction| in [2^-256, 2^256). The exponent changes rarely, so nearly every sum is
// one comparison and one addition.
#pragma once

namespace torchcent::TORCHCENT_ISA {

struct Wide {
  static constexpr double kUp = 0x1p512, kDown = 0x1p-512, kHigh = 0x1p256, kLow = 0x1p-256;
  static constexpr int64_t kZeroExponent = -(int64_t{1} << 40);

  double fraction = 0;
  int64_t exponent = kZeroExponent;

  Wide() = default;
  Wide(double value) : fraction(value), exponent(value == 0 ? kZeroExponent : 0) { normalise(); }

  void normalise() {
    if (fraction == 0) {
      exponent = kZeroExponent;
    } else if (fraction >= kHigh) {
      fraction *= kDown;
      ++exponent;
    } else if (fraction < kLow) {
      fraction *= kUp;
      --exponent;
    }
  }
  explicit operator double() const {  // saturates to inf or 0 outside of the range of double
    double value = fraction;
    int64_t e = exponent;
    for (; e > 0 && value < __DBL_MAX__; --e) value *= kUp;
    for (; e < 0 && value > 0; ++e) value *= kDown;
    return value;
  }
  friend Wide operator+(Wide a, Wide b) {
    if (a.exponent == b.exponent) {
      a.fraction += b.fraction;
    } else {
      if (a.exponent < b.exponent) {
        const Wide c = a;
        a = b;
        b = c;
      }
      if (a.exponent > b.exponent + 1) return a;  // b is less than 2^-512 times the smallest a
      a.fraction += b.fraction * kDown;
    }
    a.normalise();
    return a;
  }
  friend Wide operator*(Wide a, Wide b) {
    a.fraction *= b.fraction;
    a.exponent += b.exponent;
    a.normalise();
    return a;
  }
  friend Wide operator/(Wide a, Wide b) {
    a.fraction /= b.fraction;
    a.exponent -= b.exponent;
    a.normalise();
    return a;
  }
  Wide& operator+=(Wide b) { return *this = *this + b; }
};

}  // namespace torchcent::TORCHCENT_ISA
