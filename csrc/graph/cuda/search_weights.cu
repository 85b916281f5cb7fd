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

// What is found of ids. One fill of all bits prepares it, and the vertices not yet seen: unsigned numbers that only
// fall, and a count from -1 on.
struct Faults {
  unsigned long long low, below_high;  // of numbers in the order of the ids; the complement of the highest one
  unsigned long long repeated;

  __host__ __device__ static unsigned long long ordered(int64_t id) {
    return static_cast<unsigned long long>(id) ^ (1ull << 63);
  }
  static int64_t id(unsigned long long place) { return static_cast<int64_t>(place ^ (1ull << 63)); }
};

__global__ void look_at_ids(const int64_t* ids, int64_t count, int64_t n, unsigned* unseen, Faults* faults) {
  const int64_t id = ids[min(thread(), count - 1)];  // the last one again, where there are none left
  long long low = id, high = id;
  for (int distance = 16; distance > 0; distance /= 2) {
    low = min(low, __shfl_xor_sync(kFullWarp, low, distance));
    high = max(high, __shfl_xor_sync(kFullWarp, high, distance));
  }
  if ((threadIdx.x & 31) == 0) {
    atomicMin(&faults->low, Faults::ordered(low));
    atomicMin(&faults->below_high, ~Faults::ordered(high));
  }
  if (thread() >= count || id < 0 || id >= n) return;
  const unsigned bit = 1u << id % 32;
  if (!(atomicAnd(unseen + id / 32, ~bit) & bit)) atomicAdd(&faults->repeated, 1ull);
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

}  // namespace

// Returns its result on the host.
Tensor id_faults(const Tensor& ids, int64_t num_nodes) {
  const int32_t device = ids.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t count = ids.numel(), size = num_nodes / 32 + 1;
  Tensor result = torch::stable::empty({3}, ScalarType::Long);
  int64_t* const to = result.mutable_data_ptr<int64_t>();
  to[0] = 0, to[1] = -1, to[2] = 0;
  if (count == 0) return result;
  TensorScratch scratch(ids);
  const auto bytes = static_cast<int64_t>(sizeof(Faults) + size * sizeof(unsigned));
  auto* const faults = static_cast<Faults*>(scratch.bytes(bytes));
  auto* const unseen = reinterpret_cast<unsigned*>(faults + 1);
  check(cudaMemsetAsync(faults, 0xff, bytes, stream), "memset");
  look_at_ids<<<blocks(count), kBlock, 0, stream>>>(ids.const_data_ptr<int64_t>(), count, num_nodes, unseen, faults);
  check_launch("look_at_ids");
  Faults found;
  to_host(&found, faults, sizeof found, stream, "id_faults");
  to[0] = Faults::id(found.low), to[1] = Faults::id(~found.below_high);
  to[2] = static_cast<int64_t>(found.repeated + 1);
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
    to_host(&count, counter, sizeof count, stream, "select");
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
