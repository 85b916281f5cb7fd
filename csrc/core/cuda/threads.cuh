// Arcs, kernels with a thread per item, and searches in sorted arrays.
#pragma once

#include <cstdint>

namespace torchcent::cuda {

struct Arcs {
  const int64_t* rowptr;  // [n + 1]
  const int32_t* col;     // [m]
};

constexpr int kBlock = 256;
constexpr unsigned kFullWarp = 0xffffffffu;

inline unsigned blocks(int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

__device__ inline int64_t thread() { return blockIdx.x * int64_t{blockDim.x} + threadIdx.x; }

// The first position in [low, high) whose value is at least `value`; high if there is none.
template <class T>
__device__ int64_t lower_bound(const T* sorted, int64_t low, int64_t high, T value) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

}  // namespace torchcent::cuda
