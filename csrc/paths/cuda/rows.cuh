// Rows of lanes, read by half a warp with loads of 8 or 16 bytes per thread, and the gather shared by the forward and
// the backward pass.
#pragma once

#include "paths/cuda/masks.cuh"
#include "paths/cuda/problem.cuh"

namespace torchcent::cuda {

constexpr int kHalf = 16;
constexpr int kWarps = 8;   // per block
constexpr int kBlocks = 4;  // per multiprocessor: 64 registers; 48 allow 5 blocks, but spill
constexpr int kScan = 2;    // slots that a thread scans before rows are read

// A number of lanes of one number type, and the layout of a row of them in a half-warp: each thread holds `width`
// lanes, in pieces of at most 16 bytes. The pieces of the 16 threads are adjacent, so that a load reads whole sectors.
template <class Number, int count>
struct Lanes {
  using T = Number;
  using Mask = MaskOf<count>;
  static constexpr int lanes = count;
  static constexpr int width = count < 2 * kHalf ? 2 : count / kHalf;  // of few lanes, most threads hold none
  static constexpr int piece = width * sizeof(T) > 16 ? 16 / sizeof(T) : width;
  static constexpr unsigned all = (1u << width) - 1;
  static constexpr int in_flight = width > 4 ? 2 : 4;  // rows that a half-warp loads before it adds the first
  // Path counts above this limit leave the rung; below it, 1/sigma and its sums are normal numbers.
  static constexpr T limit = sizeof(T) == 4 ? T(0x1p100) : T(0x1p960);

  // The offset of a thread's lane k from its lane 0.
  __host__ __device__ static constexpr int offset(int k) { return k / piece * (piece * kHalf) + k % piece; }
};

template <class Row>
struct Part {  // a thread's part of a row
  typename Row::T lane[Row::width];
};

template <class Row>
using Piece = std::conditional_t<Row::piece * sizeof(typename Row::T) == 16, int4, int2>;

template <class Row>
__device__ Part<Row> load(const typename Row::T* address) {
  Part<Row> part;
#pragma unroll
  for (int k = 0; k < Row::width; k += Row::piece) {
    // Bypasses L1: rows would evict the masks.
    const Piece<Row> raw = __ldcg(reinterpret_cast<const Piece<Row>*>(address + Row::offset(k)));
    memcpy(part.lane + k, &raw, sizeof raw);
  }
  return part;
}

template <class Row>
__device__ void store(typename Row::T* address, const Part<Row>& part) {
#pragma unroll
  for (int k = 0; k < Row::width; k += Row::piece) {
    Piece<Row> raw;
    memcpy(&raw, part.lane + k, sizeof raw);
    *reinterpret_cast<Piece<Row>*>(address + Row::offset(k)) = raw;
  }
}

__device__ inline int lane_id() { return threadIdx.x & 31; }
template <class Row>
__device__ int first_lane() {
  return (threadIdx.x & (kHalf - 1)) * Row::piece;
}

// Whether this thread has a part of a row: with few lanes, most have none.
template <class Row>
__device__ bool has_part() {
  return Row::lanes >= Row::width * kHalf || first_lane<Row>() < Row::lanes;
}

template <class Row>
__device__ Part<Row> load_part(const typename Row::T* row) {
  return has_part<Row>() ? load<Row>(row + first_lane<Row>()) : Part<Row>{};
}

// The bits of this thread's lanes.
template <class Row>
__device__ unsigned own_bits(typename Row::Mask mask) {
  if constexpr (Row::lanes == 128) {
    const int first = first_lane<Row>();
    return (static_cast<unsigned>(mask.low >> first) & 0xfu) | (static_cast<unsigned>(mask.high >> first) & 0xfu) << 4;
  } else {
    return static_cast<unsigned>(mask >> first_lane<Row>()) & Row::all;
  }
}

template <class Row>
struct alignas(16) Hit {  // a neighbour that contributes to some lane
  typename Row::Mask mask;
  int32_t vertex;
  int32_t slot;  // relative to the first slot of the gather
};

struct NoEdges {
  static constexpr bool needed = false;
};

// Adds the edge scores of a visitor: the dot product of the vertex's weighted path counts with each row.
template <class Row>
struct EdgeScores {
  using T = typename Row::T;
  static constexpr bool needed = true;
  Part<Row> weighted;
  double* scores;  // of the gather's first slot

  __device__ void operator()(const Part<Row> (&part)[Row::in_flight], const Hit<Row>* hits, int first, int step,
                             int count) const {
    T sum[Row::in_flight];
#pragma unroll
    for (int t = 0; t < Row::in_flight; ++t) {
      sum[t] = 0;
#pragma unroll
      for (int k = 0; k < Row::width; ++k) sum[t] += weighted.lane[k] * part[t].lane[k];
    }
    // All sums over the half-warp at once: each exchange halves the number of values per thread.
    constexpr int share = kHalf / Row::in_flight;  // threads that end with the same sum
    const int place = threadIdx.x & (kHalf - 1);
#pragma unroll
    for (int kept = Row::in_flight / 2; kept > 0; kept /= 2) {
      const bool high = place & (kept * share);
#pragma unroll
      for (int t = 0; t < kept; ++t)
        sum[t] =
            (high ? sum[t + kept] : sum[t]) + __shfl_xor_sync(kFullWarp, high ? sum[t] : sum[t + kept], kept * share);
    }
#pragma unroll
    for (int distance = share / 2; distance > 0; distance /= 2) sum[0] += __shfl_xor_sync(kFullWarp, sum[0], distance);
    const int i = first + place / share * step;
    if (place % share == 0 && i < count) scores[hits[i].slot] += sum[0];
  }
};

// Adds 1 per lane for hits first, first + step, ... below count: the path counts of the first level.
template <class Row>
__device__ void add_ones(const Hit<Row>* hits, int first, int step, int count, Part<Row>& sum) {
  unsigned ones[(Row::width + 3) / 4] = {};  // a byte per lane; a run has fewer than 256 hits
  for (int i = first; i < count; i += step) {
    const unsigned bits = own_bits<Row>(hits[i].mask);
#pragma unroll
    for (int k = 0; k < Row::width; k += 4) ones[k / 4] += (bits >> k & 0xfu) * 0x204081u & 0x1010101u;
  }
#pragma unroll
  for (int k = 0; k < Row::width; ++k) sum.lane[k] += static_cast<typename Row::T>(ones[k / 4] >> (8 * (k % 4)) & 0xff);
}

// Adds the rows of hits first, first + step, ... below count. Both halves of a warp iterate over `most` hits.
template <class Row, class PerSlot>
__device__ void add_rows(const Hit<Row>* hits, int first, int step, int count, int most, const typename Row::T* rows,
                         Part<Row>& sum, const PerSlot& per_slot) {
  const int rounds = (most + step * Row::in_flight - 1) / (step * Row::in_flight);
  for (int r = 0; r < rounds; ++r, first += Row::in_flight * step) {
    Part<Row> part[Row::in_flight];
    unsigned bits[Row::in_flight];
#pragma unroll
    for (int t = 0; t < Row::in_flight; ++t) {
      const int i = first + t * step;
      bits[t] = 0;
      if (i < count) {
        const Hit<Row> hit = hits[i];
        bits[t] = own_bits<Row>(hit.mask);
        if (bits[t] != 0) part[t] = load<Row>(rows + static_cast<int64_t>(hit.vertex) * Row::lanes + first_lane<Row>());
      }
    }
    if constexpr (PerSlot::needed) {
#pragma unroll
      for (int t = 0; t < Row::in_flight; ++t)
#pragma unroll
        for (int k = 0; k < Row::width; ++k)
          if (!(bits[t] >> k & 1)) part[t].lane[k] = 0;
      per_slot(part, hits, first, step, count);
    }
#pragma unroll
    for (int t = 0; t < Row::in_flight; ++t)
#pragma unroll
      for (int k = 0; k < Row::width; ++k)
        if (bits[t] >> k & 1) sum.lane[k] += part[t].lane[k];
  }
}

// One warp sums the rows of the neighbours in slots [begin, end) whose mask intersects `need`. Both halves end with the
// whole sum, each thread with the lanes that its slots hit (any_of combines them). Unit: all path counts of the
// neighbours are 1 (the first level), so that no row is read. Slots are scanned in runs of kScan per thread, with as
// many loads in flight, and the rows of a run are read without interruption.
template <class Row, bool Unit, class PerSlot>
__device__ typename Row::Mask gather(const int32_t* __restrict__ col, int64_t begin, int64_t end,
                                     const typename Row::Mask* __restrict__ front, typename Row::Mask need,
                                     const typename Row::T* rows, Hit<Row>* hits, Part<Row>& sum,
                                     const PerSlot& per_slot) {
  using Mask = typename Row::Mask;
  const int lane = lane_id();
  const int32_t* const at = col + begin;
  const int size = static_cast<int>(end - begin);
  Mask got = {};
  for (int i = lane; i - lane < size; i += 32 * kScan) {
    int32_t u[kScan];
    Mask mask[kScan];
#pragma unroll
    for (int k = 0; k < kScan; ++k) u[k] = i + 32 * k < size ? at[i + 32 * k] : -1;
#pragma unroll
    for (int k = 0; k < kScan; ++k) mask[k] = u[k] >= 0 ? front[u[k]] & need : Mask{};
    int count = 0;
#pragma unroll
    for (int k = 0; k < kScan; ++k) {
      const unsigned hit = __ballot_sync(kFullWarp, any(mask[k]));
      if (any(mask[k])) hits[count + __popc(hit & ((1u << lane) - 1))] = {mask[k], u[k], i + 32 * k};
      count += __popc(hit);
      got |= mask[k];
    }
    __syncwarp();
    if constexpr (Unit) add_ones<Row>(hits, lane / kHalf, 2, count, sum);
    else add_rows<Row>(hits, lane / kHalf, 2, count, count, rows, sum, per_slot);
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < Row::width; ++k) sum.lane[k] += __shfl_xor_sync(kFullWarp, sum.lane[k], kHalf);
  return got;
}

// Each half of a warp does the same for a vertex of at most 16 slots (size; 0: none).
template <class Row, bool Unit, class PerSlot>
__device__ typename Row::Mask gather_short(const int32_t* __restrict__ col, int64_t begin, int size,
                                           const typename Row::Mask* __restrict__ front, typename Row::Mask need,
                                           const typename Row::T* rows, Hit<Row>* hits, Part<Row>& sum,
                                           const PerSlot& per_slot) {
  using Mask = typename Row::Mask;
  const int lane = lane_id(), half = lane & kHalf, place = lane & (kHalf - 1);
  const int32_t u = place < size ? col[begin + place] : -1;
  const Mask mask = u >= 0 ? front[u] & need : Mask{};
  const unsigned hit = __ballot_sync(kFullWarp, any(mask));
  const unsigned mine = hit >> half & 0xffffu;
  if (any(mask)) hits[half + __popc(mine & ((1u << place) - 1))] = {mask, u, place};
  __syncwarp();
  const int count = __popc(mine), most = max(count, __popc(hit) - count);
  if constexpr (Unit) add_ones<Row>(hits + half, 0, 1, count, sum);
  else add_rows<Row>(hits + half, 0, 1, count, most, rows, sum, per_slot);
  __syncwarp();
  return mask;
}

}  // namespace torchcent::cuda
