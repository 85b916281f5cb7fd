// Bytes that searches for random shortest paths allocate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/workspace.h"
#include "samples/draws.h"
#include "weighted/workspace.h"

namespace torchcent {

// --- CPU, of a thread at most.

// By hops (samples/cpu/sample_hops.h): the queues of both sides, levels and places; a vertex is on shortest paths of
// one side, with its number, its path count and its first arc.
inline Workspace hop_samples_on_cpu(int64_t nodes, int64_t slots) {
  const int64_t on_path = bytes_of<int32_t>(1) + bytes_of<PathCount>(1) + bytes_of<int64_t>(1);
  return {0, {bytes_of<int32_t>(4 * nodes), nodes * on_path, bytes_of<int32_t>(slots)}};
}

// By weights (samples/cpu/sample_weights.h): of both sides a table, two lists and a queue. T: of a length.
template <class T>
Workspace weight_samples_on_cpu(int64_t nodes, int64_t slots) {
  const int64_t vertex = bytes_of<PathCount>(1) + bytes_of<int64_t>(1), lists = bytes_of<int32_t>(2);
  return {0, {2 * nodes * (vertex + lists), 2 * (bytes_of<QueuedVertex<T>>(slots) + bytes_of<BucketEntry<T>>(slots))}};
}

// --- CUDA

namespace cuda {

constexpr int64_t kWarpPerVertex = 8;  // mean degree from which on a vertex is processed by a warp

// Four bits per vertex (NarrowStates of samples/cuda/sample_states.cuh), else an int32.
inline bool narrow_states(int64_t nodes, int64_t slots, bool symmetric) {
  return symmetric && slots < kWarpPerVertex * nodes;
}
constexpr int64_t narrow_words(int64_t nodes) { return nodes / 8 + 1; }
constexpr int64_t list_size(int64_t nodes) { return nodes + 2; }  // of both sides

// Of a block by hops (samples/cuda/sample.cu).
inline Workspace hop_samples_workspace(int64_t nodes, int64_t slots, bool symmetric) {
  const bool narrow = narrow_states(nodes, slots, symmetric);
  const int64_t star = 4 * bytes_of<int32_t>(1), list = bytes_of<int32_t>(list_size(nodes));
  return {
      (symmetric ? 1 : 2) * star * nodes,
      {bytes_of<int32_t>(narrow ? narrow_words(nodes) : nodes), bytes_of<double>(nodes), list, narrow ? 2 * list : 0}};
}

// Of a block by weights: two searches of the dijkstra engine.
template <class T>
Workspace weight_samples_workspace(int64_t nodes, int64_t slots, bool symmetric) {
  Workspace space = dijkstra_workspace<T>({nodes, slots, symmetric, false}, 0);
  space.fixed += bytes_of<T>(nodes) * (symmetric ? 1 : 2);  // the heaviest arcs, and the lightest ones backwards
  space.each = {2 * dijkstra_lists<T>(nodes, bytes_of<double>(1), false)};
  return space;
}

}  // namespace cuda

}  // namespace torchcent
