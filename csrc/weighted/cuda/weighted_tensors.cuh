// A weighted graph as passed to an operator.
#pragma once

#include <type_traits>

#include "core/cuda/scratch.cuh"
#include "weighted/cuda/weights.cuh"

namespace torchcent::cuda {

struct WeightedTensors {
  const torch::stable::Tensor &rowptr, &col, &weight, &colptr, &row, &back_weight;

  int32_t device() const { return rowptr.get_device_index(); }
  bool whole() const { return weight.element_size() == 4; }
  template <class T>
  const T* values(const torch::stable::Tensor& tensor) const {
    if constexpr (std::is_same_v<T, double>) return tensor.const_data_ptr<double>();
    else return reinterpret_cast<const T*>(tensor.const_data_ptr<int32_t>());
  }
  template <class T>
  WeightedGraph<T> graph(const double* target_weight, const double* through_weight, double tie_tolerance,
                         const double* copies = nullptr) const {
    return {{rowptr.numel() - 1,
             col.numel(),
             {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()},
             {colptr.const_data_ptr<int64_t>(), row.const_data_ptr<int32_t>()},
             target_weight,
             through_weight,
             copies},
            values<T>(weight),
            values<T>(back_weight),
            tie_tolerance};
  }
};

}  // namespace torchcent::cuda
