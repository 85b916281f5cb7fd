// The interface of a kernel for small graphs, for the loop over graphs (tiny/cpu/tiny.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"

namespace torchcent {

// Columns of `distances`, per vertex: sums over the sources that reach it (d, 1/d, 1, the largest d), and, as a source,
// the number of vertices that it reaches and the largest distance.
constexpr int kFarness = 0, kHarmonic = 1, kReach = 2, kFarthest = 3, kReachOut = 4, kFarthestOut = 5, kColumns = 6;

// A batch of graphs, and its results; a null pointer means that a result is not requested.
struct TinyProblem {
  const int64_t* rowptr;
  const int32_t* col;
  const double* weight;  // [slots]; null: hops
  const int64_t* ptr;    // first vertex of each graph
  const double* source;  // [n] weight of the paths that begin there, 0 for none; null: 1 everywhere
  const double* target;  // [n] weight of the paths that end there
  bool endpoints;        // paths also count at their ends (betweenness only)
  double tie_tolerance;
  double* betweenness;             // [n]
  double* stress;                  // [n]
  double* edges;                   // [slots]
  double* distances;               // [n, kColumns]
  int64_t* levels;                 // [n] pairs at distance d of graph g in entry ptr[g] + d; hops only
  int64_t most_nodes, most_slots;  // of one graph
  const int64_t* cancel;

  double source_weight(int64_t v) const { return source == nullptr ? 1 : source[v]; }
  double target_weight(int64_t v) const { return target == nullptr ? 1 : target[v]; }
  bool paths() const { return betweenness != nullptr || stress != nullptr || edges != nullptr; }
};

enum class TinyStatus { done, overflow, cancelled };

// One per thread, reused for all its graphs. Results are added to the existing values, which must be zero initially.
class TinySearch {
 public:
  virtual ~TinySearch() = default;
  virtual TinyStatus run(int64_t graph) = 0;
};

TORCHCENT_LANE_KERNEL(std::unique_ptr<TinySearch> make_tiny_hops(const TinyProblem&))
TORCHCENT_SCALAR_KERNEL(std::unique_ptr<TinySearch> make_tiny_weights(const TinyProblem&))

}  // namespace torchcent
