// The arguments that the path-counting operators pass to the engines on CUDA. All pointers are device pointers unless
// noted.
#pragma once

#include <cstdint>
#include <limits>

#include "core/cuda/run.cuh"
#include "paths/search.h"
#include "paths/betweenness.h"
#include "paths/workspace.h"

namespace torchcent::cuda {

struct Graph {
  int64_t n, m;
  Arcs out;                                               // successors
  Arcs in;                                                // predecessors; the same pointers as out in a symmetric graph
  const double* target_weight;                            // b [n]
  const double* through_weight;                           // h [n]
  const double* copies;                                   // twins that each vertex stands for [n]; null: one
  int64_t deepest = std::numeric_limits<int64_t>::max();  // levels beyond it are not searched
  Measure measure = Measure::betweenness;                 // for the visitors by depth
  // Each limit has scores of its own, over the pairs within it; null: there are none. On the host, ascending; in hops,
  // of which the largest is `deepest`, or of a weighted graph in WeightedGraph.
  const int64_t* limits = nullptr;
  int64_t num_limits = 1;

  bool symmetric() const { return out.col == in.col; }
  bool several() const { return num_limits > 1; }
  PathSizes sizes(bool per_slot) const { return {n, m, symmetric(), per_slot, num_limits}; }
};

struct Sources {
  int64_t count;
  const int64_t* vertex;  // [count]
  const double* weight;   // a [count]
  const double* own;      // c [count]
};

// An engine is
//   template <class Visitor> Rung lanes_run(const Graph&, const Sources&, double* scores, Rung first, const Run&);
//   template <class Visitor> Rung queue_run(const Graph&, const Sources&, double* scores, Rung first, const Run&);
// where Visitor is one of those of paths/betweenness.h (namespace torchcent::cuda). It adds the contributions of the
// sources to scores ([limits, n], or [limits, m] by slot of `out`), starts the ladder at rung `first`, and returns the
// highest rung that was needed. The lanes engine passes sources that overflow float64 to queue_run with Rung::wide.

}  // namespace torchcent::cuda
