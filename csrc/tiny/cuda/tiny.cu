// The operator of the tiny engine: a launch per size class, the largest graphs first, without synchronisation.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <vector>

#include "core/cuda/scratch.cuh"
#include "core/records.h"
#include "tiny/cuda/tiny_kernel.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

struct TinyGraphs {
  const Tensor &rowptr, &col, &weight, &ptr;
};

const double* read(const Tensor& values) { return values.numel() > 0 ? values.const_data_ptr<double>() : nullptr; }
double* write(Tensor& values) { return values.numel() > 0 ? values.mutable_data_ptr<double>() : nullptr; }

struct Place {
  cudaStream_t stream;
  int processors, shared;  // multiprocessors; maximum bytes of shared memory per block
  int64_t budget;
};

template <class Depth>
void launch(TinyBatch batch, const Place& place, TensorScratch& scratch) {
  const int warps = warps_for(batch.nodes);
  const int64_t bytes = warps * TinyLayout(batch.nodes, sizeof(Depth) == 8, batch.paths(), batch.own_gain()).bytes;
  int64_t blocks = batch.count, shared = bytes;
  if (bytes > place.shared) {
    blocks = std::min({batch.count, int64_t{2} * place.processors, std::max<int64_t>(place.budget / bytes, 1)});
    batch.memory = static_cast<char*>(scratch.bytes(blocks * bytes));
    shared = 0;
  }
  blocks = std::min<int64_t>(blocks, 1 << 30);
  check(cudaFuncSetAttribute(tiny_kernel<Depth>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "shared memory");
  tiny_kernel<Depth>
      <<<static_cast<unsigned>(blocks), warps * kWarp, static_cast<size_t>(shared), place.stream>>>(batch);
  check_launch("tiny_kernel");
}

}  // namespace

void tiny(const std::vector<Tensor>& arrays, const Tensor& graphs, const Tensor& classes, const Tensor& source,
          const Tensor& target, Tensor& betweenness, Tensor& stress, Tensor& edges, Tensor& distances, Tensor& levels,
          Tensor& overflow, Tensor& control, bool endpoints, double tie_tolerance, int64_t) {
  const auto [rowptr, col, weight, ptr] = record<TinyGraphs, 4>(arrays);
  const int32_t device = rowptr.get_device_index();
  same_device(
      "tiny", device,
      {&col, &weight, &ptr, &graphs, &source, &target, &betweenness, &stress, &edges, &distances, &levels, &overflow});
  const torch::stable::accelerator::DeviceGuard guard(device);
  Control& shared = control_of(control);
  Place place = {current_stream(device), multiprocessors(device), 0, shared.bytes};
  check(cudaDeviceGetAttribute(&place.shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
  TinyBatch batch = {};
  batch.rowptr = rowptr.const_data_ptr<int64_t>();
  batch.col = col.const_data_ptr<int32_t>();
  batch.weight = read(weight);
  batch.ptr = ptr.const_data_ptr<int64_t>();
  batch.graphs = graphs.const_data_ptr<int64_t>();
  batch.source = read(source);
  batch.target = read(target);
  batch.endpoints = endpoints;
  batch.tie_tolerance = tie_tolerance;
  batch.betweenness = write(betweenness);
  batch.stress = write(stress);
  batch.edges = write(edges);
  batch.distances = write(distances);
  batch.levels = levels.numel() > 0 ? levels.mutable_data_ptr<int64_t>() : nullptr;
  batch.overflow = static_cast<int8_t*>(overflow.data_ptr());
  const int64_t* const size = classes.const_data_ptr<int64_t>();
  for (int64_t c = 0; c < classes.size(0) && !cancelled(&shared.cancel); ++c) {
    TensorScratch scratch(rowptr);
    batch.count = size[3 * c];
    batch.nodes = size[3 * c + 1];
    if (batch.count > 0 && batch.nodes > 0) {
      if (batch.weight == nullptr) launch<uint16_t>(batch, place, scratch);
      else launch<double>(batch, place, scratch);
    }
    batch.graphs += batch.count;
  }
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("tiny", TORCH_BOX(&tiny)); }

}  // namespace torchcent::cuda
