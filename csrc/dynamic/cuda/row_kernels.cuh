// Kernels that search and repair rows, a block for each. What includes this declares shared_row, memory that the
// threads of a block share.
#pragma once

#include <cstdint>

#include "dynamic/cuda/block_repair.cuh"

namespace torchcent::cuda {

// Lists the rows that a batch touches: those of which much may change from the front, count[0] of them, the others from
// the back, count[1].
template <class Hops, class Cell>
__global__ void __launch_bounds__(kBlock)
    touched_rows(RowProblem<Hops, Cell> problem, int64_t k, int32_t* list, unsigned* count) {
  const int64_t i = thread();
  if (i >= k) return;
  constexpr Hops far = RowProblem<Hops, Cell>::far();
  const Hops* const row = problem.distance + i * problem.n;
  bool is_touched = false, is_heavy = false;
  for (int64_t j = 0; j < problem.num_removed && !is_heavy; ++j) {
    const Hops tail = row[problem.removed[j]], head = row[problem.removed[problem.num_removed + j]];
    if (tail == far || head != tail + 1) continue;
    is_touched = true;
    is_heavy = tail == 0;
  }
  for (int64_t j = 0; j < problem.num_inserted && !is_heavy; ++j) {
    const Hops tail = row[problem.inserted[j]], head = row[problem.inserted[problem.num_inserted + j]];
    if (tail == far || head <= tail) continue;
    is_touched = true;
    is_heavy = tail == 0 || (tail == 1 && head > 2);
  }
  problem.outcome[i] = kUntouched;
  if (!is_touched) return;
  const auto place = static_cast<int64_t>(atomicAdd(count + (is_heavy ? 0 : 1), 1u));
  list[is_heavy ? place : k - 1 - place] = static_cast<int32_t>(i);
}

// Calls work(i) for rows [begin, end), in all threads of a block; next: shared by the blocks.
template <class Work>
__device__ void each_row(BlockCounters& counters, unsigned* next, int64_t begin, int64_t end, Work work) {
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) counters.row = atomicAdd(next, 1u);
    __syncthreads();
    const int64_t i = begin + counters.row;
    if (i >= end) return;
    work(i);
  }
}

template <class Hops, class Cell>
__global__ void __launch_bounds__(kMostThreads)
    repair_rows(RowProblem<Hops, Cell> problem, const int32_t* list, int64_t begin, int64_t end, unsigned* next) {
  __shared__ BlockCounters counters;
  BlockRepair<Hops, Cell> own(problem, counters, reinterpret_cast<char*>(shared_row));
  each_row(counters, next, begin, end, [&](int64_t i) {
    own.take(list[i]);
    const int8_t outcome = own.repair();
    if (threadIdx.x == 0) problem.outcome[list[i]] = outcome;
  });
}

// Without rows to keep, those in scratch, one of each block, are used.
template <class Hops, class Cell>
__global__ void __launch_bounds__(kMostThreads) compute_rows(RowProblem<Hops, Cell> problem, int64_t begin, int64_t end,
                                                             unsigned* next, Hops* distance, Cell* cells, int sign) {
  __shared__ BlockCounters counters;
  BlockRow<Hops, Cell> own(problem, counters, reinterpret_cast<char*>(shared_row));
  each_row(counters, next, begin, end, [&](int64_t i) {
    if (cells == nullptr) own.take(i);
    else own.take(i, distance + blockIdx.x * problem.n, cells + blockIdx.x * problem.n);
    const int8_t outcome = own.compute(sign);
    if (threadIdx.x == 0) problem.outcome[i] = outcome;
  });
}

}  // namespace torchcent::cuda
