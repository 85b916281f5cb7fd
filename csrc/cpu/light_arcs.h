// What the kernels for weights search: the arcs of a graph by weight, without those that no shortest path takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/batches.h"
#include "cpu/weighted_search.h"

namespace torchcent {

template <class T>
struct ArcStore {
  std::vector<int64_t> ptr;
  std::vector<int32_t> vertex;
  std::vector<T> weight;
  std::vector<int64_t> slot;

  WeightedArcs<T> view() const { return {ptr.data(), vertex.data(), weight.data(), slot.data()}; }
};

// Calls work(begin, end) for chunks of [0, count) in several threads.
template <class Work>
void in_chunks(int64_t count, int64_t threads, Work work) {
  constexpr int64_t kChunk = 1024;
  std::atomic<int64_t> next = 0;
  const int workers = static_cast<int>(std::max<int64_t>(1, std::min(threads, count / kChunk)));
  in_threads(
      workers,
      [&] {
        for (int64_t begin; (begin = next.fetch_add(kChunk)) < count;) work(begin, std::min(count, begin + kChunk));
      },
      [&] { next = count; });
}

// The arcs of every vertex, lightest first. slot: of every arc of the graph, or none if that is its number.
template <class T>
ArcStore<T> by_weight(const Csr& graph, const T* weight, const int64_t* slot, int64_t threads) {
  const int64_t n = graph.num_nodes, arcs = graph.num_slots();
  ArcStore<T> store = {{graph.rowptr, graph.rowptr + n + 1},
                       std::vector<int32_t>(arcs),
                       std::vector<T>(arcs),
                       std::vector<int64_t>(arcs)};
  in_chunks(n, threads, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<T, int64_t>> row;
    for (int64_t v = begin; v < end; ++v) {
      row.clear();
      for (int64_t i = graph.rowptr[v]; i < graph.rowptr[v + 1]; ++i) row.emplace_back(weight[i], i);
      std::sort(row.begin(), row.end());
      int64_t place = graph.rowptr[v];
      for (const auto& [w, i] : row) {
        store.vertex[place] = graph.col[i];
        store.weight[place] = w;
        store.slot[place++] = slot != nullptr ? slot[i] : i;
      }
    }
  });
  return store;
}

// Marks the arcs of `arcs` that some way over one other vertex beats. A shortest path takes none of them,
// whatever its source: they need not be searched. (u, v) is beaten by (u, x), (x, v), where `back` holds the other
// end's arcs. For floating weights by more than sums along a path can be rounded, so that every distance keeps its
// bits.
template <class T>
std::vector<char> beaten(const ArcStore<T>& arcs, const ArcStore<T>& back, T heaviest, int64_t threads) {
  constexpr int64_t kTries = 256;
  const int64_t n = static_cast<int64_t>(arcs.ptr.size()) - 1;
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, int64_t>;
  const Sum margin = std::is_same_v<T, double>
                         ? static_cast<Sum>(0x1p-50 * static_cast<double>(n) * static_cast<double>(heaviest))
                         : 0;
  const Sum far = std::numeric_limits<Sum>::max() / 4;
  std::vector<char> beaten(arcs.vertex.size());
  in_chunks(n, threads, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<Sum> to;  // from u
    to.assign(n, far);
    for (int64_t u = begin; u < end; ++u) {
      for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) to[arcs.vertex[i]] = arcs.weight[i];
      for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) {
        const int64_t v = arcs.vertex[i];
        const Sum limit = static_cast<Sum>(arcs.weight[i]) - margin;
        const int64_t last = std::min(back.ptr[v + 1], back.ptr[v] + kTries);
        for (int64_t j = back.ptr[v]; j < last && back.weight[j] < limit; ++j)
          if (to[back.vertex[j]] + back.weight[j] < limit) {
            beaten[i] = 1;
            break;
          }
      }
      for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) to[arcs.vertex[i]] = far;
    }
  });
  return beaten;
}

template <class T>
void remove(ArcStore<T>& arcs, const std::vector<char>& removed) {
  int64_t kept = 0, begin = 0;
  for (size_t v = 0; v + 1 < arcs.ptr.size(); ++v) {
    const int64_t end = arcs.ptr[v + 1];
    for (int64_t i = begin; i < end; ++i) {
      arcs.vertex[kept] = arcs.vertex[i];
      arcs.weight[kept] = arcs.weight[i];
      arcs.slot[kept] = arcs.slot[i];
      kept += !removed[i];
    }
    begin = end;
    arcs.ptr[v + 1] = kept;
  }
  arcs.vertex.resize(kept);
  arcs.weight.resize(kept);
  arcs.slot.resize(kept);
}

// For every in-arc its slot among the out-arcs. Rows without duplicates.
inline std::vector<int64_t> slots_of_in_arcs(const Csr& out, const Csr& in) {
  const int64_t n = out.num_nodes;
  std::vector<int64_t> slot(in.num_slots()), by_tail(in.num_slots());
  std::vector<int64_t> next(in.rowptr, in.rowptr + n);
  for (int64_t v = 0; v < n; ++v) {
    for (int64_t i = in.rowptr[v]; i < in.rowptr[v + 1]; ++i) by_tail[i] = i;
    const auto tail_before = [&](int64_t i, int64_t j) { return in.col[i] < in.col[j]; };
    if (!std::is_sorted(in.col + in.rowptr[v], in.col + in.rowptr[v + 1]))
      std::sort(by_tail.begin() + in.rowptr[v], by_tail.begin() + in.rowptr[v + 1], tail_before);
  }
  for (int64_t u = 0; u < n; ++u)
    for (int64_t i = out.rowptr[u]; i < out.rowptr[u + 1]; ++i) slot[by_tail[next[out.col[i]]++]] = i;
  return slot;
}

}  // namespace torchcent
