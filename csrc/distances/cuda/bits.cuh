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
#include <type_traits>
#include <utility>
#include <vector>

#include "distances/cuda/bit_front.cuh"
#include "distances/cuda/bit_gather.cuh"
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

// Of the chunks of hubs, and of the vertices of more than kShort slots.
template <bool kSparse, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, kSparse ? 4 : 5) pull_bits(Tasks tasks, BitLevel<Visitor> at) {
  const BitWave& wave = at.wave;
  const int batch = blockIdx.y, lane = lane_id(), team = lane / kTeam;
  if (!at.is_pulled(batch, kSparse)) return;
  const Arcs& in = tasks.arcs;
  const FrontierRows<kSparse> rows = frontier_rows<kSparse>(wave, in, batch);
  const Quarter live = wave.live(batch);
  int64_t id = blockIdx.x * int64_t{kWarps} + (threadIdx.x >> 5);

  if (id < tasks.chunks) {
    const Chunk chunk = tasks.chunk[id];
    const int64_t v = chunk.vertex, place = wave.at(batch, v);
    Quarter* const row = wave.next + place;
    // Lanes that other chunks have found are skipped. One team reads the row for all, because it changes concurrently.
    const Quarter need = of_team(live & ~wave.seen[place] & ~__ldcg(row), 0);
    if (!any_in_team(need)) return;
    const int64_t begin = in.rowptr[v] + int64_t{tasks.slots_per_chunk} * chunk.index;
    const int64_t end = min(in.rowptr[v + 1], begin + tasks.slots_per_chunk);
    const Quarter got = rows.by_warp(rows.head(begin + lane, end), begin, end, need);
    if (lane < kTeam) {
      if (got.x != 0) atomicOr(&row->x, got.x);
      if (got.y != 0) atomicOr(&row->y, got.y);
    }
    return;
  }

  // A team has a vertex, but the warp gathers: for one team after the other, with the first slots of the next on their
  // way.
  static_assert(kGroup * kTeam == 32);
  const int64_t i = kGroup * (id - tasks.chunks) + team;
  const bool is_real = i < tasks.middles;
  const int64_t v = is_real ? tasks.middle[i] : 0;
  const Quarter seen = wave.seen[wave.at(batch, v)], need = is_real ? live & ~seen : Quarter{0, 0};
  const int64_t begin = in.rowptr[v], end = in.rowptr[v + 1];
  const auto first_heads = [&](int from) {
    return rows.head(__shfl_sync(kFullWarp, begin, from) + lane, __shfl_sync(kFullWarp, end, from));
  };
  Quarter got = {0, 0};
  unsigned open = __ballot_sync(kFullWarp, any(need));
  int32_t head = open != 0 ? first_heads(__ffs(open) - 1) : -1;
  while (open != 0) {
    const int from = (__ffs(open) - 1) & ~(kTeam - 1);
    open &= ~(0xfu << from);
    const int32_t next = open != 0 ? first_heads(__ffs(open) - 1) : -1;
    const Quarter lanes =
        rows.by_warp(head, __shfl_sync(kFullWarp, begin, from), __shfl_sync(kFullWarp, end, from), of_team(need, from));
    if (team == from / kTeam) got = lanes;
    head = next;
  }
  if (is_real) at.settle(batch, v, seen, got);
}

// Of the vertices of up to kShort slots, a team each. A kernel of their own needs fewer registers.
template <bool kSparse, class Visitor>
__global__ void __launch_bounds__(32 * kWarps, 5) pull_small(Tasks tasks, BitLevel<Visitor> at) {
  const BitWave& wave = at.wave;
  const int batch = blockIdx.y;
  const int64_t i = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kTeam;
  if (i >= tasks.smalls || !at.is_pulled(batch, kSparse)) return;
  const int64_t v = tasks.small[i];
  const Quarter seen = wave.seen[wave.at(batch, v)], need = wave.live(batch) & ~seen;
  Quarter got = {0, 0};
  if (any_in_team(need)) {
    const int64_t* const ends = tasks.arcs.rowptr + v;
    got = frontier_rows<kSparse>(wave, tasks.arcs, batch).by_team(ends[0], ends[1], need);
  }
  at.settle(batch, v, seen, got);
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
 public:
  BitWaves(int64_t n, int64_t slots, const Arcs& out, const Tasks& tasks, const Run& run, int batches)
      : tasks_(tasks), run_(run) {
    wave_.n = n;
    wave_.slots = slots;
    wave_.out = out;
    wave_.seen = run.scratch.array<Quarter>(batches * n * kTeam);
    for (Quarter** row : {&wave_.frontier, &wave_.next}) *row = run.scratch.array<Quarter>(batches * n * kTeam);
    wave_.reached = run.scratch.array<int>(kRing * batches);
    if (!looks_at_frontiers(n, slots)) return;
    wave_.hit_words = bit_hit_words(n);
    wave_.hit = run.scratch.array<uint32_t>(batches * wave_.hit_words);
    wave_.front = run.scratch.array<Front>(batches);
  }

  // Searches from the sources, up to a level. after(wave, level) enqueues the work that follows each level. Returns
  // false if cancelled.
  template <class Visitor, class After>
  bool run(int64_t count, const int64_t* sources, const Visitor& visitor, After after,
           int64_t last = Limits::kNoLevel) {
    wave_.sources = count;
    wave_.batches = static_cast<int>((count + kBitLanes - 1) / kBitLanes);
    const int64_t rows = wave_.batches * wave_.n * kTeam;
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
    const dim3 large(blocks(tasks_.chunks + tasks_.groups(), kWarps), batches);
    const dim3 small(blocks(tasks_.smalls * kTeam, 32 * kWarps), batches);
    const auto pull = [&](auto is_sparse) {
      if (large.x != 0) pull_bits<is_sparse.value><<<large, 32 * kWarps, 0, run_.stream>>>(tasks_, level);
      if (small.x != 0) pull_small<is_sparse.value><<<small, 32 * kWarps, 0, run_.stream>>>(tasks_, level);
    };
    pull(std::false_type());
    if (wave_.front != nullptr) pull(std::true_type());
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
};

}  // namespace torchcent::cuda
