// The operator of diffusions on the device (diffusion/cpu/diffusion.cpp).
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "core/cuda/scratch.cuh"
#include "diffusion/cuda/spread.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int kBlocksOfProcessor = 2048 / kSpreadThreads;

__global__ void largest_degree(const int64_t* rowptr, int64_t n, Mass* largest) {
  const int64_t v = thread();
  if (v < n) atomicMax(largest, static_cast<Mass>(rowptr[v + 1] - rowptr[v]));
}

// Slots along which mass moves, at most, besides those of the source: a vertex that moves mass has more than the bound
// times its strength, which is the number of its slots.
double most_slots(const double* bound, const double* gain, int64_t count, bool lasts) {
  double sum = 0;
  for (int64_t step = lasts ? 0 : 1; step < count; ++step)
    sum += diffusion::kWhole / (bound[step] * (lasts ? gain[step] : 1));
  return sum;
}

}  // namespace

void diffusion_rows(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& strength,
                    std::optional<Tensor> scale, const Tensor& sources, const Tensor& steps, double follow, bool lasts,
                    int64_t top, Tensor& begin, Tensor& count, Tensor& target, Tensor& value, Tensor& control,
                    int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("diffusion_rows", device, {&col, &strength, &sources, &begin, &count, &target, &value});
  const torch::stable::accelerator::DeviceGuard guard(device);
  TensorScratch scratch(rowptr);
  const Run run = run_on(device, scratch, control);
  const int64_t n = rowptr.numel() - 1, number = sources.numel();
  if (number == 0) return;
  const int64_t size = steps.size(1);
  const double* const table = steps.const_data_ptr<double>();
  auto* const on_device = scratch.array<double>(2 * size);
  check(cudaMemcpyAsync(on_device, table, 2 * size * sizeof(double), cudaMemcpyHostToDevice, run.stream), "copy");
  auto* const taken = scratch.array<Mass>(3);
  check(cudaMemsetAsync(taken, 0, 3 * sizeof(Mass), run.stream), "memset");
  int64_t cap = n;
  if (!weight && col.numel() > 0) {
    largest_degree<<<blocks(n), kBlock, 0, run.stream>>>(rowptr.const_data_ptr<int64_t>(), n, taken + 2);
    check_launch("largest_degree");
    Mass largest = 0;
    to_host(&largest, taken + 2, sizeof largest, run.stream, "largest_degree");
    const double most = most_slots(table, table + size, size, lasts) + static_cast<double>(largest) + 2;
    if (most < static_cast<double>(n)) cap = static_cast<int64_t>(most);
  }
  const int64_t each = spread_bytes(n, cap);
  int64_t grid = std::min<int64_t>(int64_t{run.processors} * kBlocksOfProcessor, number);
  if (run.control.bytes > 0) grid = std::min(grid, run.control.bytes / each);
  grid = std::max<int64_t>(1, grid);
  char* const workspace = scratch.array<char>(grid * each);
  check(cudaMemsetAsync(workspace, 0, static_cast<size_t>(grid * each), run.stream), "memset");
  const SpreadProblem problem = {
      {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()},
      n,
      weight ? weight->const_data_ptr<double>() : nullptr,
      strength.const_data_ptr<double>(),
      scale ? scale->const_data_ptr<double>() : nullptr,
      sources.const_data_ptr<int64_t>(),
      number,
      {on_device, on_device + size, size, follow, lasts},
      top,
      begin.mutable_data_ptr<int64_t>(),
      count.mutable_data_ptr<int64_t>(),
      target.mutable_data_ptr<int64_t>(),
      target.numel(),
      value.mutable_data_ptr(),
      value.scalar_type() == ScalarType::Float,
      taken,
      workspace,
      each,
      cap,
  };
  spread_rows<<<static_cast<unsigned>(grid), kSpreadThreads, 0, run.stream>>>(problem);
  check_launch("spread_rows");
  check(cudaStreamSynchronize(run.stream), "spread_rows");
  finish(run, number);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("diffusion_rows", TORCH_BOX(&diffusion_rows)); }

}  // namespace torchcent::cuda
