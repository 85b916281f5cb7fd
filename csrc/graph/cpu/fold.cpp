// Folding of leaves: the trees attached to a graph, and the pairs that they determine.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "graph/folded_pairs.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// Removes vertices of degree 1 of a symmetric graph, once or until none is left. order: the removed vertices, each
// before its parent; parent [n]: the neighbour it was folded onto, -1 for the remaining ones.
std::tuple<Tensor, Tensor> fold(const Tensor& rowptr, const Tensor& col, bool recursive) {
  const int64_t n = rowptr.numel() - 1;
  const int64_t* ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* head = col.const_data_ptr<int32_t>();
  Tensor parent = empty(rowptr, n, ScalarType::Long);
  int64_t* const hangs_on = parent.mutable_data_ptr<int64_t>();
  std::vector<int64_t> degree(n), removed;
  for (int64_t v = 0; v < n; ++v) {
    hangs_on[v] = -1;
    degree[v] = ptr[v + 1] - ptr[v];
    if (degree[v] == 1) removed.push_back(v);
  }
  size_t kept = 0;
  for (size_t i = 0; i < removed.size(); ++i) {
    const int64_t v = removed[i];
    if (degree[v] != 1) continue;  // its only neighbour was folded onto it
    int64_t s = ptr[v];
    while (hangs_on[head[s]] >= 0) ++s;
    const int64_t u = head[s];
    hangs_on[v] = u;
    degree[v] = 0;
    removed[kept++] = v;
    if (--degree[u] == 1 && recursive) removed.push_back(u);
  }
  Tensor order = empty(rowptr, static_cast<int64_t>(kept), ScalarType::Long);
  int64_t* const target = order.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < kept; ++i) target[i] = removed[i];
  return {order, parent};
}

// Sums of values over the vertices folded onto each vertex, including itself.
Tensor tree_sum(const Tensor& order, const Tensor& parent, const Tensor& values) {
  const int64_t n = parent.numel();
  const int64_t* const vertex = order.const_data_ptr<int64_t>();
  const int64_t* const hangs_on = parent.const_data_ptr<int64_t>();
  const Column value = column(values);
  Tensor result = empty(parent, n, ScalarType::Double);
  double* const sum = result.mutable_data_ptr<double>();
  for (int64_t v = 0; v < n; ++v) sum[v] = value[v];
  for (int64_t i = 0; i < order.numel(); ++i) sum[hangs_on[vertex[i]]] += sum[vertex[i]];
  return result;
}

// To the parents, the sums of the values times the product of the factors on the way; or from them.
Tensor tree_paths(const Tensor& order, const Tensor& parent, const Tensor& values, const Tensor& factor, bool up) {
  const int64_t n = parent.numel(), count = order.numel();
  const int64_t* const vertex = order.const_data_ptr<int64_t>();
  const int64_t* const hangs_on = parent.const_data_ptr<int64_t>();
  const Column value = column(values), times = column(factor);
  Tensor result = empty(parent, n, ScalarType::Double);
  double* const sum = result.mutable_data_ptr<double>();
  for (int64_t v = 0; v < n; ++v) sum[v] = value[v];
  for (int64_t i = 0; up && i < count; ++i) sum[hangs_on[vertex[i]]] += times[vertex[i]] * sum[vertex[i]];
  for (int64_t i = count - 1; !up && i >= 0; --i) sum[vertex[i]] += times[vertex[i]] * sum[hangs_on[vertex[i]]];
  return result;
}

// The sum of the values of the component of each vertex.
Tensor component_totals(const Tensor& label, const Tensor& values, int64_t threads) {
  const int64_t n = label.numel();
  const int64_t* const of = label.const_data_ptr<int64_t>();
  const Column value = column(values);
  std::vector<double> sum(n, 0);
  for (int64_t v = 0; v < n; ++v) sum[of[v]] += value[v];
  Tensor result = empty(label, n, ScalarType::Double);
  double* const total = result.mutable_data_ptr<double>();
  each_range(threads_for(n, threads), n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) total[v] = sum[of[v]];
  });
  return result;
}

// The sum over the vertices folded onto each vertex, and that over its component.
std::tuple<Tensor, Tensor> folded_sums(const Tensor& order, const Tensor& parent, const Tensor& label,
                                       const Tensor& values, int64_t threads) {
  return {tree_sum(order, parent, values), component_totals(label, values, threads)};
}

// See graph/folded_pairs.h; per vertex.
Tensor folded_pairs(const Tensor& order, const Tensor& parent, const Tensor& a, const Tensor& b,
                    const Tensor& hanging_a, const Tensor& hanging_b, const Tensor& total_a, const Tensor& total_b,
                    bool counts, bool endpoints, int64_t threads) {
  const int64_t n = parent.numel(), count = order.numel();
  const int64_t* const leaf = order.const_data_ptr<int64_t>();
  const int64_t* const onto = parent.const_data_ptr<int64_t>();
  const FoldedPairs pairs = {column(a),       column(b), column(hanging_a), column(hanging_b), column(total_a),
                             column(total_b), counts,    endpoints};
  Tensor result = empty(parent, n, ScalarType::Double);
  double* const known = result.mutable_data_ptr<double>();
  std::vector<Branches> branches(count > 0 ? n : 0);
  for (int64_t i = 0; i < count; ++i) {
    const double hanging_a = pairs.hanging_a[leaf[i]], hanging_b = pairs.hanging_b[leaf[i]];
    Branches& at = branches[onto[leaf[i]]];
    at.a += hanging_a, at.b += hanging_b;
    at.product += rounded_product(hanging_a, hanging_b);
  }
  each_range(threads_for(n, threads), n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) known[v] = pairs(v, count > 0 ? branches[v] : Branches());
  });
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def("fold(Tensor rowptr, Tensor col, bool recursive) -> (Tensor order, Tensor parent)");
  // Weights per vertex are float64 of any stride, so that one number may stand for all.
  m.def("tree_sum(Tensor order, Tensor parent, Tensor values) -> Tensor");
  m.def("tree_paths(Tensor order, Tensor parent, Tensor values, Tensor factor, bool up) -> Tensor");
  m.def("component_totals(Tensor label, Tensor values, int threads=1) -> Tensor");
  // Both in one.
  m.def(
      "folded_sums(Tensor order, Tensor parent, Tensor label, Tensor values, int threads=1) -> "
      "(Tensor hanging, Tensor total)");
  m.def(
      "folded_pairs(Tensor order, Tensor parent, Tensor a, Tensor b, Tensor hanging_a, Tensor hanging_b, "
      "Tensor total_a, Tensor total_b, bool counts, bool endpoints, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("fold", TORCH_BOX(&fold));
  m.impl("tree_sum", TORCH_BOX(&tree_sum));
  m.impl("tree_paths", TORCH_BOX(&tree_paths));
  m.impl("component_totals", TORCH_BOX(&component_totals));
  m.impl("folded_sums", TORCH_BOX(&folded_sums));
  m.impl("folded_pairs", TORCH_BOX(&folded_pairs));
}

}  // namespace torchcent
