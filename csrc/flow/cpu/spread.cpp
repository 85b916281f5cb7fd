// The sum of the absolute differences of all pairs of numbers, by sorting.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/codes.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int kDigit = 12;  // bits of a radix pass
constexpr int64_t kDigits = 1 << kDigit;
constexpr int64_t kFew = 64;                 // numbers for which sorting by comparison is as fast
constexpr int64_t kMoves = 8;                // of a number, on average, before insertion is given up
constexpr double kTiny = 1 / kLargestCount;  // a range by which nothing is divided
constexpr int64_t kAtOnce = 16;              // edges per task

// Sorts numbers in [0, 2^24): by their whole parts in two passes, then by insertion. `other` has room for as many.
void sort_scaled(double* number, double* other, int64_t count) {
  std::array<uint32_t, kDigits + 1> low{}, high{};  // where the next number of a digit goes
  for (int64_t i = 0; i < count; ++i) {
    const auto key = static_cast<uint32_t>(static_cast<int32_t>(number[i]));
    ++low[(key & (kDigits - 1)) + 1];
    ++high[(key >> kDigit) + 1];
  }
  for (int64_t d = 0; d < kDigits; ++d) low[d + 1] += low[d], high[d + 1] += high[d];
  for (int64_t i = 0; i < count; ++i) {
    const auto key = static_cast<uint32_t>(static_cast<int32_t>(number[i]));
    other[low[key & (kDigits - 1)]++] = number[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto key = static_cast<uint32_t>(static_cast<int32_t>(other[i]));
    number[high[key >> kDigit]++] = other[i];
  }
  int64_t moves = kMoves * count;
  for (int64_t i = 1; i < count; ++i) {
    const double moved = number[i];
    int64_t j = i;
    for (; j > 0 && number[j - 1] > moved; --j) number[j] = number[j - 1];
    number[j] = moved;
    moves -= i - j;
    if (moves < 0) return std::sort(number, number + count);
  }
}

// The sum over all pairs of count numbers a[i] - b[i]. `number` and `other` have room for as many.
double spread(const double* a, const double* b, int64_t count, double* number, double* other) {
  double least = a[0] - b[0], most = least;
  bool faulty = false;
  for (int64_t i = 0; i < count; ++i) {
    number[i] = a[i] - b[i];
    faulty |= number[i] != number[i];
    least = std::min(least, number[i]);
    most = std::max(most, number[i]);
  }
  const double range = most - least;
  if (faulty || !(range < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::quiet_NaN();
  if (range == 0) return 0;
  const double scale = range < kTiny ? 1 : 0x1.fffffep23 / range;  // times range below 2^24
  for (int64_t i = 0; i < count; ++i) number[i] = (number[i] - least) * scale;
  if (count > kFew && scale != 1) sort_scaled(number, other, count);
  else std::sort(number, number + count);
  std::array<double, 4> sum{};  // in four, so that additions do not wait for each other
  for (int64_t i = 0; i < count; ++i) sum[i % 4] += number[i] * static_cast<double>(2 * i - count + 1);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) / scale;
}

}  // namespace

// float64 [edges]: for each edge the sum of |x_s - x_t| over all pairs s < t, where x is row u of the matrix less row
// v.
Tensor row_spreads(const Tensor& rows, const Tensor& u, const Tensor& v, int64_t threads) {
  const int64_t edges = u.numel(), n = rows.size(1);
  const double* const row = rows.const_data_ptr<double>();
  const int64_t* const tail = u.const_data_ptr<int64_t>();
  const int64_t* const head = v.const_data_ptr<int64_t>();
  Tensor result = empty(u, edges, ScalarType::Double);
  double* const found = result.mutable_data_ptr<double>();
  const int64_t tasks = (edges + kAtOnce - 1) / kAtOnce;
  each_task(threads_for(edges * n, threads), tasks, [&](int64_t task) {
    std::vector<double> room(2 * n);
    for (int64_t e = task * kAtOnce; e < std::min((task + 1) * kAtOnce, edges); ++e)
      found[e] = spread(row + tail[e] * n, row + head[e] * n, n, room.data(), room.data() + n);
  });
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("row_spreads", TORCH_BOX(&row_spreads)); }

}  // namespace torchcent
