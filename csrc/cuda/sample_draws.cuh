// What the samplers on CUDA share: which samples a launch takes, and how one of several arcs is drawn.
#pragma once

#include "cuda/problem.cuh"
#include "draws.h"

namespace torchcent::cuda {

constexpr int kSampleThreads = 128;     // of a block
constexpr double kSampleLimit = 1e290;  // path counts that the CPU, which has an exponent for them, is left with

struct Samples {
  int64_t n;
  uint64_t seed;
  int64_t first, count;
  unsigned long long* counts;    // [n]
  unsigned long long* next;      // to be taken
  unsigned long long* arcs;      // looked at
  int64_t* left;                 // [count] samples for the CPU
  unsigned long long* num_left;  // of them

  // By one thread. Which of `count`; count and more: none.
  __device__ unsigned long long take() const { return atomicAdd(next, 1ull); }
  __device__ bool over(unsigned long long taken) const { return taken >= static_cast<unsigned long long>(count); }
  __device__ void leave(uint64_t sample) const { left[atomicAdd(num_left, 1ull)] = static_cast<int64_t>(sample); }
};

// The tail of the arc by which a path crosses from one side to the other: the first in the race (draws.h).
struct Crossing {
  int32_t tail;        // -1: none
  double time, reach;  // number of ways on from it

  __device__ static Crossing none() { return {-1, 0, 0}; }

  __device__ void enter(const Crossing& other) {
    if (other.tail < 0) return;
    if (tail >= 0 && (other.time > time || (other.time == time && other.tail > tail))) return;
    *this = other;
  }
  // sigma: number of ways to u.
  __device__ void enter(const Samples& samples, uint64_t sample, int32_t u, double sigma, double ways_on) {
    PathCount a, b;
    a.value = sigma;
    b.value = ways_on;
    const uint64_t bits = random_bits(samples.seed, sample, Purpose::crossing, static_cast<uint32_t>(u));
    enter({u, race_time(bits, a, b), ways_on});
  }
  // The first of a warp.
  __device__ void of_warp() {
    for (int lanes = 16; lanes > 0; lanes /= 2)
      enter({__shfl_xor_sync(~0u, tail, lanes), __shfl_xor_sync(~0u, time, lanes), __shfl_xor_sync(~0u, reach, lanes)});
  }
};

// The first of a block, in all threads of it; `part` is shared.
__device__ inline Crossing first_of_block(Crossing mine, Crossing* part) {
  mine.of_warp();
  if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) mine.enter(part[warp]);
  return mine;
}

// The slot in [begin, end) at which the sum of the shares passes `left`: by one warp. What is not to be drawn has none.
template <class Share>
__device__ int64_t drawn_slot(int64_t begin, int64_t end, double left, Share share) {
  const int lane = threadIdx.x & 31;
  int64_t last = -1;
  for (int64_t base = begin; base < end; base += 32) {
    const int64_t slot = base + lane;
    const double mine = slot < end ? share(slot) : 0;
    double sum = mine;
    for (int step = 1; step < 32; step *= 2) {
      const double other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    const unsigned all = __ballot_sync(~0u, mine > 0), passed = __ballot_sync(~0u, mine > 0 && left - sum < 0);
    if (passed != 0) return base + __ffs(passed) - 1;
    if (all != 0) last = base + 31 - __clz(all);
    left -= __shfl_sync(~0u, sum, 31);
  }
  return last;  // rounding
}

}  // namespace torchcent::cuda
