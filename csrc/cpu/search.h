// What the loop over batches (path_dependency.cpp) knows of a traversal kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/simd_level.h"
#include "csr.h"

namespace torchcent {

// linear: betweenness in which a path from s to t counts for v with d(s, v) / d(s, t) (Geisberger et al. 2008).
enum class Measure : int64_t { betweenness = 0, edge_betweenness = 1, stress = 2, linear = 3 };
enum class Engine : int64_t { lanes = 0, queue = 1 };
// The ladder of number types for path counts: each rung is tried when the one before overflows.
enum class Rung : int64_t { float32 = 0, float64 = 1, wide = 2 };
enum class Status { done, overflow, cancelled };

struct PathProblem {
  Csr out;                       // successors
  Csr in;                        // predecessors
  const double* target_weight;   // b [n]
  const double* through_weight;  // h [n]
  bool through;                  // is h anywhere but 0?
  bool plain;                    // b = 1 and h = 0 everywhere
  const int64_t* cancel;         // read now and then; non-zero: stop
  bool linear;                   // Measure::linear: targets count b / d(s, t), and scores d(s, v) times
};

struct PathBatch {
  int64_t count;                // sources
  const int64_t* sources;       // [count]
  const double* source_weight;  // a [count]
  const double* own_weight;     // c [count]
  double* scores;               // [n] or [slots], added to
};

// A kernel with its workspace; one per thread, run batch after batch.
class Search {
 public:
  virtual ~Search() = default;
  virtual Status run(const PathBatch& batch) = 0;
};

// One per instruction set, all compiled from kernels.h.
namespace portable {
std::unique_ptr<Search> make_search(const PathProblem&, Measure, Engine, Rung);
}
#if defined(__x86_64__)
namespace avx2 {
std::unique_ptr<Search> make_search(const PathProblem&, Measure, Engine, Rung);
}
namespace avx512 {
std::unique_ptr<Search> make_search(const PathProblem&, Measure, Engine, Rung);
}
#endif

}  // namespace torchcent
