// The interface of a bit-parallel search for the loops over batches (distances/cpu/distances.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"
#include "torchcent/csr.h"

namespace torchcent {

struct DistanceProblem {
  Csr out;                // successors
  Csr in;                 // predecessors
  const int64_t* cancel;  // read at every level; nonzero: stop
};

// The output of a search: sums per vertex, sums per source, or a row of distances per source.
enum class DistanceOutput { vertex_sums, source_sums, rows_int8, rows_int16, rows_int32 };

struct DistanceBatch {
  int64_t count;           // sources, at most the lanes of the search
  const int64_t* sources;  // [count]
  const int32_t* leaves;   // [count] leaves folded onto each source; vertex sums only
  double* sums;            // [n, cutoffs, 4] or [count, cutoffs, 4], added to: d, 1/d, 1/(d + 1), number of pairs
  int32_t* eccentricity;   // [n] or [count], largest so far
  int64_t* levels;         // [n + 1] pairs by distance, added to; optional; vertex sums only
  void* rows;              // [count, n] distances, -1 if there is no path
  const int64_t* place;    // [count] the output row of each source; if null, in order
  const int64_t* limits;   // [cutoffs] ascending: the largest distance that counts; null: all do. Without leaves only
  int64_t cutoffs;         // sums of each vertex or source
};

enum class DistanceStatus { done, too_deep, cancelled };

// A search with its workspace; one per thread, reused for all its batches.
class DistanceSearch {
 public:
  virtual ~DistanceSearch() = default;
  virtual DistanceStatus run(const DistanceBatch& batch) = 0;
};

// Lanes: 64 or 512.
TORCHCENT_LANE_KERNEL(std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem&, DistanceOutput,
                                                                           int64_t lanes))

}  // namespace torchcent
