// What the loops over batches (distances.cpp) know of a bit-parallel search.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"
#include "torchcent/csr.h"

namespace torchcent {

struct DistanceProblem {
  Csr out;                // successors
  Csr in;                 // predecessors
  const int64_t* cancel;  // read at every level; non-zero: stop
};

// What a search gives: sums per vertex, sums per source, or a row of distances per source.
enum class DistanceOutput { vertex_sums, source_sums, rows_int8, rows_int16, rows_int32 };

struct DistanceBatch {
  int64_t count;           // sources, at most the lanes of the search
  const int64_t* sources;  // [count]
  const int32_t* leaves;   // [count] neighbours folded onto each source; vertex sums only
  double* sums;            // [n, 4] or [count, 4], added to: d, 1/d, 1/(d + 1), number of pairs
  int32_t* eccentricity;   // [n] or [count], largest so far
  int64_t* levels;         // [n + 1] pairs by distance, added to; or none; vertex sums only
  void* rows;              // [count, n] distances, -1 where there is no path
  const int64_t* place;    // [count] the row that each source gets; or none: as they come
  const double* factor;    // [factors] what a pair counts at each distance, farther ones nothing; or none: all 1
  int64_t factors;

  double weight(int64_t depth) const { return factor == nullptr ? 1 : depth < factors ? factor[depth] : 0; }
  bool ends_at(int64_t depth) const { return factor != nullptr && depth + 1 >= factors; }  // no level after it counts
};

enum class DistanceStatus { done, too_deep, cancelled };

// A search with its workspace; one per thread, run batch after batch.
class DistanceSearch {
 public:
  virtual ~DistanceSearch() = default;
  virtual DistanceStatus run(const DistanceBatch& batch) = 0;
};

// One per instruction set, all compiled from kernels.h. Lanes: 64 or 512.
namespace portable {
std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem&, DistanceOutput, int64_t lanes);
}
#if defined(__x86_64__)
namespace avx2 {
std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem&, DistanceOutput, int64_t lanes);
}
namespace avx512 {
std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem&, DistanceOutput, int64_t lanes);
}
#endif

}  // namespace torchcent
