// Core numbers by peeling vertices in the order of their remaining degree (Batagelj and Zaversnik 2003).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <vector>

#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

// Degrees count the arcs of `out`, and with `both` those of `in`, too. `core` is overwritten.
void core_numbers(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, bool both,
                  Tensor& core) {
  const Csr sides[2] = {view(rowptr, col), view(colptr, row)};
  const int64_t n = sides[0].num_nodes;
  int64_t* const left = core.mutable_data_ptr<int64_t>();  // the remaining degree, in the end the core number
  int64_t most = 0;
  for (int64_t v = 0; v < n; ++v) {
    left[v] = sides[0].degree(v) + (both ? sides[1].degree(v) : 0);
    most = std::max(most, left[v]);
  }
  // Vertices by remaining degree; first[d] is the place of the first one with at least d.
  std::vector<int64_t> first(most + 2, 0);
  for (int64_t v = 0; v < n; ++v) ++first[left[v] + 1];
  for (int64_t d = 0; d <= most; ++d) first[d + 1] += first[d];
  std::vector<int32_t> order(n), place(n);
  {
    std::vector<int64_t> next(first.begin(), first.end());
    for (int64_t v = 0; v < n; ++v) order[place[v] = static_cast<int32_t>(next[left[v]]++)] = static_cast<int32_t>(v);
  }
  for (int64_t p = 0; p < n; ++p) {
    const int32_t v = order[p];
    for (int side = 0; side < 1 + both; ++side) {
      const Csr& graph = sides[side];
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) {
        const int32_t u = graph.col[slot];
        if (left[u] <= left[v]) continue;
        // u changes places with the first vertex of its degree that is not peeled, and has one less.
        const int64_t q = first[left[u]]++;
        const int32_t w = order[q];
        std::swap(order[place[u]], order[q]);
        std::swap(place[u], place[w]);
        --left[u];
      }
    }
  }
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int64 [n]: core numbers, by degrees of the arcs of the first CSR, or of both.
  m.def("core_numbers(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, bool both, Tensor(a!) core) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("core_numbers", TORCH_BOX(&core_numbers)); }

}  // namespace torchcent
