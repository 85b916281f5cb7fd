// Sums of doubles in fixed point for one thread.
#pragma once

#include <vector>

#include "dynamic/fixed.h"

namespace torchcent::dynamic {

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
