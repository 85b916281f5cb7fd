// Which columns an iteration computes, and the kernel in which each starts.
#pragma once

#include "mcl/cuda/mcl_group.cuh"

namespace torchcent::cuda {

namespace {

// The columns [begin, end) that an iteration computes.
struct Range {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

struct Limits {
  int64_t n;
  Range range;
  int32_t small, large;  // capacity of the tables, in entries
  int first;             // kind of kernel in which columns start, from 0, or -1
  int64_t exact;         // maximum number of products summed in float64
};

constexpr int kColumnsOfWarp = 8;

// Lists every column to be computed in the first stage that can hold its longest summand, a lower bound on its entries.
// *bound becomes the maximum number of entries that any of them can have, *products the sum of these bounds.
__global__ void classify(Flow flow, Limits limits, int32_t* list, unsigned* count, int* bound,
                         unsigned long long* products) {
  const int lane = threadIdx.x & 31;
  const int64_t first = limits.range.begin + (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32 * kColumnsOfWarp;
  if (first >= limits.range.end) return;
  int stage = -1, most = 0;
  int64_t sum = 0;
  for (int c = 0; c < kColumnsOfWarp && first + c < limits.range.end; ++c) {
    const int64_t begin = flow.begin[first + c];
    const int size = flow.length[first + c];
    int64_t total = 0;
    int longest = 0;
    for (int i = lane; i < size; i += 32) {
      const int length = flow.length[flow.row[begin + i]];
      total += length;
      longest = max(longest, length);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      total += __shfl_xor_sync(kWholeWarp, total, distance);
      longest = max(longest, __shfl_xor_sync(kWholeWarp, longest, distance));
    }
    sum += total;
    most = max(most, static_cast<int>(min(total, limits.n)));
    if (c != lane) continue;
    const bool is_exact = total <= limits.exact;
    const int kind = longest <= limits.small ? 0 : longest <= limits.large ? 1 : 2;
    // If only short columns are float64, there is no kernel for long ones: these start in a table.
    const int wanted = limits.first < 0 || (is_exact && limits.n > kExactNodes) ? kind : limits.first;
    stage = wanted == 2 ? kDense : (is_exact ? kSmallExact : kSmallTable) + wanted;
  }
  if (lane == 0) {
    atomicMax(bound, most);
    atomicAdd(products, static_cast<unsigned long long>(sum));
  }
  for (int s = 0; s < kStages; ++s) {
    const unsigned mine = __ballot_sync(kWholeWarp, stage == s);
    unsigned at = 0;
    if (lane == 0 && mine != 0) at = atomicAdd(count + s, static_cast<unsigned>(__popc(mine)));
    at = __shfl_sync(kWholeWarp, at, 0) + __popc(mine & ((1u << lane) - 1));
    if (stage == s) list[s * limits.n + at] = static_cast<int32_t>(first + lane);
  }
}

// Columns of this width from `first` on.
__global__ void multiples(int64_t* begin, int64_t n, int64_t first, int64_t width) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) begin[i] = i < first ? 0 : (i - first) * width;
}

}  // namespace

}  // namespace torchcent::cuda
