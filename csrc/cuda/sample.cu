// Random shortest paths by hops: how many blocks, and what they share.

#include <torch/csrc/stable/library.h>

#include <algorithm>

#include "cuda/sample.cuh"
#include "cuda/scratch.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kBlocksPerProcessor = 16;      // as many as its threads allow for
constexpr int64_t kTogether = int64_t{1} << 16;  // samples of a launch: how often a cancel is heard

template <class T>
T* zeros(TensorScratch& scratch, int64_t count, cudaStream_t stream) {
  T* const result = scratch.array<T>(count);
  check(cudaMemsetAsync(result, 0, count * sizeof(T), stream), "cudaMemsetAsync");
  return result;
}

}  // namespace

// threads: blocks at most, of 16 bytes per vertex.
Tensor sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                    int64_t first, int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  same_device("sample_paths", rowptr.get_device_index(), {&rowptr, &col, &colptr, &row, &counts});
  const int32_t device = rowptr.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  int64_t* const shared = control.mutable_data_ptr<int64_t>();
  const int64_t n = rowptr.numel() - 1;
  if (n < 2 || count == 0) return torch::stable::new_empty(control, {0});
  const int64_t blocks = std::min({threads, kBlocksPerProcessor * multiprocessors(device), count});
  TensorScratch scratch(rowptr);
  SampleProblem problem = {};
  problem.out = {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
  problem.in = {colptr.const_data_ptr<int64_t>(), row.const_data_ptr<int32_t>()};
  problem.n = n;
  problem.seed = static_cast<uint64_t>(seed);
  problem.counts = reinterpret_cast<unsigned long long*>(counts.mutable_data_ptr<int64_t>());
  problem.depth = zeros<int32_t>(scratch, n * blocks, stream);
  problem.sigma = zeros<double>(scratch, n * blocks, stream);
  problem.queue = scratch.array<int32_t>(n * blocks);
  problem.left = scratch.array<int64_t>(count);
  unsigned long long* const numbers = zeros<unsigned long long>(scratch, 3, stream);
  problem.next = numbers;
  problem.arcs = numbers + 1;
  problem.num_left = numbers + 2;
  unsigned long long host[3] = {};
  for (int64_t begin = 0; begin < count && !cancelled(shared); begin += kTogether) {
    problem.first = first + begin;
    problem.count = std::min(kTogether, count - begin);
    check(cudaMemsetAsync(numbers, 0, sizeof host[0], stream), "cudaMemsetAsync");
    const unsigned grid = static_cast<unsigned>(std::min(blocks, problem.count));
    sample_kernel<<<grid, kSampleThreads, 0, stream>>>(problem);
    check_launch("sample_kernel");
    check(cudaMemcpyAsync(host, numbers, sizeof host, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "sample_kernel");
    __atomic_fetch_add(shared + 1, problem.count, __ATOMIC_RELAXED);
  }
  __atomic_fetch_add(shared + 2, static_cast<int64_t>(host[1]), __ATOMIC_RELAXED);
  Tensor left = torch::stable::new_empty(control, {static_cast<int64_t>(host[2])});
  check(cudaMemcpyAsync(left.mutable_data_ptr<int64_t>(), problem.left, host[2] * sizeof(int64_t),
                        cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "sample_kernel");
  return left;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("sample_paths", TORCH_BOX(&sample_paths)); }

}  // namespace torchcent::cuda
