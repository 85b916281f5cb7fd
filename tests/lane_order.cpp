// SortedVertices with numbers at the edge of float64, for a compiler that checks conversions (test_trust.py).
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <cmath>
#include <memory>
#include <vector>
#define TORCHCENT_ISA portable
#include "paths/search.h"
#include "weighted/weighted_search.h"
#include "core/cpu/buffer.h"
#include "weighted/cpu/lane_order.h"
int main() {
  using torchcent::portable::SortedVertices;
  const double factors[] = {1e-310, 5e-324, 1e-300, 1.0, 1e300};
  for (double factor : factors) {
    double number[5] = {3 * factor, 0, 1 * factor, 2 * factor, 0};
    SortedVertices sorted(5);
    if (sorted.sort(5, number, [](int64_t) { return true; }) != 5) return 1;
    for (int i = 1; i < 5; ++i)
      if (factor > 1e-303 && number[sorted[i - 1]] > number[sorted[i]]) return 2;
  }
  const double largest = 1.7e308, infinite = HUGE_VAL;
  double number[5] = {infinite, 1, largest, NAN, 0};
  SortedVertices sorted(5);
  if (sorted.sort(5, number, [](int64_t) { return true; }) != 5) return 3;
  bool seen[5] = {};
  for (int i = 0; i < 5; ++i) seen[sorted[i]] = true;
  for (bool one : seen)
    if (!one) return 4;
  for (int i = 0; i < 3; ++i)
    if (sorted[i] == 0 || sorted[i] == 3) return 5;  // what is no number comes last
  return 0;
}
