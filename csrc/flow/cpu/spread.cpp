// Sums of the absolute differences of pairs of numbers, by sorting.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/codes.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int kDigit = 12;  // bits of a radix pass
constexpr uint32_t kDigits = 1 << kDigit;
constexpr int64_t kFew = 64;                 // numbers for which sorting by comparison is as fast
constexpr int64_t kMoves = 8;                // of a number, on average, before insertion is given up
constexpr double kTiny = 1 / kLargestCount;  // a range by which nothing is divided
constexpr int64_t kAtOnce = 16;              // edges per task
constexpr int64_t kLanes = 8;                // numbers that do not wait for each other
constexpr int64_t kLine = 8;                 // numbers of a cache line

struct Room {
  explicit Room(int64_t count) : number(count), other(count), whole(count) {}
  std::vector<double> number, other;
  std::vector<uint32_t> whole;
};

// Sorts numbers that are almost in order, unless that takes too many moves.
bool insert(double* number, int64_t count) {
  int64_t moves = kMoves * count;
  for (int64_t first = 1; first < count; first += kLanes) {
    const int64_t end = std::min(first + kLanes, count);
    int falls = 0;  // without branches: few blocks are out of order
    for (int64_t i = first; i < end; ++i) falls |= number[i] < number[i - 1];
    if (falls == 0) continue;
    for (int64_t i = first; i < end; ++i) {
      const double moved = number[i];
      int64_t j = i;
      for (; j > 0 && number[j - 1] > moved; --j) number[j] = number[j - 1];
      number[j] = moved;
      moves -= i - j;
    }
    if (moves < 0) return false;
  }
  return true;
}

// Sorts numbers in [0, 2^24): by their whole parts in two passes, then by insertion. `other` has room for as many. The
// row `ahead`, as long, is fetched meanwhile.
void sort_scaled(double* number, double* other, const uint32_t* whole, int64_t count, const double* ahead) {
  constexpr int kHigh = 32;  // the lower half of a word is for the lower digit, the upper half for the higher one
  std::array<uint64_t, kDigits> place{};  // how many numbers have a digit, then where the next one goes
  for (int64_t i = 0; i < count; ++i) {
    place[whole[i] & (kDigits - 1)] += 1;
    place[whole[i] >> kDigit] += uint64_t{1} << kHigh;
  }
  uint64_t before = 0;
  for (uint64_t& next : place) before += std::exchange(next, before);
  for (int64_t i = 0; i < count; ++i) {
    if (i % kLine == 0) __builtin_prefetch(ahead + i, 0, 2);
    other[static_cast<uint32_t>(place[whole[i] & (kDigits - 1)]++)] = number[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    uint64_t& next = place[static_cast<uint32_t>(static_cast<int32_t>(other[i])) >> kDigit];
    number[next >> kHigh] = other[i];
    next += uint64_t{1} << kHigh;
  }
  if (!insert(number, count)) std::sort(number, number + count);
}

// Numbers at(i), less the smallest, times a factor that puts them into [0, 2^24), and their whole parts. Returns the
// factor: 0 if all are equal, 1 if they are too close to be divided by their range, NaN if one is not finite.
template <class At>
double scaled(const At& at, int64_t count, Room& room) {
  double* const number = room.number.data();
  std::array<double, kLanes> least, most, faults{};
  least.fill(at(0));
  most.fill(at(0));
  const auto add = [&](int64_t i, int64_t lane) {
    const double x = number[i] = at(i);
    least[lane] = x < least[lane] ? x : least[lane];
    most[lane] = x > most[lane] ? x : most[lane];
    faults[lane] += x - x;
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  for (; i < count; ++i) add(i, 0);
  const double first = *std::min_element(least.begin(), least.end());
  const double range = *std::max_element(most.begin(), most.end()) - first;
  const double fault = std::accumulate(faults.begin(), faults.end(), 0.0);
  if (fault != 0 || !(range < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::quiet_NaN();
  if (range == 0) return 0;
  const double factor = range < kTiny ? 1 : 0x1.fffffep23 / range;  // times range below 2^24
  for (i = 0; i < count; ++i) {
    number[i] = (number[i] - first) * factor;
    room.whole[i] = static_cast<uint32_t>(static_cast<int32_t>(number[i]));
  }
  return factor;
}

// Sorts numbers [from, from + count) that were scaled by `factor`.
void sort(Room& room, int64_t from, int64_t count, double factor, const double* ahead) {
  double* const number = room.number.data() + from;
  if (count > kFew && factor != 1)
    sort_scaled(number, room.other.data() + from, room.whole.data() + from, count, ahead);
  else std::sort(number, number + count);
}

// The sum of |x_s - x_t| over all pairs s < t of count numbers x = a - b.
double spread(const double* a, const double* b, int64_t count, Room& room, const double* ahead) {
  const double factor = scaled([=](int64_t i) { return a[i] - b[i]; }, count, room);
  if (!(factor > 0)) return factor;
  sort(room, 0, count, factor, ahead);
  constexpr int64_t kSums = 4;
  std::array<double, kSums> sum{}, rank;
  for (int64_t k = 0; k < kSums; ++k) rank[k] = static_cast<double>(2 * k - count + 1);
  const auto add = [&](int64_t i, int64_t k) {
    sum[k] += room.number[i] * rank[k];
    rank[k] += 2 * kSums;
  };
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int64_t k = 0; k < kSums; ++k) add(i + k, k);
  for (int64_t k = 0; i + k < count; ++k) add(i + k, k);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) / factor;
}

// The sum of |x_s - x_t| over all s of the first `sources` columns and t of the others, where x = a - b. Each gap
// between two numbers in order counts for the pairs on both sides of it.
double crossing(const double* a, const double* b, const int64_t* column, int64_t sources, int64_t count, Room& room) {
  const double factor = scaled([=](int64_t i) { return a[column[i]] - b[column[i]]; }, count, room);
  if (!(factor > 0)) return factor;
  sort(room, 0, sources, factor, a);
  sort(room, sources, count - sources, factor, a);
  const double* const x = room.number.data();
  const double* const y = x + sources;
  const int64_t targets = count - sources;
  double sum = 0, last = 0;  // the smallest number is 0
  int64_t s = 0, t = 0;
  const auto pass = [&](double next) {
    const int64_t pairs = s * (targets - t) + t * (sources - s);
    sum += static_cast<double>(pairs) * (next - last);
    last = next;
  };
  while (s < sources && t < targets) {  // without branches on the numbers
    const bool source = x[s] <= y[t];
    pass(source ? x[s] : y[t]);
    s += source;
    t += !source;
  }
  for (; s < sources; ++s) pass(x[s]);
  for (; t < targets; ++t) pass(y[t]);
  return sum / factor;
}

// float64 [edges]: work(e, room) of each edge, in a room for `count` numbers.
template <class Work>
Tensor per_edge(const Tensor& u, int64_t count, int64_t threads, const Work& work) {
  const int64_t edges = u.numel(), tasks = (edges + kAtOnce - 1) / kAtOnce;
  Tensor result = empty(u, edges, ScalarType::Double);
  double* const found = result.mutable_data_ptr<double>();
  each_task(threads_for(edges * count, threads), tasks, [&](int64_t task) {
    Room room(count);
    for (int64_t e = task * kAtOnce; e < std::min((task + 1) * kAtOnce, edges); ++e) found[e] = work(e, room);
  });
  return result;
}

}  // namespace

// float64 [edges]: for each edge the sum of |x_s - x_t| over all pairs s < t, where x is row u of the matrix less row
// v.
Tensor row_spreads(const Tensor& rows, const Tensor& u, const Tensor& v, int64_t threads) {
  const int64_t n = rows.size(1), last = u.numel() - 1;
  const double* const row = rows.const_data_ptr<double>();
  const int64_t* const tail = u.const_data_ptr<int64_t>();
  const int64_t* const head = v.const_data_ptr<int64_t>();
  return per_edge(u, n, threads, [=](int64_t e, Room& room) {
    return spread(row + tail[e] * n, row + head[e] * n, n, room, row + head[std::min(e + 1, last)] * n);
  });
}

// float64 [edges]: likewise, over all pairs of one of the first `sources` of the columns and one of the others. Columns
// may be repeated.
Tensor row_crossings(const Tensor& rows, const Tensor& u, const Tensor& v, const Tensor& columns, int64_t sources,
                     int64_t threads) {
  const int64_t n = rows.size(1), count = columns.numel();
  const double* const row = rows.const_data_ptr<double>();
  const int64_t* const tail = u.const_data_ptr<int64_t>();
  const int64_t* const head = v.const_data_ptr<int64_t>();
  const int64_t* const column = columns.const_data_ptr<int64_t>();
  return per_edge(u, count, threads, [=](int64_t e, Room& room) {
    return crossing(row + tail[e] * n, row + head[e] * n, column, sources, count, room);
  });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // The sum of the absolute differences of all pairs of numbers of rows[u] - rows[v]; and of all pairs of one of the
  // first `sources` columns and one of the others.
  m.def("row_spreads(Tensor rows, Tensor u, Tensor v, int threads=1) -> Tensor");
  m.def("row_crossings(Tensor rows, Tensor u, Tensor v, Tensor columns, int sources, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("row_spreads", TORCH_BOX(&row_spreads));
  m.impl("row_crossings", TORCH_BOX(&row_crossings));
}

}  // namespace torchcent
