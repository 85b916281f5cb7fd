// The interface of a traversal kernel for the loop over batches (paths/cpu/path_batches.h).
#pragma once

#include <cstdint>
#include <memory>

#include "core/codes.h"
#include "core/cpu/simd_level.h"
#include "torchcent/csr.h"

namespace torchcent {

// Sizes of what kernels of the CPU keep (paths/workspace.h), in bytes: path counts of a vertex in all lanes, the widest
// single count, and an arc between two places of a queue.
constexpr int64_t kLaneRow = 256, kWideCount = 16, kPlaceArc = 8;
// Capacity of the lists of levels of the lanes and relax engines, as a multiple of the number of vertices. A batch
// whose lanes diverge too much for it is halved.
constexpr int64_t kEntriesPerNode = 14;
// Rows of sums that a mirrored pass has in registers; it keeps all but one for the next level.
constexpr int kMirroredSums = 3;

enum class Status { done, overflow, cancelled };

struct PathProblem {
  Csr out;                          // successors
  Csr in;                           // predecessors
  const double* target_weight;      // b [n]
  const double* through_weight;     // h [n]
  bool through;                     // whether h is nonzero anywhere
  bool plain;                       // b = 1 and h = 0 everywhere
  const int64_t* cancel;            // polled; nonzero: stop
  int64_t team = 1;                 // threads for each search (paths/cpu/team_queue.h)
  const double* copies = nullptr;   // [n] vertices that each one stands for (twins); null: one
  const int64_t* limits = nullptr;  // [num_limits] ascending depths: only targets at most so deep count; null: all do
  int64_t num_limits = 1;           // each has scores of its own
  bool mirrored = false;            // the scores of (s, t) and of (t, s) are added up, and are the same
  Measure measure = Measure::betweenness;
};

struct PathBatch {
  int64_t count;                // sources
  const int64_t* sources;       // [count]
  const double* source_weight;  // a [count]
  const double* own_weight;     // c [count]
  double* scores;               // [num_limits, n] or [num_limits, slots], added to
};

// A kernel with its workspace; one per thread, reused for all its batches.
class Search {
 public:
  virtual ~Search() = default;
  virtual Status run(const PathBatch& batch) = 0;
};

TORCHCENT_LANE_KERNEL(std::unique_ptr<Search> make_lanes(const PathProblem&, Rung))
TORCHCENT_SCALAR_KERNEL(std::unique_ptr<Search> make_queue(const PathProblem&, Rung))

}  // namespace torchcent
