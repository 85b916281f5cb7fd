// Mappings of the threads of a block to the vertices of a level: the traversals of the GPU literature as policies of
// one kernel. A policy calls visit(valid, place, vertex, lane, width) with `width` adjacent threads per vertex, and by
// whole warps, so that visit may use shuffles; `valid` is false for threads without a vertex.
#pragma once

#include "paths/cuda/pair.cuh"
#include "paths/cuda/place.cuh"

namespace torchcent::cuda {

struct Level {
  int begin, end;  // places
  int* taken;      // shared counter, 0 when the level begins
};

struct Walk {
  int64_t n, m;
  const int32_t* queue;
  const int32_t* place;  // by vertex (node_parallel, edge_parallel)
  int shift;             // log2 of the threads per vertex
};

// Queue and level ends: work-efficient (McLaughlin and Bader 2014) with one thread per vertex, otherwise virtual warps
// (Hong et al. 2011; Fan et al. 2017). Width is 1 or 2 threads, or 0 if walk.shift defines it.
template <int Width>
struct QueueWalk {
  static constexpr bool by_slot = false;

  template <class Visit>
  __device__ static void level(const Walk& walk, const Level& level, Visit visit) {
    const int shift = Width == 0 ? walk.shift : Width - 1, width = 1 << shift, lane = threadIdx.x & (width - 1);
    const int first = (threadIdx.x & ~31) >> shift;  // of this warp
    for (int base = level.begin; base + first < level.end; base += blockDim.x >> shift) {
      const int p = base + (threadIdx.x >> shift);
      const bool valid = p < level.end;
      visit(valid, p, valid ? walk.queue[p] : 0, lane, width);
    }
  }
};

// The same, but idle warps fetch further entries (cooperative scheme of multi-search).
template <int Width>
struct CooperativeWalk {
  static constexpr bool by_slot = false;

  template <class Visit>
  __device__ static void level(const Walk& walk, const Level& level, Visit visit) {
    const int shift = Width == 0 ? walk.shift : Width - 1, width = 1 << shift, lane = threadIdx.x & (width - 1);
    const int in_warp = threadIdx.x & 31;
    for (;;) {
      int first = 0;
      if (in_warp == 0) first = atomicAdd(level.taken, 32 >> shift);
      first = level.begin + __shfl_sync(~0u, first, 0);
      if (first >= level.end) return;
      const int p = first + (in_warp >> shift);
      const bool valid = p < level.end;
      visit(valid, p, valid ? walk.queue[p] : 0, lane, width);
    }
  }
};

// A thread per vertex of the graph, whether or not it is in the level (Jia et al. 2011, "vertex-parallel").
struct NodeWalk {
  static constexpr bool by_slot = false;

  template <class Visit>
  __device__ static void level(const Walk& walk, const Level& level, Visit visit) {
    for (int64_t base = threadIdx.x & ~31; base < walk.n; base += blockDim.x) {
      const int64_t v = base + (threadIdx.x & 31);
      const int p = v < walk.n ? walk.place[v] : -1;
      visit(p >= level.begin && p < level.end, p, static_cast<int32_t>(v), 0, 1);
    }
  }
};

// A thread per slot of the graph, whether or not its vertex is in the level (Jia et al. 2011; gpu-fan: Shi and Zhang
// 2011). Those papers add with atomics, whose sums differ from run to run. Here every warp takes consecutive slots,
// which are in the order of their vertices, and adds up the terms of each vertex in the order of a segmented scan.
struct EdgeWalk {
  static constexpr bool by_slot = true;

  // Calls visit(slot) for the slots of the vertices of the level.
  template <class Visit>
  __device__ static void slots(const Walk& walk, const int32_t* vertex_of, const Level& level, Visit visit) {
    for (int64_t j = threadIdx.x; j < walk.m; j += blockDim.x) {
      const int p = walk.place[vertex_of[j]];
      if (p >= level.begin && p < level.end) visit(j);
    }
  }

  // Calls finish(place, vertex, sum of term(slot, place, find(slot))) for the vertices of the level that have slots, by
  // one thread each. All threads take part; the caller synchronises them afterwards.
  template <class Count, class Find, class Term, class Finish>
  __device__ static void sums(const Walk& walk, const int32_t* vertex_of, const Level& level, Find find, Term term,
                              Finish finish) {
    // Of a vertex whose slots several warps have: the sum of the warp where they begin, and those of the others.
    __shared__ Count first_part[kMostWarps], further_part[kMostWarps];
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    const auto bound = [&](int of) { return walk.m * of / warps; };
    const auto in_level = [&](int p) { return p >= level.begin && p < level.end; };
    const int64_t first = bound(warp), last = bound(warp + 1);
    const int32_t before = first > 0 ? vertex_of[first - 1] : -1;
    Count open_sum(0.0);  // of the vertex of the slot before, if it has more slots
    for (int64_t base = first + lane; base - lane < last; base += 32 * kAhead) {
      // The loads of several slots per thread are under way at the same time.
      int32_t vertex[kAhead];
      int place[kAhead], neighbour[kAhead];
      Count terms[kAhead];
      bool is_any = false;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) vertex[k] = base + 32 * k < last ? vertex_of[base + 32 * k] : -1;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        place[k] = vertex[k] < 0 ? -1 : walk.place[vertex[k]];
        is_any |= in_level(place[k]);
      }
      if (!__any_sync(~0u, is_any)) {
        open_sum = Count(0.0);
        continue;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) neighbour[k] = in_level(place[k]) ? find(base + 32 * k) : 0;
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        terms[k] = in_level(place[k]) ? term(base + 32 * k, place[k], neighbour[k]) : Count(0.0);
#pragma unroll 1
      for (int k = 0; k < kAhead; ++k) {
        const int64_t j = base + 32 * k;
        int32_t v = vertex[0];
        int p = place[0];
        Count sum = terms[0];
#pragma unroll
        for (int other = 1; other < kAhead; ++other)
          if (k == other) v = vertex[other], p = place[other], sum = terms[other];
        const int32_t previous = __shfl_up_sync(~0u, v, 1);
        const unsigned begins = __ballot_sync(~0u, lane == 0 || previous != v);
        const int begin = 31 - __clz(begins & (2u << lane) - 1);  // the first lane with this vertex
        for (int distance = 1; distance < 32; distance *= 2) {
          const Count other = lane_before(sum, distance);
          if (lane - distance >= begin) sum = sum + other;
        }
        if (begin == 0) sum = sum + open_sum;
        const bool more = v >= 0 && (lane < 31 ? !(begins >> (lane + 1) & 1) : j + 1 < walk.m && vertex_of[j + 1] == v);
        const bool cut = j + 1 == last && j + 1 < walk.m && vertex_of[j + 1] == v;  // other warps have the rest
        if (in_level(p)) {
          if (cut) (v == before ? further_part : first_part)[warp] = stored(sum);
          else if (!more && v == before) further_part[warp] = stored(sum);
          else if (!more) finish(p, v, sum);
        }
        open_sum = lane_of(more ? stored(sum) : Count(0.0), 31);
      }
    }
    __syncthreads();
    if (lane != 0 || first == last || last == walk.m) return;
    const int32_t v = vertex_of[last - 1];
    const int p = walk.place[v];
    if (v == before || vertex_of[last] != v || !in_level(p)) return;
    Count sum = first_part[warp];
    for (int other = warp + 1; other < warps && vertex_of[bound(other)] == v; ++other)
      if (bound(other) < bound(other + 1)) sum = sum + further_part[other];
    finish(p, v, sum);
  }

 private:
  static constexpr int kMostWarps = 32, kAhead = 4;
};

}  // namespace torchcent::cuda
