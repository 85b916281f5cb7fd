// Hops from a source, used once or twice per graph to choose an engine and to order vertices.

#include <torch/csrc/stable/library.h>

#include "core/cuda/scratch.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// A warp checks 32 vertices and jointly traverses the arcs of those in the frontier. Threads that reach the same vertex
// write the same depth.
__global__ void next_level(Arcs out, int64_t n, int32_t* depth, int32_t level, int* reached) {
  if (reached[level] == 0) return;
  const int lane = threadIdx.x & 31;
  const int64_t v = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  unsigned frontier = __ballot_sync(0xffffffffu, v < n && depth[v] == level);
  for (; frontier != 0; frontier &= frontier - 1) {
    const int64_t u = v - lane + __ffs(frontier) - 1;
    for (int64_t slot = out.rowptr[u] + lane; slot < out.rowptr[u + 1]; slot += 32) {
      const int32_t w = out.col[slot];
      if (depth[w] >= 0) continue;
      depth[w] = level + 1;
      reached[level + 1] = 1;
    }
  }
}

__global__ void start(int32_t* depth, int64_t source, int* reached) {
  depth[source] = 0;
  reached[0] = 1;
}

}  // namespace

Tensor depths(const Tensor& rowptr, const Tensor& col, int64_t source) {
  constexpr int kLevels = 64;  // enqueued before the host checks again
  const int32_t device = rowptr.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Int);
  if (n == 0) return result;
  Tensor flags = torch::stable::new_empty(rowptr, {n + kLevels + 1}, ScalarType::Int);
  int32_t* const depth = result.mutable_data_ptr<int32_t>();
  int* const reached = flags.mutable_data_ptr<int32_t>();
  check(cudaMemsetAsync(depth, 0xff, n * sizeof(int32_t), stream), "memset");
  check(cudaMemsetAsync(reached, 0, (n + kLevels + 1) * sizeof(int), stream), "memset");
  start<<<1, 1, 0, stream>>>(depth, source, reached);
  check_launch("start");
  const Arcs out = {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
  int more = 1;
  for (int32_t level = 0; more != 0; level += kLevels) {
    for (int32_t l = level; l < level + kLevels; ++l) {
      next_level<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(out, n, depth, l, reached);
      check_launch("next_level");
    }
    check(cudaMemcpyAsync(&more, reached + level + kLevels, sizeof more, cudaMemcpyDeviceToHost, stream), "copy");
    check(cudaStreamSynchronize(stream), "next_level");
  }
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("depths", TORCH_BOX(&depths)); }

}  // namespace torchcent::cuda
