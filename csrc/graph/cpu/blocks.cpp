// Blocks (biconnected components) of a symmetric graph: depth-first search with low points (Hopcroft and Tarjan 1973).
//
// Every edge of the depth-first forest belongs to the block of its lower end, so that a number per vertex describes all
// blocks: block[v] is that of the edge from v to its parent, and top[x] is the vertex of block x that is closest to the
// root. A block consists of its top and of the vertices with its number.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

struct Forest {
  std::vector<int32_t> order, number, low, parent;  // order: as they are reached; number: place in it, -1 before
};

Forest search(const Csr& graph) {
  const int64_t n = graph.num_nodes;
  Forest found = {{}, std::vector<int32_t>(n, -1), std::vector<int32_t>(n), std::vector<int32_t>(n, -1)};
  auto& [order, number, low, parent] = found;
  order.reserve(n);
  std::vector<int64_t> next(graph.rowptr, graph.rowptr + n);  // slot that follows
  const auto reach = [&](int32_t v) {
    low[v] = number[v] = static_cast<int32_t>(order.size());
    order.push_back(v);
  };
  for (int64_t root = 0; root < n; ++root) {
    if (number[root] >= 0) continue;
    reach(static_cast<int32_t>(root));
    for (int32_t v = static_cast<int32_t>(root); v >= 0;) {
      if (next[v] == graph.rowptr[v + 1]) {
        const int32_t u = parent[v];
        if (u >= 0 && low[v] < low[u]) low[u] = low[v];
        v = u;
        continue;
      }
      const int32_t w = graph.col[next[v]++];
      if (number[w] < 0) {
        parent[w] = v;
        reach(w);
        v = w;
      } else if (w != parent[v] && number[w] < low[v]) {
        low[v] = number[w];
      }
    }
  }
  return found;
}

}  // namespace

// order: all vertices but the roots, each after those that hang on it; block [n], -1 for roots; top [blocks].
std::tuple<Tensor, Tensor, Tensor> blocks(const Tensor& rowptr, const Tensor& col) {
  const Csr graph = view(rowptr, col);
  const Forest forest = search(graph);
  Tensor block = empty(rowptr, graph.num_nodes, ScalarType::Long);
  int64_t* const of = block.mutable_data_ptr<int64_t>();
  std::vector<int64_t> tops;
  int64_t roots = 0;
  for (const int32_t v : forest.order) {
    const int32_t u = forest.parent[v];
    if (u < 0) {
      of[v] = -1;
      ++roots;
    } else if (forest.low[v] >= forest.number[u]) {
      of[v] = static_cast<int64_t>(tops.size());
      tops.push_back(u);
    } else {
      of[v] = of[u];
    }
  }
  Tensor top = empty(rowptr, static_cast<int64_t>(tops.size()), ScalarType::Long);
  std::copy(tops.begin(), tops.end(), top.mutable_data_ptr<int64_t>());
  Tensor order = empty(rowptr, graph.num_nodes - roots, ScalarType::Long);
  int64_t* place = order.mutable_data_ptr<int64_t>();
  for (int64_t i = graph.num_nodes - 1; i >= 0; --i)
    if (forest.parent[forest.order[i]] >= 0) *place++ = forest.order[i];
  return {order, block, top};
}

// The blocks of at least `least` vertices as the graphs of a batch, in the order of their numbers. ptr: first vertex of
// each graph; vertex: of the graph that each one is a copy of, ascending within a block, so that rows stay sorted;
// slot: where each slot came from.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> block_union(const Tensor& rowptr, const Tensor& col,
                                                               const Tensor& block, const Tensor& top, int64_t least,
                                                               int64_t threads) {
  const Csr graph = view(rowptr, col);
  const int64_t n = graph.num_nodes, count = top.numel(), workers = threads_for(col.numel(), threads);
  const int64_t* const of = block.const_data_ptr<int64_t>();
  const int64_t* const above = top.const_data_ptr<int64_t>();

  std::vector<int64_t> size(count, 1), first(count, -1), ptr = {0}, below(n + 1, 0);
  for (int64_t v = 0; v < n; ++v)
    if (of[v] >= 0) ++size[of[v]];
  for (int64_t x = 0; x < count; ++x) {
    if (size[x] < least) continue;
    first[x] = ptr.back();
    ptr.push_back(ptr.back() + size[x]);
    ++below[above[x] + 1];
  }
  if (ptr.back() > std::numeric_limits<int32_t>::max())
    throw std::invalid_argument("the blocks have more vertices in total than int32 holds");
  // The blocks that are kept, by their tops.
  for (int64_t v = 0; v < n; ++v) below[v + 1] += below[v];
  std::vector<int64_t> sorted(ptr.size() - 1), next(below.begin(), below.end() - 1);
  for (int64_t x = 0; x < count; ++x)
    if (first[x] >= 0) sorted[next[above[x]]++] = x;

  Tensor vertex = empty(rowptr, ptr.back(), ScalarType::Long);
  int64_t* const copied = vertex.mutable_data_ptr<int64_t>();
  std::vector<int64_t> own(n, -1), of_top(count, -1), fill = first;  // copies of v in block[v], and of the tops
  for (int64_t v = 0; v < n; ++v) {
    if (of[v] >= 0 && first[of[v]] >= 0) copied[own[v] = fill[of[v]]++] = v;
    for (int64_t i = below[v]; i < below[v + 1]; ++i) copied[of_top[sorted[i]] = fill[sorted[i]]++] = v;
  }
  const auto block_of = [&](int64_t v, int64_t w) {  // of an edge
    return of[w] >= 0 && (of[v] == of[w] || above[of[w]] == v) ? of[w] : of[v];
  };
  const auto copy_of = [&](int64_t v, int64_t x) { return of[v] == x ? own[v] : of_top[x]; };

  Tensor new_rowptr = empty(rowptr, ptr.back() + 1, ScalarType::Long);
  int64_t* const begin = new_rowptr.mutable_data_ptr<int64_t>();
  std::fill(begin, begin + ptr.back() + 1, 0);
  const auto each_slot = [&](auto visit) {  // the copies of a vertex are those of one thread
    each_range(workers, n, [&](int64_t v, int64_t end) {
      for (; v < end; ++v)
        for (int64_t s = graph.rowptr[v]; s < graph.rowptr[v + 1]; ++s) {
          const int64_t x = block_of(v, graph.col[s]);
          if (first[x] >= 0) visit(copy_of(v, x), x, s);
        }
    });
  };
  each_slot([&](int64_t copy, int64_t, int64_t) { ++begin[copy + 1]; });
  for (int64_t i = 0; i < ptr.back(); ++i) begin[i + 1] += begin[i];
  Tensor new_col = empty(rowptr, begin[ptr.back()], ScalarType::Int);
  Tensor slot = empty(rowptr, begin[ptr.back()], ScalarType::Long);
  int32_t* const head = new_col.mutable_data_ptr<int32_t>();
  int64_t* const from = slot.mutable_data_ptr<int64_t>();
  std::vector<int64_t> place(begin, begin + ptr.back());
  each_slot([&](int64_t copy, int64_t x, int64_t s) {
    head[place[copy]] = static_cast<int32_t>(copy_of(graph.col[s], x));
    from[place[copy]++] = s;
  });
  Tensor bounds = empty(rowptr, static_cast<int64_t>(ptr.size()), ScalarType::Long);
  std::copy(ptr.begin(), ptr.end(), bounds.mutable_data_ptr<int64_t>());
  return {bounds, vertex, new_rowptr, new_col, slot};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def("blocks(Tensor rowptr, Tensor col) -> (Tensor order, Tensor block, Tensor top)");
  m.def(
      "block_union(Tensor rowptr, Tensor col, Tensor block, Tensor top, int least, int threads=1) -> "
      "(Tensor ptr, Tensor vertex, Tensor rowptr, Tensor col, Tensor slot)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("blocks", TORCH_BOX(&blocks));
  m.impl("block_union", TORCH_BOX(&block_union));
}

}  // namespace torchcent
