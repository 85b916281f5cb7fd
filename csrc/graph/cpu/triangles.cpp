// Triangles of each vertex. Each edge points to its end of higher degree, so that no vertex has many heads; the heads
// of a vertex are marked, and those of its heads are looked up (Chiba and Nishizeki 1985; Latapy 2008).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/cpu/threads.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The heads of each vertex, all in numbers by ascending degree.
struct Oriented {
  std::vector<int32_t> vertex;  // of each number
  std::vector<int64_t> begin;   // [n + 1]
  std::vector<int32_t> head;
};

Oriented oriented(const Csr& graph, int64_t threads) {
  const int64_t n = graph.num_nodes;
  int64_t most = 0;
  for (int64_t v = 0; v < n; ++v) most = std::max(most, graph.degree(v));
  std::vector<int64_t> first(most + 2, 0);
  for (int64_t v = 0; v < n; ++v) ++first[graph.degree(v) + 1];
  for (int64_t d = 0; d <= most; ++d) first[d + 1] += first[d];
  Oriented found = {std::vector<int32_t>(n), std::vector<int64_t>(n + 1, 0), {}};
  std::vector<int32_t> number(n);
  for (int64_t v = 0; v < n; ++v) {
    number[v] = static_cast<int32_t>(first[graph.degree(v)]++);
    found.vertex[number[v]] = static_cast<int32_t>(v);
  }
  const int64_t team = threads_for(graph.rowptr[n], threads);
  const auto each_head = [&](int64_t i, auto visit) {
    const int32_t v = found.vertex[i];
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
      if (const int32_t j = number[graph.col[slot]]; j > i) visit(j);
  };
  each_range(team, n, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) each_head(i, [&](int32_t) { ++found.begin[i + 1]; });
  });
  for (int64_t i = 0; i < n; ++i) found.begin[i + 1] += found.begin[i];
  found.head.resize(found.begin[n]);
  each_range(team, n, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      int32_t* next = found.head.data() + found.begin[i];
      each_head(i, [&](int32_t j) { *next++ = j; });
    }
  });
  return found;
}

}  // namespace

// `count` must be 0 on entry. Every arc must have its reverse.
void triangles(const Tensor& rowptr, const Tensor& col, Tensor& count, int64_t threads) {
  const Csr graph = view(rowptr, col);
  const int64_t n = graph.num_nodes;
  if (n == 0) return;
  const Oriented edges = oriented(graph, threads);
  int64_t* const total = count.mutable_data_ptr<int64_t>();
  constexpr int64_t kRun = 256;  // vertices that a thread takes at a time
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    std::vector<uint64_t> marked(n / 64 + 1, 0);
    std::vector<int64_t> own(n, 0);  // by number
    const auto flip = [&](int32_t i) { marked[i >> 6] ^= uint64_t{1} << (i & 63); };
    for (int64_t from; (from = next.fetch_add(kRun)) < n;)
      for (int64_t i = from; i < std::min(from + kRun, n); ++i) {
        const int32_t* const heads = edges.head.data() + edges.begin[i];
        const int64_t degree = edges.begin[i + 1] - edges.begin[i];
        if (degree < 2) continue;
        for (int64_t a = 0; a < degree; ++a) flip(heads[a]);
        for (int64_t a = 0; a < degree; ++a) {
          const int32_t j = heads[a];
          int64_t closed = 0;
          for (int64_t slot = edges.begin[j]; slot < edges.begin[j + 1]; ++slot) {
            const int32_t k = edges.head[slot];
            if ((marked[k >> 6] >> (k & 63) & 1) == 0) continue;
            ++closed;
            ++own[k];
          }
          own[i] += closed;
          own[j] += closed;
        }
        for (int64_t a = 0; a < degree; ++a) flip(heads[a]);
      }
    std::lock_guard lock(mutex);
    for (int64_t i = 0; i < n; ++i) total[edges.vertex[i]] += own[i];
  };
  in_threads(static_cast<int>(threads_for(graph.rowptr[n], threads)), work, [&] { next = n; });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int64 [n], 0 on entry: the triangles of each vertex of a symmetric graph.
  m.def("triangles(Tensor rowptr, Tensor col, Tensor(a!) count, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("triangles", TORCH_BOX(&triangles)); }

}  // namespace torchcent
