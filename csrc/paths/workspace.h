// Bytes that the lanes and queue engines allocate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/codes.h"
#include "core/workspace.h"
#include "paths/search.h"

namespace torchcent {

struct PathSizes {
  int64_t nodes, slots;
  bool symmetric;  // the transpose is the graph itself
  bool per_slot;   // scores of slots, or of vertices
  int64_t limits = 1;

  bool several() const { return limits > 1; }
  int64_t sides() const { return symmetric ? 1 : 2; }
  int64_t scores() const { return per_slot ? slots : nodes; }  // within one limit
};

// --- CPU, without the sums of batches. Pages that are never touched take no memory: of the lists of levels, only those
// of single searches are long, and an undirected edge is an arc of shortest paths in one direction at most.

// Of a thread (paths/cpu/lane_levels.h, lanes.h, mirrored_pass.h).
inline Workspace lanes_on_cpu(const PathSizes& graph) {
  constexpr int64_t masks = bytes_of<uint64_t>(3), entries = kEntriesPerNode * bytes_of<uint64_t>(1);
  const int64_t levels = entries + kEntriesPerNode * bytes_of<int32_t>(1);
  // Either a row and the masks of all entries, or the rows of a mirrored pass.
  const int64_t several = std::max(kLaneRow + entries, (kMirroredSums - 1) * kLaneRow);
  return {0, {graph.nodes * (kLaneRow + masks + bytes_of<int32_t>(1) + levels + (graph.several() ? several : 0))}};
}

// Of a thread, on the last rung of the ladder (paths/cpu/queue.h).
inline Workspace queue_on_cpu(const PathSizes& graph) {
  constexpr int64_t places = bytes_of<int32_t>(3) + bytes_of<int64_t>(1), counts = 2 * kWideCount;
  const int64_t arcs = graph.symmetric ? graph.slots / 2 : graph.slots;
  return {0, {graph.nodes * (places + counts), arcs * (kPlaceArc + (graph.per_slot ? bytes_of<int64_t>(1) : 0))}};
}

// --- CUDA

namespace cuda {

// Of the slots of a hub, for a warp.
struct Chunk {
  int32_t vertex;
  int32_t index;  // among the chunks of the vertex
  int32_t first;  // first chunk of the vertex in the list of all chunks
  int32_t count;  // chunks of the vertex
};

// Slots of a vertex: one 8-byte load instead of two.
struct alignas(8) Span {
  uint32_t begin, degree;
};

enum class Outcome : int32_t { pending = 0, done = 1 };

struct QueueFlags {
  int overflow;  // a count exceeded the range of float64
  int targets;   // b is not 1 everywhere
  int through;   // h is not 0 everywhere
};

// The distribution of the vertices over warps (paths/cuda/tasks.cuh): three lists, and up to a byte per vertex to make
// them.
inline int64_t tasks_bytes(int64_t nodes, int64_t chunks) {
  return bytes_of<int32_t>(3 * nodes) + nodes + bytes_of<Chunk>(chunks);
}

// A bit per lane.
constexpr int64_t lane_mask(int64_t lanes) { return lanes / 8; }
// A level of a batch of the lanes engine.
inline int64_t level_bytes(int64_t nodes, int64_t lanes) { return nodes * lane_mask(lanes); }

// Of a batch of so many lanes, apart from the masks of its levels; T: of a path count.
template <class T>
Workspace lanes_workspace(const PathSizes& graph, int64_t lanes, int64_t chunks) {
  const int64_t row = bytes_of<T>(lanes), mask = lane_mask(lanes), weights = 2 * row, flags = mask + bytes_of<int>(1);
  Workspace space = {graph.sides() * tasks_bytes(graph.nodes, chunks),
                     {graph.nodes * row, graph.nodes * mask, bytes_of<double>(graph.scores()), chunks * row,
                      chunks * mask, bytes_of<int>(chunks), weights, flags}};
  if (graph.several()) space.each.push_back(graph.nodes * row);
  return space;
}

// Flag of the fourth slot of a lane: there are more than the packed ones. Vertices have smaller numbers.
constexpr int32_t kMore = 1 << 30;

// Grids and road networks.
inline bool is_sparse(int64_t nodes, int64_t slots) { return slots <= 4 * nodes; }
// The binary logarithm of the threads per vertex.
inline int threads_by_degree(int64_t nodes, int64_t slots) {
  const int64_t degree = slots / std::max<int64_t>(nodes, 1);
  return is_sparse(nodes, slots) ? 0 : degree < 8 ? 1 : degree < 16 ? 2 : degree < 32 ? 3 : degree < 64 ? 4 : 5;
}
inline int threads_by_strategy(Strategy strategy, int64_t nodes, int64_t slots) {
  switch (strategy) {
    case Strategy::warp_4: return 2;
    case Strategy::warp_8: return 3;
    case Strategy::warp_16: return 4;
    case Strategy::warp_32: return 5;
    case Strategy::automatic:
    case Strategy::cooperative: return threads_by_degree(nodes, slots);
    default: return 0;
  }
}
// The first slots of every vertex that are packed for one load: 0, or 4 for each of its threads.
inline int packed_slots(int64_t nodes, int64_t slots, int shift) {
  if (nodes >= kMore) return 0;
  return shift == 0 && is_sparse(nodes, slots) ? 4 : shift == 1 ? 8 : 0;
}

// Of a block of the queue engine (paths/cuda/queue.cuh), for so many sources.
inline Workspace queue_workspace(const PathSizes& graph, Strategy strategy, int64_t sources) {
  const int64_t n = graph.nodes, list = bytes_of<int32_t>(n), counts = bytes_of<double>(n);
  const int64_t packed = list * packed_slots(n, graph.slots, threads_by_strategy(strategy, n, graph.slots));
  const int64_t slot_vertices = strategy == Strategy::edge_parallel ? bytes_of<int32_t>(graph.slots) : 0;
  const int64_t chosen = sources * (bytes_of<Outcome>(1) + bytes_of<int32_t>(1));
  Workspace space = {graph.sides() * (bytes_of<Span>(n) + slot_vertices) + packed + chosen + bytes_of<QueueFlags>(1),
                     {list, bytes_of<int32_t>(n + 2), list, counts, bytes_of<uint8_t>(n),
                      bytes_of<double>(graph.limits * graph.scores())}};
  if (graph.several()) space.each.push_back(counts);
  return space;
}

}  // namespace cuda

}  // namespace torchcent
