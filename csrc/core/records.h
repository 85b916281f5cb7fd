// Records in the arguments of operators, which have at most 16. What belongs together is one argument:
//
// - tensors that are read, such as those of a graph, are a list (Tensor[] in the schema), in the order of the members
// of
//   a struct of references that the family declares; `record` makes one of them;
// - numbers that say how a run is spread over the device are `int[] launch`, in the order of Launch (core/codes.h and
//   torchcent/runtime/_codes.py);
// - what is shared with other threads while an operator runs is a tensor, Control (core/control.h).
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/codes.h"

namespace torchcent {

inline Launch launch_of(const std::vector<int64_t>& fields) {
  static_assert(sizeof(Launch) == 5 * sizeof(int64_t));
  if (fields.size() != 5) throw std::invalid_argument("launch has another number of fields than the record Launch");
  return {fields[0], fields[1], fields[2], fields[3], fields[4]};
}

// Struct{tensors[0], ..., tensors[count - 1], more...}
template <class Struct, size_t count, class... More>
Struct record(const std::vector<torch::stable::Tensor>& tensors, const More&... more) {
  if (tensors.size() != count) throw std::invalid_argument("a list has another number of tensors than its record");
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return Struct{tensors[i]..., more...};
  }(std::make_index_sequence<count>());
}

}  // namespace torchcent
