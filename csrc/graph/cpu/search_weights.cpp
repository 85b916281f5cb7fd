// What a search needs of its vertices: whether ids are valid, where it starts, and the weights in the order of the
// core.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "core/codes.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// The smallest and the largest of these ids, and how many of those in [0, num_nodes) repeat others.
Tensor id_faults(const Tensor& ids, int64_t num_nodes) {
  const int64_t* const id = ids.const_data_ptr<int64_t>();
  std::vector<bool> seen(num_nodes);
  int64_t low = 0, high = -1, repeated = 0;
  for (int64_t i = 0; i < ids.numel(); ++i) {
    low = i == 0 ? id[i] : std::min(low, id[i]);
    high = i == 0 ? id[i] : std::max(high, id[i]);
    if (id[i] < 0 || id[i] >= num_nodes) continue;
    repeated += seen[id[i]];
    seen[id[i]] = true;
  }
  Tensor result = empty(ids, 3, ScalarType::Long);
  int64_t* const found = result.mutable_data_ptr<int64_t>();
  found[0] = low, found[1] = high, found[2] = repeated;
  return result;
}

// The vertices of a core from which paths begin and that have arcs, in the order of `sequence` if more than one batch
// of them is left, else by number; the weights of `source` and `own` for each of these, and of `target` and `through`
// for each vertex of the core. `vertex` is the vertex of the graph that each one stands for.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> search_weights(const Tensor& rowptr, const Tensor& vertex,
                                                                  std::optional<Tensor> sequence, const Tensor& source,
                                                                  const Tensor& own, const Tensor& target,
                                                                  const Tensor& through, int64_t threads) {
  const int64_t n = vertex.numel();
  const int64_t* const ptr = rowptr.const_data_ptr<int64_t>();
  const int64_t* const of = vertex.const_data_ptr<int64_t>();
  const int64_t* const order = sequence ? sequence->const_data_ptr<int64_t>() : nullptr;
  const Column a = column(source), c = column(own), b = column(target), h = column(through);
  Tensor targets = empty(rowptr, n, ScalarType::Double), throughs = empty(rowptr, n, ScalarType::Double);
  double* const new_b = targets.mutable_data_ptr<double>();
  double* const new_h = throughs.mutable_data_ptr<double>();
  each_range(threads_for(n, threads), n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) new_b[v] = b[of[v]], new_h[v] = h[of[v]];
  });
  const auto starts = [&](int64_t v) { return ptr[v] < ptr[v + 1] && a[of[v]] > 0; };
  std::vector<int64_t> found;
  for (int64_t v = 0; v < n; ++v)
    if (starts(v)) found.push_back(v);
  const auto count = static_cast<int64_t>(found.size());
  if (order != nullptr && count > kLaneBatch) {
    found.clear();
    for (int64_t i = 0; i < n; ++i)
      if (starts(order[i])) found.push_back(order[i]);
  }
  Tensor start = empty(rowptr, count, ScalarType::Long);
  Tensor sources = empty(rowptr, count, ScalarType::Double), owns = empty(rowptr, count, ScalarType::Double);
  std::copy(found.begin(), found.end(), start.mutable_data_ptr<int64_t>());
  double* const new_a = sources.mutable_data_ptr<double>();
  double* const new_c = owns.mutable_data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) new_a[i] = a[of[found[i]]], new_c[i] = c[of[found[i]]];
  return {start, sources, owns, targets, throughs};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // id_faults is int64 [3] on the host: the smallest and the largest id, and the number of repetitions.
  m.def("id_faults(Tensor ids, int num_nodes) -> Tensor");
  m.def(
      "search_weights(Tensor rowptr, Tensor vertex, Tensor? sequence, Tensor source, Tensor own, Tensor target, "
      "Tensor through, int threads=1) -> (Tensor start, Tensor source, Tensor own, Tensor target, Tensor through)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("id_faults", TORCH_BOX(&id_faults));
  m.impl("search_weights", TORCH_BOX(&search_weights));
}

}  // namespace torchcent
