// CSR from arcs in any order, symmetry and components on the device. Ids are copies, which are validated in Python
// (torchcent/check).

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

namespace {

constexpr long long kHighest = std::numeric_limits<long long>::max(), kLowest = -kHighest - 1;

// Copies ids, truncated to int32, and finds the smallest and the largest of them.
template <class Id>
__global__ void copy_ids(const Id* id, int64_t columns, int64_t row_step, int64_t step, int32_t* copy,
                         long long* range) {
  __shared__ long long low, high;
  if (threadIdx.x == 0) low = kHighest, high = kLowest;
  __syncthreads();
  long long least = kHighest, most = kLowest;
  const int64_t all = int64_t{gridDim.x} * blockDim.x;
  for (int64_t side = 0; side < 2; ++side)
    for (int64_t e = thread(); e < columns; e += all) {
      const long long v = id[side * row_step + e * step];
      copy[side * columns + e] = static_cast<int32_t>(v);
      least = min(least, v);
      most = max(most, v);
    }
  for (int step_of_warp = 16; step_of_warp > 0; step_of_warp /= 2) {
    least = min(least, __shfl_xor_sync(kFullWarp, least, step_of_warp));
    most = max(most, __shfl_xor_sync(kFullWarp, most, step_of_warp));
  }
  if ((threadIdx.x & 31) == 0) {
    atomicMin(&low, least);
    atomicMax(&high, most);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMin(range, low);
    atomicMax(range + 1, high);
  }
}

__global__ void start_range(long long* range) {
  range[0] = kHighest;
  range[1] = kLowest;
}

// A bit above those that are sorted: the arc is the reverse of a column.
constexpr int64_t kReverse = int64_t{1} << 62;

// Self-loops become the largest word, which no other arc has.
__global__ void pack_columns(const int32_t* id, int64_t columns, int bits, bool both, int64_t* key) {
  const int64_t e = thread();
  if (e >= columns) return;
  const int64_t u = id[e], v = id[columns + e], loop = (int64_t{1} << 2 * bits) - 1;
  key[e] = u == v ? loop : u << bits | v;
  if (both) key[columns + e] = u == v ? loop : (v << bits | u) | kReverse;
}

// Finds loops, and arcs that several columns have. Equal arcs stand together, those of columns before the reverses.
__global__ void find_repeats(const int64_t* key, int64_t count, int64_t loop, int64_t* repeated) {
  const int64_t i = thread();
  if (i >= count) return;
  if (key[i] == loop || (i > 0 && key[i - 1] == key[i])) *static_cast<volatile int64_t*>(repeated) = 1;
}

__global__ void forget_sides(int64_t* key, int64_t count) {
  if (thread() < count) key[thread()] &= kReverse - 1;
}

__global__ void unpack_heads(const int64_t* key, int64_t count, int bits, int32_t* col) {
  if (thread() < count) col[thread()] = static_cast<int32_t>(key[thread()] & ((int64_t{1} << bits) - 1));
}

__global__ void find_slots(const int32_t* id, int64_t columns, Arcs graph, int64_t* slot) {
  const int64_t e = thread();
  if (e >= columns) return;
  const int32_t u = id[e], v = id[columns + e];
  slot[e] = u == v ? -1 : lower_bound(graph.col, graph.rowptr[u], graph.rowptr[u + 1], v);
}

__global__ void find_reverses(Arcs graph, int64_t n, int64_t m, const double* weight, int* failed) {
  const int64_t slot = thread();
  if (slot >= m || *static_cast<volatile int*>(failed) != 0) return;
  const int32_t u = static_cast<int32_t>(row_of(graph.rowptr, n, slot)), v = graph.col[slot];
  const int64_t end = graph.rowptr[v + 1], back = lower_bound(graph.col, graph.rowptr[v], end, u);
  if (back == end || graph.col[back] != u || (weight != nullptr && weight[back] != weight[slot])) *failed = 1;
}

// ---- components: union-find, as on the CPU (graph/cpu/components.cpp) -----------------------------------

__device__ int32_t parent_of(const int32_t* parent, int32_t v) { return __ldcg(parent + v); }

__device__ void link(int32_t* parent, int32_t u, int32_t v) {
  int32_t a = parent_of(parent, u), b = parent_of(parent, v);
  while (a != b) {
    const int32_t high = max(a, b), low = min(a, b), root = parent_of(parent, high);
    if (root == low || (root == high && atomicCAS(parent + high, high, low) == high)) return;
    a = parent_of(parent, parent_of(parent, high));
    b = parent_of(parent, low);
  }
}

__global__ void number_vertices(int64_t n, int32_t* parent) {
  if (thread() < n) parent[thread()] = static_cast<int32_t>(thread());
}

// The k-th arc of every vertex.
__global__ void link_one(Arcs graph, int64_t n, int k, int32_t* parent) {
  const int64_t v = thread();
  if (v >= n || graph.rowptr[v] + k >= graph.rowptr[v + 1]) return;
  link(parent, static_cast<int32_t>(v), graph.col[graph.rowptr[v] + k]);
}

// The arcs from the first-th on of the vertices outside of one component, with a warp per vertex.
__global__ void link_rest(Arcs graph, int64_t n, int first, int32_t done, int32_t* parent) {
  const int64_t v = thread() / 32;
  if (v >= n || parent_of(parent, static_cast<int32_t>(v)) == done) return;
  for (int64_t i = graph.rowptr[v] + first + (threadIdx.x & 31); i < graph.rowptr[v + 1]; i += 32)
    link(parent, static_cast<int32_t>(v), graph.col[i]);
}

__global__ void flatten(int64_t n, int32_t* parent) {
  const int64_t v = thread();
  if (v >= n) return;
  int32_t root = parent_of(parent, static_cast<int32_t>(v));
  for (int32_t next; (next = parent_of(parent, root)) != root;) root = next;
  parent[v] = root;
}

__global__ void mark_roots(int64_t n, const int32_t* parent, int64_t* label) {
  if (thread() < n) label[thread()] = parent[thread()] == thread();
}

__global__ void label_vertices(int64_t n, const int32_t* parent, const int64_t* roots, int64_t* label) {
  if (thread() < n) label[thread()] = roots[parent[thread()]] - 1;
}

// The most frequent root in a sample.
int32_t largest(const int32_t* parent, int64_t n, cudaStream_t stream) {
  constexpr int64_t kSample = 1024;
  const int64_t size = std::min(n, kSample), step = n / size;
  std::vector<int32_t> root(size);
  check(cudaMemcpy2DAsync(root.data(), sizeof(int32_t), parent, step * sizeof(int32_t), sizeof(int32_t), size,
                          cudaMemcpyDeviceToHost, stream),
        "copy");
  check(cudaStreamSynchronize(stream), "components");
  std::sort(root.begin(), root.end());
  int32_t best = -1;
  for (int64_t most = 0, begin = 0; begin < size;) {
    const int64_t end = std::upper_bound(root.begin() + begin, root.end(), root[begin]) - root.begin();
    if (end - begin > most) most = end - begin, best = root[begin];
    begin = end;
  }
  return best;
}

}  // namespace

// An int32 copy of the ids of int64 or int32 arcs with any strides, and [smallest, largest] of them.
std::tuple<Tensor, Tensor> vertex_ids(const Tensor& edge_index, int64_t) {
  const int32_t device = edge_index.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t columns = edge_index.size(1), row_step = edge_index.stride(0), step = edge_index.stride(1);
  Tensor ids = torch::stable::new_empty(edge_index, {2, columns}, ScalarType::Int);
  Tensor range = words(edge_index, 2);
  static_assert(sizeof(long long) == sizeof(int64_t));
  auto* const ends = reinterpret_cast<long long*>(range.mutable_data_ptr<int64_t>());
  int32_t* const copy = ids.mutable_data_ptr<int32_t>();
  start_range<<<1, 1, 0, stream>>>(ends);
  check_launch("start_range");
  const unsigned grid = static_cast<unsigned>(
      std::max<int64_t>(1, std::min<int64_t>(blocks(columns), 8 * int64_t{multiprocessors(device)})));
  if (edge_index.scalar_type() == ScalarType::Int)
    copy_ids<<<grid, kBlock, 0, stream>>>(edge_index.const_data_ptr<int32_t>(), columns, row_step, step, copy, ends);
  else copy_ids<<<grid, kBlock, 0, stream>>>(edge_index.const_data_ptr<int64_t>(), columns, row_step, step, copy, ends);
  check_launch("copy_ids");
  return {ids, range};
}

// See graph/cpu/build.cpp. Two words per arc at the peak, besides the ids. Synchronises with the device, because the
// size must be known; `repeated` is on the host.
std::tuple<Tensor, Tensor, Tensor> csr(const Tensor& ids, int64_t n, bool both, int64_t) {
  const int32_t device = ids.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t columns = ids.size(1), arcs = columns * (both ? 2 : 1);
  const int bits = bits_for(n);
  const int64_t loop = (int64_t{1} << 2 * bits) - 1;
  Tensor repeated = torch::stable::empty({1}, ScalarType::Long);
  int64_t* const again = repeated.mutable_data_ptr<int64_t>();
  *again = 0;
  Tensor key = words(ids, arcs);
  int64_t slots = 0;
  if (arcs > 0) {
    pack_columns<<<blocks(columns), kBlock, 0, stream>>>(ids.const_data_ptr<int32_t>(), columns, bits, both,
                                                         key.mutable_data_ptr<int64_t>());
    check_launch("pack_columns");
    key = sorted(std::move(key), bits, stream);
    Tensor flag = words(ids, 1);
    check(cudaMemsetAsync(flag.mutable_data_ptr<int64_t>(), 0, sizeof(int64_t), stream), "memset");
    find_repeats<<<blocks(arcs), kBlock, 0, stream>>>(key.const_data_ptr<int64_t>(), arcs, loop,
                                                      flag.mutable_data_ptr<int64_t>());
    check_launch("find_repeats");
    if (both) {
      forget_sides<<<blocks(arcs), kBlock, 0, stream>>>(key.mutable_data_ptr<int64_t>(), arcs);
      check_launch("forget_sides");
    }
    Tensor unique = words(ids, arcs);
    Tensor count = words(ids, 1);
    int64_t* const kept = unique.mutable_data_ptr<int64_t>();
    {
      TensorScratch scratch(ids);
      const int64_t* const in = key.const_data_ptr<int64_t>();
      int64_t* const number = count.mutable_data_ptr<int64_t>();
      size_t size = 0;
      check(cub::DeviceSelect::Unique(nullptr, size, in, kept, number, arcs, stream), "unique");
      void* const workspace = scratch.bytes(static_cast<int64_t>(size));
      check(cub::DeviceSelect::Unique(workspace, size, in, kept, number, arcs, stream), "unique");
    }
    int64_t last = 0;
    to_host(&slots, count.const_data_ptr<int64_t>(), sizeof slots, stream, "unique");
    to_host(&last, kept + slots - 1, sizeof last, stream, "copy");
    to_host(again, flag.const_data_ptr<int64_t>(), sizeof *again, stream, "copy");
    if (last == loop) --slots;  // self-loops
    key = unique;
  }
  Tensor rowptr = words(ids, n + 1);
  Tensor col = torch::stable::new_empty(ids, {slots}, ScalarType::Int);
  pointers<<<blocks(n + 1), kBlock, 0, stream>>>(key.const_data_ptr<int64_t>(), slots, n, bits,
                                                 rowptr.mutable_data_ptr<int64_t>());
  check_launch("pointers");
  if (slots > 0) {
    unpack_heads<<<blocks(slots), kBlock, 0, stream>>>(key.const_data_ptr<int64_t>(), slots, bits,
                                                       col.mutable_data_ptr<int32_t>());
    check_launch("unpack_heads");
  }
  return {rowptr, col, repeated};
}

Tensor slots(const Tensor& ids, const Tensor& rowptr, const Tensor& col, int64_t) {
  const int32_t device = ids.get_device_index();
  same_device("slots", device, {&rowptr, &col});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const int64_t columns = ids.size(1);
  Tensor slot = words(ids, columns);
  if (columns == 0) return slot;
  find_slots<<<blocks(columns), kBlock, 0, current_stream(device)>>>(
      ids.const_data_ptr<int32_t>(), columns, arcs(rowptr, col), slot.mutable_data_ptr<int64_t>());
  check_launch("find_slots");
  return slot;
}

bool symmetric(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("symmetric", device, {&col});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1, m = col.numel();
  if (m == 0) return true;
  TensorScratch scratch(rowptr);
  int* const failed = scratch.array<int>(1);
  check(cudaMemsetAsync(failed, 0, sizeof *failed, stream), "memset");
  find_reverses<<<blocks(m), kBlock, 0, stream>>>(arcs(rowptr, col), n, m,
                                                  weight ? weight->const_data_ptr<double>() : nullptr, failed);
  check_launch("find_reverses");
  int found = 0;
  to_host(&found, failed, sizeof found, stream, "symmetric");
  return found == 0;
}

Tensor components(const Tensor& rowptr, const Tensor& col, bool symmetric, int64_t) {
  constexpr int kFirst = 2;
  const int32_t device = rowptr.get_device_index();
  same_device("components", device, {&col});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  Tensor result = words(rowptr, n);
  if (n == 0) return result;
  const Arcs graph = arcs(rowptr, col);
  TensorScratch scratch(rowptr);
  int32_t* const parent = scratch.array<int32_t>(n);
  int64_t* const roots = scratch.array<int64_t>(n);
  int64_t* const label = result.mutable_data_ptr<int64_t>();
  const unsigned grid = blocks(n);
  number_vertices<<<grid, kBlock, 0, stream>>>(n, parent);
  for (int k = 0; k < kFirst; ++k) {
    link_one<<<grid, kBlock, 0, stream>>>(graph, n, k, parent);
    flatten<<<grid, kBlock, 0, stream>>>(n, parent);
  }
  check_launch("link_one");
  const int32_t done = symmetric ? largest(parent, n, stream) : -1;
  link_rest<<<blocks(32 * n), kBlock, 0, stream>>>(graph, n, kFirst, done, parent);
  flatten<<<grid, kBlock, 0, stream>>>(n, parent);
  mark_roots<<<grid, kBlock, 0, stream>>>(n, parent, label);
  check_launch("mark_roots");
  size_t size = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, size, label, roots, n, stream), "scan");
  void* const workspace = scratch.bytes(static_cast<int64_t>(size));
  check(cub::DeviceScan::InclusiveSum(workspace, size, label, roots, n, stream), "scan");
  label_vertices<<<grid, kBlock, 0, stream>>>(n, parent, roots, label);
  check_launch("label_vertices");
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("vertex_ids", TORCH_BOX(&vertex_ids));
  m.impl("csr", TORCH_BOX(&csr));
  m.impl("slots", TORCH_BOX(&slots));
  m.impl("symmetric", TORCH_BOX(&symmetric));
  m.impl("components", TORCH_BOX(&components));
}

}  // namespace torchcent::cuda
