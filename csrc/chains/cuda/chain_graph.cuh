// What searches over chains need besides the result of the operator `chains`, made on the device.
#pragma once

#include "chains/cuda/chain_ends.cuh"
#include "chains/finish.h"
#include "core/cuda/threads.cuh"

namespace torchcent::cuda {

// The result of the operator `chains` with loops.
template <class T>
struct Contraction {
  ChainGraph<T> graph;
  int64_t slots;  // of the contracted graph: two per chain
  const int64_t* rowptr;
  const int32_t* head;
  const int64_t *arc, *vertex, *inner;
};

// A thread per slot: its length, and where each chain has its slots.
template <class T>
__global__ void chain_arcs_kernel(Contraction<T> given, T* length, uint32_t* slot) {
  if (thread() >= given.slots) return;
  const int64_t arc = given.arc[thread()];
  length[thread()] = given.graph.length(arc / 2);
  slot[arc] = static_cast<uint32_t>(thread());
}

template <class T>
__global__ void kept_kernel(Contraction<T> given, const double* target_weight, double* target, int32_t* where,
                            int32_t* before) {
  const ChainGraph<T>& graph = given.graph;
  if (thread() > graph.kept) return;
  const int32_t v = static_cast<int32_t>(thread());
  int64_t low = 0, high = graph.chains;  // those with inner vertices come first, in the order of their first ends
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const bool is_before = graph.count(middle) > 0 && graph.ends[2 * middle] < v;
    low = is_before ? middle + 1 : low;
    high = is_before ? high : middle;
  }
  before[v] = static_cast<int32_t>(low);
  if (v == graph.kept) return;
  where[given.vertex[v]] = v;
  target[v] = target_weight[given.vertex[v]];
}

template <class T>
__global__ void inner_kernel(Contraction<T> given, const double* target_weight, double* target, int32_t* where,
                             int32_t* chain_of) {
  const ChainGraph<T>& graph = given.graph;
  if (thread() >= graph.inner) return;
  const int64_t i = thread();
  chain_of[i] = static_cast<int32_t>(lower_bound(graph.first + 1, 0, graph.with_inner, i + 1));
  where[given.inner[i]] = static_cast<int32_t>(-1 - i);
  target[i] = target_weight[given.inner[i]];
}

// Sums of values of inner vertices, as in ChainWeights.
template <class T>
__global__ void sums_along_kernel(ChainGraph<T> graph, const double* value, double* sum) {
  if (thread() >= graph.with_inner) return;
  const int64_t c = thread();
  double running = 0;
  sum[graph.first[c] + c] = 0;
  for (int64_t i = graph.first[c]; i < graph.first[c + 1]; ++i) sum[i + c + 1] = running += value[i];
}

// values[i] = weight[at[i]]
static __global__ void gather_kernel(const int64_t* at, int64_t count, const double* weight, double* values) {
  if (thread() < count) values[thread()] = weight[at[thread()]];
}

static __global__ void count_up_kernel(int64_t count, int64_t* values) {
  if (thread() < count) values[thread()] = thread();
}

// The chains at each kept vertex that have sources inside; *most: their largest number.
template <class T>
__global__ void chains_at_kernel(Contraction<T> given, const double* sum_source, ChainsAt* at, int32_t* most) {
  const ChainGraph<T>& graph = given.graph;
  if (thread() >= graph.kept) return;
  ChainsAt& here = at[thread()];
  int32_t count = 0;
  for (int64_t j = given.rowptr[thread()]; j < given.rowptr[thread() + 1]; ++j) {
    const int64_t end = given.arc[j], c = end / 2;
    if (c >= graph.with_inner || sum_source[graph.first[c + 1] + c] == 0) continue;
    if (count < kMostAt) here.end[count] = static_cast<uint32_t>(end);
    ++count;
  }
  here.count = min(count, kMostAt);
  atomicMax(most, count);
}

// The units of ChainBooks, by one block: a power of two by which the sum of all values stays below 2^62.
static __global__ void units_kernel(const double* kept, int64_t of_kept, const double* inner, int64_t of_inner,
                                    double* units) {
  __shared__ double part[kBlock];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < of_kept; i += kBlock) sum += kept[i];
  for (int64_t i = threadIdx.x; i < of_inner; i += kBlock) sum += inner[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kBlock; ++i) sum += part[i];
  *units = sum > 0 ? ldexp(1.0, 61 - ilogb(sum)) : 1;
}

// What the sources inside each chain leave by its ends, from the books of the sweeps.
template <class T>
__global__ void balance_kernel(ChainSweeps<T> sweeps) {
  const ChainGraph<T>& graph = sweeps.chains.graph;
  if (thread() >= graph.with_inner) return;
  const int64_t c = thread(), first = graph.first[c], last = graph.first[c + 1];
  const double unit = 1 / *sweeps.units;
  ChainBooks::Whole running = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    running += sweeps.books[i].from_left;
    sweeps.chains.begin[i].out_back += sweeps.inner_source[i] * (unit * (running + sweeps.books[i].tied_left));
  }
  running = 0;
  for (int64_t i = first; i < last; ++i) {
    running += sweeps.books[i].from_right;
    sweeps.chains.begin[i].out_forward += sweeps.inner_source[i] * (unit * (running + sweeps.books[i].tied_right));
  }
}

// Adds the sums of all searches to the scores of vertices or, if slots is not null, to those of slots: a thread per
// chain or kept vertex.
template <class T>
__global__ void finish_chains_kernel(Contraction<T> given, ChainSearches<T> searches, const double* sums,
                                     const int64_t* slots, double* scores) {
  const ChainGraph<T>& graph = given.graph;
  const ChainRow& row = searches.row;
  if (slots == nullptr && thread() < graph.kept) scores[given.vertex[thread()]] += sums[row.score + thread()];
  if (thread() >= graph.chains) return;
  const int64_t c = thread(), first = graph.first[c], step = first + c;
  const int64_t* const forward = slots == nullptr ? nullptr : slots + step;
  const int64_t* const back = slots == nullptr ? nullptr : forward + graph.inner + graph.chains;
  const double* const begin = reinterpret_cast<const double*>(searches.begin + first - 1);
  finish_chain(
      {graph.count(c), sums[searches.slot[2 * c]], sums[searches.slot[2 * c + 1]], sums + row.meet + 2 * (first - 1),
       sums + row.tied + 2 * (first - 1), begin, 4, searches.target + first - 1},
      {scores, slots == nullptr ? given.inner + first - 1 : nullptr, forward, back});
}

}  // namespace torchcent::cuda
