// The bits engine on CUDA: 512 searches side by side per batch, and several concurrent batches.
//
// A row of 512 bits (64 bytes) is processed by a team of four threads, 16 bytes each. At every level, each unfinished
// vertex gathers the frontier rows of its predecessors until all its bits are set: a team for up to 16 slots, a warp
// (eight teams) for more, and a warp per chunk of slots for a hub. The chunks update the hub's row by atomic ORs, which
// commute, so the result does not depend on their order. A visitor processes the lanes that reach a vertex, as on the
// CPU (distances/cpu/bits.h, distances/cpu/measures.h).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "distances/cuda/bit_visitors.cuh"

namespace torchcent::cuda {

static __global__ void seed_bits(BitWave wave, const int64_t* sources) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= wave.sources) return;
  const int batch = static_cast<int>(i / kBitLanes), lane = static_cast<int>(i % kBitLanes);
  const int64_t word = (batch * wave.n + sources[i]) * 8 + lane / 64;
  const Mask bit = Mask{1} << (lane % 64);
  atomicOr(reinterpret_cast<Mask*>(wave.seen) + word, bit);
  atomicOr(reinterpret_cast<Mask*>(wave.next) + word, bit);
  *wave.reached_at(0, batch) = 1;
}

// Level 0: the sources themselves.
template <class Visitor>
__global__ void visit_sources(BitWave wave, Visitor visitor) {
  const int batch = blockIdx.y;
  const int64_t v = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kTeam;
  if (v >= wave.n) return;
  const Quarter lanes = wave.next[wave.at(batch, v)];
  if (any_in_team(lanes)) visitor.found(batch, v, 0, lanes);
}

template <class Visitor>
struct BitLevel {
  BitWave wave;
  Visitor visitor;
  int64_t level;

  // Called by one team, with the lanes of `need` that reached v.
  __device__ void settle(int batch, int64_t v, Quarter seen, Quarter got) const {
    const int64_t at = wave.at(batch, v);
    wave.next[at] = got;
    if (!any_in_team(got)) return;
    wave.seen[at] = seen | got;
    if (quarter() == 0) *wave.reached_at(level, batch) = 1;
    visitor.found(batch, v, level, got);
  }
};

// Finds the rows of the frontier that are not empty, a warp for 32 vertices.
static __global__ void mark_hits(BitWave wave, int64_t level) {
  const int batch = blockIdx.y, lane = lane_id();
  if (*wave.reached_at(level - 1, batch) == 0) return;
  const int64_t warps = int64_t{gridDim.x} * blockDim.x / 32;
  int found = 0;
  for (int64_t word = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32; word < wave.hit_words; word += warps) {
    uint32_t hit = 0;
#pragma unroll
    for (int step = 0; step < kTeam; ++step) {
      const int64_t v = 32 * word + 8 * step + lane / kTeam;
      const Quarter part = v < wave.n ? wave.frontier[wave.at(batch, v)] : Quarter{0, 0};
      uint32_t teams = __ballot_sync(kAll, any(part));  // four bits each, of which one is left
      teams = (teams | teams >> 1 | teams >> 2 | teams >> 3) & 0x11111111u;
      teams = (teams | teams >> 3) & 0x03030303u;
      teams = (teams | teams >> 6) & 0x000f000fu;
      hit |= ((teams | teams >> 12) & 0xffu) << 8 * step;
    }
    if (lane == 0) wave.hit[batch * wave.hit_words + word] = hit;
    found += __popc(hit);
  }
  if (lane == 0 && found != 0) atomicAdd(wave.hits + batch, found);
}

// A team ORs the frontier rows of slots first, first + step, ... below end; it stops when it has all needed lanes. With
// `hit`, it reads only the rows that are not empty.
template <bool kSparse>
__device__ Quarter gather_rows(const int32_t* col, int64_t first, int step, int64_t end, const Quarter* frontier,
                               const uint32_t* hit, Quarter need) {
  constexpr int kAtOnce = kSparse ? 8 : 4;
  Quarter got = {0, 0};
  for (int64_t i = first; i < end; i += int64_t{kAtOnce} * step) {
    Quarter part[kAtOnce];
    if constexpr (kSparse) {
      int32_t head[kAtOnce];
      unsigned hits = 0;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int64_t slot = i + int64_t{k} * step;
        head[k] = slot < end ? col[slot] : -1;
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (head[k] >= 0) hits |= (hit[head[k] >> 5] >> (head[k] & 31) & 1) << k;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        part[k] = hits >> k & 1 ? __ldcg(frontier + int64_t{head[k]} * kTeam + quarter()) : Quarter{0, 0};
    } else {
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int64_t slot = i + int64_t{k} * step;
        part[k] = slot < end ? __ldcg(frontier + int64_t{col[slot]} * kTeam + quarter()) : Quarter{0, 0};
      }
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) got = got | part[k];
    if (!any_in_team(need & ~got)) break;
  }
  return got & need;
}
__device__ inline Quarter gather_bits(const int32_t* col, int64_t first, int step, int64_t end, const Quarter* frontier,
                                      const uint32_t* hit, Quarter need) {
  return hit == nullptr ? gather_rows<false>(col, first, step, end, frontier, hit, need)
                        : gather_rows<true>(col, first, step, end, frontier, hit, need);
}

template <class Visitor>
__global__ void __launch_bounds__(32 * kWarps) pull_bits(Tasks tasks, BitLevel<Visitor> at) {
  const BitWave& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (*wave.reached_at(at.level - 1, batch) == 0) return;
  const Arcs& in = tasks.arcs;
  const Quarter* const frontier = wave.frontier + batch * wave.n * kTeam;
  const uint32_t* const hit = wave.is_sparse(batch) ? wave.hit + batch * wave.hit_words : nullptr;
  const Quarter full = wave.full(batch);
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    const int64_t v = chunk.vertex, place = wave.at(batch, v);
    Quarter* const row = wave.next + place;
    // Lanes that other chunks have found are skipped. One team reads the row for all, because it changes concurrently.
    Quarter need = full & ~wave.seen[place] & ~__ldcg(row);
    need = {__shfl_sync(kAll, need.x, quarter()), __shfl_sync(kAll, need.y, quarter())};
    if (!any_in_team(need)) return;
    const int64_t begin = in.rowptr[v] + int64_t{tasks.slots_per_chunk} * chunk.index;
    const int64_t end = min(in.rowptr[v + 1], begin + tasks.slots_per_chunk);
    const Quarter got = or_over_teams(gather_bits(in.col, begin + lane / kTeam, 32 / kTeam, end, frontier, hit, need));
    if (lane < kTeam) {
      if (got.x != 0) atomicOr(&row->x, got.x);
      if (got.y != 0) atomicOr(&row->y, got.y);
    }
    return;
  }

  id -= tasks.chunks;
  if (id < tasks.groups()) {  // a warp per vertex, in sequence
    for (int64_t i = kGroup * id; i < min(kGroup * (id + 1), tasks.middles); ++i) {
      const int64_t v = tasks.middle[i];
      const Quarter seen = wave.seen[wave.at(batch, v)], need = full & ~seen;
      Quarter got = {0, 0};
      if (any_in_team(need))
        got = or_over_teams(
            gather_bits(in.col, in.rowptr[v] + lane / kTeam, 32 / kTeam, in.rowptr[v + 1], frontier, hit, need));
      if (lane < kTeam) at.settle(batch, v, seen, got);
    }
    return;
  }

  id -= tasks.groups();
  for (int64_t i = 32 * id + lane / kTeam; i < min(32 * (id + 1), tasks.smalls); i += 32 / kTeam) {
    const int64_t v = tasks.small[i];
    const Quarter seen = wave.seen[wave.at(batch, v)], need = full & ~seen;
    Quarter got = {0, 0};
    if (any_in_team(need)) got = gather_bits(in.col, in.rowptr[v], 1, in.rowptr[v + 1], frontier, hit, need);
    at.settle(batch, v, seen, got);
  }
}

// Completes the hubs after all of their chunks, with a team each. The old frontier row is cleared, because the chunks
// of the next level add to it.
template <class Visitor>
__global__ void settle_hubs(Tasks tasks, BitLevel<Visitor> at) {
  const int batch = blockIdx.y;
  if (*at.wave.reached_at(at.level - 1, batch) == 0) return;
  const int64_t id = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kTeam;
  if (id >= tasks.chunks || tasks.chunk[id].index != 0) return;
  const int64_t v = tasks.chunk[id].vertex, place = at.wave.at(batch, v);
  at.wave.frontier[place] = {0, 0};
  at.settle(batch, v, at.wave.seen[place], at.wave.next[place]);
}

// ---- the waves ------------------------------------------------------------------------------------------

class BitWaves {
  static constexpr int64_t kCachedRows = int64_t{16} << 20;  // bytes of rows that are read from L2 in any case

 public:
  BitWaves(int64_t n, const Tasks& tasks, const Run& run, int batches) : tasks_(tasks), run_(run) {
    wave_.n = n;
    wave_.seen = run.scratch.array<Quarter>(batches * n * kTeam);
    for (Quarter** row : {&wave_.frontier, &wave_.next}) *row = run.scratch.array<Quarter>(batches * n * kTeam);
    wave_.reached = run.scratch.array<int>(kRing * batches);
    wave_.hit_words = bit_hit_words(n);
    hit_ = run.scratch.array<uint32_t>(batches * wave_.hit_words);
    wave_.hits = run.scratch.array<int>(batches);
  }

  // Searches from the sources, up to a level. after(wave, level) enqueues the work that follows each level. Returns
  // false if cancelled.
  template <class Visitor, class After>
  bool run(int64_t count, const int64_t* sources, const Visitor& visitor, After after,
           int64_t last = Limits::kNoLevel) {
    wave_.sources = count;
    wave_.batches = static_cast<int>((count + kBitLanes - 1) / kBitLanes);
    const int64_t rows = wave_.batches * wave_.n * kTeam;
    wave_.hit = rows * int64_t{sizeof(Quarter)} > kCachedRows ? hit_ : nullptr;
    zero(wave_.seen, rows);
    zero(wave_.frontier, rows);
    zero(wave_.next, rows);
    zero(wave_.reached, int64_t{kRing} * wave_.batches);
    seed_bits<<<blocks(count, 256), 256, 0, run_.stream>>>(wave_, sources);
    check_launch("seed_bits");
    visit_sources<<<dim3(blocks(wave_.n * kTeam, 256), wave_.batches), 256, 0, run_.stream>>>(wave_, visitor);
    check_launch("visit_sources");
    for (int64_t level = 1;; level += kLook) {
      for (int64_t l = level; l < level + kLook; ++l) {
        if (l > last) return true;
        zero(wave_.reached + l % kRing * wave_.batches, wave_.batches);  // from kRing levels ago
        std::swap(wave_.frontier, wave_.next);
        if (wave_.hit != nullptr) mark(l);
        pull(BitLevel<Visitor>{wave_, visitor, l});
        after(wave_, l);
      }
      if (!more(level + kLook - 1)) return true;
      if (run_.cancelled()) return false;
    }
  }

 private:
  template <class Value>
  void zero(Value* values, int64_t count) {
    check(cudaMemsetAsync(values, 0, count * sizeof(Value), run_.stream), "memset");
  }

  void mark(int64_t level) {
    zero(wave_.hits, wave_.batches);
    const int64_t most = int64_t{run_.processors} * 8;
    const unsigned grid = static_cast<unsigned>(std::min<int64_t>(blocks(32 * wave_.hit_words, 256), most));
    mark_hits<<<dim3(grid, static_cast<unsigned>(wave_.batches)), 256, 0, run_.stream>>>(wave_, level);
    check_launch("mark_hits");
  }

  template <class Visitor>
  void pull(const BitLevel<Visitor>& level) {
    const unsigned batches = static_cast<unsigned>(wave_.batches);
    pull_bits<<<dim3(blocks(tasks_.warps(), kWarps), batches), 32 * kWarps, 0, run_.stream>>>(tasks_, level);
    check_launch("pull_bits");
    if (tasks_.chunks == 0) return;
    settle_hubs<<<dim3(blocks(tasks_.chunks * kTeam, 256), batches), 256, 0, run_.stream>>>(tasks_, level);
    check_launch("settle_hubs");
  }

  // Whether any batch reached the level. Synchronises with the device.
  bool more(int64_t level) {
    std::vector<int> reached(static_cast<size_t>(wave_.batches));
    to_host(reached.data(), wave_.reached + (level % kRing) * wave_.batches, reached.size() * sizeof(int), run_.stream,
            "pull_bits");
    return std::any_of(reached.begin(), reached.end(), [](int flag) { return flag != 0; });
  }

  const Tasks& tasks_;
  const Run& run_;
  BitWave wave_ = {};
  uint32_t* hit_;
};

}  // namespace torchcent::cuda
