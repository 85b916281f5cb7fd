// The bits engine on CUDA: 512 searches side by side per batch, and several concurrent batches.
//
// A row of 512 bits (64 bytes) is processed by a team of four threads, 16 bytes each. At every level, each unfinished
// vertex gathers the frontier rows of its predecessors until all its bits are set: a team for up to 16 slots, a warp
// (eight teams) for more, and a warp per chunk of slots for a hub. The chunks update the hub's row by atomic ORs, which
// commute, so the result does not depend on their order. Where the rows exceed the cache, those of a small frontier are
// pushed instead, by atomic ORs as well (distances/cuda/bit_front.cuh). A visitor processes the lanes that reach a
// vertex, as on the CPU (distances/cpu/bits.h, distances/cpu/measures.h).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "distances/cuda/bit_front.cuh"
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

// ORs the frontier rows of the slots of a vertex until all needed lanes are found, by a team, or by the teams of a warp
// together. A warp begins with a row per team, because the first few have most lanes where the frontier is dense.
template <bool kWarp>
__device__ Quarter gather_rows(const int32_t* col, int64_t begin, int64_t end, const Quarter* frontier, Quarter need) {
  constexpr int kAtOnce = 4, kStep = kWarp ? 32 / kTeam : 1;
  const int own = kWarp ? lane_id() / kTeam : 0;
  Quarter got = {0, 0};
  for (int rows = kWarp ? 1 : kAtOnce; begin < end; begin += rows * kStep, rows = min(2 * rows, kAtOnce)) {
    Quarter part[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t slot = begin + k * kStep + own;
      part[k] = k < rows && slot < end ? __ldcg(frontier + int64_t{col[slot]} * kTeam + quarter()) : Quarter{0, 0};
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) got = got | part[k];
    if constexpr (kWarp) got = or_over_teams(got);
    if (!any_in_team(need & ~got)) break;
  }
  return got & need;
}

// The same where most rows are empty: a thread tests two slots at a time, and its team reads the rows of those in which
// there is something.
template <bool kWarp>
__device__ Quarter gather_hits(const int32_t* col, int64_t begin, int64_t end, const Quarter* frontier,
                               const uint32_t* hit, Quarter need) {
  constexpr int kWidth = kWarp ? 32 : kTeam;
  const int own = kWarp ? lane_id() : quarter();
  const auto head_of = [&](int64_t slot) { return slot < end ? col[slot] : -1; };
  const auto hits_of_team = [&](int32_t head) {
    const bool is_hit = head >= 0 && (hit[head >> 5] >> (head & 31) & 1) != 0;
    return (__ballot_sync(team_mask(), is_hit) & team_mask()) >> (lane_id() & ~(kTeam - 1));
  };
  Quarter got = {0, 0};
  for (; begin < end; begin += 2 * kWidth) {
    const int32_t near = head_of(begin + own), far = head_of(begin + kWidth + own);
    unsigned hits = hits_of_team(near);
    hits |= hits_of_team(far) << kTeam;
    for (; hits != 0; hits &= hits - 1) {
      const int at = __ffs(hits) - 1;
      const int64_t head = __shfl_sync(team_mask(), at < kTeam ? near : far, at % kTeam, kTeam);
      got = got | __ldcg(frontier + head * kTeam + quarter());
    }
    if constexpr (kWarp) got = or_over_teams(got);
    if (!any_in_team(need & ~got)) break;
  }
  return got & need;
}

template <class Visitor>
__global__ void __launch_bounds__(32 * kWarps, 5) pull_bits(Tasks tasks, BitLevel<Visitor> at) {
  const BitWave& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id();
  if (*wave.reached_at(at.level - 1, batch) == 0 || wave.is_pushed(batch)) return;
  const Arcs& in = tasks.arcs;
  const Quarter* const frontier = wave.frontier + batch * wave.n * kTeam;
  const uint32_t* const hit = wave.is_sparse(batch) ? wave.hit + batch * wave.hit_words : nullptr;
  const auto by_team = [&](int64_t begin, int64_t end, Quarter need) {
    return hit == nullptr ? gather_rows<false>(in.col, begin, end, frontier, need)
                          : gather_hits<false>(in.col, begin, end, frontier, hit, need);
  };
  const auto by_warp = [&](int64_t begin, int64_t end, Quarter need) {
    return hit == nullptr ? gather_rows<true>(in.col, begin, end, frontier, need)
                          : gather_hits<true>(in.col, begin, end, frontier, hit, need);
  };
  const Quarter live = wave.live(batch);
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    const int64_t v = chunk.vertex, place = wave.at(batch, v);
    Quarter* const row = wave.next + place;
    // Lanes that other chunks have found are skipped. One team reads the row for all, because it changes concurrently.
    Quarter need = live & ~wave.seen[place] & ~__ldcg(row);
    need = {__shfl_sync(kAll, need.x, quarter()), __shfl_sync(kAll, need.y, quarter())};
    if (!any_in_team(need)) return;
    const int64_t begin = in.rowptr[v] + int64_t{tasks.slots_per_chunk} * chunk.index;
    const int64_t end = min(in.rowptr[v + 1], begin + tasks.slots_per_chunk);
    const Quarter got = by_warp(begin, end, need);
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
      const Quarter seen = wave.seen[wave.at(batch, v)], need = live & ~seen;
      Quarter got = {0, 0};
      if (any_in_team(need)) got = by_warp(in.rowptr[v], in.rowptr[v + 1], need);
      if (lane < kTeam) at.settle(batch, v, seen, got);
    }
    return;
  }

  id -= tasks.groups();
  for (int64_t i = 32 * id + lane / kTeam; i < min(32 * (id + 1), tasks.smalls); i += 32 / kTeam) {
    const int64_t v = tasks.small[i];
    const Quarter seen = wave.seen[wave.at(batch, v)], need = live & ~seen;
    Quarter got = {0, 0};
    if (any_in_team(need)) got = by_team(in.rowptr[v], in.rowptr[v + 1], need);
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
  if (at.wave.is_pushed(batch)) return;
  at.settle(batch, v, at.wave.seen[place], at.wave.next[place]);
}

// ---- the waves ------------------------------------------------------------------------------------------

class BitWaves {
  static constexpr int64_t kCachedRows = int64_t{16} << 20;  // bytes of rows that are read from L2 in any case

 public:
  BitWaves(int64_t n, int64_t slots, const Arcs& out, const Tasks& tasks, const Run& run, int batches)
      : tasks_(tasks), run_(run) {
    wave_.n = n;
    wave_.slots = slots;
    wave_.out = out;
    wave_.seen = run.scratch.array<Quarter>(batches * n * kTeam);
    for (Quarter** row : {&wave_.frontier, &wave_.next}) *row = run.scratch.array<Quarter>(batches * n * kTeam);
    wave_.reached = run.scratch.array<int>(kRing * batches);
    wave_.hit_words = bit_hit_words(n);
    wave_.hit = run.scratch.array<uint32_t>(batches * wave_.hit_words);
    front_ = run.scratch.array<Front>(batches);
  }

  // Searches from the sources, up to a level. after(wave, level) enqueues the work that follows each level. Returns
  // false if cancelled.
  template <class Visitor, class After>
  bool run(int64_t count, const int64_t* sources, const Visitor& visitor, After after,
           int64_t last = Limits::kNoLevel) {
    wave_.sources = count;
    wave_.batches = static_cast<int>((count + kBitLanes - 1) / kBitLanes);
    const int64_t rows = wave_.batches * wave_.n * kTeam;
    wave_.front = rows * int64_t{sizeof(Quarter)} > kCachedRows ? front_ : nullptr;
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
        const BitLevel<Visitor> at = {wave_, visitor, l};
        if (wave_.front != nullptr) push(at);
        pull(at);
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

  // Looks at the frontiers, and pushes those that are small.
  template <class Visitor>
  void push(const BitLevel<Visitor>& at) {
    zero(wave_.front, wave_.batches);
    const int64_t most = int64_t{run_.processors} * 8;
    const unsigned size = static_cast<unsigned>(std::min<int64_t>(blocks(32 * wave_.hit_words, 256), most));
    const dim3 grid(size, static_cast<unsigned>(wave_.batches));
    mark_hits<<<grid, 256, 0, run_.stream>>>(wave_, at.level);
    check_launch("mark_hits");
    clear_rows<<<grid, 256, 0, run_.stream>>>(wave_, at.level);
    check_launch("clear_rows");
    push_rows<<<grid, 256, 0, run_.stream>>>(wave_, at.level);
    check_launch("push_rows");
    settle_rows<<<grid, 256, 0, run_.stream>>>(at);
    check_launch("settle_rows");
  }

  // Of the frontiers that are not.
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
  Front* front_;
};

}  // namespace torchcent::cuda
