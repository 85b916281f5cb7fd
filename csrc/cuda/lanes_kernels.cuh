// Kernels of the lanes engine: one launch per level works on all batches in flight (blockIdx.y) and returns at
// once for those that have ended, so that the host need not look.
#pragma once

#include "cuda/tasks.cuh"

namespace torchcent::cuda {

// The batches in flight; every array is [batches][...].
template <class T>
struct Wave {
  int64_t n;
  int64_t scored;   // scores per batch: n, or the slots
  int64_t sources;  // in all batches
  int batches;
  T* rows;         // [n][lanes] sigma, then rho or lambda
  Mask* seen;      // [n] lanes that have reached the vertex
  T* weight;       // [lanes] a
  T* own;          // [lanes] c
  Mask* owners;    // lanes with c != 0
  int* reached;    // [levels] batch-minor: did the level get a vertex?
  int* failed;     // the rung overflowed, or the levels did not suffice
  double* scores;  // [scored], private so that batches add in a fixed order
  // Of hubs, per chunk of the task list at hand:
  int64_t chunks;
  T* partial;  // [chunks][lanes]
  Mask* partial_got;
  int* arrived;  // counts the chunks of the vertex that are done; always 0 between launches

  __device__ T* row(int batch, int64_t v) const { return rows + (batch * n + v) * Row<T>::lanes; }
  __device__ Mask full(int batch) const {
    const int64_t count = sources - int64_t{batch} * Row<T>::lanes;
    return count >= 64 || count >= Row<T>::lanes ? ~Mask{0} >> (64 - Row<T>::lanes) : (Mask{1} << count) - 1;
  }
};

// Levels 0 and 1: a block per source. Their path counts are 1, so that threads may write in any order.
template <class T>
__global__ void seed(Arcs out, Sources all, Wave<T> wave, Mask* level0, Mask* level1) {
  const int lane = blockIdx.x, batch = blockIdx.y;
  const int64_t i = int64_t{batch} * Row<T>::lanes + lane;
  const bool real = i < wave.sources;
  if (threadIdx.x == 0) {
    const int64_t place = int64_t{batch} * Row<T>::lanes + lane;
    wave.weight[place] = real ? static_cast<T>(all.weight[i]) : T(0);
    wave.own[place] = real ? static_cast<T>(all.own[i]) : T(0);
  }
  if (!real) return;
  const int64_t s = all.vertex[i], base = batch * wave.n;
  const Mask bit = Mask{1} << lane;
  if (threadIdx.x == 0) {
    if (all.own[i] != 0) atomicOr(&wave.owners[batch], bit);
    atomicOr(&level0[base + s], bit);
    wave.row(batch, s)[lane] = 1;
    wave.reached[batch] = 1;
    if (out.rowptr[s + 1] > out.rowptr[s]) wave.reached[wave.batches + batch] = 1;
  }
  for (int64_t slot = out.rowptr[s] + threadIdx.x; slot < out.rowptr[s + 1]; slot += blockDim.x) {
    const int64_t v = out.col[slot];
    atomicOr(&level1[base + v], bit);
    wave.row(batch, v)[lane] = 1;
  }
}

// Leaves a hub's partial row; the warp that comes last gets the sum over the chunks, in their order.
template <class T>
__device__ bool last_of_hub(const Wave<T>& wave, int batch, const Chunk& chunk, int64_t id, Part<T>& sum, Mask& got) {
  const int64_t base = batch * wave.chunks;
  const int lane = lane_id();
  if (lane < kHalf) store(wave.partial + (base + id) * Row<T>::lanes + first_lane<T>(), sum);
  if (lane == 0) wave.partial_got[base + id] = got;
  __threadfence();
  __syncwarp();
  int* const arrived = wave.arrived + base + chunk.first;
  const int before = lane == 0 ? atomicAdd(arrived, 1) : 0;
  if (__shfl_sync(kAll, before, 0) != chunk.count - 1) return false;
  __threadfence();
  if (lane == 0) *arrived = 0;
  double total[Row<T>::width] = {};
  got = 0;
  for (int c = lane / kHalf; c < chunk.count; c += 2) {
    const Part<T> part = load(wave.partial + (base + chunk.first + c) * Row<T>::lanes + first_lane<T>());
    got |= __ldcg(wave.partial_got + base + chunk.first + c);
#pragma unroll
    for (int k = 0; k < Row<T>::width; ++k) total[k] += part.lane[k];
  }
  got = any_of(kAll, got);
#pragma unroll
  for (int k = 0; k < Row<T>::width; ++k)
    sum.lane[k] = static_cast<T>(total[k] + __shfl_xor_sync(kAll, total[k], kHalf));
  return true;
}

// What a warp knows of the vertices it works through: a thread reads one vertex's, all threads get it by shuffles,
// so that only the first vertex waits for these loads.
template <class T>
struct Vertex {
  int32_t id = 0;
  int32_t size = 0;
  int64_t begin = 0;
  Mask mask = 0;
  T target = 0, through = 0;

  template <bool Weights>
  __device__ Vertex from(int thread) const {
    Vertex v = {__shfl_sync(kAll, id, thread), __shfl_sync(kAll, size, thread), __shfl_sync(kAll, begin, thread),
                __shfl_sync(kAll, mask, thread)};
    if constexpr (Weights) {
      v.target = __shfl_sync(kAll, target, thread);
      v.through = __shfl_sync(kAll, through, thread);
    }
    return v;
  }
};

// Each half-warp drops the vertex it has done.
__device__ inline unsigned without_first_of_halves(unsigned open) {
  const unsigned low = open & 0xffffu, high = open & 0xffff0000u;
  return (low & (low - 1)) | (high & (high - 1));
}

template <class T>
__device__ Vertex<T> vertex_of(const Arcs& arcs, int32_t v) {
  const int64_t begin = arcs.rowptr[v];
  return {v, static_cast<int32_t>(arcs.rowptr[v + 1] - begin), begin};
}

// ---- forward ------------------------------------------------------------------------------------------

template <class T, bool First>
struct ForwardLevel {
  Wave<T> wave;
  const Mask* sources;  // level 0, for the first pull
  const Mask* front;
  Mask* next;
  int level;

  __device__ Mask seen(int batch, int64_t v) const {
    const int64_t i = batch * wave.n + v;
    return First ? sources[i] | front[i] : wave.seen[i];
  }
  __device__ void nothing(int batch, int64_t v, Mask seen) const {
    next[batch * wave.n + v] = 0;
    if (First) wave.seen[batch * wave.n + v] = seen;
  }
  // By one half-warp.
  __device__ void write(int batch, int64_t v, Mask seen, Mask got, const Part<T>& sum) const {
    if (first_lane<T>() == 0) {
      const int64_t i = batch * wave.n + v;
      next[i] = got;
      if (First || got != 0) wave.seen[i] = seen | got;
      if (got != 0) wave.reached[level * wave.batches + batch] = 1;
    }
    const unsigned bits = own_bits<T>(got);
    T* const row = wave.row(batch, v) + first_lane<T>();
    if (bits == Row<T>::all) return store(row, sum);
#pragma unroll
    for (int k = 0; k < Row<T>::width; ++k)
      if (bits >> k & 1) row[k] = sum.lane[k];
  }
};

template <class T, bool First>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) forward(Tasks tasks, ForwardLevel<T, First> at) {
  __shared__ Hit all_hits[kWarps][32 * kScan];
  const Wave<T>& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (wave.reached[(at.level - 1) * wave.batches + batch] == 0) return;
  Hit* const hits = all_hits[threadIdx.x >> 5];
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);
  const Arcs& in = tasks.arcs;
  const Mask* const front = at.front + batch * wave.n;
  const T* const rows = wave.row(batch, 0);
  const Mask full = wave.full(batch);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    const int64_t v = chunk.vertex;
    const Mask seen = at.seen(batch, v), need = full & ~seen;
    if (need == 0) {
      if (chunk.index == 0 && lane == 0) at.nothing(batch, v, seen);
      return;
    }
    const int64_t begin = in.rowptr[v] + int64_t{tasks.slots_per_chunk} * chunk.index,
                  end = min(in.rowptr[v + 1], begin + tasks.slots_per_chunk);
    Part<T> sum = {};
    Mask got = gather<T, First>(in.col, begin, end, front, need, rows, hits, sum, NoEdges());
    if (last_of_hub(wave, batch, chunk, id, sum, got) && lane < kHalf) at.write(batch, v, seen, got, sum);
    return;
  }

  id -= tasks.chunks;
  const bool middle = id < tasks.groups();
  if (!middle) id -= tasks.groups();
  const int64_t place = middle ? kGroup * id + lane : 32 * id + lane;
  Vertex<T> mine;
  Mask need = 0;
  if (middle ? lane < kGroup && place < tasks.middles : place < tasks.smalls) {
    mine = vertex_of<T>(in, (middle ? tasks.middle : tasks.small)[place]);
    mine.mask = at.seen(batch, mine.id);
    need = full & ~mine.mask;
    if (mine.size == 0) need = 0;
    if (need == 0) at.nothing(batch, mine.id, mine.mask);
  }
  unsigned open = __ballot_sync(kAll, need != 0);
  if (middle) {
    for (; open != 0; open &= open - 1) {
      const Vertex<T> v = mine.template from<false>(__ffs(open) - 1);
      Part<T> sum = {};
      const Mask got =
          gather<T, First>(in.col, v.begin, v.begin + v.size, front, full & ~v.mask, rows, hits, sum, NoEdges());
      if (lane < kHalf) at.write(batch, v.id, v.mask, got, sum);
    }
    return;
  }
  while (open != 0) {
    const int half = lane & kHalf;
    const unsigned left = open >> half & 0xffffu;
    const Vertex<T> v = mine.template from<false>(half + (left != 0 ? __ffs(left) - 1 : 0));
    Part<T> sum = {};
    const Mask got = gather_short<T, First>(in.col, v.begin, left != 0 ? v.size : 0, front, full & ~v.mask, rows, hits,
                                            sum, NoEdges());
    if (left != 0) at.write(batch, v.id, v.mask, got, sum);
    open = without_first_of_halves(open);
  }
}

// ---- backward -----------------------------------------------------------------------------------------

template <class T, class Visitor>
struct BackwardLevel {
  Wave<T> wave;
  const double* target_weight;
  const double* through_weight;
  const Mask* lanes;  // of this level
  const Mask* below;  // of the next deeper one
  int level;

  __device__ Vertex<T> vertex(int batch, const Arcs& out, int32_t id) const {
    Vertex<T> v = vertex_of<T>(out, id);
    v.mask = lanes[batch * wave.n + id];
    if (level == 0 && !Visitor::edges) v.mask &= wave.owners[batch];
    v.target = static_cast<T>(target_weight[id]);
    v.through = static_cast<T>(through_weight[id]);
    return v;
  }
  __device__ Part<T> row(int batch, const Vertex<T>& v) const { return load(wave.row(batch, v.id) + first_lane<T>()); }
  __device__ auto per_slot(int batch, Mask mask, const Part<T>& sigma, int64_t first_slot) const {
    if constexpr (Visitor::edges) {
      EdgeScores<T> edges = {{}, wave.scores + batch * wave.scored + first_slot};
      const unsigned bits = own_bits<T>(mask);
      const T* const weight = wave.weight + batch * Row<T>::lanes + first_lane<T>();
#pragma unroll
      for (int k = 0; k < Row<T>::width; ++k) edges.weighted.lane[k] = bits >> k & 1 ? sigma.lane[k] * weight[k] : T(0);
      return edges;
    } else {
      return NoEdges();
    }
  }
  // By one half-warp: the score, and what the vertex passes up. All 32 threads call it; `writer`: this half writes.
  __device__ void retire(int batch, const Vertex<T>& v, Part<T> sigma, const Part<T>& sum, bool writer) const {
    const unsigned bits = writer ? own_bits<T>(v.mask) : 0;
    const T* const weight = (level == 0 ? wave.own : wave.weight) + batch * Row<T>::lanes + first_lane<T>();
    T total = 0;
    bool fits = true;
#pragma unroll
    for (int k = 0; k < Row<T>::width; ++k) {
      if (!(bits >> k & 1)) continue;
      fits &= sigma.lane[k] <= Row<T>::limit;
      const T share = level == 0 ? sum.lane[k] : Visitor::score(sigma.lane[k], sum.lane[k], v.through);
      total += weight[k] * share;
      sigma.lane[k] = Visitor::passed_up(v.target, sigma.lane[k], sum.lane[k]);
    }
    if (level != 0 && bits != 0) store(wave.row(batch, v.id) + first_lane<T>(), sigma);
#pragma unroll
    for (int distance = kHalf / 2; distance != 0; distance /= 2) total += __shfl_xor_sync(kAll, total, distance);
    if (first_lane<T>() == 0 && writer) {
      // Nobody else adds to it in this launch: the order stays fixed, and nobody waits for the old value.
      if constexpr (!Visitor::edges) atomicAdd(&wave.scores[batch * wave.scored + v.id], static_cast<double>(total));
      fits &= total <= Row<T>::limit;
    }
    if (!fits) wave.failed[batch] = 1;
  }
};

template <class T, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) backward(Tasks tasks, BackwardLevel<T, Visitor> at) {
  __shared__ Hit all_hits[kWarps][32 * kScan];
  const Wave<T>& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (wave.reached[at.level * wave.batches + batch] == 0) return;
  const bool deepest = wave.reached[(at.level + 1) * wave.batches + batch] == 0;
  if (deepest && at.level == 0) return;
  Hit* const hits = all_hits[threadIdx.x >> 5];
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);
  const Arcs& out = tasks.arcs;
  const Mask* const below = at.below + batch * wave.n;
  const T* const rows = wave.row(batch, 0);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    Vertex<T> v = at.vertex(batch, out, chunk.vertex);
    if (v.mask == 0 || (deepest && chunk.index != 0)) return;
    Part<T> sigma = {}, sum = {};
    if (Visitor::edges) sigma = at.row(batch, v);
    if (!deepest) {
      const int64_t begin = v.begin + int64_t{tasks.slots_per_chunk} * chunk.index,
                    end = min(v.begin + v.size, begin + tasks.slots_per_chunk);
      Mask got = gather<T, false>(out.col, begin, end, below, v.mask, rows, hits, sum,
                                  at.per_slot(batch, v.mask, sigma, begin));
      if (!last_of_hub(wave, batch, chunk, id, sum, got)) return;
    }
    if (!Visitor::edges) sigma = at.row(batch, v);
    at.retire(batch, v, sigma, sum, lane < kHalf);
    return;
  }

  id -= tasks.chunks;
  const bool middle = id < tasks.groups();
  if (!middle) id -= tasks.groups();
  const int64_t place = middle ? kGroup * id + lane : 32 * id + lane;
  Vertex<T> mine;
  if (middle ? lane < kGroup && place < tasks.middles : place < tasks.smalls)
    mine = at.vertex(batch, out, (middle ? tasks.middle : tasks.small)[place]);
  unsigned open = __ballot_sync(kAll, mine.mask != 0);
  if (middle) {
    for (; open != 0; open &= open - 1) {
      const Vertex<T> v = mine.template from<true>(__ffs(open) - 1);
      const Part<T> sigma = at.row(batch, v);
      Part<T> sum = {};
      if (!deepest)
        gather<T, false>(out.col, v.begin, v.begin + v.size, below, v.mask, rows, hits, sum,
                         at.per_slot(batch, v.mask, sigma, v.begin));
      at.retire(batch, v, sigma, sum, lane < kHalf);
    }
    return;
  }
  while (open != 0) {
    const int half = lane & kHalf;
    const unsigned left = open >> half & 0xffffu;
    Vertex<T> v = mine.template from<true>(half + (left != 0 ? __ffs(left) - 1 : 0));
    if (left == 0) v.mask = v.size = 0;
    const Part<T> sigma = at.row(batch, v);
    Part<T> sum = {};
    if (!deepest)
      gather_short<T, false>(out.col, v.begin, v.size, below, v.mask, rows, hits, sum,
                             at.per_slot(batch, v.mask, sigma, v.begin));
    at.retire(batch, v, sigma, sum, left != 0);
    open = without_first_of_halves(open);
  }
}

// ---- end of a wave ------------------------------------------------------------------------------------

// A batch whose last level was reached may have had more of them.
template <class T>
__global__ void settle(Wave<T> wave, int levels, int* failed_of_call) {
  for (int batch = threadIdx.x; batch < wave.batches; batch += blockDim.x) {
    if (wave.reached[(levels - 1) * wave.batches + batch] != 0) wave.failed[batch] = 2;
    failed_of_call[batch] = wave.failed[batch];
  }
}

template <class T>
__global__ void add_batches(Wave<T> wave, double* scores) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < wave.scored;
       i += int64_t{gridDim.x} * blockDim.x) {
    double sum = scores[i];
    for (int batch = 0; batch < wave.batches; ++batch)
      if (wave.failed[batch] == 0) sum += wave.scores[batch * wave.scored + i];
    scores[i] = sum;
  }
}

}  // namespace torchcent::cuda
