// One number per vertex, which may be the same for all: a float64 tensor of any stride.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <cstdint>

#include "core/anywhere.h"

namespace torchcent {

struct Column {
  const double* value;
  int64_t step;

  TORCHCENT_ANYWHERE double operator[](int64_t v) const { return value[v * step]; }
};

inline Column column(const torch::stable::Tensor& values) {
  return {values.const_data_ptr<double>(), values.strides()[0]};
}

}  // namespace torchcent
