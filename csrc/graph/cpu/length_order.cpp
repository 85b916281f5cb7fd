// The order in which Dijkstra's algorithm with a heap of (distance, count of the push) settles the vertices: from their
// distances, without searching again.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kNotFound = std::numeric_limits<int64_t>::max();

// Of vertices at the same distance, the one that is found first comes first: by the first settled vertex from which an
// arc leads to it on a shortest path, then by the position of that arc. Returns the number of reached vertices.
int64_t settle(const Csr& graph, const double* length, const double* distance, int32_t* order,
               std::vector<int64_t>& found) {
  const int64_t n = graph.num_nodes;
  found.assign(n, kNotFound);
  int64_t reached = 0;
  for (int64_t v = 0; v < n; ++v)
    if (std::isfinite(distance[v])) order[reached++] = static_cast<int32_t>(v);
  std::sort(order, order + reached,
            [&](int32_t u, int32_t v) { return distance[u] != distance[v] ? distance[u] < distance[v] : u < v; });
  int64_t count = 0;
  for (int64_t begin = 0, end = 0; begin < reached; begin = end) {
    while (end < reached && distance[order[end]] == distance[order[begin]]) ++end;
    if (end - begin > 1)
      std::sort(order + begin, order + end,
                [&](int32_t u, int32_t v) { return found[u] != found[v] ? found[u] < found[v] : u < v; });
    for (int64_t p = begin; p < end; ++p) {
      const int32_t u = order[p];
      for (int64_t slot = graph.rowptr[u]; slot < graph.rowptr[u + 1]; ++slot) {
        const int32_t v = graph.col[slot];
        if (found[v] == kNotFound && distance[u] + length[slot] == distance[v]) found[v] = count++;
      }
    }
  }
  return reached;
}

}  // namespace

// A row per row of `distance`, which is infinite where there is no path: the reached vertices in order, padded with -1.
// If the run is cancelled, some rows are not filled.
void length_order(const Tensor& rowptr, const Tensor& col, const Tensor& length, const Tensor& distance, Tensor& order,
                  Tensor& control, int64_t threads) {
  const Csr graph = view(rowptr, col);
  const double* const lengths = length.const_data_ptr<double>();
  const double* const distances = distance.const_data_ptr<double>();
  int32_t* const out = order.mutable_data_ptr<int32_t>();
  const int64_t n = graph.num_nodes, rows = n == 0 ? 0 : distance.numel() / n;
  Control& state = control_of(control);
  each_range(threads_for(rows * (n + graph.num_slots()), threads), rows, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> found;
    for (int64_t row = begin; row < end && __atomic_load_n(&state.cancel, __ATOMIC_RELAXED) == 0; ++row) {
      const int64_t reached = settle(graph, lengths, distances + row * n, out + row * n, found);
      std::fill(out + row * n + reached, out + (row + 1) * n, -1);
      finish(state, 1);
    }
  });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int32 [k, n]: the vertices reached at float64 [k, n] distances in the order in which Dijkstra's algorithm settles
  // them, padded with -1. Rows may list arcs in any order; length: float64 [slots].
  m.def(
      "length_order(Tensor rowptr, Tensor col, Tensor length, Tensor distance, Tensor(a!) order, Tensor(b!) control, "
      "int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("length_order", TORCH_BOX(&length_order)); }

}  // namespace torchcent
