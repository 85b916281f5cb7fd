// Warps that go through the arcs of a vertex, and bits for vertices.
#pragma once

#include <cstdint>

#include "core/cuda/threads.cuh"
#include "dynamic/fixed.h"

namespace torchcent::cuda {

constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kAhead = 4;           // arcs that a thread loads together
constexpr int kMostThreads = 1024;  // of a block

__device__ inline int lane() { return static_cast<int>(threadIdx.x & 31); }
__device__ inline int warp() { return static_cast<int>(threadIdx.x >> 5); }
__device__ inline int warps() { return static_cast<int>(blockDim.x >> 5); }

// Whether it was not set.
__device__ inline bool set_bit(unsigned* words, int32_t v) {
  const unsigned bit = 1u << (v & 31);
  return (atomicOr(words + (v >> 5), bit) & bit) == 0;
}
__device__ inline bool has_bit(const unsigned* words, int32_t v) { return (words[v >> 5] >> (v & 31) & 1) != 0; }

// Sums up to each thread of a block, with its own value, in `end`, and the sum of all.
__device__ inline int block_scan(int value, int* end, int* of_warp) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(kWholeWarp, value, offset);
    if (lane() >= offset) value += other;
  }
  if (lane() == 31) of_warp[warp()] = value;
  __syncthreads();
  int before = 0, all = 0;
  for (int w = 0; w < warps(); ++w) {
    if (w == warp()) before = all;
    all += of_warp[w];
  }
  end[threadIdx.x] = before + value;
  __syncthreads();
  return all;
}

// The first place in ascending numbers where one is above `value`.
__device__ inline int first_above(const int* ascending, int size, int value) {
  int low = 0, high = size;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ascending[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

__device__ inline unsigned long long from_lane(unsigned long long value, int offset) {
  return __shfl_xor_sync(kWholeWarp, value, offset);
}
__device__ inline dynamic::Unsigned from_lane(dynamic::Unsigned value, int offset) {
  const auto low = static_cast<unsigned long long>(value), high = static_cast<unsigned long long>(value >> 64);
  return static_cast<dynamic::Unsigned>(from_lane(high, offset)) << 64 | from_lane(low, offset);
}

// The sum of term(w) over the arcs of v, in all lanes.
template <class T, class Term>
__device__ T warp_sum(const Arcs& arcs, int32_t v, Term term) {
  T sum = 0;
  const int64_t end = arcs.rowptr[v + 1];
#pragma unroll 4
  for (int64_t slot = arcs.rowptr[v] + lane(); slot < end; slot += 32) sum += term(arcs.col[slot]);
  for (int offset = 16; offset > 0; offset /= 2) sum += from_lane(sum, offset);
  return sum;
}

// Whether test(w) holds for any arc of v, in all lanes.
template <class Test>
__device__ bool warp_any(const Arcs& arcs, int32_t v, Test test) {
  for (int64_t begin = arcs.rowptr[v]; begin < arcs.rowptr[v + 1]; begin += 32) {
    const int64_t slot = begin + lane();
    const bool holds = slot < arcs.rowptr[v + 1] && test(arcs.col[slot]);
    if (__any_sync(kWholeWarp, holds)) return true;
  }
  return false;
}

// The least term(w) over the arcs of v, in all lanes.
template <class Term>
__device__ int warp_least(const Arcs& arcs, int32_t v, int most, Term term) {
  int least = most;
  for (int64_t slot = arcs.rowptr[v] + lane(); slot < arcs.rowptr[v + 1]; slot += 32) {
    const int value = term(arcs.col[slot]);
    least = value < least ? value : least;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const int other = __shfl_xor_sync(kWholeWarp, least, offset);
    least = other < least ? other : least;
  }
  return least;
}

}  // namespace torchcent::cuda
