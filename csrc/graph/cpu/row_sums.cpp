// Products of a sparse matrix with vectors, and sums over the vertices of graphs.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <optional>

#include "core/cpu/view.h"
#include "graph/cpu/row_sums.h"

namespace torchcent {

using torch::stable::Tensor;

// float64 [n] or [n, k]: of each row, the sum (or the largest) of weight[slot] * values[col[slot]]. 0 for empty rows.
Tensor row_sums(const Tensor& rowptr, std::optional<Tensor> col, std::optional<Tensor> weight, const Tensor& values,
                bool largest, int64_t threads) {
  const int64_t n = rowptr.numel() - 1, width = values.dim() == 2 ? values.size(1) : 1;
  Tensor out = values.dim() == 2 ? torch::stable::new_empty(values, {n, width}) : torch::stable::new_empty(values, {n});
  if (n == 0 || width == 0) return out;
  const RowTerms rows = {rowptr.const_data_ptr<int64_t>(), col ? col->const_data_ptr<int32_t>() : nullptr,
                         weight ? weight->const_data_ptr<double>() : nullptr, values.const_data_ptr<double>(), width};
  double* const to = out.mutable_data_ptr<double>();
  if (largest) reduce_rows<Largest>(rows, n, threads, to);
  else reduce_rows<AddUp>(rows, n, threads, to);
  return out;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of each row of a CSR the sum, or the largest, of weight[slot] * values[col[slot]], in an order that depends on the
  // row alone (graph/cpu/row_sums.h): float64 [n], or [n, k] of values [*, k]; 0 of empty rows. Without col, slot i
  // has row i of the values.
  m.def(
      "row_sums(Tensor rowptr, Tensor? col, Tensor? weight, Tensor values, bool largest=False, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("row_sums", TORCH_BOX(&row_sums)); }

}  // namespace torchcent
