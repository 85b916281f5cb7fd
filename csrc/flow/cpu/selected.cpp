// Two sums of an inverse Laplacian that need few of its entries: the diagonal and the sums of the rows.
//
// The diagonal follows from the entries at which the factors of the Laplacian are not zero, from those of the vertices
// that are left to each eliminated one (Takahashi, Fagan and Chin 1973). When a vertex was eliminated, its neighbours
// became neighbours of each other, so that all entries between them are among these.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <vector>

#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// Returns float64 [2, n]: the diagonal and the row sums, from the inverse of the vertices left by `eliminated` and the
// rest of what it returns (elimination.cpp), in its numbers.
Tensor selected(const Tensor& inverse, const Tensor& ptr, const Tensor& neighbour, const Tensor& share,
                const Tensor& own) {
  const int64_t left = inverse.size(0), count = own.numel(), n = left + count;
  const double* const core = inverse.const_data_ptr<double>();
  const int64_t* const begin = ptr.const_data_ptr<int64_t>();
  const int32_t* const index = neighbour.const_data_ptr<int32_t>();
  const double* const part = share.const_data_ptr<double>();
  const double* const reciprocal = own.const_data_ptr<double>();
  Tensor result = torch::stable::new_empty(inverse, {2, n}, ScalarType::Double);
  double* const diagonal = result.mutable_data_ptr<double>();
  double* const sum = diagonal + n;

  // Row sums: the Laplacian is solved for ones, eliminated forwards and then backwards.
  std::vector<double> right(n, 1.0);
  for (int64_t v = n - 1; v >= left; --v)
    for (int64_t i = begin[v - left]; i < begin[v - left + 1]; ++i) right[index[i]] += part[i] * right[v];
  for (int64_t v = 0; v < left; ++v) {
    diagonal[v] = core[v * left + v];
    double total = 0;
    for (int64_t u = 0; u < left; ++u) total += core[v * left + u] * right[u];
    sum[v] = total;
  }
  std::vector<double> known(begin[count]);  // entries of an eliminated vertex and its neighbours
  std::vector<int32_t> place(n, -1);        // among the neighbours of the current vertex
  std::vector<double> between;              // entries of these
  for (int64_t v = left; v < n; ++v) {
    const int64_t first = begin[v - left], degree = begin[v - left + 1] - first;
    between.assign(degree * degree, 0.0);
    for (int64_t i = 0; i < degree; ++i) place[index[first + i]] = static_cast<int32_t>(i);
    for (int64_t i = 0; i < degree; ++i) {
      const int64_t u = index[first + i];
      between[i * degree + i] = diagonal[u];
      if (u < left) {
        for (int64_t j = 0; j < degree; ++j)
          if (index[first + j] < left) between[i * degree + j] = core[u * left + index[first + j]];
      } else {
        for (int64_t k = begin[u - left]; k < begin[u - left + 1]; ++k)
          if (const int32_t j = place[index[k]]; j >= 0) between[i * degree + j] = between[j * degree + i] = known[k];
      }
    }
    double own_entry = reciprocal[v - left], total = reciprocal[v - left] * right[v];
    for (int64_t j = 0; j < degree; ++j) {
      double entry = 0;
      for (int64_t i = 0; i < degree; ++i) entry += part[first + i] * between[j * degree + i];
      known[first + j] = entry;
      own_entry += part[first + j] * entry;
      total += part[first + j] * sum[index[first + j]];
      place[index[first + j]] = -1;
    }
    diagonal[v] = own_entry;
    sum[v] = total;
  }
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // As expanded, but only float64 [2, n], the diagonal of the inverse Laplacian and the sums of its rows.
  m.def("selected(Tensor inverse, Tensor ptr, Tensor neighbour, Tensor share, Tensor own) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("selected", TORCH_BOX(&selected)); }

}  // namespace torchcent
