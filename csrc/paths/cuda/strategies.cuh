// Mappings of the threads of a block to the vertices of a level: the traversals of the GPU literature as policies of
// one kernel. A policy calls visit(valid, place, vertex, lane, width) with `width` adjacent threads per vertex, and by
// whole warps, so that visit may use shuffles; `valid` is false for threads without a vertex.
#pragma once

#include "paths/cuda/place.cuh"

namespace torchcent::cuda {

struct Level {
  int begin, end;  // places
  int* taken;      // shared counter, 0 when the level begins
};

struct Walk {
  int64_t n, m;
  const int32_t* queue;
  const int32_t* place;     // by vertex (node_parallel, edge_parallel)
  const int32_t* slot_row;  // vertex of every slot (edge_parallel)
  const int32_t* col;
  int shift;  // log2 of the threads per vertex
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

// A thread per slot of the graph (Jia et al. 2011; gpu-fan: Shi and Zhang 2011) searches. The sums are computed per
// vertex: with the floating-point atomics of those papers, they would differ from run to run.
struct EdgeWalk : NodeWalk {
  static constexpr bool by_slot = true;

  template <class Visit>
  __device__ static void slots(const Walk& walk, const Level& level, Visit visit) {
    for (int64_t j = threadIdx.x; j < walk.m; j += blockDim.x) {
      const int p = walk.place[walk.slot_row[j]];
      if (p >= level.begin && p < level.end) visit(walk.col[j]);
    }
  }
};

}  // namespace torchcent::cuda
