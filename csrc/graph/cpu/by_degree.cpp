// Vertices by descending degree.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

// Ties are in the order of the vertices.
Tensor by_degree(const Tensor& degree) {
  const int64_t n = degree.numel();
  const int64_t* const of = degree.const_data_ptr<int64_t>();
  Tensor order = empty(degree, n, torch::headeronly::ScalarType::Long);
  int64_t* const vertex = order.mutable_data_ptr<int64_t>();
  const auto [least, most] = std::minmax_element(of, of + n);
  if (n == 0) return order;
  const int64_t high = *most;
  if (*least < 0 || high / 4 > n) {  // counters would outnumber the vertices
    std::iota(vertex, vertex + n, 0);
    std::stable_sort(vertex, vertex + n, [of](int64_t u, int64_t v) { return of[u] > of[v]; });
    return order;
  }
  std::vector<int64_t> begin(high + 2, 0);
  for (int64_t v = 0; v < n; ++v) ++begin[high - of[v] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (int64_t v = 0; v < n; ++v) vertex[begin[high - of[v]]++] = v;
  return order;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) { m.def("by_degree(Tensor degree) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("by_degree", TORCH_BOX(&by_degree)); }

}  // namespace torchcent
