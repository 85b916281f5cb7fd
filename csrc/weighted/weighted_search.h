// The interface of a kernel for weighted graphs, for the loops over batches (weighted/cpu/weighted.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "paths/search.h"

namespace torchcent {

// What the dijkstra engine lists on the CPU: queued vertices, those of the current bucket, and arcs that may be tight.
template <class T>
struct QueuedVertex {
  T key;
  int32_t vertex, next;
};
template <class T>
struct BucketEntry {
  T key;
  int32_t vertex;
};
template <class T>
struct CandidateArc {
  int32_t tail, head;  // a place and a vertex
  T length;
};

using RelaxBound = uint16_t;  // of a distance, in the relax engine on the CPU

// Arcs by one of their ends, lightest first; T is int32_t or double.
template <class T>
struct WeightedArcs {
  const int64_t* ptr = nullptr;     // [n + 1]
  const int32_t* vertex = nullptr;  // the other end
  const T* weight = nullptr;
  const int64_t* slot = nullptr;  // index of the arc's score

  int64_t degree(int64_t v) const { return ptr[v + 1] - ptr[v]; }
};

template <class T>
struct WeightedProblem {
  PathProblem paths;
  WeightedArcs<T> out, in;
  T lightest, heaviest;
  double tie_tolerance;
  const T* limits = nullptr;  // [num_limits] ascending distances: only targets within them count; null: all do
  int64_t num_limits = 1;     // each has scores of its own

  int64_t num_nodes() const { return paths.out.num_nodes; }
  int64_t num_arcs() const { return out.ptr[num_nodes()]; }
};

// What is computed of the distances from some sources, or of those within each limit of the problem: one of sums of the
// sources, sums of the vertices, and rows.
struct WeightedDistanceBatch {
  int64_t count;           // sources
  const int64_t* sources;  // [count]
  double* sums;            // [count, limits, 3] d, 1/d, 1 over the vertices at a distance > 0
  double* farthest;        // [count, limits] the largest d
  double* vertex_sums;     // [n, limits, 3] the same over the sources, added to what is there
  double* most;            // [n, limits] the largest d, if it is larger than what is there
  void* rows;              // [count, n] distances; vertices beyond the last limit are -1 for int32, inf for float64
};

class WeightedDistances {
 public:
  virtual ~WeightedDistances() = default;
  virtual bool run(const WeightedDistanceBatch& batch) = 0;  // false if cancelled
};

TORCHCENT_LANE_KERNEL(template <class T> std::unique_ptr<Search> make_relax(const WeightedProblem<T>&, Rung))
TORCHCENT_LANE_KERNEL(
    template <class T> std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<T>&))
TORCHCENT_SCALAR_KERNEL(template <class T> std::unique_ptr<Search> make_dijkstra(const WeightedProblem<T>&, Rung))
TORCHCENT_SCALAR_KERNEL(
    template <class T> std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<T>&))

}  // namespace torchcent
