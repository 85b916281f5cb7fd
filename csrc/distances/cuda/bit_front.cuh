// The frontier of a level of the bits engine on CUDA: which rows are not empty, and its rows pushed where they are few.
#pragma once

#include "distances/cuda/bit_rows.cuh"

namespace torchcent::cuda {

template <class Visitor>
struct BitLevel {
  BitWave wave;
  Visitor visitor;
  int64_t level;

  // Whether the batch has a frontier that is pulled, by the kernel of sparse ones or by the other.
  __device__ bool is_pulled(int batch, bool sparse) const {
    return *wave.reached_at(level - 1, batch) != 0 && !wave.is_pushed(batch) && wave.is_sparse(batch) == sparse;
  }
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
  Quarter lanes = {0, 0};
  int64_t slots = 0;
  int vertices = 0;
  for (int64_t word = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32; word < wave.hit_words; word += warps) {
    bool is_hit = false;  // of vertex 32 * word + lane
#pragma unroll
    for (int step = 0; step < kTeam; ++step) {
      const int64_t v = 32 * word + 8 * step + lane / kTeam;
      const Quarter part = v < wave.n ? wave.frontier[wave.at(batch, v)] : Quarter{0, 0};
      lanes = lanes | part;
      const uint32_t teams = __ballot_sync(kFullWarp, any(part));  // four bits each
      if (lane / 8 == step) is_hit = (teams >> kTeam * (lane % 8) & 0xfu) != 0;
    }
    const uint32_t hit = __ballot_sync(kFullWarp, is_hit);
    if (lane == 0) wave.hit[batch * wave.hit_words + word] = hit;
    vertices += __popc(hit);
    if (is_hit) {
      const int64_t* const ends = wave.out.rowptr + 32 * word + lane;
      const int64_t degree = ends[1] - ends[0];
      slots += degree > kLongestPush ? wave.slots : degree;
    }
  }
  Front& front = wave.front[batch];
  lanes = or_over_teams(lanes);
  if (lane < kTeam) {
    if (lanes.x != 0) atomicOr(&front.lanes[lane].x, lanes.x);
    if (lanes.y != 0) atomicOr(&front.lanes[lane].y, lanes.y);
  }
  if (slots != 0) atomicAdd(&front.slots, static_cast<Mask>(slots));
  if (lane == 0 && vertices != 0) atomicAdd(&front.vertices, vertices);
}

// Empties the rows that a push adds to.
static __global__ void clear_rows(BitWave wave, int64_t level) {
  const int batch = blockIdx.y;
  if (*wave.reached_at(level - 1, batch) == 0 || !wave.is_pushed(batch)) return;
  Quarter* const rows = wave.next + batch * wave.n * kTeam;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < wave.n * kTeam; i += step) rows[i] = {0, 0};
}

// ORs the rows of the frontier into those of their successors, a warp per vertex. Neighbours in the order, whose
// degrees may be alike, go to different warps of a block.
static __global__ void __launch_bounds__(32 * kWarps) push_rows(BitWave wave, int64_t level) {
  const int batch = blockIdx.y, lane = lane_id();
  if (*wave.reached_at(level - 1, batch) == 0 || !wave.is_pushed(batch)) return;
  const Mask* const frontier = reinterpret_cast<const Mask*>(wave.frontier + batch * wave.n * kTeam);
  Mask* const next = reinterpret_cast<Mask*>(wave.next + batch * wave.n * kTeam);
  constexpr int kWords = kBitLanes / 64;
  const uint32_t own = 0x01010101u << (threadIdx.x >> 5);
  static_assert(kWarps == 8);
  for (int64_t word = blockIdx.x; word < wave.hit_words; word += gridDim.x) {
    for (uint32_t hit = wave.hit[batch * wave.hit_words + word] & own; hit != 0; hit &= hit - 1) {
      const int64_t u = 32 * word + __ffs(hit) - 1, end = wave.out.rowptr[u + 1];
      const Mask row = lane < kWords ? frontier[kWords * u + lane] : 0;
      const unsigned filled = __ballot_sync(kFullWarp, row != 0);
      const auto head = [&](int64_t slot) { return slot < end ? wave.out.col[slot] : -1; };
      int64_t slot = wave.out.rowptr[u] + lane;
      int32_t v = head(slot);
      for (; slot - lane < end; slot += 32) {
        const int32_t ahead = head(slot + 32);
        for (unsigned left = filled; left != 0; left &= left - 1) {
          const Mask bits = __shfl_sync(kFullWarp, row, __ffs(left) - 1);
          if (v >= 0) atomicOr(next + kWords * int64_t{v} + __ffs(left) - 1, bits);
        }
        v = ahead;
      }
    }
  }
}

// Completes what was pushed, a team per vertex.
template <class Visitor>
__global__ void settle_rows(BitLevel<Visitor> at) {
  const BitWave& wave = at.wave;
  const int batch = blockIdx.y;
  if (*wave.reached_at(at.level - 1, batch) == 0 || !wave.is_pushed(batch)) return;
  const int64_t step = int64_t{gridDim.x} * blockDim.x / kTeam;
  for (int64_t v = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kTeam; v < wave.n; v += step) {
    const Quarter pushed = wave.next[wave.at(batch, v)];
    if (!any_in_team(pushed)) continue;
    const Quarter seen = wave.seen[wave.at(batch, v)];
    at.settle(batch, v, seen, pushed & ~seen);
  }
}

}  // namespace torchcent::cuda
