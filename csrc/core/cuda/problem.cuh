// The arguments that paths/cuda/path_dependency.cu passes to the engines on CUDA. All pointers are device pointers
// unless noted.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#define TORCHCENT_ISA cuda
#include "core/control.h"
#include "paths/search.h"
#include "paths/betweenness.h"

namespace torchcent::cuda {

struct Arcs {
  const int64_t* rowptr;  // [n + 1]
  const int32_t* col;     // [m]
};

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
};

struct Sources {
  int64_t count;
  const int64_t* vertex;  // [count]
  const double* weight;   // a [count]
  const double* own;      // c [count]
};

// Memory from PyTorch's allocator, released at the end of the call (stream-ordered: no synchronisation).
class Scratch {
 public:
  virtual ~Scratch() = default;
  virtual void* bytes(int64_t count) = 0;  // uninitialised, 512-byte aligned
  virtual int64_t mark() const = 0;
  virtual void release(int64_t mark) = 0;  // releases everything allocated since the mark
  template <class T>
  T* array(int64_t count) {
    return static_cast<T*>(bytes(count * static_cast<int64_t>(sizeof(T))));
  }
};

struct Run {
  cudaStream_t stream;
  Scratch& scratch;
  int processors;    // multiprocessors of the device
  Control& control;  // on the host; `bytes` limits the total scratch memory
  Launch launch;

  bool cancelled() const { return torchcent::cancelled(&control.cancel); }  // checked between batches: return early
};

inline void finish(const Run& run, int64_t sources) { torchcent::finish(run.control, sources); }

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}
// Copies to the host what the work of the stream has written. A copy into pageable memory would wait for that work,
// too, but within the driver, where the calls of other threads, for example copies to other devices, would wait for it.
inline void to_host(void* to, const void* from, size_t bytes, cudaStream_t stream, const char* what) {
  check(cudaStreamSynchronize(stream), what);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copy");
  check(cudaStreamSynchronize(stream), "copy");
}
// To be called after every launch.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

// An engine is
//   template <class Visitor> Rung lanes_run(const Graph&, const Sources&, double* scores, Rung first, const Run&);
//   template <class Visitor> Rung queue_run(const Graph&, const Sources&, double* scores, Rung first, const Run&);
// where Visitor is one of those of paths/betweenness.h (namespace torchcent::cuda). It adds the contributions of the
// sources to scores ([limits, n], or [limits, m] by slot of `out`), starts the ladder at rung `first`, and returns the
// highest rung that was needed. The lanes engine passes sources that overflow float64 to queue_run with Rung::wide.

}  // namespace torchcent::cuda
