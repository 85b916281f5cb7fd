// What hangs on the vertices of the blocks of a directed graph: the weights outside of a block that reach a vertex of
// it, or are reached. docs/betweenness.md has the sums.
//
// Within a block, 64 vertices share a pass over its arcs: a bit each, which travels along the arcs in the topological
// order of the strongly connected components (Tarjan 1972).
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kBits = 64;

// Strongly connected components, numbered so that no arc leads to a larger number. Those of the first graphs of a batch
// have the smallest numbers.
std::vector<int32_t> strong_components(const Csr& graph) {
  const int64_t n = graph.num_nodes;
  std::vector<int32_t> component(n, -1), number(n, -1), low(n), parent(n, -1), stack;
  std::vector<int64_t> next(graph.rowptr, graph.rowptr + n);  // slot that follows
  int32_t reached = 0, found = 0;
  const auto reach = [&](int32_t v) {
    low[v] = number[v] = reached++;
    stack.push_back(v);
  };
  for (int32_t root = 0; root < n; ++root) {
    if (number[root] >= 0) continue;
    reach(root);
    for (int32_t v = root; v >= 0;) {
      if (next[v] < graph.rowptr[v + 1]) {
        const int32_t w = graph.col[next[v]++];
        if (number[w] < 0) {
          parent[w] = v;
          reach(w);
          v = w;
        } else if (component[w] < 0) {
          low[v] = std::min(low[v], number[w]);
        }
        continue;
      }
      if (low[v] == number[v]) {
        int32_t w;
        do {
          w = stack.back();
          stack.pop_back();
          component[w] = found;
        } while (w != v);
        ++found;
      }
      const int32_t u = parent[v];
      if (u >= 0) low[u] = std::min(low[u], low[v]);
      v = u;
    }
  }
  return component;
}

// The blocks as the graphs of a batch: a copy of a vertex for each block that it belongs to.
struct Copies {
  int64_t nodes, count;  // of the graph, of blocks
  const int64_t *ptr, *vertex, *top;
  std::vector<int32_t> component;  // [copies]
  std::vector<int32_t> order;      // copies by component, and therefore by block
  std::vector<int64_t> of_top;     // [blocks] the copy of the top
  std::vector<char> is_top;        // [nodes] of some block

  int64_t size(int64_t block) const { return ptr[block + 1] - ptr[block]; }
};

Copies copies_of(const Csr& graph, const Tensor& ptr, const Tensor& vertex, const Tensor& top, int64_t nodes) {
  Copies all = {nodes,
                top.numel(),
                ptr.const_data_ptr<int64_t>(),
                vertex.const_data_ptr<int64_t>(),
                top.const_data_ptr<int64_t>(),
                strong_components(graph),
                std::vector<int32_t>(graph.num_nodes),
                std::vector<int64_t>(top.numel()),
                std::vector<char>(nodes)};
  std::vector<int64_t> place(graph.num_nodes + 1);
  for (const int32_t c : all.component) ++place[c + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (int32_t v = 0; v < graph.num_nodes; ++v) all.order[place[all.component[v]]++] = v;
  for (int64_t x = 0; x < all.count; ++x) {
    const int64_t* const begin = all.vertex + all.ptr[x];
    all.of_top[x] = all.ptr[x] + (std::lower_bound(begin, all.vertex + all.ptr[x + 1], all.top[x]) - begin);
    all.is_top[all.top[x]] = 1;
  }
  return all;
}

// The sums of one direction. `graph` has the arcs that lead from a vertex to those that are counted for it.
class Reach {
 public:
  Reach(const Copies& copies, const Csr& graph, bool along, const Column& weight, double* hanging, double* inside,
        int64_t threads)
      : copies_(copies),
        graph_(graph),
        along_(along),
        threads_(threads),
        weight_(weight),
        hanging_(hanging),
        inside_(inside),
        total_(graph.num_nodes),
        below_(copies.nodes),
        above_(copies.nodes) {}

  void run() {
    // Towards the roots, only what hangs below the other vertices of a block is counted for its top.
    for (int64_t x = copies_.count - 1; x >= 0; --x) {
      const int64_t top = copies_.of_top[x];
      for (int64_t c = copies_.ptr[x]; c < copies_.ptr[x + 1]; ++c) {
        const int64_t v = copies_.vertex[c];
        hanging_[c] = below_[v];
        total_[c] = weight_[v] + below_[v];
        inside_[c] = 0;
      }
      count(x, {static_cast<int32_t>(top)});
      below_[copies_.top[x]] += inside_[top];
    }
    std::vector<int32_t> from;
    for (int64_t x = 0; x < copies_.count; ++x) {
      const int64_t t = copies_.top[x], top = copies_.of_top[x];
      hanging_[top] = above_[t] + std::max(0.0, below_[t] - inside_[top]);
      total_[top] = weight_[t] + hanging_[top];
      from.clear();
      for (int64_t c = copies_.ptr[x]; c < copies_.ptr[x + 1]; ++c)
        if (c != top && (copies_.is_top[copies_.vertex[c]] || copies_.size(x) == 2))
          from.push_back(static_cast<int32_t>(c));
      count(x, from);
      for (const int32_t c : from) above_[copies_.vertex[c]] = inside_[c];
    }
  }

 private:
  // inside_ of these copies: the total of the others in their block that they lead to.
  void count(int64_t block, const std::vector<int32_t>& from) {
    const int64_t begin = copies_.ptr[block], size = copies_.size(block);
    const int64_t base = copies_.component[copies_.order[begin]];
    const int64_t passes = (static_cast<int64_t>(from.size()) + kBits - 1) / kBits;
    const int64_t slots = graph_.rowptr[begin + size] - graph_.rowptr[begin];
    each_task(std::min(passes, threads_for(passes * slots, threads_)), passes, [&](int64_t pass) {
      const int64_t first = kBits * pass, bits = std::min<int64_t>(kBits, from.size() - first);
      std::vector<uint64_t> mask(size), own(size);
      for (int64_t i = 0; i < bits; ++i) {
        const int32_t c = from[first + i];
        own[c - begin] = uint64_t{1} << i;
        mask[copies_.component[c] - base] |= uint64_t{1} << i;
      }
      double sum[kBits] = {};
      for (int64_t i = 0; i < size; ++i) {
        const int32_t c = copies_.order[along_ ? begin + size - 1 - i : begin + i];
        const uint64_t here = mask[copies_.component[c] - base];
        if (here == 0) continue;
        for (int64_t s = graph_.rowptr[c]; s < graph_.rowptr[c + 1]; ++s)
          mask[copies_.component[graph_.col[s]] - base] |= here;
        for (uint64_t left = here & ~own[c - begin]; left != 0; left &= left - 1)
          sum[__builtin_ctzll(left)] += total_[c];
      }
      for (int64_t i = 0; i < bits; ++i) inside_[from[first + i]] = sum[i];
    });
  }

  const Copies& copies_;
  Csr graph_;
  bool along_;
  int64_t threads_;
  Column weight_;
  double *hanging_, *inside_;          // [copies]
  std::vector<double> total_;          // [copies] own weight and what hangs there
  std::vector<double> below_, above_;  // [nodes] what hangs there, away from the root and towards it
};

}  // namespace

// Of each copy of a vertex in the blocks (block_union with least=2): the sources outside of the block that reach it,
// the targets that it reaches outside, and the same inside of the block, where another block or only one other vertex
// is there (0 elsewhere). The vertex itself never counts.
std::tuple<Tensor, Tensor, Tensor, Tensor> block_reach(const Tensor& ptr, const Tensor& vertex, const Tensor& rowptr,
                                                       const Tensor& col, const Tensor& colptr, const Tensor& row,
                                                       const Tensor& top, const Tensor& source, const Tensor& target,
                                                       int64_t threads) {
  const Csr along = view(rowptr, col), against = view(colptr, row);
  const Copies copies = copies_of(along, ptr, vertex, top, source.numel());
  const int64_t n = along.num_nodes;
  const auto made = [&] { return empty(rowptr, n, ScalarType::Double); };
  Tensor sources_outside = made(), targets_outside = made(), sources_inside = made(), targets_inside = made();
  Reach(copies, against, false, column(source), sources_outside.mutable_data_ptr<double>(),
        sources_inside.mutable_data_ptr<double>(), threads)
      .run();
  Reach(copies, along, true, column(target), targets_outside.mutable_data_ptr<double>(),
        targets_inside.mutable_data_ptr<double>(), threads)
      .run();
  return {sources_outside, targets_outside, sources_inside, targets_inside};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def(
      "block_reach(Tensor ptr, Tensor vertex, Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor top, "
      "Tensor source, Tensor target, int threads=1) -> (Tensor sources_outside, Tensor targets_outside, "
      "Tensor sources_inside, Tensor targets_inside)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("block_reach", TORCH_BOX(&block_reach)); }

}  // namespace torchcent
