// The kernel of the tiny engine: a block per graph, a warp per 32 of its vertices, with a thread per source. Each
// thread searches by itself (tiny/measures.h) in interleaved arrays. The block then adds up: each thread sums the
// contributions of all sources to a vertex, or to its arcs, always in the same order.
#pragma once

#include "tiny/measures.h"
#include "tiny/workspace.h"

namespace torchcent::cuda {

// As TinyProblem (tiny/cpu/tiny_search.h).
struct TinyBatch {
  const int64_t* rowptr;
  const int32_t* col;
  const double* weight;
  const int64_t* ptr;
  const int64_t* graphs;  // [count], of one size class
  int64_t count;
  const double* source;  // [n] weights, or null: 1 everywhere
  const double* target;
  bool endpoints;
  double tie_tolerance;
  double* betweenness;
  double* stress;
  double* edges;
  double* distances;  // [n, 6]
  int64_t* levels;
  int8_t* overflow;
  int64_t nodes;  // the maximum of this class
  char* memory;   // per block, the arrays of its warps, if they do not fit in shared memory

  TORCHCENT_HD bool paths() const { return betweenness != nullptr || stress != nullptr || edges != nullptr; }
  TORCHCENT_HD bool own_gain() const { return edges != nullptr || (betweenness != nullptr && stress != nullptr); }
};

template <class Depth>
struct TinyBlock {
  using Paths = TORCHCENT_ISA::TinyPaths<Depth, kWarp>;

  const TinyBatch& batch;
  TinyLayout layout;
  char* memory;
  int warps;
  int64_t first;
  int32_t n;

  // The search of one lane of one warp.
  __device__ Paths paths(int warp, int lane) const {
    char* const base = memory + warp * layout.bytes;
    Paths made;
    made.graph = {batch.rowptr + first, batch.col, batch.weight, first, n};
    made.tie_tolerance = batch.tie_tolerance;
    made.sigma.data = reinterpret_cast<double*>(base + layout.sigma) + lane;
    made.passed_up.data = reinterpret_cast<double*>(base + layout.passed_up) + lane;
    made.gain.data = reinterpret_cast<double*>(base + layout.gain) + lane;
    made.depth.data = reinterpret_cast<Depth*>(base + layout.depth) + lane;
    made.order.data = reinterpret_cast<uint16_t*>(base + layout.order) + lane;
    made.place.data = reinterpret_cast<uint16_t*>(base + layout.place) + lane;
    made.heap.data = reinterpret_cast<uint16_t*>(base + layout.heap) + lane;
    made.reached = 0;
    return made;
  }
  __device__ const double* target() const { return batch.target == nullptr ? nullptr : batch.target + first; }
  __device__ double source_weight(int32_t v) const { return batch.source == nullptr ? 1 : batch.source[first + v]; }

  // Calls visit(paths, source) for every lane of all warps. Threads start at different lanes, to avoid bank conflicts.
  // Each always starts at the same lane, so that its sum has a fixed order.
  template <class Visit>
  __device__ void all_lanes(int32_t begin, Visit visit) const {
    for (int w = 0; w < warps; ++w)
      for (int i = 0; i < kWarp; ++i) {
        const int lane = (i + static_cast<int>(threadIdx.x)) % kWarp;
        visit(paths(w, lane), begin + w * kWarp + lane);
      }
  }

  __device__ void add_distances(int32_t begin) const {
    for (int32_t v = threadIdx.x; v < n; v += blockDim.x) {
      double farness = 0, harmonic = 0, reach = 0, farthest = 0;
      all_lanes(begin, [&](const Paths& one, int32_t source) {
        if (v == source || !one.reaches(v)) return;
        const double d = static_cast<double>(one.depth[v]);
        farness += d;
        harmonic += 1 / d;
        reach += 1;
        farthest = d > farthest ? d : farthest;
      });
      double* const out = batch.distances + 6 * (first + v);
      out[0] += farness;
      out[1] += harmonic;
      out[2] += reach;
      out[3] = farthest > out[3] ? farthest : out[3];
    }
  }

  __device__ void add_scores(int32_t begin, double* score, bool endpoints) const {
    for (int32_t v = threadIdx.x; v < n; v += blockDim.x) {
      double sum = 0;
      const double end = !endpoints ? 0 : batch.target == nullptr ? 1 : batch.target[first + v];
      all_lanes(begin, [&](const Paths& one, int32_t source) {
        if (!one.reaches(v)) return;
        if (v != source) sum += one.gain[v] + (endpoints ? end * source_weight(source) : 0);
        else if (endpoints) sum += one.gain[v];
      });
      score[first + v] += sum;
    }
  }

  __device__ void add_edges(int32_t begin) const {
    for (int32_t u = threadIdx.x; u < n; u += blockDim.x)
      for (int64_t i = batch.rowptr[first + u]; i < batch.rowptr[first + u + 1]; ++i) {
        const int32_t v = static_cast<int32_t>(batch.col[i] - first);
        double sum = 0;
        all_lanes(begin, [&](const Paths& one, int32_t) {
          if (one.reaches(u) && one.tight(u, i, v)) sum += one.sigma[u] * one.passed_up[v];
        });
        batch.edges[i] += sum;
      }
  }

  __device__ void count_levels(const Paths& own) const {
    if constexpr (!Paths::weighted) {
      int32_t p = 0;
      while (p < own.reached) {  // vertices are sorted by depth
        const int32_t d = own.depth[own.order[p]];
        int64_t pairs = 0;
        for (; p < own.reached && own.depth[own.order[p]] == d; ++p) ++pairs;
        atomicAdd(reinterpret_cast<unsigned long long*>(batch.levels + first + d),
                  static_cast<unsigned long long>(pairs));
      }
    }
  }

  // Processes all sources, as many at a time as the block has threads.
  __device__ void run(int64_t graph) const {
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    bool lost = false;
    for (int32_t begin = 0; begin < n; begin += warps * kWarp) {
      Paths own = paths(warp, lane);
      const int32_t source = begin + static_cast<int32_t>(threadIdx.x);
      const double weight = source < n ? source_weight(source) : 0;
      const bool searches = weight != 0;
      if (searches) {
        own.search(source);
        if (batch.distances != nullptr) {
          double* const out = batch.distances + 6 * (first + source);
          out[4] = own.reached - 1;
          out[5] = static_cast<double>(own.depth[own.order[own.reached - 1]]);
        }
        if (batch.levels != nullptr) count_levels(own);
        if (batch.paths() && !own.count()) lost = true;
      } else {
        for (int32_t v = 0; v < n; ++v) own.depth[v] = Paths::unreached();
      }
      if (batch.betweenness != nullptr || batch.edges != nullptr) {
        if (searches) own.template backward<TORCHCENT_ISA::Betweenness>(target(), weight);
      }
      __syncthreads();
      if (batch.distances != nullptr) add_distances(begin);
      if (batch.betweenness != nullptr) add_scores(begin, batch.betweenness, batch.endpoints);
      if (batch.edges != nullptr) add_edges(begin);
      if (batch.stress != nullptr) {
        __syncthreads();
        if (searches && !own.template backward<TORCHCENT_ISA::Stress>(target(), weight)) lost = true;
        __syncthreads();
        add_scores(begin, batch.stress, false);
      }
      __syncthreads();
    }
    if (lost) batch.overflow[graph] = 1;
  }
};

template <class Depth>
__global__ void tiny_kernel(TinyBatch batch) {
  extern __shared__ __align__(16) char shared[];
  const TinyLayout layout(batch.nodes, sizeof(Depth) == 8, batch.paths(), batch.own_gain());
  const int warps = blockDim.x / kWarp;
  char* const memory = batch.memory == nullptr ? shared : batch.memory + blockIdx.x * (warps * layout.bytes);
  for (int64_t i = blockIdx.x; i < batch.count; i += gridDim.x) {
    const int64_t graph = batch.graphs[i], first = batch.ptr[graph];
    const TinyBlock<Depth> block = {batch, layout, memory,
                                    warps, first,  static_cast<int32_t>(batch.ptr[graph + 1] - first)};
    block.run(graph);
  }
}

}  // namespace torchcent::cuda
