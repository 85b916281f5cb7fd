// Rows of 512 lanes on CUDA, and the batches of the bits engine that are under way.
#pragma once

#include "paths/cuda/tasks.cuh"  // first: it names the namespace of the others

#include "distances/workspace.h"

namespace torchcent::cuda {

using Mask = unsigned long long;  // a word of a row

constexpr int kTeam = 4;  // threads per row
constexpr int kBitLanes = kWideBits;
constexpr int kHitsOfSparse = 4;    // a frontier is sparse if fewer than one of so many vertices is in it
constexpr int kSlotsOfPush = 64;    // and it is pushed if fewer than one of so many slots leaves it
constexpr int kLongestPush = 8192;  // a warp pushes a vertex: of one with more slots, others would wait for it

using Quarter = ulonglong2;  // a thread's part of a row
static_assert(kTeam * sizeof(Quarter) == kWideBits / 8);

__device__ inline Quarter operator|(Quarter a, Quarter b) { return {a.x | b.x, a.y | b.y}; }
__device__ inline Quarter operator&(Quarter a, Quarter b) { return {a.x & b.x, a.y & b.y}; }
__device__ inline Quarter operator~(Quarter a) { return {~a.x, ~a.y}; }
__device__ inline bool any(Quarter a) { return (a.x | a.y) != 0; }
__device__ inline int count(Quarter a) { return __popcll(a.x) + __popcll(a.y); }

// The threads of this thread's team.
__device__ inline unsigned team_mask() { return 0xfu << (lane_id() & ~(kTeam - 1)); }
__device__ inline int quarter() { return threadIdx.x & (kTeam - 1); }
__device__ inline bool any_in_team(Quarter a) { return (__ballot_sync(team_mask(), any(a)) & team_mask()) != 0; }
__device__ inline int sum_over_team(int value) {
  value += __shfl_xor_sync(team_mask(), value, 1);
  return value + __shfl_xor_sync(team_mask(), value, 2);
}
__device__ inline Quarter or_over_teams(Quarter a) {
#pragma unroll
  for (int distance = kTeam; distance < 32; distance *= 2) {
    a.x |= __shfl_xor_sync(kFullWarp, a.x, distance);
    a.y |= __shfl_xor_sync(kFullWarp, a.y, distance);
  }
  return a;
}

// The row of the team that begins with a thread, for all teams.
__device__ inline Quarter of_team(Quarter a, int from) {
  return {__shfl_sync(kFullWarp, a.x, from + quarter()), __shfl_sync(kFullWarp, a.y, from + quarter())};
}

// What is known of the frontier of a batch.
struct Front {
  Quarter lanes[kTeam];  // that are in some row; the others have ended
  Mask slots;            // that leave its vertices; those of all if one vertex is long
  int vertices;          // rows that are not empty
};
static_assert(sizeof(Front) == kFrontBytes);

// Concurrent batches at one level. Rows are [batches][n]. The two that change places from level to level are members of
// their own: an array indexed by the level would be copied to the stack of every thread.
struct BitWave {
  int64_t n, slots;
  Arcs out;
  int batches;
  int64_t sources;
  Quarter* seen;
  Quarter* frontier;  // lanes that reached a vertex at the previous level
  Quarter* next;      // and at this one; at level 0, the sources
  int* reached;       // [kRing][batches]: whether the level has a vertex
  // Of frontiers whose rows are not in the cache; null otherwise. hit is a bit per row, [batches][hit_words]: whether
  // it is not empty.
  Front* front;
  uint32_t* hit;
  int64_t hit_words;

  __device__ int64_t at(int batch, int64_t v) const { return (batch * n + v) * kTeam + quarter(); }
  __device__ int* reached_at(int64_t level, int batch) const { return reached + (level % kRing) * batches + batch; }
  // Whether most rows of the frontier are empty, and hits are tested first.
  __device__ bool is_sparse(int batch) const {
    return front != nullptr && kHitsOfSparse * int64_t{front[batch].vertices} < n;
  }
  __device__ bool is_pushed(int batch) const {
    return front != nullptr && kSlotsOfPush * front[batch].slots < static_cast<Mask>(slots);
  }
  // Lanes that the level may add to: those of the frontier where it was looked at, else those in use, which are all
  // except in the last batch.
  __device__ Quarter live(int batch) const {
    if (front != nullptr) return front[batch].lanes[quarter()];
    const int64_t left = sources - int64_t{batch} * kBitLanes - 128 * quarter();
    return {ones(left), ones(left - 64)};
  }
  __device__ static Mask ones(int64_t lanes) {
    return lanes >= 64 ? ~Mask{0} : lanes <= 0 ? Mask{0} : (Mask{1} << lanes) - 1;
  }
};

}  // namespace torchcent::cuda
