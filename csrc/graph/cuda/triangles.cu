// Triangles of each vertex on the device: see graph/cpu/triangles.cpp. Each edge points to its end of higher degree, of
// equal ones to the larger vertex. The heads of a vertex are in a hash table in shared memory, in which the heads of
// its heads are looked up: by a warp for few heads, by a block for many, and by binary search for more than fit. All
// counts are integers, so that atomics are exact.

#include <torch/csrc/stable/library.h>

#include <cub/device/device_scan.cuh>

#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

namespace {

constexpr int kWarps = kBlock / 32;
constexpr int kOfWarp = 64;     // heads for a warp
constexpr int kOfBlock = 1024;  // heads for a block with a table of 2 kOfBlock places
constexpr int kMost = 4096;     // heads for a block with a table of 2 kMost places

struct Edges {
  int64_t n;
  const int64_t* begin;  // [n + 1]
  const int32_t* head;   // ascending in each row
};

__device__ inline bool points(const int64_t* rowptr, int64_t u, int64_t v) {
  const int64_t own = rowptr[u + 1] - rowptr[u], other = rowptr[v + 1] - rowptr[v];
  return own < other || (own == other && u < v);
}

// A warp per row: counts the heads or, with `head`, writes them from begin[row] on.
__global__ void heads(Arcs graph, int64_t n, int64_t* count, const int64_t* begin, int32_t* head) {
  const int64_t u = thread() / 32;
  const int lane = threadIdx.x & 31;
  if (u >= n) return;  // a whole warp
  int64_t at = head == nullptr ? 0 : begin[u];
  for (int64_t from = graph.rowptr[u]; from < graph.rowptr[u + 1]; from += 32) {
    const int64_t slot = from + lane;
    const int32_t v = slot < graph.rowptr[u + 1] ? graph.col[slot] : -1;
    const bool kept = v >= 0 && points(graph.rowptr, u, v);
    const unsigned mask = __ballot_sync(kFullWarp, kept);
    if (kept && head != nullptr) head[at + __popc(mask & ((1u << lane) - 1))] = v;
    at += __popc(mask);
  }
  if (lane == 0 && head == nullptr) count[u] = at;
}

// Open addressing, in shared memory: the vertex of each place, -1 if there is none, and the triangles counted there.
struct Table {
  int32_t* vertex;
  unsigned* count;
  int bits;

  __device__ int size() const { return 1 << bits; }
  __device__ unsigned place(int32_t v) const { return (static_cast<unsigned>(v) * 0x9e3779b1u) >> (32 - bits); }
  __device__ void clear(int rank, int threads) const {
    for (int i = rank; i < size(); i += threads) vertex[i] = -1, count[i] = 0;
  }
  __device__ void insert(int32_t v) const {
    for (unsigned i = place(v); atomicCAS(vertex + i, -1, v) != -1;) i = (i + 1) & (size() - 1);
  }
  __device__ int find(int32_t v) const {
    for (unsigned i = place(v);; i = (i + 1) & (size() - 1)) {
      const int32_t other = vertex[i];
      if (other == v) return static_cast<int>(i);
      if (other == -1) return -1;
    }
  }
};

// A warp looks up the heads of v, a head of u, and returns how many are heads of u; all lanes get it.
__device__ unsigned look_up(const Edges& edges, int32_t v, const Table& table, int lane) {
  unsigned closed = 0;
  const int64_t end = edges.begin[v + 1];
  for (int64_t slot = edges.begin[v] + lane; slot < end; slot += 32) {
    const int at = table.find(__ldg(edges.head + slot));
    if (at < 0) continue;
    ++closed;
    atomicAdd(table.count + at, 1u);
  }
  __syncwarp();
  closed = __reduce_add_sync(kFullWarp, closed);
  if (lane == 0 && closed != 0) atomicAdd(table.count + table.find(v), closed);
  return closed;
}

__device__ void flush(const Table& table, int rank, int threads, unsigned long long* total) {
  for (int i = rank; i < table.size(); i += threads)
    if (table.count[i] != 0) atomicAdd(total + table.vertex[i], static_cast<unsigned long long>(table.count[i]));
}

// Vertices of 2 to kOfWarp heads, a warp each; lists those of more. left: [2] counts, then the vertices of at most
// kOfBlock heads from the front, and the others from the back.
__global__ void by_warps(Edges edges, unsigned long long* total, unsigned long long* left, int32_t* vertex) {
  __shared__ int32_t place[kWarps][2 * kOfWarp];
  __shared__ unsigned count[kWarps][2 * kOfWarp];
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  for (int64_t u = thread() / 32; u < edges.n; u += int64_t{gridDim.x} * kWarps) {
    const int64_t begin = edges.begin[u], degree = edges.begin[u + 1] - begin;
    if (degree < 2) continue;
    if (degree > kOfWarp) {
      if (lane == 0) {
        const bool many = degree > kOfBlock;
        const auto at = static_cast<int64_t>(atomicAdd(left + many, 1ull));
        vertex[many ? edges.n - 1 - at : at] = static_cast<int32_t>(u);
      }
      continue;
    }
    const int bits = 32 - __clz(static_cast<int>(2 * degree - 1));  // at least 2 degree places
    const Table table = {place[warp], count[warp], bits};
    table.clear(lane, 32);
    __syncwarp();
    for (int64_t i = lane; i < degree; i += 32) table.insert(edges.head[begin + i]);
    __syncwarp();
    unsigned long long own = 0;
    for (int64_t i = 0; i < degree; ++i) own += look_up(edges, edges.head[begin + i], table, lane);
    __syncwarp();
    flush(table, lane, 32, total);
    if (lane == 0 && own != 0) atomicAdd(total + u, own);
    __syncwarp();  // before the table is cleared
  }
}

// One of the vertices at a time, from a queue, per block. Of more than kMost heads, the places are found by binary
// search among the heads themselves.
__global__ void by_blocks(Edges edges, int bits, bool from_back, const unsigned long long* left, const int32_t* vertex,
                          unsigned long long* next, unsigned long long* total) {
  extern __shared__ int32_t memory[];
  __shared__ int64_t taken;
  const Table table = {memory, reinterpret_cast<unsigned*>(memory + (1 << bits)), bits};
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const auto count = static_cast<int64_t>(left[from_back]);
  for (;;) {
    if (threadIdx.x == 0) taken = static_cast<int64_t>(atomicAdd(next, 1ull));
    __syncthreads();
    const int64_t i = taken;
    if (i >= count) return;
    const int64_t u = vertex[from_back ? edges.n - 1 - i : i];
    const int64_t begin = edges.begin[u], end = edges.begin[u + 1];
    const bool fits = 2 * (end - begin) <= table.size();
    unsigned long long own = 0;
    if (fits) {
      table.clear(threadIdx.x, kBlock);
      __syncthreads();
      for (int64_t slot = begin + threadIdx.x; slot < end; slot += kBlock) table.insert(edges.head[slot]);
      __syncthreads();
      for (int64_t slot = begin + warp; slot < end; slot += kWarps)
        own += look_up(edges, edges.head[slot], table, lane);
      __syncthreads();
      flush(table, threadIdx.x, kBlock, total);
    } else {
      for (int64_t slot = begin + warp; slot < end; slot += kWarps) {
        const int32_t v = edges.head[slot];
        unsigned closed = 0;
        for (int64_t other = edges.begin[v] + lane; other < edges.begin[v + 1]; other += 32) {
          const int32_t w = edges.head[other];
          const int64_t at = lower_bound(edges.head, begin, end, w);
          if (at == end || edges.head[at] != w) continue;
          ++closed;
          atomicAdd(total + w, 1ull);
        }
        __syncwarp();
        closed = __reduce_add_sync(kFullWarp, closed);
        if (lane == 0 && closed != 0) atomicAdd(total + v, static_cast<unsigned long long>(closed));
        own += closed;
      }
    }
    if (lane == 0 && own != 0) atomicAdd(total + u, own);
    __syncthreads();  // before the table is cleared, and `taken` is written
  }
}

void run_blocks(const Edges& edges, int heads_of_one, bool from_back, const unsigned long long* left,
                const int32_t* vertex, unsigned long long* next, unsigned long long* total, int processors,
                cudaStream_t stream) {
  const int places = 2 * heads_of_one, bytes = places * 8;
  check(cudaFuncSetAttribute(by_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  by_blocks<<<static_cast<unsigned>(processors * 8), kBlock, bytes, stream>>>(edges, bits_for(places), from_back, left,
                                                                              vertex, next, total);
  check_launch("by_blocks");
}

}  // namespace

// `count` must be 0 on entry. Every arc must have its reverse.
void triangles(const Tensor& rowptr, const Tensor& col, Tensor& count, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("triangles", device, {&col, &count});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  if (n == 0 || col.numel() == 0) return;
  const Arcs graph = arcs(rowptr, col);
  TensorScratch scratch(rowptr);
  int64_t* const begin = scratch.array<int64_t>(n + 1);
  check(cudaMemsetAsync(begin + n, 0, sizeof(int64_t), stream), "memset");
  heads<<<blocks(n * 32), kBlock, 0, stream>>>(graph, n, begin, nullptr, nullptr);
  check_launch("heads");
  size_t size = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, size, begin, begin, n + 1, stream), "scan");
  void* const workspace = scratch.bytes(static_cast<int64_t>(size));
  check(cub::DeviceScan::ExclusiveSum(workspace, size, begin, begin, n + 1, stream), "scan");
  int32_t* const head = scratch.array<int32_t>(col.numel() / 2);  // of each edge once
  heads<<<blocks(n * 32), kBlock, 0, stream>>>(graph, n, nullptr, begin, head);
  check_launch("heads");
  const Edges edges = {n, begin, head};
  auto* const left = scratch.array<unsigned long long>(4);  // counts of vertices, and how many of each are taken
  int32_t* const vertex = scratch.array<int32_t>(n);
  check(cudaMemsetAsync(left, 0, 4 * sizeof(unsigned long long), stream), "memset");
  auto* const total = reinterpret_cast<unsigned long long*>(count.mutable_data_ptr<int64_t>());
  const int processors = multiprocessors(device);
  by_warps<<<static_cast<unsigned>(std::min<int64_t>(blocks(n * 32), int64_t{processors} * 64)), kBlock, 0, stream>>>(
      edges, total, left, vertex);
  check_launch("by_warps");
  run_blocks(edges, kMost, true, left, vertex, left + 3, total, processors, stream);
  run_blocks(edges, kOfBlock, false, left, vertex, left + 2, total, processors, stream);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("triangles", TORCH_BOX(&triangles)); }

}  // namespace torchcent::cuda
