// Numbers of shortest paths that cannot overflow.
#pragma once

#include <cstdint>
#include <utility>

namespace torchcent {

// paths * 2^(512 powers), with paths in [2^-256, 2^256) when it is normalised: a product of two is in range.
struct Multiplicity {
  double paths;
  int32_t powers;

  void normalise() {
    constexpr double kHigh = 0x1p256, kLow = 0x1p-256;
    if (paths >= kHigh) {
      paths *= 0x1p-512;
      ++powers;
    } else if (paths < kLow) {
      paths *= 0x1p512;
      --powers;
    }
  }
  void add(Multiplicity other) {
    if (powers == other.powers) {
      paths += other.paths;
    } else {
      if (powers < other.powers) std::swap(*this, other);
      if (powers > other.powers + 1) return;  // the other is less than 2^-512 times the smallest of these
      paths += other.paths * 0x1p-512;
    }
    normalise();
  }
  friend Multiplicity operator*(const Multiplicity& a, const Multiplicity& b) {
    Multiplicity product = {a.paths * b.paths, a.powers + b.powers};
    product.normalise();
    return product;
  }
};

}  // namespace torchcent
