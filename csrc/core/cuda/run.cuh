// What an operator on CUDA passes to its kernels: arcs, memory and the device. All pointers are device pointers unless
// noted.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#define TORCHCENT_ISA cuda
#include "core/control.h"
#include "core/cuda/threads.cuh"
#include "core/cpu/simd_level.h"

namespace torchcent::cuda {

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

}  // namespace torchcent::cuda
