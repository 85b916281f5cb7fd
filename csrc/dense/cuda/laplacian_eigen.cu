// Eigenvalues and eigenvectors of the Laplacians of many small graphs: see dense/cpu/laplacian_eigen.cpp. A graph of up
// to 32 vertices takes a warp, a larger one a block. Matrices are in shared memory while they fit.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/cuda/scratch.cuh"
#include "dense/cuda/laplacian_solver.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

constexpr int kOfWarp = 32;  // vertices of a graph that a warp takes
constexpr int kWarpsOfBlock = 2;
constexpr int kSmallBlock = 128, kLargeBlock = 512;  // threads for a graph
constexpr int kBlocksOnDevice = 2;                   // per multiprocessor, with matrices in the memory of the device

__global__ void by_warps(EigenTask task, int64_t begin, int64_t end, int64_t doubles) {
  extern __shared__ double shared[];
  solve_graphs<true>(task, begin, end, shared, doubles);
}

__global__ void by_blocks(EigenTask task, int64_t begin, int64_t end, int64_t doubles) {
  extern __shared__ double shared[];
  solve_graphs<false>(task, begin, end, shared, doubles);
}

__global__ void on_device(EigenTask task, int64_t begin, int64_t end, int64_t doubles, double* memory) {
  solve_graphs<false>(task, begin, end, memory + blockIdx.x * doubles, doubles);
}

int shared_memory(int32_t device) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
  return bytes;
}

}  // namespace

// `classes` has pairs: the end of a run of `number`, and the vertices of its largest graph.
void laplacian_eigen(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& ptr,
                     const Tensor& number, const std::vector<int64_t>& form, const std::vector<int64_t>& classes,
                     Tensor& values, Tensor& multiplicity, Tensor& vectors, Tensor& control, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("laplacian_eigen", device, {&col, &ptr, &number, &values, &multiplicity, &vectors});
  const torch::stable::accelerator::DeviceGuard guard(device);
  TensorScratch scratch(rowptr);
  const Run run = run_on(device, scratch, control);
  const EigenTask task = {rowptr.const_data_ptr<int64_t>(),
                          col.const_data_ptr<int32_t>(),
                          weight ? weight->const_data_ptr<double>() : nullptr,
                          ptr.const_data_ptr<int64_t>(),
                          number.const_data_ptr<int64_t>(),
                          static_cast<Laplacian>(form[0]),
                          static_cast<double>(form[1]),
                          form[2],
                          values.size(1),
                          form[3] != 0,
                          values.mutable_data_ptr<double>(),
                          multiplicity.mutable_data_ptr<int64_t>(),
                          vectors.numel() == 0 ? nullptr : vectors.mutable_data_ptr<double>()};
  const int64_t room = shared_memory(device);
  int64_t begin = 0;
  for (size_t i = 0; i + 1 < classes.size(); i += 2) {
    const int64_t end = classes[i], n = classes[i + 1], doubles = eigen_doubles(n);
    if (run.cancelled()) return;
    const int64_t bytes = doubles * static_cast<int64_t>(sizeof(double));
    if (n <= kOfWarp) {
      const int64_t blocks = std::min<int64_t>((end - begin + kWarpsOfBlock - 1) / kWarpsOfBlock, run.processors * 64);
      check(cudaFuncSetAttribute(by_warps, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes * kWarpsOfBlock)),
            "shared memory");
      by_warps<<<static_cast<unsigned>(blocks), 32 * kWarpsOfBlock, static_cast<size_t>(bytes * kWarpsOfBlock),
                 run.stream>>>(task, begin, end, doubles);
      check_launch("by_warps");
    } else if (bytes <= room) {
      const int64_t blocks = std::min<int64_t>(end - begin, run.processors * 16);
      check(cudaFuncSetAttribute(by_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "shared memory");
      by_blocks<<<static_cast<unsigned>(blocks), kSmallBlock, static_cast<size_t>(bytes), run.stream>>>(task, begin,
                                                                                                        end, doubles);
      check_launch("by_blocks");
    } else {
      const int64_t blocks = std::min<int64_t>(end - begin, run.processors * kBlocksOnDevice);
      const int64_t mark = scratch.mark();
      double* const memory = scratch.array<double>(blocks * doubles);
      on_device<<<static_cast<unsigned>(blocks), kLargeBlock, 0, run.stream>>>(task, begin, end, doubles, memory);
      check_launch("on_device");
      scratch.release(mark);
    }
    begin = end;
  }
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("laplacian_eigen", TORCH_BOX(&laplacian_eigen)); }

}  // namespace torchcent::cuda
