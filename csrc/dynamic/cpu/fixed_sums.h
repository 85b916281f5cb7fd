// Sums of doubles in fixed point with 128 bits: adding and subtracting is exact, so that sums do not drift, nor depend
// on the order.
#pragma once

#include <cstdint>
#include <vector>

namespace torchcent::dynamic {

__extension__ using Fixed = __int128;
__extension__ using Unsigned = unsigned __int128;

// The multiple of 2^-64 below a number of [0, 2^63). The compiler's own conversion is a call.
inline Unsigned fixed(double value) {
  const auto whole = static_cast<uint64_t>(value);
  return static_cast<Unsigned>(whole) << 64 | static_cast<uint64_t>((value - static_cast<double>(whole)) * 0x1p64);
}

// A sum for each vertex: dependencies of a source are below 2^31, so that sums over 2^31 sources fit.
class FixedSums {
 public:
  explicit FixedSums(int64_t size) : sum_(size) {}
  void add(int32_t v, double value, int sign) {
    if (value != 0) sum_[v] += sign * static_cast<Fixed>(fixed(value));
  }
  void add_to(Fixed* total) const {
    for (size_t v = 0; v < sum_.size(); ++v) total[v] += sum_[v];
  }

 private:
  std::vector<Fixed> sum_;
};

}  // namespace torchcent::dynamic
