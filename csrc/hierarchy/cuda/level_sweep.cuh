// Sweeps down a hierarchy, a level at a time (docs/hierarchy.md): distances from a group of sources side by side, a row
// of them for each vertex. A warp has a row, in which each thread has a part of 16 bytes.
#pragma once

#include <cstdint>

#include "core/cuda/threads.cuh"
#include "hierarchy/workspace.h"

namespace torchcent::cuda {

constexpr int kSweepWarps = 8;

template <class T>
struct alignas(16) RowPart {
  static constexpr int lanes = 16 / sizeof(T);
  T at[lanes];

  __device__ void lower(RowPart other, T more) {
#pragma unroll
    for (int l = 0; l < lanes; ++l) at[l] = at[l] < other.at[l] + more ? at[l] : other.at[l] + more;
  }
};

// Positions, arcs and ancestors are those of hierarchy/hierarchy.h.
template <class T>
struct LevelSweep {
  static constexpr int lanes = 32 * RowPart<T>::lanes;  // of a group
  static_assert(lanes * sizeof(T) == kGroupRow);
  static constexpr T far = T{1} << (sizeof(T) == 4 ? 30 : 61);

  int64_t n, height;
  const int64_t *down, *up;  // [n + 1] arcs, by their lower ends
  const int32_t* to;         // upper ends
  const int64_t* length;
  const int32_t *last, *parent, *depth;
  const int32_t* order;   // [n] level by level, but last of all those that are the upper end of no arc
  const int32_t* source;  // [groups * lanes] positions, or -1
  T* climb;               // [groups * lanes, height] by the depth of the ancestor
  RowPart<T>* rows;       // [groups, n, 32]
};

// What a thread has of a group.
template <class T>
struct GroupPart {
  const LevelSweep<T>& sweep;
  RowPart<T>* rows;
  const T* climb;
  int32_t source[RowPart<T>::lanes];

  __device__ GroupPart(const LevelSweep<T>& all, int64_t group, int thread)
      : sweep(all), rows(all.rows + group * all.n * 32 + thread) {
    const int64_t first = group * LevelSweep<T>::lanes + thread * RowPart<T>::lanes;
    climb = all.climb + first * all.height;
    for (int l = 0; l < RowPart<T>::lanes; ++l) source[l] = all.source[first + l];
  }

  __device__ RowPart<T>& row(int32_t p) const { return rows[int64_t{p} * 32]; }

  // The climbs to p, from the sources below it.
  __device__ RowPart<T> climbed(int32_t p) const {
    const uint32_t below = static_cast<uint32_t>(sweep.last[p] - p);
    RowPart<T> best;
#pragma unroll
    for (int l = 0; l < RowPart<T>::lanes; ++l)
      best.at[l] =
          static_cast<uint32_t>(source[l] - p) < below ? climb[l * sweep.height + sweep.depth[p]] : LevelSweep<T>::far;
    return best;
  }

  // Every so many-th arc down to p.
  __device__ void descend(int32_t p, int first, int step, RowPart<T>& best) const {
    const int64_t end = sweep.down[p + 1];
#pragma unroll 4
    for (int64_t i = sweep.down[p] + first; i < end; i += step) {
      const RowPart<T> upper = row(sweep.to[i]);  // in one load
      best.lower(upper, static_cast<T>(sweep.length[i]));
    }
  }
};

// From each source to its ancestors, the deepest first, a warp for each.
template <class T>
__global__ void sweep_climb(LevelSweep<T> sweep, int64_t sources) {
  const int64_t i = thread() >> 5;
  const int t = static_cast<int>(threadIdx.x & 31);
  if (i >= sources || sweep.source[i] < 0) return;
  T* const climb = sweep.climb + i * sweep.height;
  int32_t k = sweep.depth[sweep.source[i]];
  for (int32_t j = t; j <= k; j += 32) climb[j] = j == k ? T{0} : LevelSweep<T>::far;
  __syncwarp();
  for (int32_t p = sweep.source[i]; p >= 0; p = sweep.parent[p], --k) {
    const T own = climb[k];
    if (own < LevelSweep<T>::far)
      for (int64_t a = sweep.up[p] + t; a < sweep.up[p + 1]; a += 32) {
        T& upper = climb[sweep.depth[sweep.to[a]]];
        const T over = own + static_cast<T>(sweep.length[a]);
        if (over < upper) upper = over;
      }
    __syncwarp();
  }
}

// Distances of the vertices at [begin, end) of the order. `warps` of a block share the arcs of a vertex.
template <class T, int warps>
__global__ void __launch_bounds__(32 * kSweepWarps) sweep_level(LevelSweep<T> sweep, int64_t begin, int64_t end) {
  static_assert(warps == 1 || warps == kSweepWarps);
  __shared__ RowPart<T> found[warps][32];
  const int warp = static_cast<int>(threadIdx.x >> 5), t = static_cast<int>(threadIdx.x & 31);
  const GroupPart<T> own(sweep, blockIdx.y, t);
  constexpr int together = kSweepWarps / warps;
  for (int64_t i = begin + int64_t{blockIdx.x} * together + (warps == 1 ? warp : 0); i < end;
       i += int64_t{gridDim.x} * together) {
    const int32_t p = sweep.order[i];
    RowPart<T> best = own.climbed(p);
    own.descend(p, warps == 1 ? 0 : warp, warps, best);
    if constexpr (warps > 1) {
      found[warp][t] = best;
      __syncthreads();
      if (warp == 0)
        for (int w = 1; w < warps; ++w) best.lower(found[w][t], 0);
    }
    if (warps == 1 || warp == 0) own.row(p) = best;
    if constexpr (warps > 1) __syncthreads();
  }
}

// Sums over every so many-th vertex of the order: parts [groups, slots, 4, lanes] of b d, b / d, b, and the largest d.
// The first `inner` vertices have rows. Sums do not depend on the device: slots are as many as n says.
template <class T>
__global__ void __launch_bounds__(32 * kSweepWarps)
    sweep_sums(LevelSweep<T> sweep, int64_t inner, const int64_t* vertex, const double* target, bool reciprocals,
               int64_t slots, double* parts) {
  constexpr int width = RowPart<T>::lanes;
  const int64_t slot = thread() >> 5;
  const int t = static_cast<int>(threadIdx.x & 31);
  if (slot >= slots) return;
  const GroupPart<T> own(sweep, blockIdx.y, t);
  double sum[width] = {}, inverse[width] = {}, count[width] = {};
  T most[width] = {};
  for (int64_t i = slot; i < sweep.n; i += slots) {
    const int32_t p = sweep.order[i];
    const double b = target[vertex[p]];
    if (b == 0) continue;
    RowPart<T> row;
    if (i < inner) {
      row = own.row(p);
    } else {
      row = own.climbed(p);
      own.descend(p, 0, 1, row);
    }
#pragma unroll
    for (int l = 0; l < width; ++l) {
      const T d = row.at[l];
      if (d == 0 || d >= LevelSweep<T>::far) continue;  // the source, or out of reach
      sum[l] += b * static_cast<double>(d);
      if (reciprocals) inverse[l] += b / static_cast<double>(d);
      count[l] += b;
      if (most[l] < d) most[l] = d;
    }
  }
  double* const part = parts + (int64_t{blockIdx.y} * slots + slot) * 4 * LevelSweep<T>::lanes;
  for (int l = 0; l < width; ++l) {
    const int lane = t * width + l;
    part[lane] = sum[l];
    part[LevelSweep<T>::lanes + lane] = inverse[l];
    part[2 * LevelSweep<T>::lanes + lane] = count[l];
    part[3 * LevelSweep<T>::lanes + lane] = static_cast<double>(most[l]);
  }
}

// Adds the parts of each source: sums [sources, 3], farthest [sources].
static __global__ void sweep_add(int64_t sources, int lanes, int64_t slots, const double* parts, double* sums,
                                 double* farthest) {
  const int64_t i = thread();
  if (i >= sources) return;
  const double* part = parts + (i / lanes) * slots * 4 * lanes + i % lanes;
  double found[4] = {};
  for (int64_t s = 0; s < slots; ++s, part += 4 * lanes) {
    for (int k = 0; k < 3; ++k) found[k] += part[k * lanes];
    if (found[3] < part[3 * lanes]) found[3] = part[3 * lanes];
  }
  for (int k = 0; k < 3; ++k) sums[3 * i + k] = found[k];
  farthest[i] = found[3];
}

template <class Entry, class T>
__device__ Entry sweep_entry(T d) {
  if (d < LevelSweep<T>::far) return static_cast<Entry>(d);
  if constexpr (__is_same(Entry, int32_t)) return -1;
  else return __builtin_inf();
}

// Rows of all vertices of the graph, a block for 32 of them: out [sources, num_nodes]. Vertices without a position are
// those without arcs; `source` are those of the graph.
template <class T, class Entry>
__global__ void __launch_bounds__(32 * kSweepWarps)
    sweep_rows(LevelSweep<T> sweep, const int32_t* position, const int64_t* source, int64_t sources, int64_t num_nodes,
               Entry* out) {
  constexpr int width = RowPart<T>::lanes, lanes = LevelSweep<T>::lanes;
  __shared__ T tile[32][lanes + 1];
  const int warp = static_cast<int>(threadIdx.x >> 5), t = static_cast<int>(threadIdx.x & 31);
  const GroupPart<T> own(sweep, blockIdx.y, t);
  const int64_t begin = int64_t{blockIdx.x} * 32, first = int64_t{blockIdx.y} * lanes;
  for (int k = warp; k < 32 && begin + k < num_nodes; k += kSweepWarps) {
    const int32_t p = position[begin + k];
    RowPart<T> part;
    if (p >= 0) part = own.row(p);
    for (int l = 0; l < width; ++l) tile[k][t * width + l] = p < 0 ? LevelSweep<T>::far : part.at[l];
  }
  __syncthreads();
  const int64_t v = begin + t;
  if (v >= num_nodes) return;
  for (int lane = warp; lane < lanes && first + lane < sources; lane += kSweepWarps)
    out[(first + lane) * num_nodes + v] = source[first + lane] == v ? Entry(0) : sweep_entry<Entry>(tile[t][lane]);
}

static __global__ void sweep_place(int64_t n, const int64_t* vertex, int32_t* position) {
  const int64_t p = thread();
  if (p < n) position[vertex[p]] = static_cast<int32_t>(p);
}

// Positions of the sources, and -1 in lanes beyond them.
static __global__ void sweep_sources(int64_t sources, int64_t places, const int64_t* source, const int32_t* position,
                                     int32_t* found) {
  const int64_t i = thread();
  if (i < places) found[i] = i < sources ? position[source[i]] : -1;
}

}  // namespace torchcent::cuda
