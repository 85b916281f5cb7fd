// Graph construction on the device: induced subgraphs and transposes. Both are lists of arcs, each packed into one word
// (row, other end), that a radix sort orders; the result is the new CSR. The slot that an arc came from is not carried
// along but found afterwards by binary search, because the rows of a graph are sorted. The peak memory is two words per
// arc.

#include <torch/csrc/stable/library.h>

#include <tuple>
#include <utility>

#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

__global__ void number(const int64_t* kept, int64_t size, int32_t* place) {
  if (thread() < size) place[kept[thread()]] = static_cast<int32_t>(thread());
}

// Counts the arcs between vertices that have a place and, unless key is null, stores them in any order.
__global__ void kept_arcs(Arcs graph, int64_t n, int64_t m, const int32_t* place, int bits, int64_t* key,
                          unsigned long long* count) {
  __shared__ unsigned in_block;
  __shared__ unsigned long long begin;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  const int64_t slot = thread();
  const int32_t head = slot < m ? place[graph.col[slot]] : -1;
  const int32_t tail = head < 0 ? -1 : place[row_of(graph.rowptr, n, slot)];
  const unsigned lane = threadIdx.x & 31, found = __ballot_sync(kFullWarp, tail >= 0);
  unsigned at = 0;
  if (lane == 0 && found != 0) at = atomicAdd(&in_block, static_cast<unsigned>(__popc(found)));
  at = __shfl_sync(kFullWarp, at, 0) + __popc(found & ((1u << lane) - 1));
  __syncthreads();
  if (threadIdx.x == 0 && in_block != 0) begin = atomicAdd(count, static_cast<unsigned long long>(in_block));
  if (key == nullptr) return;
  __syncthreads();
  if (tail >= 0) key[begin + at] = int64_t{tail} << bits | head;
}

__global__ void turned_arcs(Arcs graph, int64_t n, int64_t m, int bits, int64_t* key) {
  const int64_t slot = thread();
  if (slot < m) key[slot] = int64_t{graph.col[slot]} << bits | row_of(graph.rowptr, n, slot);
}

// Unpacks sorted arcs; key becomes the slots. With kept, the arcs are those of the subgraph; without, they are
// transposed.
__global__ void unpack(Arcs graph, const int64_t* kept, int64_t count, int bits, int64_t* key, int32_t* other) {
  const int64_t i = thread();
  if (i >= count) return;
  const int64_t row = key[i] >> bits, end = key[i] & ((int64_t{1} << bits) - 1);
  const int64_t tail = kept == nullptr ? end : kept[row], head = kept == nullptr ? row : kept[end];
  other[i] = static_cast<int32_t>(end);
  key[i] = lower_bound(graph.col, graph.rowptr[tail], graph.rowptr[tail + 1], static_cast<int32_t>(head));
}

// CSR of `size` rows from sorted arcs, and the original slots.
std::tuple<Tensor, Tensor, Tensor> rows(Arcs graph, const int64_t* kept, Tensor key, int64_t size, int bits,
                                        cudaStream_t stream) {
  const int64_t count = key.numel();
  Tensor ptr = words(key, size + 1);
  Tensor other = torch::stable::new_empty(key, {count}, ScalarType::Int);
  int64_t* const slot = key.mutable_data_ptr<int64_t>();
  pointers<<<blocks(size + 1), kBlock, 0, stream>>>(slot, count, size, bits, ptr.mutable_data_ptr<int64_t>());
  check_launch("pointers");
  if (count > 0) {
    unpack<<<blocks(count), kBlock, 0, stream>>>(graph, kept, count, bits, slot, other.mutable_data_ptr<int32_t>());
    check_launch("unpack");
  }
  return {ptr, other, key};
}

}  // namespace

// The subgraph induced by `kept`, whose i-th vertex becomes vertex i. Synchronises with the device, because the size
// must be known. The slots are what is left of the sort, wanted or not.
std::tuple<Tensor, Tensor, Tensor> induced(const Tensor& rowptr, const Tensor& col, const Tensor& kept, bool, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("induced", device, {&col, &kept});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1, m = col.numel(), size = kept.numel();
  const Arcs graph = arcs(rowptr, col);
  const int bits = bits_for(size);
  const int64_t* const vertex = kept.const_data_ptr<int64_t>();
  TensorScratch scratch(rowptr);
  unsigned long long count = 0;
  if (m == 0 || size == 0) return rows(graph, vertex, words(rowptr, 0), size, bits, stream);
  const int64_t before = scratch.mark();
  int32_t* const place = scratch.array<int32_t>(n);
  auto* const counter = scratch.array<unsigned long long>(1);
  check(cudaMemsetAsync(place, 0xff, n * sizeof(int32_t), stream), "memset");
  number<<<blocks(size), kBlock, 0, stream>>>(vertex, size, place);
  check_launch("number");
  check(cudaMemsetAsync(counter, 0, sizeof count, stream), "memset");
  kept_arcs<<<blocks(m), kBlock, 0, stream>>>(graph, n, m, place, bits, nullptr, counter);
  check_launch("kept_arcs");
  check(cudaMemcpyAsync(&count, counter, sizeof count, cudaMemcpyDeviceToHost, stream), "copy");
  check(cudaMemsetAsync(counter, 0, sizeof count, stream), "memset");
  check(cudaStreamSynchronize(stream), "kept_arcs");
  Tensor key = words(rowptr, static_cast<int64_t>(count));
  if (count > 0) {
    kept_arcs<<<blocks(m), kBlock, 0, stream>>>(graph, n, m, place, bits, key.mutable_data_ptr<int64_t>(), counter);
    check_launch("kept_arcs");
  }
  scratch.release(before);
  return rows(graph, vertex, sorted(std::move(key), bits, stream), size, bits, stream);
}

std::tuple<Tensor, Tensor, Tensor> transpose(const Tensor& rowptr, const Tensor& col, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("transpose", device, {&col});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1, m = col.numel();
  const Arcs graph = arcs(rowptr, col);
  const int bits = bits_for(n);
  Tensor key = words(rowptr, m);
  if (m > 0) {
    turned_arcs<<<blocks(m), kBlock, 0, stream>>>(graph, n, m, bits, key.mutable_data_ptr<int64_t>());
    check_launch("turned_arcs");
  }
  return rows(graph, nullptr, sorted(std::move(key), bits, stream), n, bits, stream);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("induced", TORCH_BOX(&induced));
  m.impl("transpose", TORCH_BOX(&transpose));
}

}  // namespace torchcent::cuda
