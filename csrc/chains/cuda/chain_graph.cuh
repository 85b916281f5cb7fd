// What searches over chains need besides the result of the operator `chains`, made on the device.
#pragma once

#include "chains/cuda/chain_kernel.cuh"
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

template <class T>
__global__ void sums_along_kernel(ChainGraph<T> graph, const double* target, double* sum) {
  if (thread() >= graph.with_inner) return;
  const int64_t c = thread();
  double running = 0;
  sum[graph.first[c] + c] = 0;
  for (int64_t i = graph.first[c]; i < graph.first[c + 1]; ++i) sum[i + c + 1] = running += target[i];
}

static __global__ void source_weights_kernel(const int64_t* sources, int64_t count, const double* weight,
                                             double* of_source) {
  if (thread() < count) of_source[thread()] = weight[sources[thread()]];
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
