// Memory from PyTorch's allocator, and the stream and device of an operator.
#pragma once

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cuda/run.cuh"

namespace torchcent::cuda {

class TensorScratch final : public Scratch {
 public:
  explicit TensorScratch(const torch::stable::Tensor& like) : like_(like) {}
  void* bytes(int64_t count) override {
    held_.push_back(torch::stable::new_empty(like_, {count > 0 ? count : 1}, torch::headeronly::ScalarType::Byte));
    return held_.back().mutable_data_ptr();
  }
  int64_t mark() const override { return static_cast<int64_t>(held_.size()); }
  void release(int64_t mark) override { held_.resize(static_cast<size_t>(mark), like_); }

 private:
  const torch::stable::Tensor& like_;
  std::vector<torch::stable::Tensor> held_;
};

inline cudaStream_t current_stream(int32_t device) {
  void* stream = nullptr;
  if (aoti_torch_get_current_cuda_stream(device, &stream) != 0) throw std::runtime_error("no current CUDA stream");
  return static_cast<cudaStream_t>(stream);
}

inline int multiprocessors(int32_t device) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
  return count;
}

inline Run run_on(int32_t device, Scratch& scratch, torch::stable::Tensor& control, const Launch& launch = {}) {
  return {current_stream(device), scratch, multiprocessors(device), control_of(control), launch};
}

inline void same_device(const char* op, int32_t device, std::initializer_list<const torch::stable::Tensor*> tensors) {
  for (const torch::stable::Tensor* tensor : tensors)
    if (!tensor->is_cuda() || tensor->get_device_index() != device)
      throw std::invalid_argument(std::string(op) + " needs all of its tensors on one device");
}

}  // namespace torchcent::cuda
