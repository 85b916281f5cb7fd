// Runs the text of the tiny engine's CUDA kernel on the CPU, a thread for a thread, for test_tiny_cuda_text.py:
//   tiny_text WEIGHTED ENDPOINTS TOLERANCE WARPS BLOCKS SHARED < graphs > results
// Numbers on stdin: graphs, ptr, slots, rowptr, col, weight, source and target (0/1 per vertex).
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __align__(bytes)
#define TORCHCENT_ISA cuda

struct Index {
  unsigned x = 0;
};
thread_local Index threadIdx, blockIdx;
Index blockDim, gridDim;
std::unique_ptr<std::barrier<>> all_threads;
void __syncthreads() { all_threads->arrive_and_wait(); }
unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

namespace torchcent::cuda {
alignas(64) char shared[1 << 24];
}

#include "tiny/cuda/tiny_kernel.cuh"

using namespace torchcent::cuda;

template <class T>
std::vector<T> numbers(size_t count) {
  std::vector<T> found(count);
  for (T& x : found) std::cin >> x;
  return found;
}

int main(int, char** arg) {
  const bool weighted = std::atoi(arg[1]) != 0;
  int64_t graphs, slots;
  std::cin >> graphs;
  const auto ptr = numbers<int64_t>(graphs + 1);
  std::cin >> slots;
  const int64_t n = ptr.back();
  const auto rowptr = numbers<int64_t>(n + 1);
  const auto col = numbers<int32_t>(slots);
  const auto weight = numbers<double>(slots), source = numbers<double>(n), target = numbers<double>(n);
  std::vector<int64_t> order(graphs), levels(n);
  for (int64_t g = 0; g < graphs; ++g) order[g] = graphs - 1 - g;
  std::vector<double> betweenness(n), stress(n), edges(slots), distances(6 * n);
  std::vector<int8_t> overflow(graphs);
  TinyBatch batch = {};
  batch.rowptr = rowptr.data();
  batch.col = col.data();
  batch.weight = weighted ? weight.data() : nullptr;
  batch.ptr = ptr.data();
  batch.graphs = order.data();
  batch.count = graphs;
  batch.source = source.data();
  batch.target = target.data();
  batch.endpoints = std::atoi(arg[2]) != 0;
  batch.tie_tolerance = std::atof(arg[3]);
  batch.betweenness = betweenness.data();
  batch.stress = stress.data();
  batch.edges = edges.data();
  batch.distances = distances.data();
  batch.levels = levels.data();
  batch.overflow = overflow.data();
  for (int64_t g = 0; g < graphs; ++g) batch.nodes = std::max(batch.nodes, ptr[g + 1] - ptr[g]);
  const int warps = std::atoi(arg[4]);
  blockDim.x = static_cast<unsigned>(warps) * kWarp;
  gridDim.x = static_cast<unsigned>(std::atoi(arg[5]));
  std::vector<double> memory;  // of doubles, for their alignment
  if (std::atoi(arg[6]) == 0) {
    memory.resize(gridDim.x * warps * TinyLayout(batch.nodes, weighted, batch.paths(), batch.own_gain()).bytes / 8 + 1);
    batch.memory = reinterpret_cast<char*>(memory.data());
  }
  all_threads = std::make_unique<std::barrier<>>(blockDim.x);
  for (unsigned block = 0; block < gridDim.x; ++block) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < blockDim.x; ++t)
      threads.emplace_back([=] {
        threadIdx.x = t;
        blockIdx.x = block;
        if (weighted) tiny_kernel<double>(batch);
        else tiny_kernel<uint16_t>(batch);
      });
    for (std::thread& thread : threads) thread.join();
  }
  const auto print = [](const auto& values) {
    for (const auto value : values) std::printf("%.17g ", static_cast<double>(value));
    std::printf("\n");
  };
  print(betweenness);
  print(stress);
  print(edges);
  print(distances);
  print(levels);
  print(overflow);
}
