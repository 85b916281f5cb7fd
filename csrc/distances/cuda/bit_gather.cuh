// The frontier rows of the slots of a vertex, ORed until all needed lanes are found.
//
// How long a warp waits for memory limits the rate, rather than the bandwidth. So heads are read 32 at a time, ahead of
// the rows, and rows several at a time.
#pragma once

#include "distances/cuda/bit_rows.cuh"

namespace torchcent::cuda {

template <bool kSparse>  // most rows are empty, and hits are tested first
struct FrontierRows {
  const int32_t* __restrict__ col;
  const Quarter* frontier;
  const uint32_t* __restrict__ hit;  // with kSparse

  __device__ int32_t head(int64_t slot, int64_t end) const { return slot < end ? col[slot] : -1; }

  // By the teams of a warp together; `head` is that of slot begin + lane.
  __device__ Quarter by_warp(int32_t head, int64_t begin, int64_t end, Quarter need) const {
    Quarter got = {0, 0};
    if constexpr (!kSparse) {
      // A row per team first: where the frontier is dense, it has most lanes.
      got = or_over_teams(row(__shfl_sync(kFullWarp, head, lane_id() / kTeam)));
      for (int first = 1; any_in_team(need & ~got); first = 0) {
        const int32_t next = this->head(begin + 32 + lane_id(), end);
        Quarter part[kTeam];
#pragma unroll
        for (int k = 0; k < kTeam; ++k) {
          const int32_t other = __shfl_sync(kFullWarp, head, 32 / kTeam * k + lane_id() / kTeam);
          part[k] = row(k < first ? -1 : other);
        }
        got = or_over_teams(got | part[0] | part[1] | part[2] | part[3]);
        begin += 32;
        if (begin >= end) break;
        head = next;
      }
      return got & need;
    } else {
      while (true) {
        const int32_t next = this->head(begin + 32 + lane_id(), end);
        got = got | hit_rows(head, hits_of_team(head)) | hit_rows(next, hits_of_team(next));
        begin += 64;
        if (begin >= end) break;
        head = this->head(begin + lane_id(), end);
        got = or_over_teams(got);
        if (!any_in_team(need & ~got)) break;
      }
      return or_over_teams(got) & need;
    }
  }

  // By a team, of up to kShort slots.
  __device__ Quarter by_team(int64_t begin, int64_t end, Quarter need) const {
    constexpr int kParts = kShort / kTeam;
    int32_t heads[kParts];
#pragma unroll
    for (int k = 0; k < kParts; ++k) heads[k] = head(begin + kTeam * k + quarter(), end);
    Quarter got = {0, 0};
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      if (begin + kTeam * k >= end) break;
      if constexpr (!kSparse) {
        Quarter part[kTeam];
#pragma unroll
        for (int j = 0; j < kTeam; ++j) part[j] = row(__shfl_sync(team_mask(), heads[k], j, kTeam));
        got = got | part[0] | part[1] | part[2] | part[3];
      } else {
        got = got | hit_rows(heads[k], hits_of_team(heads[k]));
      }
      if (!any_in_team(need & ~got)) break;
    }
    return got & need;
  }

 private:
  static_assert(kTeam == 4);

  __device__ Quarter row(int32_t head) const {
    return head >= 0 ? __ldcg(frontier + int64_t{head} * kTeam + quarter()) : Quarter{0, 0};
  }
  // Which of the heads of a team have something.
  __device__ unsigned hits_of_team(int32_t head) const {
    const bool is_hit = head >= 0 && (hit[head >> 5] >> (head & 31) & 1) != 0;
    return (__ballot_sync(team_mask(), is_hit) & team_mask()) >> (lane_id() & ~(kTeam - 1));
  }
  __device__ Quarter hit_rows(int32_t head, unsigned hits) const {
    Quarter got = {0, 0};
    for (; hits != 0; hits &= hits - 1) got = got | row(__shfl_sync(team_mask(), head, __ffs(hits) - 1, kTeam));
    return got;
  }
};

template <bool kSparse>
__device__ FrontierRows<kSparse> frontier_rows(const BitWave& wave, const Arcs& in, int batch) {
  return {in.col, wave.frontier + batch * wave.n * kTeam, wave.hit + batch * wave.hit_words};
}

}  // namespace torchcent::cuda
