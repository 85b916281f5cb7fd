// A view of a graph's tensors for the kernels.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include "torchcent/csr.h"

namespace torchcent {

inline Csr view(const torch::stable::Tensor& rowptr, const torch::stable::Tensor& col) {
  return {rowptr.numel() - 1, rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
}

}  // namespace torchcent
