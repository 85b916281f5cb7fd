// Arcs packed into words, (row, other end), and their radix sort on the device.
#pragma once

#include <torch/csrc/stable/library.h>

#include <cub/device/device_radix_sort.cuh>

#include <bit>
#include <utility>

#include "core/cuda/scratch.cuh"
#include "core/cuda/threads.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// Threads process slots, not vertices, so that hubs need no special handling; adjacent threads follow the same search
// path.
__device__ inline int64_t row_of(const int64_t* rowptr, int64_t n, int64_t slot) {
  return lower_bound(rowptr + 1, 0, n, slot + 1);
}

static __global__ void pointers(const int64_t* key, int64_t count, int64_t size, int bits, int64_t* ptr) {
  if (thread() <= size) ptr[thread()] = lower_bound(key, 0, count, thread() << bits);
}

inline Arcs arcs(const Tensor& rowptr, const Tensor& col) {
  return {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
}

inline Tensor words(const Tensor& like, int64_t size) {
  return torch::stable::new_empty(like, {size}, ScalarType::Long);
}

inline Tensor numbers(const Tensor& like, int64_t size) {
  return torch::stable::new_empty(like, {size}, ScalarType::Double);
}

inline int bits_for(int64_t size) { return std::bit_width(static_cast<uint64_t>(size > 1 ? size - 1 : 1)); }

// The packed arcs in order, in one of two tensors; the other is released.
inline Tensor sorted(Tensor key, int bits, cudaStream_t stream) {
  const int64_t count = key.numel();
  if (count == 0) return key;
  Tensor spare = words(key, count);
  TensorScratch scratch(key);
  cub::DoubleBuffer<int64_t> buffer(key.mutable_data_ptr<int64_t>(), spare.mutable_data_ptr<int64_t>());
  size_t size = 0;
  check(cub::DeviceRadixSort::SortKeys(nullptr, size, buffer, count, 0, 2 * bits, stream), "sort");
  void* const workspace = scratch.bytes(static_cast<int64_t>(size));
  check(cub::DeviceRadixSort::SortKeys(workspace, size, buffer, count, 0, 2 * bits, stream), "sort");
  // A parameter may outlive the call, so it must not hold the tensor that is not returned.
  if (buffer.selector != 0) key = spare;
  return key;
}

}  // namespace torchcent::cuda
