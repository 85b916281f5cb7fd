// Rows of lanes: 256 bytes per vertex, read by half a warp with 16-byte loads, and the gather that the
// forward and the backward pass share.
#pragma once

#include "cuda/problem.cuh"

namespace torchcent::cuda {

using Mask = unsigned long long;  // one bit per lane

constexpr unsigned kAll = 0xffffffffu;
constexpr int kHalf = 16;
constexpr int kWarps = 8;     // of a block
constexpr int kBlocks = 4;    // of a multiprocessor: 64 registers; 48 give 5 blocks, but spill
constexpr int kScan = 2;      // slots that a thread looks at before rows are read
constexpr int kInFlight = 4;  // rows that a half-warp reads before it adds the first

template <class T>
struct Row {
  static constexpr int lanes = 256 / sizeof(T);
  static constexpr int width = 16 / sizeof(T);  // lanes of one thread
  static constexpr unsigned all = (1u << width) - 1;
  // Path counts above this leave the rung: 1/sigma and its sums stay normal numbers below it.
  static constexpr T limit = sizeof(T) == 4 ? T(0x1p100) : T(0x1p960);
};

template <class T>
struct alignas(16) Part {  // what one thread holds of a row
  T lane[Row<T>::width];
};

template <class T>
__device__ Part<T> load(const T* address) {
  const int4 raw = __ldcg(reinterpret_cast<const int4*>(address));  // rows would sweep the masks out of L1
  Part<T> part;
  memcpy(&part, &raw, sizeof part);
  return part;
}

template <class T>
__device__ void store(T* address, const Part<T>& part) {
  int4 raw;
  memcpy(&raw, &part, sizeof raw);
  *reinterpret_cast<int4*>(address) = raw;
}

__device__ inline int lane_id() { return threadIdx.x & 31; }
template <class T>
__device__ int first_lane() {
  return (threadIdx.x & (kHalf - 1)) * Row<T>::width;
}

// The bits of this thread's lanes.
template <class T>
__device__ unsigned own_bits(Mask mask) {
  return static_cast<unsigned>(mask >> first_lane<T>()) & Row<T>::all;
}

__device__ inline Mask any_of(unsigned threads, Mask mask) {
  const Mask low = __reduce_or_sync(threads, static_cast<unsigned>(mask));
  const Mask high = __reduce_or_sync(threads, static_cast<unsigned>(mask >> 32));
  return high << 32 | low;
}

struct alignas(16) Hit {  // a neighbour that some lane takes part in
  Mask mask;
  int32_t vertex;
  int32_t slot;  // relative to the first slot of the gather
};

struct NoEdges {
  static constexpr bool needed = false;
};

// Adds what a visitor of edges needs per slot: the dot product of the vertex's weighted path counts with each row.
template <class T>
struct EdgeScores {
  static constexpr bool needed = true;
  Part<T> weighted;
  double* scores;  // of the gather's first slot

  __device__ void operator()(const Part<T> (&part)[kInFlight], const Hit* hits, int first, int step, int count) const {
    T dot[kInFlight];
#pragma unroll
    for (int t = 0; t < kInFlight; ++t) {
      dot[t] = 0;
#pragma unroll
      for (int k = 0; k < Row<T>::width; ++k) dot[t] += weighted.lane[k] * part[t].lane[k];
    }
    // Four sums over the half-warp at once: each exchange halves the number of values a thread keeps.
    const int place = threadIdx.x & (kHalf - 1);
    const bool high = place & 8, low = place & 4;
    const T a = (high ? dot[2] : dot[0]) + __shfl_xor_sync(kAll, high ? dot[0] : dot[2], 8);
    const T b = (high ? dot[3] : dot[1]) + __shfl_xor_sync(kAll, high ? dot[1] : dot[3], 8);
    T sum = (low ? b : a) + __shfl_xor_sync(kAll, low ? a : b, 4);
    sum += __shfl_xor_sync(kAll, sum, 2);
    sum += __shfl_xor_sync(kAll, sum, 1);
    const int i = first + (place >> 2) * step;
    if ((place & 3) == 0 && i < count) scores[hits[i].slot] += sum;
  }
};

// Adds the rows of hits first, first + step, ... below count. rounds is the same for both halves of a warp.
// Unit: all path counts of the hits are 1 (the first level), so that no row is read.
template <class T, bool Unit, class PerSlot>
__device__ void add_rows(const Hit* hits, int first, int step, int count, int rounds, const T* rows, Part<T>& sum,
                         const PerSlot& per_slot) {
  if constexpr (Unit) {
    unsigned ones = 0;  // a byte per lane; a run has fewer than 256 hits
    const int word = first_lane<T>() / 32, shift = first_lane<T>() % 32;
    for (int i = first; i < count; i += step) {
      const unsigned bits = reinterpret_cast<const unsigned*>(&hits[i].mask)[word] >> shift & Row<T>::all;
      ones += bits * 0x204081u & 0x1010101u;
    }
#pragma unroll
    for (int k = 0; k < Row<T>::width; ++k) sum.lane[k] += static_cast<T>(ones >> (8 * k) & 0xff);
    return;
  }
  for (int r = 0; r < rounds; ++r, first += kInFlight * step) {
    Part<T> part[kInFlight];
    unsigned bits[kInFlight];
#pragma unroll
    for (int t = 0; t < kInFlight; ++t) {
      const int i = first + t * step;
      bits[t] = 0;
      if (i < count) {
        const Hit hit = hits[i];
        bits[t] = own_bits<T>(hit.mask);
        if (bits[t] != 0) part[t] = load(rows + static_cast<int64_t>(hit.vertex) * Row<T>::lanes + first_lane<T>());
      }
    }
    if constexpr (PerSlot::needed) {
#pragma unroll
      for (int t = 0; t < kInFlight; ++t)
#pragma unroll
        for (int k = 0; k < Row<T>::width; ++k)
          if (!(bits[t] >> k & 1)) part[t].lane[k] = 0;
      per_slot(part, hits, first, step, count);
    }
#pragma unroll
    for (int t = 0; t < kInFlight; ++t)
#pragma unroll
      for (int k = 0; k < Row<T>::width; ++k)
        if (bits[t] >> k & 1) sum.lane[k] += part[t].lane[k];
  }
}

// One warp sums the rows of the neighbours in slots [begin, end) whose mask meets `need`; both halves end with
// the whole sum. Slots are looked at in runs of kScan per thread: that many loads are in flight at a time, and the
// rows of a run are read without a pause.
template <class T, bool Unit, class PerSlot>
__device__ Mask gather(const int32_t* __restrict__ col, int64_t begin, int64_t end, const Mask* __restrict__ front,
                       Mask need, const T* rows, Hit* hits, Part<T>& sum, const PerSlot& per_slot) {
  const int lane = lane_id();
  const int32_t* const at = col + begin;
  const int size = static_cast<int>(end - begin);
  Mask got = 0;
  for (int i = lane; i - lane < size; i += 32 * kScan) {
    int32_t u[kScan];
    Mask mask[kScan];
#pragma unroll
    for (int k = 0; k < kScan; ++k) u[k] = i + 32 * k < size ? at[i + 32 * k] : -1;
#pragma unroll
    for (int k = 0; k < kScan; ++k) mask[k] = u[k] >= 0 ? front[u[k]] & need : 0;
    int count = 0;
#pragma unroll
    for (int k = 0; k < kScan; ++k) {
      const unsigned hit = __ballot_sync(kAll, mask[k] != 0);
      if (mask[k] != 0) hits[count + __popc(hit & ((1u << lane) - 1))] = {mask[k], u[k], i + 32 * k};
      count += __popc(hit);
      got |= mask[k];
    }
    __syncwarp();
    add_rows<T, Unit>(hits, lane / kHalf, 2, count, (count + 2 * kInFlight - 1) / (2 * kInFlight), rows, sum, per_slot);
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < Row<T>::width; ++k) sum.lane[k] += __shfl_xor_sync(kAll, sum.lane[k], kHalf);
  return any_of(kAll, got);
}

// Each half of a warp does the same for a vertex of at most 16 slots (size; 0: none).
template <class T, bool Unit, class PerSlot>
__device__ Mask gather_short(const int32_t* __restrict__ col, int64_t begin, int size, const Mask* __restrict__ front,
                             Mask need, const T* rows, Hit* hits, Part<T>& sum, const PerSlot& per_slot) {
  const int lane = lane_id(), half = lane & kHalf, place = lane & (kHalf - 1);
  const int32_t u = place < size ? col[begin + place] : -1;
  const Mask mask = u >= 0 ? front[u] & need : 0;
  const unsigned hit = __ballot_sync(kAll, mask != 0);
  const unsigned mine = hit >> half & 0xffffu;
  if (mask != 0) hits[half + __popc(mine & ((1u << place) - 1))] = {mask, u, place};
  __syncwarp();
  const int most = max(__popc(hit & 0xffffu), __popc(hit >> kHalf));
  add_rows<T, Unit>(hits + half, 0, 1, __popc(mine), (most + kInFlight - 1) / kInFlight, rows, sum, per_slot);
  __syncwarp();
  return any_of(0xffffu << half, mask);
}

}  // namespace torchcent::cuda
