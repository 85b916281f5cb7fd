// The levels of a hierarchy, for sweeps that take the vertices of a level side by side (hierarchy/cuda/).
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// The level of a vertex is one more than the highest one of the upper ends of its arcs.
std::tuple<Tensor, Tensor, Tensor, Tensor> hierarchy_levels(const Tensor& first, const Tensor& to, const Tensor& last) {
  const int64_t n = last.numel();
  const int64_t* const down = first.const_data_ptr<int64_t>();  // of a directed hierarchy, too: its first row
  const int32_t *const upper = to.const_data_ptr<int32_t>(), *const end = last.const_data_ptr<int32_t>();
  std::vector<int32_t> level(n, 0), open;
  std::vector<char> is_upper(n, 0);
  Tensor parents = empty(last, n, ScalarType::Int), depths = empty(last, n, ScalarType::Int);
  int32_t* const parent = parents.mutable_data_ptr<int32_t>();
  int32_t* const depth = depths.mutable_data_ptr<int32_t>();
  int32_t levels = 0;
  for (int32_t p = 0; p < n; ++p) {
    while (!open.empty() && end[open.back()] <= p) open.pop_back();
    parent[p] = open.empty() ? -1 : open.back();
    depth[p] = static_cast<int32_t>(open.size());
    open.push_back(p);
    for (int64_t i = down[p]; i < down[p + 1]; ++i) {
      level[p] = std::max(level[p], level[upper[i]] + 1);
      is_upper[upper[i]] = 1;
    }
  }
  for (int32_t p = 0; p < n; ++p)
    if (is_upper[p] != 0) levels = std::max(levels, level[p] + 1);
  const auto of = [&](int32_t p) { return is_upper[p] != 0 ? level[p] : levels; };
  std::vector<int64_t> at(levels + 2, 0);
  for (int32_t p = 0; p < n; ++p) ++at[of(p) + 1];
  for (int32_t l = 0; l <= levels; ++l) at[l + 1] += at[l];
  Tensor begin = empty(last, levels + 1, ScalarType::Long), order = empty(last, n, ScalarType::Int);
  std::copy_n(at.begin(), levels + 1, begin.mutable_data_ptr<int64_t>());
  for (int32_t p = 0; p < n; ++p) order.mutable_data_ptr<int32_t>()[at[of(p)]++] = p;
  return {order, begin, parents, depths};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // As hierarchy_sums and hierarchy_distances, on CUDA by levels: the positions in their order, with those that are the
  // upper end of no arc last, and the begin of each level; the parent of each position in the elimination tree, or -1,
  // and its depth. facts are the longest distance, the height of the tree, and begin.
  m.def(
      "hierarchy_levels(Tensor first, Tensor to, Tensor last) -> (Tensor order, Tensor begin, Tensor parent, "
      "Tensor depth)");
  m.def(
      "hierarchy_level_sums(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor order, "
      "Tensor parent, Tensor depth, Tensor facts, Tensor sources, Tensor target_weight, Tensor(a!) sums, "
      "Tensor(b!) farthest, Tensor(c!) control, bool reciprocals, int flight=0) -> ()");
  m.def(
      "hierarchy_level_distances(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor order, "
      "Tensor parent, Tensor depth, Tensor facts, Tensor sources, Tensor(a!) out, Tensor(b!) control, int flight=0) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_levels", TORCH_BOX(&hierarchy_levels)); }

}  // namespace torchcent
