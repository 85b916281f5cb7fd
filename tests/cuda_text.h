// What lets g++ compile the text of CUDA kernels, which then run on the CPU: blocks one after the other, and the
// threads of a block by turns, each until it waits for others. Included first.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

struct Index {
  unsigned x = 0, y = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_text {

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(1 << 16);
  bool has_ended = false;
};
inline std::vector<Thread> threads;
inline ucontext_t scheduler;
inline std::function<void()> work;
inline std::vector<unsigned long long> shuffled;

class Barrier {
 public:
  void wait(unsigned size) {
    const unsigned own = generation_;
    if (++waiting_ == size) waiting_ = 0, ++generation_;
    while (generation_ == own) swapcontext(&threads[threadIdx.x].context, &scheduler);
  }

 private:
  unsigned waiting_ = 0, generation_ = 0;
};
inline Barrier of_block;
inline std::vector<Barrier> of_warp;

inline void run_thread() {
  work();
  threads[threadIdx.x].has_ended = true;
}

}  // namespace cuda_text

inline void __syncthreads() { cuda_text::of_block.wait(blockDim.x); }
inline void __syncwarp() { cuda_text::of_warp[threadIdx.x / 32].wait(32); }
template <class T>
T of_lane(T value, unsigned lane) {
  cuda_text::shuffled[threadIdx.x] = static_cast<unsigned long long>(value);
  __syncwarp();
  const T other = static_cast<T>(cuda_text::shuffled[threadIdx.x / 32 * 32 + lane]);
  __syncwarp();
  return other;
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return of_lane(value, static_cast<unsigned>(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return of_lane(value, (threadIdx.x & 31) ^ static_cast<unsigned>(mask));
}
template <class T>
T __shfl_up_sync(unsigned, T value, int offset) {
  const unsigned lane = threadIdx.x & 31;
  return of_lane(value, lane < static_cast<unsigned>(offset) ? lane : lane - static_cast<unsigned>(offset));
}
inline bool __any_sync(unsigned, bool holds) {
  cuda_text::shuffled[threadIdx.x] = holds;
  __syncwarp();
  bool any = false;
  for (unsigned lane = 0; lane < 32; ++lane) any |= cuda_text::shuffled[threadIdx.x / 32 * 32 + lane] != 0;
  __syncwarp();
  return any;
}
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
inline unsigned atomicOr(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at |= value;
  return before;
}
inline int atomicMin(int* at, int value) {
  const int before = *at;
  if (value < before) *at = value;
  return before;
}

// The blocks of a grid, one after the other.
inline void launch(int64_t x, int64_t y, unsigned threads_of_block, const std::function<void()>& kernel) {
  using namespace cuda_text;
  gridDim = {static_cast<unsigned>(x), static_cast<unsigned>(y)};
  blockDim.x = threads_of_block;
  work = kernel;
  shuffled.resize(threads_of_block);
  threads.resize(threads_of_block);
  for (unsigned block = 0; block < x * y; ++block) {
    blockIdx = {static_cast<unsigned>(block % x), static_cast<unsigned>(block / x)};
    of_block = {};
    of_warp.assign(threads_of_block / 32, {});
    for (Thread& thread : threads) {
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = &scheduler;
      thread.has_ended = false;
      makecontext(&thread.context, run_thread, 0);
    }
    for (unsigned left = threads_of_block; left > 0;)
      for (unsigned t = 0; t < threads_of_block; ++t) {
        if (threads[t].has_ended) continue;
        threadIdx.x = t;
        swapcontext(&scheduler, &threads[t].context);
        if (threads[t].has_ended) --left;
      }
  }
}
