// Views of tensors for the kernels.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "core/column.h"

#include "torchcent/csr.h"

namespace torchcent {

inline Csr view(const torch::stable::Tensor& rowptr, const torch::stable::Tensor& col) {
  return {rowptr.numel() - 1, rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
}

inline torch::stable::Tensor empty(const torch::stable::Tensor& like, int64_t size,
                                   torch::headeronly::ScalarType type) {
  return torch::stable::new_empty(like, {size}, type);
}

}  // namespace torchcent
