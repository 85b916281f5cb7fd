// Kernels of the lanes engine. One launch per level processes all concurrent batches (blockIdx.y) and returns
// immediately for those that have finished, so that the host need not check.
#pragma once

#include "paths/cuda/tasks.cuh"

namespace torchcent::cuda {

// The concurrent batches; every array is [batches][...].
template <class Row>
struct Wave {
  using T = typename Row::T;
  using Mask = typename Row::Mask;
  int64_t n;
  int64_t scored;        // scores per batch: n, or the slots
  int64_t sources;       // in all batches
  const double* copies;  // [n] twins that each vertex stands for; null: one
  int batches;
  Measure measure;
  T* rows;         // [n][lanes] sigma, then rho or lambda
  Mask* seen;      // [n] lanes that have reached the vertex
  T* weight;       // [lanes] a
  T* own;          // [lanes] c
  Mask* owners;    // lanes with c != 0
  int* reached;    // [levels] batch-minor: whether the level has a vertex
  int* failed;     // the rung overflowed, or there were too few levels
  double* scores;  // [scored], private so that batches add in a fixed order
  // Per chunk of a hub in the current task list:
  int64_t chunks;
  T* partial;  // [chunks][lanes]
  Mask* partial_got;
  int* arrived;  // number of finished chunks of the vertex; always 0 between launches

  __device__ T* row(int batch, int64_t v) const { return rows + (batch * n + v) * Row::lanes; }
  __device__ double copies_of(int64_t v) const { return copies == nullptr ? 1 : copies[v]; }
  __device__ Mask full(int batch) const {
    return first_lanes<Mask>(min(int64_t{Row::lanes}, sources - int64_t{batch} * Row::lanes));
  }
};

// Levels 0 and 1: a block per source. All path counts are 1, so that threads may write in any order.
template <class Row>
__global__ void seed(Arcs out, Sources all, Wave<Row> wave, typename Row::Mask* level0, typename Row::Mask* level1) {
  using T = typename Row::T;
  const int lane = blockIdx.x, batch = blockIdx.y;
  const int64_t i = int64_t{batch} * Row::lanes + lane;
  const bool real = i < wave.sources;
  if (threadIdx.x == 0) {
    const int64_t place = int64_t{batch} * Row::lanes + lane;
    wave.weight[place] = real ? static_cast<T>(all.weight[i]) : T(0);
    wave.own[place] = real ? static_cast<T>(all.own[i]) : T(0);
  }
  if (!real) return;
  const int64_t s = all.vertex[i], base = batch * wave.n;
  if (threadIdx.x == 0) {
    if (all.own[i] != 0) set_lane(wave.owners + batch, lane);
    set_lane(level0 + base + s, lane);
    wave.row(batch, s)[lane] = 1;
    wave.reached[batch] = 1;
    if (out.rowptr[s + 1] > out.rowptr[s]) wave.reached[wave.batches + batch] = 1;
  }
  for (int64_t slot = out.rowptr[s] + threadIdx.x; slot < out.rowptr[s + 1]; slot += blockDim.x) {
    const int64_t v = out.col[slot];
    set_lane(level1 + base + v, lane);
    wave.row(batch, v)[lane] = static_cast<T>(wave.copies_of(v));
  }
}

// Stores a hub's partial row. The last warp to finish computes the sum over the chunks, in their order.
template <class Row>
__device__ bool last_of_hub(const Wave<Row>& wave, int batch, const Chunk& chunk, int64_t id, Part<Row>& sum,
                            typename Row::Mask& got) {
  const int64_t base = batch * wave.chunks;
  const int lane = lane_id();
  if (lane < kHalf && has_part<Row>()) store<Row>(wave.partial + (base + id) * Row::lanes + first_lane<Row>(), sum);
  if (lane == 0) wave.partial_got[base + id] = got;
  __threadfence();
  __syncwarp();
  int* const arrived = wave.arrived + base + chunk.first;
  const int before = lane == 0 ? atomicAdd(arrived, 1) : 0;
  if (__shfl_sync(kFullWarp, before, 0) != chunk.count - 1) return false;
  __threadfence();
  if (lane == 0) *arrived = 0;
  double total[Row::width] = {};
  got = {};
  for (int c = lane / kHalf; c < chunk.count; c += 2) {
    const Part<Row> part = load_part<Row>(wave.partial + (base + chunk.first + c) * Row::lanes);
    got |= load_mask(wave.partial_got + base + chunk.first + c);
#pragma unroll
    for (int k = 0; k < Row::width; ++k) total[k] += part.lane[k];
  }
  got = any_of(kFullWarp, got);
#pragma unroll
  for (int k = 0; k < Row::width; ++k)
    sum.lane[k] = static_cast<typename Row::T>(total[k] + __shfl_xor_sync(kFullWarp, total[k], kHalf));
  return true;
}

// ---- forward ------------------------------------------------------------------------------------------

template <class Row, bool First>
struct ForwardLevel {
  using T = typename Row::T;
  using Mask = typename Row::Mask;
  Wave<Row> wave;
  const Mask* sources;  // level 0, for the first pull
  const Mask* front;
  Mask* next;
  int level;

  // Lanes that have not reached the vertex. From the first pull on, lanes without a source count as reached.
  __device__ Mask need(int batch, int64_t v) const {
    const int64_t i = batch * wave.n + v;
    return First ? wave.full(batch) & ~(sources[i] | front[i]) : ~wave.seen[i];
  }
  __device__ void nothing(int batch, int64_t v, Mask need) const {
    next[batch * wave.n + v] = {};
    if (First) wave.seen[batch * wave.n + v] = ~need;
  }
  // Called by one half-warp.
  __device__ void write(int batch, int64_t v, Mask need, Mask got, Part<Row> sum) const {
    if (first_lane<Row>() == 0) {
      const int64_t i = batch * wave.n + v;
      next[i] = got;
      if (First || any(got)) wave.seen[i] = ~need | got;
      if (any(got)) wave.reached[level * wave.batches + batch] = 1;
    }
    const unsigned bits = own_bits<Row>(got);
    if (wave.copies != nullptr && bits != 0) {
      const T copies = static_cast<T>(wave.copies[v]);
#pragma unroll
      for (int k = 0; k < Row::width; ++k) sum.lane[k] *= copies;
    }
    T* const row = wave.row(batch, v) + first_lane<Row>();
    if (bits == Row::all) return store<Row>(row, sum);
#pragma unroll
    for (int k = 0; k < Row::width; ++k)
      if (bits >> k & 1) row[Row::offset(k)] = sum.lane[k];
  }
};

// Unit: an arc carries 1. At the first level it always does if no vertex stands for several.
template <class Row, bool First, bool Unit>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) forward(Tasks tasks, ForwardLevel<Row, First> at) {
  using Mask = typename Row::Mask;
  __shared__ Hit<Row> all_hits[kWarps][32 * kScan];
  __shared__ Vertex<Row> all_vertices[kWarps][32];
  const Wave<Row>& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (wave.reached[(at.level - 1) * wave.batches + batch] == 0) return;
  Hit<Row>* const hits = all_hits[threadIdx.x >> 5];
  Vertex<Row>* const vertices = all_vertices[threadIdx.x >> 5];
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);
  const Arcs& in = tasks.arcs;
  const Mask* const front = at.front + batch * wave.n;
  const typename Row::T* const rows = wave.row(batch, 0);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    const int64_t v = chunk.vertex;
    const Mask need = at.need(batch, v);
    if (!any(need)) {
      if (chunk.index == 0 && lane == 0) at.nothing(batch, v, need);
      return;
    }
    const int64_t begin = in.rowptr[v] + int64_t{tasks.slots_per_chunk} * chunk.index,
                  end = min(in.rowptr[v + 1], begin + tasks.slots_per_chunk);
    Part<Row> sum = {};
    Mask got = any_of(kFullWarp, gather<Row, Unit>(in.col, begin, end, front, need, rows, hits, sum, NoEdges()));
    if (last_of_hub(wave, batch, chunk, id, sum, got) && lane < kHalf) at.write(batch, v, need, got, sum);
    return;
  }

  id -= tasks.chunks;
  const bool middle = id < tasks.groups();
  if (!middle) id -= tasks.groups();
  const int64_t place = middle ? kGroup * id + lane : 32 * id + lane;
  const bool real = middle ? lane < kGroup && place < tasks.middles : place < tasks.smalls;
  Vertex<Row> mine = {};
  if (real) {
    mine = vertex_of<Row>(in, (middle ? tasks.middle : tasks.small)[place]);
    mine.mask = at.need(batch, mine.id);
    if (!any(mine.mask)) mine.size = 0;
  }
  vertices[lane] = mine;
  __syncwarp();
  unsigned open = middle ? touched<Row, kGroup>(in.col, vertices, front) : touched<Row, 32>(in.col, vertices, front);
  if (real && !(open >> lane & 1)) at.nothing(batch, mine.id, mine.mask);
  if (middle) {
    for (; open != 0; open &= open - 1) {
      const Vertex<Row>& v = vertices[__ffs(open) - 1];
      Part<Row> sum = {};
      const Mask got = any_of(
          kFullWarp, gather<Row, Unit>(in.col, v.begin, v.begin + v.size, front, v.mask, rows, hits, sum, NoEdges()));
      if (lane < kHalf) at.write(batch, v.id, v.mask, got, sum);
    }
    return;
  }
  while (open != 0) {
    const int half = lane & kHalf;
    const unsigned left = open >> half & 0xffffu;
    const Vertex<Row>& v = vertices[half + (left != 0 ? __ffs(left) - 1 : 0)];
    Part<Row> sum = {};
    const Mask got = any_of(0xffffu << half, gather_short<Row, Unit>(in.col, v.begin, left != 0 ? v.size : 0, front,
                                                                     v.mask, rows, hits, sum, NoEdges()));
    if (left != 0) at.write(batch, v.id, v.mask, got, sum);
    open = without_first_of_halves(open);
  }
}

// ---- backward -----------------------------------------------------------------------------------------

template <class Row, class Visitor>
struct BackwardLevel {
  using T = typename Row::T;
  using Mask = typename Row::Mask;
  Wave<Row> wave;
  const double* target_weight;
  const double* through_weight;
  const Mask* lanes;  // of this level
  const Mask* below;  // of the next deeper level
  int level;
  bool last;  // the deepest one that counts

  __device__ Vertex<Row> vertex(int batch, const Arcs& out, int32_t id) const {
    Vertex<Row> v = vertex_of<Row>(out, id);
    v.mask = lanes[batch * wave.n + id];
    if (level == 0 && !Visitor::edges) v.mask &= wave.owners[batch];
    double target = target_weight[id];
    if constexpr (Visitor::by_depth) target *= level > 0 ? Visitor::target_factor(level, wave.measure) : 1;
    v.target = static_cast<T>(target);
    v.through = static_cast<T>(through_weight[id]);
    return v;
  }
  __device__ Part<Row> row(int batch, const Vertex<Row>& v) const { return load_part<Row>(wave.row(batch, v.id)); }
  __device__ auto per_slot(int batch, Mask mask, const Part<Row>& sigma, int64_t first_slot) const {
    if constexpr (Visitor::edges) {
      EdgeScores<Row> edges = {{}, wave.scores + batch * wave.scored + first_slot};
      const unsigned bits = own_bits<Row>(mask);
      const T* const weight = wave.weight + batch * Row::lanes + first_lane<Row>();
#pragma unroll
      for (int k = 0; k < Row::width; ++k)
        edges.weighted.lane[k] = bits >> k & 1 ? sigma.lane[k] * weight[Row::offset(k)] : T(0);
      return edges;
    } else {
      return NoEdges();
    }
  }
  // Called by one half-warp: writes the score and the value that the vertex passes up. All 32 threads must call it;
  // `writer` selects the half that writes.
  __device__ void retire(int batch, const Vertex<Row>& v, Part<Row> sigma, const Part<Row>& sum, bool writer) const {
    const unsigned bits = writer ? own_bits<Row>(v.mask) : 0;
    const T* const weight = (level == 0 ? wave.own : wave.weight) + batch * Row::lanes + first_lane<Row>();
    const T copies = static_cast<T>(wave.copies_of(v.id));
    T total = 0;
    bool fits = true;
#pragma unroll
    for (int k = 0; k < Row::width; ++k) {
      if (!(bits >> k & 1)) continue;
      fits &= sigma.lane[k] <= Row::limit;
      const T share = level == 0 ? sum.lane[k] : Visitor::score(sigma.lane[k], sum.lane[k], v.through);
      total += weight[Row::offset(k)] * share;
      const T onward = Visitor::onward(wave.measure) ? sum.lane[k] : T(0);
      sigma.lane[k] = copies * Visitor::passed_up(v.target, sigma.lane[k], onward);
    }
    if (level != 0 && bits != 0) store<Row>(wave.row(batch, v.id) + first_lane<Row>(), sigma);
#pragma unroll
    for (int distance = kHalf / 2; distance != 0; distance /= 2) total += __shfl_xor_sync(kFullWarp, total, distance);
    if (first_lane<Row>() == 0 && writer) {
      // No other thread adds to it in this launch: the order is fixed, and no thread waits for the old value.
      if constexpr (!Visitor::edges) {
        double score = total;
        if constexpr (Visitor::by_depth) score *= level > 0 ? Visitor::score_factor(level, wave.measure) : 1;
        atomicAdd(&wave.scores[batch * wave.scored + v.id], score);
      }
      fits &= total <= Row::limit;
    }
    if (!fits) wave.failed[batch] = 1;
  }
};

// 80 registers, because 64 are far too few.
template <class Row, class Visitor>
constexpr int kBackwardBlocks = Visitor::edges && sizeof(Part<Row>) > 16 ? 3 : kBlocks;

template <class Row, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, kBackwardBlocks<Row, Visitor>)
    backward(Tasks tasks, BackwardLevel<Row, Visitor> at) {
  using Mask = typename Row::Mask;
  // The vertex's own row is read before the gather, to hide its latency, unless that needs too many registers.
  constexpr bool wide = sizeof(Part<Row>) > 16, early = Visitor::edges || !wide;
  __shared__ Hit<Row> all_hits[kWarps][32 * kScan];
  __shared__ Vertex<Row> all_vertices[kWarps][32];
  const Wave<Row>& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (wave.reached[at.level * wave.batches + batch] == 0) return;
  const bool deepest = at.last || wave.reached[(at.level + 1) * wave.batches + batch] == 0;
  if (deepest && at.level == 0) return;
  Hit<Row>* const hits = all_hits[threadIdx.x >> 5];
  Vertex<Row>* const vertices = all_vertices[threadIdx.x >> 5];
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);
  const Arcs& out = tasks.arcs;
  const Mask* const below = at.below + batch * wave.n;
  const typename Row::T* const rows = wave.row(batch, 0);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    Vertex<Row> v = at.vertex(batch, out, chunk.vertex);
    if (!any(v.mask) || (deepest && chunk.index != 0)) return;
    Part<Row> sigma = {}, sum = {};
    if (Visitor::edges) sigma = at.row(batch, v);
    if (!deepest) {
      const int64_t begin = v.begin + int64_t{tasks.slots_per_chunk} * chunk.index,
                    end = min(v.begin + v.size, begin + tasks.slots_per_chunk);
      gather<Row, false>(out.col, begin, end, below, v.mask, rows, hits, sum, at.per_slot(batch, v.mask, sigma, begin));
      Mask got = {};
      if (!last_of_hub(wave, batch, chunk, id, sum, got)) return;
    }
    if (wide || !Visitor::edges) sigma = at.row(batch, v);
    at.retire(batch, v, sigma, sum, lane < kHalf);
    return;
  }

  id -= tasks.chunks;
  const bool middle = id < tasks.groups();
  if (!middle) id -= tasks.groups();
  const int64_t place = middle ? kGroup * id + lane : 32 * id + lane;
  Vertex<Row> mine = {};
  if (middle ? lane < kGroup && place < tasks.middles : place < tasks.smalls)
    mine = at.vertex(batch, out, (middle ? tasks.middle : tasks.small)[place]);
  unsigned open = __ballot_sync(kFullWarp, any(mine.mask));
  vertices[lane] = mine;
  __syncwarp();
  if (middle) {
    for (; open != 0; open &= open - 1) {
      const Vertex<Row>& v = vertices[__ffs(open) - 1];
      Part<Row> sigma = {}, sum = {};
      if (early) sigma = at.row(batch, v);
      if (!deepest)
        gather<Row, false>(out.col, v.begin, v.begin + v.size, below, v.mask, rows, hits, sum,
                           at.per_slot(batch, v.mask, sigma, v.begin));
      if (wide) sigma = at.row(batch, v);
      at.retire(batch, v, sigma, sum, lane < kHalf);
    }
    return;
  }
  while (open != 0) {
    const int half = lane & kHalf;
    const unsigned left = open >> half & 0xffffu;
    Vertex<Row> v = vertices[half + (left != 0 ? __ffs(left) - 1 : 0)];
    if (left == 0) {
      v.mask = {};
      v.size = 0;
    }
    Part<Row> sigma = {}, sum = {};
    if (early) sigma = at.row(batch, v);
    if (!deepest)
      gather_short<Row, false>(out.col, v.begin, v.size, below, v.mask, rows, hits, sum,
                               at.per_slot(batch, v.mask, sigma, v.begin));
    if (wide) sigma = at.row(batch, v);
    at.retire(batch, v, sigma, sum, left != 0);
    open = without_first_of_halves(open);
  }
}

// ---- end of a wave ------------------------------------------------------------------------------------

// A batch that reached its last level may have more levels.
template <class Row>
__global__ void settle(Wave<Row> wave, int levels, int* failed_of_call) {
  for (int batch = threadIdx.x; batch < wave.batches; batch += blockDim.x) {
    if (wave.reached[(levels - 1) * wave.batches + batch] != 0) wave.failed[batch] = 2;
    failed_of_call[batch] = wave.failed[batch];
  }
}

template <class Row>
__global__ void add_batches(Wave<Row> wave, double* scores) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < wave.scored;
       i += int64_t{gridDim.x} * blockDim.x) {
    double sum = scores[i];
    for (int batch = 0; batch < wave.batches; ++batch)
      if (wave.failed[batch] == 0) sum += wave.scores[batch * wave.scored + i];
    scores[i] = sum;
  }
}

}  // namespace torchcent::cuda
