// Distribution of the vertices over warps: a warp per chunk of a hub's slots, a warp per medium vertex, half a warp per
// vertex of 16 or fewer slots. Blocks are numbered in that order, so that the long tasks start first. make_tasks sorts
// the vertices; Vertex is their description for the kernels.
#pragma once

#include <cub/device/device_partition.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "paths/cuda/rows.cuh"
#include "paths/workspace.h"

namespace torchcent::cuda {

// Hubs have more slots than a chunk (kChunk, kLongChunk).
constexpr int kShort = 16;
constexpr int kGroup = 8;    // medium vertices that a warp processes in sequence
constexpr int kSifted = 64;  // vertices with more slots are not tested for hits in advance

struct Tasks {
  Arcs arcs;
  const Chunk* chunk;
  const int32_t* middle;
  const int32_t* small;
  int64_t chunks, middles, smalls;
  int slots_per_chunk;

  __host__ __device__ int64_t groups() const { return (middles + kGroup - 1) / kGroup; }
  int64_t warps() const { return chunks + groups() + (smalls + 31) / 32; }
};

struct DegreeAbove {
  const int64_t* rowptr;
  int64_t limit;
  __device__ bool operator()(int32_t v) const { return rowptr[v + 1] - rowptr[v] > limit; }
};

struct ChunksOf {
  const int64_t* rowptr;
  const int32_t* hub;
  int slots;
  __device__ int64_t operator()(int64_t i) const { return (rowptr[hub[i] + 1] - rowptr[hub[i]] + slots - 1) / slots; }
};

static __global__ void count_chunks(ChunksOf chunks, int64_t hubs, int64_t* count) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i <= hubs) count[i] = i < hubs ? chunks(i) : 0;
}

static __global__ void fill_chunks(const int32_t* hub, const int64_t* first, Chunk* chunk) {
  const int64_t begin = first[blockIdx.x], end = first[blockIdx.x + 1];
  for (int64_t c = begin + threadIdx.x; c < end; c += blockDim.x)
    chunk[c] = {hub[blockIdx.x], static_cast<int32_t>(c - begin), static_cast<int32_t>(begin),
                static_cast<int32_t>(end - begin)};
}

inline unsigned blocks(int64_t items, int size) { return static_cast<unsigned>((items + size - 1) / size); }

// The lists keep the order of the vertices. Synchronises with the device: the host needs their lengths.
inline Tasks make_tasks(const Arcs& arcs, int64_t n, int64_t m, const Run& run) {
  const int slots = m < kManySlots ? kChunk : kLongChunk;
  int32_t* const hub = run.scratch.array<int32_t>(n);
  int32_t* const middle = run.scratch.array<int32_t>(n);
  int32_t* const small = run.scratch.array<int32_t>(n);
  int64_t* const sizes = run.scratch.array<int64_t>(2);
  const thrust::counting_iterator<int32_t> vertices(0);
  const auto partition = [&](void* space, size_t& bytes) {
    check(cub::DevicePartition::If(space, bytes, vertices, hub, middle, small, sizes, static_cast<int>(n),
                                   DegreeAbove{arcs.rowptr, slots}, DegreeAbove{arcs.rowptr, kShort}, run.stream),
          "partition");
  };
  size_t bytes = 0;
  partition(nullptr, bytes);
  partition(run.scratch.bytes(static_cast<int64_t>(bytes)), bytes);
  int64_t size[2];
  to_host(size, sizes, sizeof size, run.stream, "partition");
  Tasks tasks = {arcs, nullptr, middle, small, 0, size[1], n - size[0] - size[1], slots};
  if (size[0] == 0) return tasks;

  const int64_t hubs = size[0];
  int64_t* const first = run.scratch.array<int64_t>(2 * (hubs + 1));
  int64_t* const count = first + hubs + 1;
  count_chunks<<<blocks(hubs + 1, 256), 256, 0, run.stream>>>({arcs.rowptr, hub, slots}, hubs, count);
  check_launch("count_chunks");
  const auto scan = [&](void* space) {
    check(cub::DeviceScan::ExclusiveSum(space, bytes, count, first, static_cast<int>(hubs + 1), run.stream), "scan");
  };
  scan(nullptr);
  scan(run.scratch.bytes(static_cast<int64_t>(bytes)));
  to_host(&tasks.chunks, first + hubs, sizeof tasks.chunks, run.stream, "scan");
  Chunk* const chunk = run.scratch.array<Chunk>(tasks.chunks);
  fill_chunks<<<static_cast<unsigned>(hubs), 64, 0, run.stream>>>(hub, first, chunk);
  check_launch("fill_chunks");
  tasks.chunk = chunk;
  return tasks;
}

// A warp's descriptions of the vertices it processes. Each thread reads one into shared memory, so that only the first
// vertex waits for these loads.
template <class Row>
struct Vertex {
  using T = typename Row::T;
  using Mask = typename Row::Mask;
  int32_t id, size;
  int64_t begin;
  Mask mask;
  T target, through;
};

// Each half-warp removes the vertex that it has finished.
__device__ inline unsigned without_first_of_halves(unsigned open) {
  const unsigned low = open & 0xffffu, high = open & 0xffff0000u;
  return (low & (low - 1)) | (high & (high - 1));
}

template <class Row>
__device__ Vertex<Row> vertex_of(const Arcs& arcs, int32_t v) {
  const int64_t begin = arcs.rowptr[v];
  return {v, static_cast<int32_t>(arcs.rowptr[v + 1] - begin), begin};
}

// Which of a warp's vertices have a neighbour in the frontier with missing lanes; long ones are assumed to. On sparse
// levels few do, and the test takes a tenth of the instructions of a gather; on others it ends with the first slots.
template <class Row, int count>
__device__ unsigned touched(const int32_t* __restrict__ col, const Vertex<Row>* vertices,
                            const typename Row::Mask* __restrict__ front) {
  constexpr int team = 32 / count, ahead = 4;  // threads per vertex; slots that each scans at a time
  const Vertex<Row>& v = vertices[lane_id() / team];
  const int32_t* const at = col + v.begin;
  bool hit = v.size > kSifted;
  for (int i = lane_id() % team; i < v.size && !hit; i += ahead * team) {
    int32_t u[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) u[k] = at[min(i + k * team, v.size - 1)];  // repeating the last one avoids a branch
#pragma unroll
    for (int k = 0; k < ahead; ++k) hit |= any(static_cast<typename Row::Mask>(front[u[k]] & v.mask));
  }
  const unsigned hits = __ballot_sync(kFullWarp, hit);
  if constexpr (team == 1) return hits;
  return __ballot_sync(kFullWarp, lane_id() < count && (hits >> (lane_id() * team & 31) & ((1u << team) - 1)) != 0);
}

}  // namespace torchcent::cuda
