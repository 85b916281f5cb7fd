// Shared by the samplers on CUDA: the assignment of samples to blocks, and the draw of one of several arcs.
#pragma once

#include "core/cuda/run.cuh"
#include "samples/draws.h"

namespace torchcent::cuda {

// Threads per block. A block of a launch with few samples has more, so that the device is not left empty.
constexpr int kFewestThreads = 128, kMostThreads = 1024;

struct Samples {
  int64_t n;
  uint64_t seed;
  int64_t first, count;
  unsigned long long* counts;    // [n]
  unsigned long long* next;      // next sample
  unsigned long long* arcs;      // scanned arcs
  unsigned long long* levels;    // searched levels, by hops
  int64_t* left;                 // [count] samples for the CPU
  unsigned long long* num_left;  // number of these

  // Called by one thread. Returns an index below `count`, or a larger value if there is none left.
  __device__ unsigned long long take() const { return atomicAdd(next, 1ull); }
  __device__ bool over(unsigned long long taken) const { return taken >= static_cast<unsigned long long>(count); }
  __device__ void leave(uint64_t sample) const { left[atomicAdd(num_left, 1ull)] = static_cast<int64_t>(sample); }
};

// The tail of the arc by which a path crosses from one side to the other: the first in the race (samples/draws.h).
struct Crossing {
  int32_t tail;        // -1: none
  double time, reach;  // number of continuations from it

  __device__ static Crossing none() { return {-1, 0, 0}; }

  __device__ void enter(const Crossing& other) {
    if (other.tail < 0) return;
    if (tail >= 0 && (other.time > time || (other.time == time && other.tail > tail))) return;
    *this = other;
  }
  // sigma: number of paths to u.
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

// The first of a block, returned to all its threads; `part` is shared.
__device__ inline Crossing first_of_block(Crossing mine, Crossing* part) {
  mine.of_warp();
  if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) mine.enter(part[warp]);
  return mine;
}

__device__ inline int32_t vertex_of(int32_t v) { return v; }
template <class Arc>
__device__ int32_t vertex_of(const Arc& arc) {
  return arc.vertex;
}

// The first of `count` arcs, arc_at(0) and so on, at which the cumulative sigma of their vertices exceeds `left`, among
// those for which wanted(arc, known(vertex)) holds; -1 if there are none. Called by one warp. Paths lead through hubs,
// of whose many arcs few are wanted, so the loads of several rounds overlap.
template <class Arc, class ArcAt, class Known, class Wanted>
__device__ int32_t drawn_vertex(int64_t count, ArcAt arc_at, Known known, const double* sigma, double left,
                                Wanted wanted) {
  constexpr int kAtOnce = 32 / sizeof(Arc) > 4 ? 4 : 32 / sizeof(Arc);
  const int lane = threadIdx.x & 31;
  int32_t last = -1;
  for (int64_t base = 0; base < count; base += 32 * kAtOnce) {
    Arc arc[kAtOnce];
    decltype(known(0)) other[kAtOnce];
    unsigned mine = 0;  // one bit per arc of this lane
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (base + 32 * k + lane < count) arc[k] = arc_at(base + 32 * k + lane);
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (base + 32 * k + lane < count) other[k] = known(vertex_of(arc[k]));
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (base + 32 * k + lane < count && wanted(arc[k], other[k])) mine |= 1u << k;
    const unsigned rounds = __reduce_or_sync(~0u, mine);
    if (rounds == 1 && count <= 32) {  // of a single one, as often in road networks, sigma is not needed
      const unsigned all = __ballot_sync(~0u, mine != 0);
      if ((all & (all - 1)) == 0) return __shfl_sync(~0u, vertex_of(arc[0]), __ffs(all) - 1);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if ((rounds >> k & 1) == 0) continue;
      const bool own = (mine >> k & 1) != 0;
      const int32_t v = own ? vertex_of(arc[k]) : -1;
      double sum = own ? sigma[v] : 0;
      for (int step = 1; step < 32; step *= 2) {
        const double before = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += before;
      }
      const unsigned all = __ballot_sync(~0u, own), passed = __ballot_sync(~0u, own && left - sum < 0);
      if (passed != 0) return __shfl_sync(~0u, v, __ffs(passed) - 1);
      last = __shfl_sync(~0u, v, 31 - __clz(all));
      left -= __shfl_sync(~0u, sum, 31);
    }
  }
  return last;  // due to rounding
}

}  // namespace torchcent::cuda
