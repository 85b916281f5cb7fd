// The Control record (core/codes.h) in the tensor that holds it.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <stdexcept>

#include "core/codes.h"

namespace torchcent {

inline Control& control_of(torch::stable::Tensor& tensor) {
  static_assert(sizeof(Control) == 4 * sizeof(int64_t));
  if (tensor.numel() * static_cast<int64_t>(sizeof(int64_t)) < static_cast<int64_t>(sizeof(Control)))
    throw std::invalid_argument("control has fewer entries than the record that it holds");
  return *reinterpret_cast<Control*>(tensor.mutable_data_ptr<int64_t>());
}

inline void finish(Control& control, int64_t count) { __atomic_fetch_add(&control.done, count, __ATOMIC_RELAXED); }

}  // namespace torchcent
