// A warp or a block that processes one column: both have the same functions, so that the rest is written only once.
#pragma once

#include "mcl/cuda/mcl.cuh"

namespace torchcent::cuda {

constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kDigits = 256;  // of a radix selection

// Reduces a mergeable value over a warp; all threads get the result.
template <class Value>
__device__ Value warp_merge(Value value) {
  constexpr int words = sizeof(Value) / sizeof(uint64_t);
  static_assert(words * sizeof(uint64_t) == sizeof(Value));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    union {
      Value value;
      uint64_t word[words];
    } mine = {value}, other = {value};
#pragma unroll
    for (int i = 0; i < words; ++i) other.word[i] = __shfl_xor_sync(kWholeWarp, mine.word[i], distance);
    value.merge(other.value);
  }
  return value;
}

// A column that is added to a sum of columns.
struct alignas(16) Step {
  int64_t begin;
  int32_t length;
  float weight;
};

struct WarpGroup {
  static constexpr int threads = 32, steps_ahead = 32;
  // In shared memory:
  Step* steps;     // [steps_ahead]
  unsigned* bins;  // [kDigits]
  Totals* totals;

  __device__ int rank() const { return threadIdx.x & 31; }
  __device__ static constexpr int size() { return threads; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool any(bool mine) const {
    const bool found = __any_sync(kWholeWarp, mine);
    __syncwarp();
    return found;
  }
  template <class Value>
  __device__ Value merge(const Value& mine) const {
    return warp_merge(mine);
  }
  // The number of previous threads with `mine`, and the total. Also a barrier for preceding reads.
  __device__ int place(bool mine, int& total) const {
    const unsigned found = __ballot_sync(kWholeWarp, mine);
    __syncwarp();
    total = __popc(found);
    return __popc(found & ((1u << rank()) - 1));
  }
  __device__ unsigned take(unsigned* ticket) const {
    unsigned taken = 0;
    if (rank() == 0) taken = atomicAdd(ticket, 1u);
    return __shfl_sync(kWholeWarp, taken, 0);
  }
};

constexpr int kMostWarps = 16;

constexpr int kBlockSteps = 128;

struct BlockMemory {
  Step steps[kBlockSteps];
  uint64_t partial[kMostWarps * sizeof(Measure) / sizeof(uint64_t)];
  Totals totals;
  unsigned bins[kDigits];
  int counts[2][kMostWarps];
  unsigned taken;
};

template <int threads_>
struct BlockGroup {
  static constexpr int threads = threads_, steps_ahead = kBlockSteps;
  static constexpr int warps = threads / 32;
  static_assert(warps <= kMostWarps);
  Step* steps;
  unsigned* bins;
  Totals* totals;
  BlockMemory& memory;
  int turn = 0;

  __device__ explicit BlockGroup(BlockMemory& shared)
      : steps(shared.steps), bins(shared.bins), totals(&shared.totals), memory(shared) {}
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ static constexpr int size() { return threads; }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool any(bool mine) const { return __syncthreads_or(mine) != 0; }
  template <class Value>
  __device__ Value merge(const Value& mine) {
    auto* const partial = reinterpret_cast<Value*>(memory.partial);
    const Value of_warp = warp_merge(mine);
    if (rank() % 32 == 0) partial[rank() / 32] = of_warp;
    __syncthreads();
    Value sum = partial[0];
    for (int w = 1; w < warps; ++w) sum.merge(partial[w]);
    __syncthreads();
    return sum;
  }
  __device__ int place(bool mine, int& total) {
    int* const counts = memory.counts[turn ^= 1];  // the other half may still be read
    const unsigned found = __ballot_sync(kWholeWarp, mine);
    if (rank() % 32 == 0) counts[rank() / 32] = __popc(found);
    __syncthreads();
    int before = __popc(found & ((1u << rank() % 32) - 1));
    total = 0;
    for (int w = 0; w < warps; ++w) {
      if (w < rank() / 32) before += counts[w];
      total += counts[w];
    }
    return before;
  }
  __device__ unsigned take(unsigned* ticket) {
    if (rank() == 0) memory.taken = atomicAdd(ticket, 1u);
    __syncthreads();
    return memory.taken;
  }
};

// Sorts pairs in shared memory by their rows (bitonic). The capacity must be the next power of two; it is padded.
template <class Group, class Value>
__device__ void sort_by_row(const Group& group, int32_t* row, Value* value, int count) {
  int padded = 1;
  while (padded < count) padded *= 2;
  group.sync();
  for (int i = count + group.rank(); i < padded; i += group.size()) row[i] = 0x7fffffff;
  group.sync();
  for (int run = 2; run <= padded; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
      for (int i = group.rank(); i < padded / 2; i += group.size()) {
        const int low = 2 * i - (i & (distance - 1)), high = low + distance;
        const int32_t a = row[low], b = row[high];
        if ((a > b) == ((low & run) == 0)) {
          row[low] = b;
          row[high] = a;
          const Value x = value[low];
          value[low] = value[high];
          value[high] = x;
        }
      }
      group.sync();
    }
}

}  // namespace torchcent::cuda
