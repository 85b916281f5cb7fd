// The input of the kernels for weights: the arcs of a graph sorted by weight, without arcs that are on no shortest
// path.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/cpu/threads.h"
#include "weighted/weighted_search.h"

namespace torchcent {

template <class T>
struct ArcStore {
  std::vector<int64_t> ptr;
  std::vector<int32_t> vertex;
  std::vector<T> weight;
  std::vector<int64_t> slot;

  WeightedArcs<T> view() const { return {ptr.data(), vertex.data(), weight.data(), slot.data()}; }
};

// The number of threads, and the flag that stops them; partial results are then not used.
struct Workers {
  int64_t threads;
  const int64_t* cancel;
};

// Runs several threads: each creates a worker, and calls it with chunks of [0, count).
template <class MakeWorker>
void in_chunks(int64_t count, const Workers& workers, MakeWorker make_worker) {
  constexpr int64_t kChunk = 128;
  std::atomic<int64_t> next = 0;
  const int threads = static_cast<int>(std::max<int64_t>(1, std::min(workers.threads, count / kChunk)));
  in_threads(
      threads,
      [&] {
        auto worker = make_worker();
        for (int64_t begin; (begin = next.fetch_add(kChunk)) < count && !cancelled(workers.cancel);)
          worker(begin, std::min(count, begin + kChunk));
      },
      [&] { next = count; });
}

// The arcs of every vertex, lightest first, and slot_of of their numbers if `slots`.
template <class T, class SlotOf>
ArcStore<T> by_weight(const Csr& graph, const T* weight, bool slots, SlotOf slot_of, const Workers& workers) {
  const int64_t n = graph.num_nodes, arcs = graph.num_slots();
  ArcStore<T> store = {{graph.rowptr, graph.rowptr + n + 1},
                       std::vector<int32_t>(arcs),
                       std::vector<T>(arcs),
                       std::vector<int64_t>(slots ? arcs : 0)};
  in_chunks(n, workers, [&] {
    return [&, row = std::vector<std::pair<T, int64_t>>()](int64_t begin, int64_t end) mutable {
      for (int64_t v = begin; v < end; ++v) {
        row.clear();
        for (int64_t i = graph.rowptr[v]; i < graph.rowptr[v + 1]; ++i) row.emplace_back(weight[i], i);
        std::sort(row.begin(), row.end());
        int64_t place = graph.rowptr[v];
        for (const auto& [w, i] : row) {
          store.vertex[place] = graph.col[i];
          store.weight[place] = w;
          if (slots) store.slot[place] = slot_of(i);
          ++place;
        }
      }
    };
  });
  return store;
}

// Marks the arcs that are dominated by a path over one other vertex. No shortest path from any source uses them, so
// they need not be searched. (u, v) is dominated by (u, x), (x, v), where `back` holds the arcs by their other end. For
// floating-point weights, the margin exceeds the rounding error of sums along a path, so that every distance keeps its
// bits. Only the arcs of every step-th vertex are processed.
template <class T>
std::vector<char> beaten(const ArcStore<T>& arcs, const ArcStore<T>& back, T heaviest, const Workers& workers,
                         int64_t step) {
  constexpr int64_t kTries = 64;
  const int64_t n = static_cast<int64_t>(arcs.ptr.size()) - 1;
  const double most = 0x1p-50 * static_cast<double>(n) * static_cast<double>(heaviest);
  const T margin = std::is_same_v<T, double> ? static_cast<T>(most) : T(0);
  std::vector<char> beaten(arcs.vertex.size());
  in_chunks((n + step - 1) / step, workers, [&] {
    // to: the weights of arcs from u; the heaviest weight dominates nothing.
    return [&, to = std::vector<T>(n, heaviest)](int64_t begin, int64_t end) mutable {
      for (int64_t u = begin * step; u < std::min(n, end * step); u += step) {
        for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) to[arcs.vertex[i]] = arcs.weight[i];
        for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) {
          const int64_t v = arcs.vertex[i];
          const T limit = arcs.weight[i] - margin;
          const int64_t last = std::min(back.ptr[v + 1], back.ptr[v] + kTries);
          for (int64_t j = back.ptr[v]; j < last && back.weight[j] < limit; ++j)
            if (to[back.vertex[j]] < limit - back.weight[j]) {
              beaten[i] = 1;
              break;
            }
        }
        for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) to[arcs.vertex[i]] = heaviest;
      }
    };
  });
  return beaten;
}

// The fraction of dominated arcs, estimated from a few vertices.
template <class T>
double beaten_share(const ArcStore<T>& arcs, const ArcStore<T>& back, T heaviest, const Workers& workers) {
  constexpr int64_t kStep = 61;
  const std::vector<char> found = beaten(arcs, back, heaviest, workers, kStep);
  int64_t tried = 0, beaten = 0;
  for (size_t u = 0; u + 1 < arcs.ptr.size(); u += kStep) {
    tried += arcs.ptr[u + 1] - arcs.ptr[u];
    for (int64_t i = arcs.ptr[u]; i < arcs.ptr[u + 1]; ++i) beaten += found[i];
  }
  return tried == 0 ? 0 : static_cast<double>(beaten) / static_cast<double>(tried);
}

template <class T>
void remove(ArcStore<T>& arcs, const std::vector<char>& removed) {
  const bool slots = !arcs.slot.empty();
  int64_t kept = 0, begin = 0;
  for (size_t v = 0; v + 1 < arcs.ptr.size(); ++v) {
    const int64_t end = arcs.ptr[v + 1];
    for (int64_t i = begin; i < end; ++i) {
      arcs.vertex[kept] = arcs.vertex[i];
      arcs.weight[kept] = arcs.weight[i];
      if (slots) arcs.slot[kept] = arcs.slot[i];
      kept += !removed[i];
    }
    begin = end;
    arcs.ptr[v + 1] = kept;
  }
  arcs.vertex.resize(kept);
  arcs.weight.resize(kept);
  if (slots) arcs.slot.resize(kept);
}

// For every in-arc, its slot among the out-arcs. Rows have no duplicates.
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
