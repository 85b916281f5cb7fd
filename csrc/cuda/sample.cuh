// Random shortest paths by hops on CUDA: a block per sample, with the random numbers, the order of levels and the
// choices of csrc/cpu/sample_hops.h, so that a sample is the same path on both.
//
// What differs is when paths are counted: here while searching, by atomic additions of doubles, which saves going back.
// A sample whose counts leave the range of double is left to the CPU.
#pragma once

#include "cuda/problem.cuh"
#include "draws.h"

namespace torchcent::cuda {

constexpr int kSampleThreads = 128;  // of a block
constexpr double kSampleLimit = 1e290;

struct SampleProblem {
  Arcs out, in;
  int64_t n;
  uint64_t seed;
  int64_t first, count;        // samples
  unsigned long long* counts;  // [n]
  int32_t* depth;              // [blocks, n], 0 between samples; as on the CPU (depth + 1), negative from the target
  double* sigma;               // [blocks, n], 0 between samples
  int32_t* queue;              // [blocks, n]: from the source upwards, from the target downwards
  unsigned long long* next;    // sample to be taken
  unsigned long long* arcs;    // looked at
  int64_t* left;               // [count] samples for the CPU
  unsigned long long* num_left;
};

// One side's search. Entry i of its queue is queue[i], or queue[n - 1 - i] from the target.
struct SampleSide {
  int32_t begin, end, level, root;
  unsigned long long degrees;
};

struct SampleShared {
  SampleSide side[2];
  int taken, frontier_end, met, overflow;
  unsigned long long sample, degrees;
  int best_lock;
  int32_t tail;
  double time, reach;
};

// The neighbour of u for which wanted(v) holds, and at which the sum of their sigma passes `left`: by one warp.
template <class Wanted>
__device__ int32_t sample_neighbour(const Arcs& arcs, int32_t u, const double* sigma, double left, Wanted wanted) {
  const int lane = threadIdx.x & 31;
  int32_t last = -1;
  for (int64_t base = arcs.rowptr[u]; base < arcs.rowptr[u + 1]; base += 32) {
    const int64_t slot = base + lane;
    const bool inside = slot < arcs.rowptr[u + 1];
    const int32_t v = inside ? arcs.col[slot] : 0;
    const bool mine = inside && wanted(v);
    double sum = mine ? sigma[v] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const double other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    const unsigned all = __ballot_sync(~0u, mine), passed = __ballot_sync(~0u, mine && left - sum < 0);
    if (passed != 0) return __shfl_sync(~0u, v, __ffs(passed) - 1);
    if (all != 0) last = __shfl_sync(~0u, v, 31 - __clz(all));
    left -= __shfl_sync(~0u, sum, 31);
  }
  return last;  // rounding
}

static __global__ void __launch_bounds__(kSampleThreads) sample_kernel(SampleProblem problem) {
  __shared__ SampleShared shared;
  const int lane = threadIdx.x & 31;
  const int64_t n = problem.n;
  int32_t* const depth = problem.depth + n * blockIdx.x;
  double* const sigma = problem.sigma + n * blockIdx.x;
  int32_t* const queue = problem.queue + n * blockIdx.x;
  const auto entry = [&](int s, int32_t i) -> int32_t& { return queue[s == 0 ? i : n - 1 - i]; };
  for (;;) {
    if (threadIdx.x == 0) {
      shared.sample = atomicAdd(problem.next, 1ull);
      shared.met = shared.overflow = 0;
      if (shared.sample < static_cast<unsigned long long>(problem.count)) {
        const torchcent::Pair pair = random_pair(problem.seed, static_cast<uint64_t>(problem.first) + shared.sample, n);
        const int32_t root[2] = {pair.source, pair.target};
        for (int s = 0; s < 2; ++s) {
          const Arcs& arcs = s == 0 ? problem.out : problem.in;
          const int64_t degree = arcs.rowptr[root[s] + 1] - arcs.rowptr[root[s]];
          shared.side[s] = {0, 1, 0, root[s], static_cast<unsigned long long>(degree)};
          depth[root[s]] = s == 0 ? 1 : -1;
          sigma[root[s]] = 1;
          entry(s, 0) = root[s];
        }
      }
    }
    __syncthreads();
    const uint64_t sample = static_cast<uint64_t>(problem.first) + shared.sample;
    if (shared.sample >= static_cast<unsigned long long>(problem.count)) return;
    int s = 0;
    while (shared.side[0].begin < shared.side[0].end && shared.side[1].begin < shared.side[1].end) {
      s = shared.side[0].degrees <= shared.side[1].degrees ? 0 : 1;
      const int sign = s == 0 ? 1 : -1;
      const SampleSide side = shared.side[s];
      const Arcs& arcs = s == 0 ? problem.out : problem.in;
      const int32_t next = sign * (side.level + 2);
      __syncthreads();  // all have read the sides
      if (threadIdx.x == 0) {
        shared.taken = side.begin;
        shared.frontier_end = side.end;  // vertices found by now follow behind
        shared.degrees = 0;
        atomicAdd(problem.arcs, side.degrees);
      }
      __syncthreads();
      for (;;) {
        int p = 0;
        if (lane == 0) p = atomicAdd(&shared.taken, 1);
        p = __shfl_sync(~0u, p, 0);
        if (p >= side.end) break;
        const int32_t u = entry(s, p);
        const double paths = sigma[u];
        if (lane == 0 && paths > kSampleLimit) shared.overflow = 1;
        for (int64_t slot = arcs.rowptr[u] + lane; slot < arcs.rowptr[u + 1]; slot += 32) {
          const int32_t v = arcs.col[slot];
          int32_t known = *const_cast<volatile int32_t*>(depth + v);
          if (known == 0) {  // it may be stale: the exchange tells who is first
            known = atomicCAS(depth + v, 0, next);
            if (known == 0) {
              entry(s, atomicAdd(&shared.side[s].end, 1)) = v;
              atomicAdd(&shared.degrees, static_cast<unsigned long long>(arcs.rowptr[v + 1] - arcs.rowptr[v]));
              known = next;
            }
          }
          if (known == next) atomicAdd(sigma + v, paths);
          else if (sign * known < 0) shared.met = 1;
        }
      }
      __syncthreads();
      if (shared.met != 0 || shared.overflow != 0) break;
      if (threadIdx.x == 0) {
        SampleSide& now = shared.side[s];
        now.begin = side.end;
        ++now.level;
        now.degrees = shared.degrees;
      }
      __syncthreads();
    }
    __syncthreads();
    if (shared.met != 0 && shared.overflow == 0) {
      // The race of the arcs across, by their tails; the frontier is as it was.
      const int sign = s == 0 ? 1 : -1;
      const SampleSide side = shared.side[s];
      const Arcs& arcs = s == 0 ? problem.out : problem.in;
      if (threadIdx.x == 0) {
        shared.taken = side.begin;
        shared.tail = -1;
        shared.best_lock = 0;
      }
      __syncthreads();
      for (;;) {
        int p = 0;
        if (lane == 0) p = atomicAdd(&shared.taken, 1);
        p = __shfl_sync(~0u, p, 0);
        if (p >= shared.frontier_end) break;
        const int32_t u = entry(s, p);
        double reach = 0;
        for (int64_t slot = arcs.rowptr[u] + lane; slot < arcs.rowptr[u + 1]; slot += 32) {
          const int32_t v = arcs.col[slot];
          if (sign * depth[v] < 0) reach += sigma[v];
        }
        for (int step = 16; step > 0; step /= 2) reach += __shfl_xor_sync(~0u, reach, step);
        if (lane != 0 || reach == 0) continue;
        if (reach > kSampleLimit) shared.overflow = 1;
        PathCount a, b;
        a.value = sigma[u];
        b.value = reach;
        const double time =
            race_time(random_bits(problem.seed, sample, Purpose::crossing, static_cast<uint32_t>(u)), a, b);
        while (atomicCAS(&shared.best_lock, 0, 1) != 0) {
        }
        __threadfence_block();
        volatile SampleShared& best = shared;
        if (best.tail < 0 || time < best.time || (time == best.time && u < best.tail)) {
          best.tail = u;
          best.time = time;
          best.reach = reach;
        }
        __threadfence_block();
        atomicExch(&shared.best_lock, 0);
      }
      __syncthreads();
      if (threadIdx.x < 32 && shared.overflow == 0) {
        const double left = uniform(random_bits(problem.seed, sample, Purpose::arc, 0)) * shared.reach;
        const int32_t head =
            sample_neighbour(arcs, shared.tail, sigma, left, [&](int32_t v) { return sign * depth[v] < 0; });
        const int32_t from[2] = {s == 0 ? shared.tail : head, s == 0 ? head : shared.tail};
        for (int half = 0; half < 2; ++half) {
          const Arcs& back = half == 0 ? problem.in : problem.out;
          const Purpose purpose = half == 0 ? Purpose::walk_back : Purpose::walk_on;
          int32_t u = from[half];
          for (uint32_t step = 0; u != shared.side[half].root; ++step) {
            if (lane == 0) atomicAdd(problem.counts + u, 1ull);
            const int32_t above = depth[u] - (half == 0 ? 1 : -1);
            if (above == (half == 0 ? 1 : -1)) break;  // the root is next
            const double rest = uniform(random_bits(problem.seed, sample, purpose, step)) * sigma[u];
            u = sample_neighbour(back, u, sigma, rest, [&](int32_t v) { return depth[v] == above; });
          }
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && shared.overflow != 0)
      problem.left[atomicAdd(problem.num_left, 1ull)] = static_cast<int64_t>(sample);
    for (int k = 0; k < 2; ++k)
      for (int32_t i = threadIdx.x; i < shared.side[k].end; i += blockDim.x) {
        const int32_t v = entry(k, i);
        depth[v] = 0;
        sigma[v] = 0;
      }
    __syncthreads();
  }
}

}  // namespace torchcent::cuda
