// Bytes that the relax and dijkstra engines allocate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/codes.h"
#include "core/workspace.h"
#include "paths/workspace.h"
#include "weighted/weighted_search.h"

namespace torchcent {

struct WeightedSizes {
  PathSizes graph;
  bool paths;             // counts paths, instead of distances only
  bool by_depth = false;  // keeps distances of single searches for the scores
};

// --- CPU, without the sums of batches.

// The arcs of both directions, sorted, which all threads read (weighted/cpu/light_arcs.h).
template <class T>
int64_t sorted_arcs_bytes(int64_t slots) {
  return 2 * (bytes_of<int32_t>(slots) + bytes_of<T>(slots) + bytes_of<int64_t>(slots));
}

// Of the tight arcs of a search (weighted/cpu/tight_arcs.h).
inline int64_t tight_arcs_bytes(const PathSizes& graph) {
  return bytes_of<int64_t>(graph.nodes) +
         graph.slots * (bytes_of<int32_t>(1) + bytes_of<uint64_t>(1) + (graph.per_slot ? bytes_of<int64_t>(1) : 0));
}

// Of a thread (weighted/cpu/relax_search.h). Of the lists of arcs that are nearly tight, only a part is ever filled.
template <class T>
Workspace relax_on_cpu(const WeightedSizes& sizes) {
  const int64_t n = sizes.graph.nodes;
  // Bounds and exact distances, with times of changes, lanes and lists (relax.h, relax_bounds.h).
  const int64_t bounds = kRelaxBatch * bytes_of<RelaxBound>(1) + bytes_of<RelaxBound>(1) + bytes_of<uint32_t>(2) +
                         bytes_of<uint64_t>(1) + bytes_of<uint8_t>(1) + bytes_of<int32_t>(2);
  const int64_t exact = kRelaxBatch * bytes_of<T>(1) + bytes_of<int64_t>(1) + bytes_of<double>(1) +
                        bytes_of<int32_t>(1) + bytes_of<uint32_t>(2);
  Workspace space = {sorted_arcs_bytes<T>(sizes.graph.slots),
                     {n * (bounds + exact), bytes_of<T>(2 * sizes.graph.slots)}};
  if (!sizes.paths) return space;
  // An order of the vertices in all lanes (lane_order.h), lanes within a limit, and path counts (lane_paths.h).
  const int64_t order = bytes_of<uint64_t>(3) + bytes_of<double>(1) + bytes_of<int32_t>(1) +
                        kEntriesPerNode * (bytes_of<int32_t>(1) + bytes_of<uint64_t>(1));
  const int64_t counts = bytes_of<uint64_t>(1) + (sizes.graph.several() ? 2 : 1) * kLaneRow;
  space.each.push_back(n * (order + counts));
  space.each.push_back(2 * tight_arcs_bytes(sizes.graph));  // by either end
  return space;
}

// Of a thread, on the last rung of the ladder (weighted/cpu/dijkstra.h, dag.h).
template <class T>
Workspace dijkstra_on_cpu(const WeightedSizes& sizes) {
  const int64_t n = sizes.graph.nodes, m = sizes.graph.slots;
  Workspace space = {
      sorted_arcs_bytes<T>(m),
      {bytes_of<T>(n) + bytes_of<int32_t>(2 * n), bytes_of<QueuedVertex<T>>(m), bytes_of<BucketEntry<T>>(m)}};
  if (!sizes.paths) return space;
  space.each.push_back(3 * n * kWideCount);  // a path count, and what a vertex passes up, as two numbers
  space.each.push_back(bytes_of<CandidateArc<T>>(m) + m * kPlaceArc);
  if (sizes.by_depth) space.each.push_back(bytes_of<double>(n));
  if (sizes.graph.per_slot) space.each.push_back(bytes_of<int64_t>(2 * m));
  return space;
}

// --- CUDA

namespace cuda {

template <class T>
struct alignas(2 * sizeof(T)) Arc {
  int32_t vertex;  // the other end
  T weight;
};

struct LaneArc {
  int32_t vertex;  // the other end
  unsigned lanes;  // lanes in which the arc is tight
};

constexpr int kRelaxLanes = kRelaxLanesOnCuda;
constexpr int kMostLaunches = 64;  // of the relax engine, before the host checks for remaining work
constexpr int64_t kSlabs = 64;     // of the vertices of a batch, whose distances are added up in parallel

// Of a batch of the relax engine (weighted/cuda/relax.cuh, relax_distances.cuh).
template <class T>
Workspace relax_workspace(const WeightedSizes& sizes, int64_t chunks) {
  const PathSizes& graph = sizes.graph;
  const int64_t n = graph.nodes, m = graph.slots, rows = bytes_of<double>(kRelaxLanes);
  Workspace space = {graph.sides() * tasks_bytes(n, chunks),
                     {bytes_of<T>(n * kRelaxLanes), bytes_of<T>(2 * n), bytes_of<int>(kMostLaunches + 1)}};
  if (!sizes.paths) {
    space.each.push_back(kSlabs * 4 * rows);
    return space;
  }
  const int64_t arcs = 2 * (bytes_of<LaneArc>(m) + bytes_of<int32_t>(n + chunks));
  const int64_t hubs = chunks * (rows + bytes_of<unsigned>(1) + bytes_of<int>(1));
  space.each.insert(space.each.end(), {arcs, bytes_of<unsigned>(4 * n), n * rows, hubs,
                                       bytes_of<double>(graph.scores()), 2 * rows, bytes_of<int>(1)});
  if (graph.per_slot) space.each.push_back(bytes_of<int32_t>(m));
  if (graph.per_slot || graph.several()) space.each.push_back(n * rows);
  return space;
}

// The lists of each vertex that a block of the dijkstra engine has (weighted/cuda/dijkstra.cuh), with path counts of
// so many bytes.
template <class T>
int64_t dijkstra_lists(int64_t nodes, int64_t count, bool several) {
  return bytes_of<T>(nodes) + bytes_of<int32_t>(4 * nodes) + bytes_of<int32_t>(nodes + 2) +
         (several ? 2 : 1) * nodes * count;
}

// Of a block of the dijkstra engine, with so many scores within a limit; 0: distances only.
template <class T>
Workspace dijkstra_workspace(const PathSizes& graph, int64_t scores) {
  const int64_t n = graph.nodes;
  const int64_t fixed = graph.sides() * (bytes_of<Arc<T>>(graph.slots) + bytes_of<Span>(n)) + bytes_of<T>(n) +
                        bytes_of<double>(1) + bytes_of<QueueFlags>(1);
  if (scores == 0) return {fixed, {dijkstra_lists<T>(n, 0, false)}};
  return {fixed, {dijkstra_lists<T>(n, bytes_of<double>(1), graph.several()), bytes_of<double>(graph.limits * scores)}};
}

}  // namespace cuda

}  // namespace torchcent
