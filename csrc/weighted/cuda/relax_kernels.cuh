// Kernels of the relax engine: 32 sources side by side, with a thread of a warp for each. Rows of tentative distances
// are relaxed until nothing changes. The tight arcs are recorded once, each with its lanes. Path counts and
// dependencies take one pass over these lists per hop. Minima do not depend on the order, and sums are computed in the
// order of the slots: the bits do not depend on the schedule. Every launch processes all concurrent batches
// (blockIdx.y) and returns immediately for those without remaining work.
#pragma once

#include "paths/cuda/tasks.cuh"
#include "weighted/cuda/weights.cuh"

namespace torchcent::cuda {

constexpr int kAhead = 4;                // rows that a warp loads before it waits for the first
constexpr double kRelaxLimit = 0x1p960;  // larger counts leave float64; below, 1/sigma and its sums are normal numbers

// Tight arcs by one end, at the front of the slots of each vertex, or of each chunk of a hub.
struct LaneArcs {
  LaneArc* arc;    // [batches][m]
  int32_t* slot;   // [batches][m] relative to the first slot of the vertex or chunk; optional
  int32_t* count;  // [batches][n + chunks] per vertex, or per chunk
};

constexpr unsigned kAllLanes = 0xffffffffu;  // of a batch: a bit for each search
static_assert(kRelaxLanes == 32);

// The concurrent batches; arrays are [batches][...].
template <class T>
struct RelaxWave {
  int64_t n, m, chunks;
  int64_t sources;  // in all batches
  T beyond;         // vertices at this distance and farther ones are not reached
  T* distance;      // [n][32]
  T* least[2];      // [n] the least distance that decreased in the last round, and in this one; unreached if none did
  // Of the final distances, over the lanes that reach the vertex:
  T *nearest, *farthest;  // [n]
  LaneArcs tails, heads;
  unsigned* absent;      // [n] lanes that do not reach the vertex
  unsigned* start;       // [n] lanes whose source is the vertex
  unsigned* done[2];     // [n] finished lanes, before and after the pass
  double* sigma;         // [n][32]
  double* rho;           // [n][32], or sigma itself if only one of them is needed
  double* weight;        // [32] a
  double* own;           // [32] c
  const double* copies;  // [n] of the graph: twins that each vertex stands for; null: one
  int* failed;
  double* scores;  // [n], or [m]
  int64_t scored;
  // Of hubs:
  double* partial;    // [chunks][32]
  unsigned* blocked;  // [chunks]
  int* arrived;       // [chunks] 0 between launches

  __device__ int64_t base(int batch) const { return batch * n; }
  __device__ T* row(int batch, int64_t v) const { return distance + (batch * n + v) * kRelaxLanes; }
};

// The slots of a vertex, or a chunk of a hub's slots.
struct Item {
  int32_t vertex;
  int64_t begin, end;
  int64_t count_at;    // index of the number of its tight arcs
  const Chunk* chunk;  // or null
  int64_t chunk_id;
};

// Calls work(item) for the items of this warp, for vertices with wanted(v, whether to report the unwanted).
template <class Wanted, class Work>
__device__ void each_item(const Tasks& tasks, int64_t n, Wanted wanted, Work work) {
  const int lane = lane_id();
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);
  const int64_t* const rowptr = tasks.arcs.rowptr;
  if (id < tasks.chunks) {
    const Chunk& chunk = tasks.chunk[id];
    if (!wanted(chunk.vertex, chunk.index == 0 && lane == 0)) return;
    const int64_t begin = rowptr[chunk.vertex] + int64_t{tasks.slots_per_chunk} * chunk.index;
    const int64_t end = min(rowptr[chunk.vertex + 1], begin + tasks.slots_per_chunk);
    work(Item{chunk.vertex, begin, end, n + id, &chunk, id});
    return;
  }
  id -= tasks.chunks;
  const bool middle = id < tasks.groups();
  if (!middle) id -= tasks.groups();
  const int64_t place = middle ? kGroup * id + lane : 32 * id + lane;
  const bool mine = middle ? lane < kGroup && place < tasks.middles : place < tasks.smalls;
  const int32_t v = mine ? (middle ? tasks.middle : tasks.small)[place] : 0;
  const bool open = mine && wanted(v, true);
  const int64_t begin = open ? rowptr[v] : 0;
  const int size = open ? static_cast<int>(rowptr[v + 1] - begin) : 0;
  for (unsigned left = __ballot_sync(kFullWarp, open); left != 0; left &= left - 1) {
    const int k = __ffs(left) - 1;
    const int32_t vertex = __shfl_sync(kFullWarp, v, k);
    const int64_t first = __shfl_sync(kFullWarp, begin, k);
    work(Item{vertex, first, first + __shfl_sync(kFullWarp, size, k), vertex, nullptr, 0});
  }
}

// Calls use(k, thread) for the threads whose bit is set, kAhead at a time: all read(k, thread) come before the first
// use.
template <class Read, class Use>
__device__ void in_bunches(unsigned hits, Read read, Use use) {
  while (hits != 0) {
    int from[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      from[k] = hits != 0 ? __ffs(hits) - 1 : -1;
      hits &= hits - 1;
      if (from[k] >= 0) read(k, from[k]);
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (from[k] >= 0) use(k, from[k]);
  }
}

template <class T>
__global__ void relax_seed(Sources all, RelaxWave<T> wave, int* active) {
  const int lane = threadIdx.x, batch = blockIdx.x;
  const int64_t place = int64_t{batch} * kRelaxLanes + lane;
  const bool real = place < wave.sources;
  if (all.weight != nullptr) {
    wave.weight[place] = real ? all.weight[place] : 0;
    wave.own[place] = real ? all.own[place] : 0;
  }
  if (lane == 0) active[batch] = 1;
  if (!real) return;
  const int64_t s = all.vertex[place];
  wave.row(batch, s)[lane] = T(0);
  wave.least[0][wave.base(batch) + s] = T(0);
}

// One round: every vertex pulls from the neighbours whose distance decreased in the last round, unless even the least
// of these distances cannot improve its farthest lane (on a BA graph, this leaves 1.6 m of 3.5 m rows). Distances may
// decrease while others read them: a reader that misses a change sees it in the next round.
template <class T>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    relax_pull(Tasks tasks, const T* weight, RelaxWave<T> wave, int round, const int* before, int* after) {
  const int batch = blockIdx.y, lane = lane_id();
  if (before[batch] == 0) return;
  const T* const least = wave.least[round & 1] + wave.base(batch);
  T* const next = wave.least[(round & 1) ^ 1] + wave.base(batch);
  T* const rows = wave.row(batch, 0);
  const bool real = int64_t{batch} * kRelaxLanes + lane < wave.sources;
  const auto all = [](int32_t, bool) { return true; };
  each_item(tasks, wave.n, all, [&](const Item& item) {
    T* const own = rows + int64_t{item.vertex} * kRelaxLanes + lane;
    const T known = min(__ldcg(own), wave.beyond), farthest = most_of_warp(real ? known : T(0));
    T best = unreached<T>;
    for (int64_t i = item.begin + lane; i - lane < item.end; i += 32) {
      const int32_t u = i < item.end ? tasks.arcs.col[i] : 0;
      const T w = i < item.end ? weight[i] : unreached<T>;
      T other[kAhead], more[kAhead];
      in_bunches(
          __ballot_sync(kFullWarp, least[u] + w < farthest),
          [&](int k, int from) {
            other[k] = __ldcg(rows + int64_t{__shfl_sync(kFullWarp, u, from)} * kRelaxLanes + lane);
            more[k] = __shfl_sync(kFullWarp, w, from);
          },
          [&](int k, int) { best = min(best, other[k] + more[k]); });
    }
    bool lower = best < known;
    if (lower) {
      if (item.chunk == nullptr) *own = best;
      else lower = best < atomic_min(own, best);
    }
    if (!__any_sync(kFullWarp, lower)) return;
    const T fallen = least_of_warp(lower ? best : unreached<T>);
    if (lane != 0) return;
    if (item.chunk == nullptr) next[item.vertex] = fallen;
    else atomic_min(next + item.vertex, fallen);
    after[batch] = 1;
  });
}

// One scan of the final rows, after relax_begin_paths. tails: the arcs come from the neighbour; heads: they lead to it.
// Most arcs are longer than the distances of their ends allow.
template <class T>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    relax_extract(Tasks tasks, const T* weight, RelaxWave<T> wave, Ties ties, bool tails, bool heads) {
  const int batch = blockIdx.y, lane = lane_id();
  const T* const rows = wave.row(batch, 0);
  const T *const nearest = wave.nearest + wave.base(batch), *const farthest = wave.farthest + wave.base(batch);
  const int64_t counts = batch * (wave.n + wave.chunks);
  const auto all = [](int32_t, bool) { return true; };
  const auto append = [&](const LaneArcs& list, const Item& item, int& count, int32_t u, unsigned lanes, int slot) {
    const unsigned kept = __ballot_sync(kFullWarp, lanes != 0);
    if (lanes != 0) {
      const int64_t at = batch * wave.m + item.begin + count + __popc(kept & ((1u << lane) - 1));
      list.arc[at] = {u, lanes};
      if (list.slot != nullptr) list.slot[at] = slot;
    }
    count += __popc(kept);
  };
  each_item(tasks, wave.n, all, [&](const Item& item) {
    const T mine = rows[int64_t{item.vertex} * kRelaxLanes + lane];
    int tail_count = 0, head_count = 0;
    const T low = nearest[item.vertex], high = farthest[item.vertex];
    if (low < unreached<T>) {
      for (int64_t i = item.begin + lane; i - lane < item.end; i += 32) {
        const int32_t u = i < item.end ? tasks.arcs.col[i] : -1;
        const T w = i < item.end ? weight[i] : T(0);
        bool room = false;
        if (u >= 0 && tails) room = !ties.before(high, nearest[u] + w);
        if (u >= 0 && heads) room |= !ties.before(farthest[u], low + w);
        unsigned from_u = 0, to_u = 0;
        T other[kAhead], more[kAhead];
        in_bunches(
            __ballot_sync(kFullWarp, room),
            [&](int k, int from) {
              other[k] = __ldcg(rows + int64_t{__shfl_sync(kFullWarp, u, from)} * kRelaxLanes + lane);
              more[k] = __shfl_sync(kFullWarp, w, from);
            },
            [&](int k, int from) {
              const unsigned in = tails ? __ballot_sync(kFullWarp, ties.tight(other[k], more[k], mine)) : 0;
              const unsigned out = heads ? __ballot_sync(kFullWarp, ties.tight(mine, more[k], other[k])) : 0;
              if (lane == from) from_u = in, to_u = out;
            });
        const int slot = static_cast<int>(i - item.begin);
        if (tails) append(wave.tails, item, tail_count, u, from_u, slot);
        if (heads) append(wave.heads, item, head_count, u, to_u, slot);
      }
    }
    if (lane != 0) return;
    if (tails) wave.tails.count[counts + item.count_at] = tail_count;
    if (heads) wave.heads.count[counts + item.count_at] = head_count;
  });
}

// A source has one path to itself; unreached vertices have none.
template <class T>
__global__ void relax_begin_paths(RelaxWave<T> wave, int64_t rows) {
  const int lane = lane_id();
  for (int64_t v = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32; v < rows;
       v += int64_t{gridDim.x} * blockDim.x / 32) {
    const T d = wave.distance[v * kRelaxLanes + lane], low = least_of_warp(d);
    const T high = most_of_warp(d < unreached<T> ? d : T(0));
    const unsigned absent = __ballot_sync(kFullWarp, !(d < unreached<T>)), start = __ballot_sync(kFullWarp, d == T(0));
    if (d == T(0)) wave.sigma[v * kRelaxLanes + lane] = 1;
    if (lane == 0) {
      wave.nearest[v] = low;
      wave.farthest[v] = high;
      wave.absent[v] = absent;
      wave.start[v] = start;
      wave.done[0][v] = absent | start;
    }
  }
}

// Finds the lanes of a vertex that are ready, and for those the sum over their arcs of the values at the other ends.
// Returns false for a chunk of a hub that is not the last to finish. Unit: as if all values were 1.
template <bool Unit, class T>
__device__ bool add_ready(const RelaxWave<T>& wave, int batch, const Item& item, const LaneArcs& list,
                          const unsigned* done, const double* values, unsigned& ready, double& sum) {
  const int lane = lane_id();
  const LaneArc* const arc = list.arc + batch * wave.m + item.begin;
  const int count = list.count[batch * (wave.n + wave.chunks) + item.count_at];
  const unsigned need = ~done[item.vertex];
  unsigned blocked = 0;
  for (int i = lane; i < count; i += 32) {
    const LaneArc at = arc[i];
    if (at.lanes & need & ~blocked) blocked |= at.lanes & ~done[at.vertex];
  }
  ready = need & ~__reduce_or_sync(kFullWarp, blocked);
  sum = 0;
  for (int i = lane; ready != 0 && i - lane < count; i += 32) {
    const LaneArc at = i < count ? arc[i] : LaneArc{0, 0};
    const unsigned lanes = at.lanes & ready;
    double value[kAhead];
    in_bunches(
        __ballot_sync(kFullWarp, lanes != 0),
        [&](int k, int from) {
          const bool mine = __shfl_sync(kFullWarp, lanes, from) >> lane & 1;
          const int32_t u = __shfl_sync(kFullWarp, at.vertex, from);
          value[k] = !mine ? 0 : Unit ? 1 : __ldcg(values + int64_t{u} * kRelaxLanes + lane);
        },
        [&](int k, int) { sum += value[k]; });
  }
  if (item.chunk == nullptr) return true;
  // Chunks store their sums; the last one adds them up in order.
  const Chunk chunk = *item.chunk;
  const int64_t first = batch * wave.chunks + chunk.first, own = batch * wave.chunks + item.chunk_id;
  wave.partial[own * kRelaxLanes + lane] = sum;
  if (lane == 0) wave.blocked[own] = ~ready;
  __threadfence();
  __syncwarp();
  const int before = lane == 0 ? atomicAdd(wave.arrived + first, 1) : 0;
  if (__shfl_sync(kFullWarp, before, 0) != chunk.count - 1) return false;
  __threadfence();
  if (lane == 0) wave.arrived[first] = 0;
  sum = 0;
  unsigned waiting = 0;
  for (int c = 0; c < chunk.count; ++c) {
    sum += __ldcg(wave.partial + (first + c) * kRelaxLanes + lane);
    waiting |= __ldcg(wave.blocked + first + c);
  }
  ready = need & ~waiting;
  return true;
}

// The common part of both passes: act(item, ready, sum) for newly ready lanes.
template <bool Unit, class T, class Act>
__device__ void pass_over(const Tasks& tasks, const RelaxWave<T>& wave, const LaneArcs& list, const double* values,
                          int pass, const int* before, int* after, Act act) {
  const int batch = blockIdx.y;
  if (before[batch] == 0) return;
  const unsigned* const done = wave.done[pass & 1] + wave.base(batch);
  unsigned* const next = wave.done[(pass & 1) ^ 1] + wave.base(batch);
  const auto wanted = [&](int32_t v, bool tell) {
    const bool open = done[v] != kAllLanes;
    if (!open && tell) next[v] = kAllLanes;
    return open;
  };
  each_item(tasks, wave.n, wanted, [&](const Item& item) {
    unsigned ready;
    double sum;
    if (!add_ready<Unit>(wave, batch, item, list, done, values, ready, sum)) return;
    if (ready != 0) act(batch, item, ready, sum);
    if (lane_id() != 0) return;
    const unsigned now = done[item.vertex] | ready;
    next[item.vertex] = now;
    if (now != kAllLanes) after[batch] = 1;
  });
}

template <class T, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    relax_count(Tasks in, RelaxWave<T> wave, int pass, const int* before, int* after) {
  const int64_t base = wave.base(blockIdx.y) * kRelaxLanes;
  double* const sigma = wave.sigma + base;
  pass_over<Visitor::unit>(in, wave, wave.tails, sigma, pass, before, after,
                           [&](int batch, const Item& item, unsigned ready, double sum) {
                             if (!(ready >> lane_id() & 1)) return;
                             if (wave.copies != nullptr) sum *= wave.copies[item.vertex];
                             sigma[int64_t{item.vertex} * kRelaxLanes + lane_id()] = sum;
                             if (!(sum <= kRelaxLimit)) wave.failed[batch] = 1;
                           });
}

template <class T, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    relax_depend(Tasks out, RelaxWave<T> wave, const double* target_weight, const double* through_weight, int pass,
                 const int* before, int* after) {
  const int64_t base = wave.base(blockIdx.y) * kRelaxLanes;
  const double* const all_sigma = wave.sigma + base;
  double* const rho = wave.rho + base;
  pass_over<false>(out, wave, wave.heads, rho, pass, before, after,
                   [&](int batch, const Item& item, unsigned ready, double sum) {
                     const int lane = lane_id(), source = batch * kRelaxLanes + lane;
                     const int64_t v = item.vertex, at = v * kRelaxLanes + lane;
                     const bool start = wave.start[wave.base(batch) + v] >> lane & 1;
                     double total = 0;
                     if (ready >> lane & 1) {
                       const double sigma = all_sigma[at];
                       // If weights are lost in rounding, vertices may have no tight incoming arc.
                       const bool counted = sigma > 0;
                       if (start) total = wave.own[source] * sum;
                       else if (counted) total = wave.weight[source] * Visitor::score(sigma, sum, through_weight[v]);
                       double passed = counted ? Visitor::passed_up(target_weight[v], sigma, sum) : 0;
                       if (wave.copies != nullptr) passed *= wave.copies[v];
                       rho[at] = passed;
                       if (!(passed <= kRelaxLimit)) wave.failed[batch] = 1;
                     }
                     if constexpr (!Visitor::edges) {
#pragma unroll
                       for (int other = 16; other > 0; other /= 2) total += __shfl_xor_sync(kFullWarp, total, other);
                       if (lane == 0) wave.scores[batch * wave.scored + v] += total;
                     }
                   });
}

// Before the dependencies within a limit: vertices at the distance `beyond` and farther ones are done, and pass nothing
// up. A warp per vertex.
template <class T>
__global__ void relax_within(RelaxWave<T> wave, T beyond, int64_t rows) {
  const int lane = lane_id();
  for (int64_t v = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32; v < rows;
       v += int64_t{gridDim.x} * blockDim.x / 32) {
    const bool far = !(wave.distance[v * kRelaxLanes + lane] < beyond);
    const unsigned done = __ballot_sync(kFullWarp, far);
    if (far) wave.rho[v * kRelaxLanes + lane] = 0;
    if (lane == 0) wave.done[0][v] = done;
  }
}

// A thread per tight arc, which usually has one or two lanes.
template <class T>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) relax_edges(Tasks out, RelaxWave<T> wave) {
  const int batch = blockIdx.y;
  const int64_t counts = batch * (wave.n + wave.chunks);
  const double *const sigma = wave.sigma + wave.base(batch) * kRelaxLanes,
                      *const rho = wave.rho + wave.base(batch) * kRelaxLanes, *const weight = wave.weight + batch * 32;
  const auto all = [](int32_t, bool) { return true; };
  each_item(out, wave.n, all, [&](const Item& item) {
    const int count = wave.heads.count[counts + item.count_at];
    for (int i = lane_id(); i < count; i += 32) {
      const int64_t at = batch * wave.m + item.begin + i;
      const LaneArc arc = wave.heads.arc[at];
      double sum = 0;
      for (unsigned lanes = arc.lanes; lanes != 0; lanes &= lanes - 1) {
        const int l = __ffs(lanes) - 1;
        sum += weight[l] * (sigma[int64_t{item.vertex} * kRelaxLanes + l] * rho[int64_t{arc.vertex} * kRelaxLanes + l]);
      }
      wave.scores[batch * wave.scored + item.begin + wave.heads.slot[at]] = sum;
    }
  });
}

}  // namespace torchcent::cuda
