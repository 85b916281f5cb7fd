// The interface of a kernel for weighted graphs, for the loops over batches (weighted/cpu/weighted.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "paths/search.h"

namespace torchcent {

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

struct WeightedDistanceBatch {
  int64_t count;           // sources
  const int64_t* sources;  // [count]
  double* sums;            // [count, 3] d, 1/d, 1 over the vertices at a distance > 0; optional
  double* farthest;        // [count]
  void* rows;              // [count, n] distances; unreached vertices are -1 for int32, inf for float64; optional
};

class WeightedDistances {
 public:
  virtual ~WeightedDistances() = default;
  virtual bool run(const WeightedDistanceBatch& batch) = 0;  // false if cancelled
};

// One per instruction set, all compiled from core/cpu/kernels.h.
#define TORCHCENT_WEIGHTED_KERNELS(T)                                                   \
  std::unique_ptr<Search> make_search(const WeightedProblem<T>&, WeightedEngine, Rung); \
  std::unique_ptr<WeightedDistances> make_distances(const WeightedProblem<T>&, WeightedEngine);

namespace portable {
TORCHCENT_WEIGHTED_KERNELS(int32_t)
TORCHCENT_WEIGHTED_KERNELS(double)
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
TORCHCENT_WEIGHTED_KERNELS(int32_t)
TORCHCENT_WEIGHTED_KERNELS(double)
}  // namespace avx2
namespace avx512 {
TORCHCENT_WEIGHTED_KERNELS(int32_t)
TORCHCENT_WEIGHTED_KERNELS(double)
}  // namespace avx512
#endif
#undef TORCHCENT_WEIGHTED_KERNELS

}  // namespace torchcent
