// Many sums at a time by atomics, with the same bits in any order: see core/exact_sum.h.
#pragma once

#include "core/cuda/run.cuh"
#include "core/exact_sum.h"

namespace torchcent::cuda {

// The addends are passed twice: first to measure them, in a kernel of its own, then to add them.
struct ExactSums {
  unsigned long long* part;  // [count, 3]
  int* exponent;             // [count]: above kBias by that of the largest addend; 0: there is none yet

  static constexpr int kBias = 2048;
  static constexpr int64_t kBytes = kParts * sizeof(int64_t) + sizeof(int);  // of a sum

  // All zeros.
  static ExactSums of(Scratch& scratch, int64_t count, cudaStream_t stream) {
    void* const memory = scratch.bytes(kBytes * count);
    check(cudaMemsetAsync(memory, 0, kBytes * count, stream), "memset");
    auto* const part = static_cast<unsigned long long*>(memory);
    return {part, reinterpret_cast<int*>(part + kParts * count)};
  }

  __device__ static int measured(double value) { return value == 0 ? 0 : exponent_of(value) + kBias; }
  __device__ void measure(int64_t place, int of_addend) const {
    if (*static_cast<volatile int*>(exponent + place) < of_addend) atomicMax(exponent + place, of_addend);
  }
  __device__ int exponent_at(int64_t place) const { return exponent[place] - kBias; }
  __device__ void add_part(int64_t place, int k, int64_t whole) const {
    atomicAdd(part + kParts * place + k, static_cast<unsigned long long>(whole));
  }

  template <bool kMeasure>
  __device__ void pass(int64_t place, double value) const {
    if (value == 0) return;
    if constexpr (kMeasure) measure(place, measured(value));
    else split_into_parts(value, exponent_at(place), [&](int k, int64_t whole) { add_part(place, k, whole); });
  }

  __device__ double total(int64_t place) const {
    if (exponent[place] == 0) return 0;
    return sum_of_parts(reinterpret_cast<const int64_t*>(part + kParts * place), exponent_at(place));
  }
};

}  // namespace torchcent::cuda
