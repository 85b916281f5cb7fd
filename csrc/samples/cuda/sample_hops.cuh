// Random shortest paths by hops on CUDA: a block per sample, with the random numbers, the order of levels and the
// choices of samples/cpu/sample_hops.h, so that a sample is the same path on both.
//
// The difference is that paths are counted during the search, by atomic additions of doubles, which avoids a pass back.
// A sample whose counts overflow double is left to the CPU.
#pragma once

#include "samples/cuda/sample_draws.cuh"

namespace torchcent::cuda {

// Threads per multiprocessor: as many as it holds, or as its registers allow.
template <bool kByThread>
constexpr int kHopThreads = kByThread ? 1024 : 2048;

struct HopSampling {
  Arcs out, in;
  int32_t* depth;  // [blocks, n], 0 between samples; as on the CPU, depth + 1, negative from the target
  double* sigma;   // [blocks, n], 0 between samples
  int32_t* queue;  // [blocks, n]: from the source upwards, from the target downwards
};

// The search of one side. Entry i of its queue is queue[i], or queue[n - 1 - i] from the target.
struct SampleSide {
  int32_t begin, end, level, root;
  unsigned long long degrees;
};

struct SampleShared {
  SampleSide side[2];
  int taken, frontier_end, met, overflow;
  unsigned long long sample, degrees;
  Crossing part[kMostThreads / 32];
};

// Calls visit(v, value of v) for the neighbours of u, by `width` threads, 1 or a warp, with four neighbours per thread
// at a time so that their loads overlap. Other threads may modify a value concurrently.
template <class Visit>
__device__ void each_neighbour(const Arcs& arcs, int32_t u, int width, const int32_t* value, Visit visit) {
  constexpr int kTogether = 4;
  const int64_t end = arcs.rowptr[u + 1];
  for (int64_t first = arcs.rowptr[u] + (threadIdx.x & (width - 1)); first < end; first += width * kTogether) {
    int32_t v[kTogether], known[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + width * k < end) v[k] = arcs.col[first + width * k];
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + width * k < end) known[k] = *const_cast<const volatile int32_t*>(value + v[k]);
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + width * k < end) visit(v[k], known[k]);
  }
}

// Calls visit(u, width) for entries begin to end - 1, by the block. Each entry is processed by a warp, and idle warps
// fetch the next entry (`taken` is shared, and initially begin). If degrees are mostly small, each is processed by a
// thread, and those with more than kAlone arcs by a warp.
template <bool kByThread, class Entry, class Visit>
__device__ void each_entry(const Arcs& arcs, int begin, int end, int& taken, Entry entry, Visit visit) {
  constexpr int64_t kAlone = 32;
  const int lane = threadIdx.x & 31;
  if constexpr (kByThread) {
    for (int first = begin + static_cast<int>(threadIdx.x) - lane; first < end; first += blockDim.x) {
      const int32_t u = first + lane < end ? entry(first + lane) : -1;
      const bool large = u >= 0 && arcs.rowptr[u + 1] - arcs.rowptr[u] > kAlone;
      if (u >= 0 && !large) visit(u, 1);
      for (unsigned rest = __ballot_sync(~0u, large); rest != 0; rest &= rest - 1)
        visit(__shfl_sync(~0u, u, __ffs(rest) - 1), 32);
    }
  } else {
    for (;;) {
      int p = 0;
      if (lane == 0) p = atomicAdd(&taken, 1);
      p = __shfl_sync(~0u, p, 0);
      if (p >= end) break;
      visit(entry(p), 32);
    }
  }
}

template <bool kByThread>
__global__ void __launch_bounds__(kMostThreads, kHopThreads<kByThread> / kMostThreads)
    hop_sample_kernel(HopSampling problem, Samples samples) {
  __shared__ SampleShared shared;
  const int lane = threadIdx.x & 31;
  const int64_t n = samples.n;
  int32_t* const depth = problem.depth + n * blockIdx.x;
  double* const sigma = problem.sigma + n * blockIdx.x;
  int32_t* const queue = problem.queue + n * blockIdx.x;
  const auto entry = [&](int s, int32_t i) -> int32_t& { return queue[s == 0 ? i : n - 1 - i]; };
  for (;;) {
    if (threadIdx.x == 0) {
      shared.sample = samples.take();
      shared.met = shared.overflow = 0;
      if (!samples.over(shared.sample)) {
        const torchcent::Pair pair = random_pair(samples.seed, static_cast<uint64_t>(samples.first) + shared.sample, n);
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
    const uint64_t sample = static_cast<uint64_t>(samples.first) + shared.sample;
    if (samples.over(shared.sample)) return;
    int s = 0;
    while (shared.side[0].begin < shared.side[0].end && shared.side[1].begin < shared.side[1].end) {
      s = shared.side[0].degrees <= shared.side[1].degrees ? 0 : 1;
      const int sign = s == 0 ? 1 : -1;
      const SampleSide side = shared.side[s];
      const Arcs& arcs = s == 0 ? problem.out : problem.in;
      const int32_t next = sign * (side.level + 2);
      __syncthreads();  // all threads have read the sides
      if (threadIdx.x == 0) {
        shared.taken = side.begin;
        shared.frontier_end = side.end;  // vertices found from now on follow
        shared.degrees = 0;
        atomicAdd(samples.arcs, side.degrees);
      }
      __syncthreads();
      unsigned long long degrees = 0;  // of the vertices that this thread finds
      const auto own = [&](int p) { return entry(s, p); };
      each_entry<kByThread>(arcs, side.begin, side.end, shared.taken, own, [&](int32_t u, int width) {
        const double paths = sigma[u];
        if (paths > kLargestCount) shared.overflow = 1;
        each_neighbour(arcs, u, width, depth, [&](int32_t v, int32_t known) {
          if (known == 0) {  // may be stale: the exchange determines the first thread
            known = atomicCAS(depth + v, 0, next);
            if (known == 0) {
              entry(s, atomicAdd(&shared.side[s].end, 1)) = v;
              const auto degree = static_cast<unsigned long long>(arcs.rowptr[v + 1] - arcs.rowptr[v]);
              if constexpr (kByThread) degrees += degree;
              else atomicAdd(&shared.degrees, degree);
              known = next;
            }
          }
          if (known == next) atomicAdd(sigma + v, paths);
          else if (sign * known < 0) shared.met = 1;
        });
      });
      if constexpr (kByThread) {
        for (int step = 16; step > 0; step /= 2) degrees += __shfl_xor_sync(~0u, degrees, step);
        if (lane == 0 && degrees > 0) atomicAdd(&shared.degrees, degrees);
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
      // The race of the crossing arcs, by their tails; the frontier is unchanged.
      const int sign = s == 0 ? 1 : -1;
      const SampleSide side = shared.side[s];
      const Arcs& arcs = s == 0 ? problem.out : problem.in;
      if (threadIdx.x == 0) shared.taken = side.begin;
      __syncthreads();
      Crossing mine = Crossing::none();
      const auto own = [&](int p) { return entry(s, p); };
      each_entry<kByThread>(arcs, side.begin, shared.frontier_end, shared.taken, own, [&](int32_t u, int width) {
        double reach = 0;
        each_neighbour(arcs, u, width, depth, [&](int32_t v, int32_t known) {
          if (sign * known < 0) reach += sigma[v];
        });
        for (int step = width / 2; step > 0; step /= 2) reach += __shfl_xor_sync(~0u, reach, step);
        if ((threadIdx.x & (width - 1)) != 0 || reach == 0) return;
        if (reach > kLargestCount) shared.overflow = 1;
        mine.enter(samples, sample, u, sigma[u], reach);
      });
      const Crossing crossing = first_of_block(mine, shared.part);
      const auto drawn = [&](const Arcs& all, int32_t u, double left, auto wanted) {
        const int64_t begin = all.rowptr[u];
        return drawn_vertex(all.col + begin, all.rowptr[u + 1] - begin, depth, sigma, left,
                            [&](int32_t, int32_t known) { return wanted(known); });
      };
      const int half = threadIdx.x / 32;  // one warp each
      if (half < 2 && shared.overflow == 0) {
        const double left = uniform(random_bits(samples.seed, sample, Purpose::arc, 0)) * crossing.reach;
        int32_t u = crossing.tail;
        if ((half == 0) != (s == 0)) u = drawn(arcs, u, left, [&](int32_t known) { return sign * known < 0; });
        const Arcs& back = half == 0 ? problem.in : problem.out;
        const Purpose purpose = half == 0 ? Purpose::walk_back : Purpose::walk_on;
        for (uint32_t step = 0; u != shared.side[half].root; ++step) {
          if (lane == 0) atomicAdd(samples.counts + u, 1ull);
          const int32_t above = depth[u] - (half == 0 ? 1 : -1);
          if (above == (half == 0 ? 1 : -1)) break;  // the root is next
          const double rest = uniform(random_bits(samples.seed, sample, purpose, step)) * sigma[u];
          u = drawn(back, u, rest, [&](int32_t known) { return known == above; });
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && shared.overflow != 0) samples.leave(sample);
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
