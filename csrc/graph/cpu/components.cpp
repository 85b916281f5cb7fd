// Connected components and orders of the vertices.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// On all threads (Afforest: Sutton, Ben-Nun and Barak 2018). Larger roots are linked to smaller ones, so
// that the root of a component is its smallest vertex.
class UnionFind {
 public:
  explicit UnionFind(int64_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  int32_t parent(int64_t v) const { return __atomic_load_n(&parent_[v], __ATOMIC_RELAXED); }
  void link(int64_t u, int64_t v) {
    int32_t a = parent(u), b = parent(v);
    while (a != b) {
      const int32_t high = std::max(a, b), low = std::min(a, b);
      int32_t root = parent(high);
      if (root == low) return;
      if (root == high &&
          __atomic_compare_exchange_n(&parent_[high], &root, low, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
      a = parent(parent(high));
      b = parent(low);
    }
  }
  // Afterwards every vertex has its root as parent. Not concurrent with link.
  void flatten(int64_t threads) {
    each_range(threads, static_cast<int64_t>(parent_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v) {
        int32_t root = parent(v);
        while (parent(root) != root) root = parent(root);
        __atomic_store_n(&parent_[v], root, __ATOMIC_RELAXED);
      }
    });
  }
  // The most frequent root in a sample.
  int32_t largest() const {
    constexpr int64_t kSample = 1024;
    std::vector<int32_t> root;
    const int64_t n = static_cast<int64_t>(parent_.size());
    for (int64_t i = 0; i < std::min(n, kSample); ++i)
      root.push_back(parent_[part_of(n, i, std::min(n, kSample)).first]);
    std::sort(root.begin(), root.end());
    int32_t best = -1;
    int64_t most = 0;
    for (auto begin = root.begin(); begin != root.end();) {
      const auto end = std::upper_bound(begin, root.end(), *begin);
      if (end - begin > most) most = end - begin, best = *begin;
      begin = end;
    }
    return best;
  }

 private:
  std::vector<int32_t> parent_;
};

// A graph and its transpose; of a symmetric graph they are the same tensors and count once.
struct Sides {
  Csr side[2];
  int count;
  int64_t n;

  Sides(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row)
      : side{view(rowptr, col), view(colptr, row)},
        count(side[0].rowptr == side[1].rowptr ? 1 : 2),
        n(side[0].num_nodes) {}

  int64_t degree(int64_t v) const {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += side[i].rowptr[v + 1] - side[i].rowptr[v];
    return sum;
  }
  template <class Visit>
  void each_neighbour(int64_t v, Visit visit) const {
    for (int i = 0; i < count; ++i)
      for (int64_t s = side[i].rowptr[v]; s < side[i].rowptr[v + 1]; ++s) visit(side[i].col[s]);
  }
};

}  // namespace

// The (weakly) connected component of each vertex, numbered by their smallest vertices. Two arcs of each vertex are
// linked first; then, in a symmetric graph, the vertices of the component that is the largest by then need no more.
Tensor components(const Tensor& rowptr, const Tensor& col, bool symmetric, int64_t threads) {
  constexpr int64_t kFirst = 2;
  const Csr graph = view(rowptr, col);
  const int64_t n = graph.num_nodes, workers = threads_for(col.numel() + n, threads);
  UnionFind forest(n);
  for (int64_t k = 0; k < kFirst; ++k) {
    each_range(workers, n, [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v)
        if (graph.rowptr[v] + k < graph.rowptr[v + 1]) forest.link(v, graph.col[graph.rowptr[v] + k]);
    });
    forest.flatten(workers);
  }
  const int32_t done = symmetric ? forest.largest() : -1;
  each_range(workers, n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v)
      if (forest.parent(v) != done)
        for (int64_t i = graph.rowptr[v] + kFirst; i < graph.rowptr[v + 1]; ++i) forest.link(v, graph.col[i]);
  });
  forest.flatten(workers);
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Long);
  int64_t* const label = result.mutable_data_ptr<int64_t>();
  int64_t count = 0;
  for (int64_t v = 0; v < n; ++v) label[v] = forest.parent(v) == v ? count++ : label[forest.parent(v)];
  return result;
}

// All vertices in breadth-first order from the first vertex, each followed by its successors and then its
// predecessors; then the unreached ones by number.
Tensor breadth_first(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                     std::optional<Tensor>) {
  const Sides graph(rowptr, col, colptr, row);
  const int64_t n = graph.n;
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Long);
  int64_t* const order = result.mutable_data_ptr<int64_t>();
  std::vector<char> seen(n, 0);
  int64_t end = 0;
  const auto add = [&](int64_t v) {
    if (seen[v]) return;
    seen[v] = 1;
    order[end++] = v;
  };
  if (n > 0) add(0);
  for (int64_t i = 0; i < end; ++i) graph.each_neighbour(order[i], add);
  for (int64_t v = 0; v < n; ++v) add(v);
  return result;
}

// Reverse Cuthill-McKee (Cuthill and McKee 1969; George 1971): breadth-first from a vertex of least degree in each
// component, new neighbours by degree; reversed. Arcs count in both directions.
Tensor bandwidth_order(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row) {
  const Sides graph(rowptr, col, colptr, row);
  const int64_t n = graph.n;
  const auto degree = [&](int64_t v) { return graph.degree(v); };
  std::vector<int64_t> start(n);
  std::iota(start.begin(), start.end(), 0);
  std::stable_sort(start.begin(), start.end(), [&](int64_t u, int64_t v) { return degree(u) < degree(v); });
  std::vector<char> seen(n, 0);
  std::vector<int64_t> order;
  order.reserve(n);
  for (const int64_t root : start) {
    if (seen[root]) continue;
    seen[root] = 1;
    order.push_back(root);
    for (size_t i = order.size() - 1; i < order.size(); ++i) {
      const int64_t u = order[i];
      const size_t first = order.size();
      graph.each_neighbour(u, [&](int32_t v) {
        if (seen[v]) return;
        seen[v] = 1;
        order.push_back(v);
      });
      std::stable_sort(order.begin() + first, order.end(), [&](int64_t a, int64_t b) { return degree(a) < degree(b); });
    }
  }
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Long);
  std::copy(order.rbegin(), order.rend(), result.mutable_data_ptr<int64_t>());
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def("components(Tensor rowptr, Tensor col, bool symmetric, int threads=1) -> Tensor");
  // depth: the hops from vertex 0, if they are known.
  m.def("breadth_first(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor? depth=None) -> Tensor");
  m.def("bandwidth_order(Tensor rowptr, Tensor col, Tensor colptr, Tensor row) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("components", TORCH_BOX(&components));
  m.impl("breadth_first", TORCH_BOX(&breadth_first));
  m.impl("bandwidth_order", TORCH_BOX(&bandwidth_order));
}

}  // namespace torchcent
