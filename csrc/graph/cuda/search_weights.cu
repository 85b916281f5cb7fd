// What a search needs of its vertices, on the device: see graph/cpu/search_weights.cpp.

#include <torch/csrc/stable/library.h>

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <optional>
#include <tuple>

#include "core/codes.h"
#include "core/column.h"
#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

namespace {

struct Faults {
  long long low, high;
  unsigned long long repeated;
};

__global__ void look_at_ids(const int64_t* ids, int64_t count, int64_t n, unsigned* seen, Faults* faults) {
  const int64_t id = ids[min(thread(), count - 1)];  // the last one again, where there are none left
  long long low = id, high = id;
  for (int distance = 16; distance > 0; distance /= 2) {
    low = min(low, __shfl_xor_sync(0xffffffffu, low, distance));
    high = max(high, __shfl_xor_sync(0xffffffffu, high, distance));
  }
  if ((threadIdx.x & 31) == 0) {
    atomicMin(&faults->low, low);
    atomicMax(&faults->high, high);
  }
  if (thread() >= count || id < 0 || id >= n) return;
  const unsigned bit = 1u << id % 32;
  if (atomicOr(seen + id / 32, bit) & bit) atomicAdd(&faults->repeated, 1ull);
}

struct Starts {
  const int64_t* rowptr;
  const int64_t* vertex;
  Column source;
  __device__ bool operator()(int64_t v) const { return rowptr[v] < rowptr[v + 1] && source[vertex[v]] > 0; }
};

__global__ void gather_two(const int64_t* vertex, const int64_t* of, int64_t count, Column first, Column second,
                           double* new_first, double* new_second) {
  if (thread() >= count) return;
  const int64_t v = of == nullptr ? vertex[thread()] : vertex[of[thread()]];
  new_first[thread()] = first[v];
  new_second[thread()] = second[v];
}

Tensor numbers(const Tensor& like, int64_t size) { return torch::stable::new_empty(like, {size}, ScalarType::Double); }

}  // namespace

// Returns its result on the host.
Tensor id_faults(const Tensor& ids, int64_t num_nodes) {
  const int32_t device = ids.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t count = ids.numel(), size = num_nodes / 32 + 1;
  Faults found = {INT64_MAX, INT64_MIN, 0};
  if (count == 0) found = {0, -1, 0};
  else {
    TensorScratch scratch(ids);
    auto* const seen = scratch.array<unsigned>(size);
    auto* const faults = scratch.array<Faults>(1);
    check(cudaMemsetAsync(seen, 0, size * sizeof(unsigned), stream), "memset");
    check(cudaMemcpyAsync(faults, &found, sizeof found, cudaMemcpyHostToDevice, stream), "copy");
    look_at_ids<<<blocks(count), kBlock, 0, stream>>>(ids.const_data_ptr<int64_t>(), count, num_nodes, seen, faults);
    check_launch("look_at_ids");
    check(cudaMemcpyAsync(&found, faults, sizeof found, cudaMemcpyDeviceToHost, stream), "copy");
    check(cudaStreamSynchronize(stream), "id_faults");
  }
  Tensor result = torch::stable::empty({3}, ScalarType::Long);
  int64_t* const to = result.mutable_data_ptr<int64_t>();
  to[0] = found.low, to[1] = found.high, to[2] = static_cast<int64_t>(found.repeated);
  return result;
}

// Synchronises with the device, because the number of sources must be known.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> search_weights(const Tensor& rowptr, const Tensor& vertex,
                                                                  std::optional<Tensor> sequence, const Tensor& source,
                                                                  const Tensor& own, const Tensor& target,
                                                                  const Tensor& through, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("search_weights", device, {&vertex, &source, &own, &target, &through});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = vertex.numel();
  const int64_t* const of = vertex.const_data_ptr<int64_t>();
  Tensor targets = numbers(rowptr, n), throughs = numbers(rowptr, n);
  if (n == 0) return {words(rowptr, 0), numbers(rowptr, 0), numbers(rowptr, 0), targets, throughs};
  gather_two<<<blocks(n), kBlock, 0, stream>>>(of, nullptr, n, column(target), column(through),
                                               targets.mutable_data_ptr<double>(), throughs.mutable_data_ptr<double>());
  check_launch("gather_two");
  TensorScratch scratch(rowptr);
  const Starts starts = {rowptr.const_data_ptr<int64_t>(), of, column(source)};
  int64_t* const found = scratch.array<int64_t>(n);
  int64_t* const counter = scratch.array<int64_t>(1);
  int64_t count = 0;
  const auto select = [&](auto candidates) {
    size_t size = 0;
    check(cub::DeviceSelect::If(nullptr, size, candidates, found, counter, n, starts, stream), "select");
    void* const workspace = scratch.bytes(static_cast<int64_t>(size));
    check(cub::DeviceSelect::If(workspace, size, candidates, found, counter, n, starts, stream), "select");
    check(cudaMemcpyAsync(&count, counter, sizeof count, cudaMemcpyDeviceToHost, stream), "copy");
    check(cudaStreamSynchronize(stream), "select");
  };
  if (sequence) select(sequence->const_data_ptr<int64_t>());
  if (!sequence || count <= kLaneBatch) select(thrust::counting_iterator<int64_t>(0));
  Tensor start = words(rowptr, count), sources = numbers(rowptr, count), owns = numbers(rowptr, count);
  if (count > 0) {
    int64_t* const to = start.mutable_data_ptr<int64_t>();
    check(cudaMemcpyAsync(to, found, count * sizeof(int64_t), cudaMemcpyDeviceToDevice, stream), "copy");
    gather_two<<<blocks(count), kBlock, 0, stream>>>(of, to, count, column(source), column(own),
                                                     sources.mutable_data_ptr<double>(),
                                                     owns.mutable_data_ptr<double>());
    check_launch("gather_two");
  }
  return {start, sources, owns, targets, throughs};
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("id_faults", TORCH_BOX(&id_faults));
  m.impl("search_weights", TORCH_BOX(&search_weights));
}

}  // namespace torchcent::cuda
