// Breadth-first search from one source, a few times per graph: hops, to choose an engine and to order vertices.
//
// One block searches small levels and goes from one to the next by itself, since in a mesh with thousands of levels
// a launch takes longer than a level. All blocks search large levels, with one launch for each.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

namespace {

constexpr int kSmall = 4096;                        // vertices of a level that one block searches
constexpr int kAlone = 16;                          // arcs that a thread visits alone
constexpr int kTogether = 512;                      // arcs that a warp visits; a block visits longer rows
constexpr int kOneBlock = 1024, kManyBlocks = 256;  // threads per block
constexpr int kAtOnce = 4;                          // arcs whose loads are in flight together

// The level being searched: vertices begin to end of the queue. The next level is end to tail.
struct Level {
  int32_t begin, end, tail, depth;
  unsigned blocks_done;
};

struct Search {
  Arcs out;
  int32_t* depth;
  int32_t* queue;
  Level* level;
};

// Reserves places behind `tail` for the arcs of all 32 lanes that are true, one after the other.
template <int N>
__device__ void push(const bool (&fresh)[N], const int32_t (&head)[N], int32_t* tail, const auto& put) {
  unsigned votes[N];
  int total = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) total += __popc(votes[i] = __ballot_sync(kFullWarp, fresh[i]));
  if (total == 0) return;
  const int lane = threadIdx.x & 31;
  int base = lane == 0 ? atomicAdd(tail, total) : 0;
  base = __shfl_sync(kFullWarp, base, 0);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (fresh[i]) put(base + __popc(votes[i] & ((1u << lane) - 1)), head[i]);
    base += __popc(votes[i]);
  }
}

// Visits the slots first, first + step, ... below last. All lanes of a warp take part, with ranges of their own.
__device__ void visit(const Search& s, int64_t first, int64_t last, int step, int32_t next, int32_t* tail,
                      const auto& put) {
  while (__any_sync(kFullWarp, first < last)) {
    int32_t head[kAtOnce], found[kAtOnce];
    bool fresh[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i, first += step) head[i] = first < last ? s.out.col[first] : -1;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) found[i] = head[i] < 0 ? 0 : s.depth[head[i]];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (found[i] < 0) found[i] = atomicCAS(s.depth + head[i], -1, next);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) fresh[i] = found[i] < 0;
    push(fresh, head, tail, put);
  }
}

// Visits the arcs of one vertex per thread, -1 for none. All threads of the block take part.
template <int kThreads>
__device__ void expand(const Search& s, int32_t vertex, int32_t next, int32_t* tail, const auto& put) {
  __shared__ int32_t long_rows[kThreads];
  __shared__ int count;
  const int lane = threadIdx.x & 31;
  const int64_t begin = vertex < 0 ? 0 : s.out.rowptr[vertex];
  const int64_t end = vertex < 0 ? 0 : s.out.rowptr[vertex + 1];
  const int64_t arcs = end - begin;
  visit(s, begin, arcs <= kAlone ? end : begin, 1, next, tail, put);
  unsigned shared = __ballot_sync(kFullWarp, arcs > kAlone && arcs <= kTogether);
  for (; shared != 0; shared &= shared - 1) {
    const int owner = __ffs(shared) - 1;
    const int64_t first = __shfl_sync(kFullWarp, begin, owner), last = __shfl_sync(kFullWarp, end, owner);
    visit(s, first + lane, last, 32, next, tail, put);
  }
  if (!__syncthreads_or(arcs > kTogether)) return;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (arcs > kTogether) long_rows[atomicAdd(&count, 1)] = vertex;
  __syncthreads();
  for (int i = 0; i < count; ++i) {
    const int64_t first = s.out.rowptr[long_rows[i]], last = s.out.rowptr[long_rows[i] + 1];
    visit(s, first + threadIdx.x, last, kThreads, next, tail, put);
  }
  __syncthreads();  // the list is free again
}

__global__ void start(Search s, int32_t source) {
  s.depth[source] = 0;
  s.queue[0] = source;
  *s.level = {0, 1, 1, 0, 0};
}

// Searches level after level while they are small.
__global__ void __launch_bounds__(kOneBlock) small_levels(Search s) {
  __shared__ int32_t recent[2 * kSmall];  // of this level and the next, place by place
  __shared__ int32_t tail;
  constexpr int kMask = 2 * kSmall - 1;
  Level level = *s.level;
  if (level.begin == level.end || level.end - level.begin > kSmall) return;
  for (int i = level.begin + threadIdx.x; i < level.end; i += kOneBlock) recent[i & kMask] = s.queue[i];
  if (threadIdx.x == 0) tail = level.end;
  __syncthreads();
  while (level.begin < level.end && level.end - level.begin <= kSmall) {
    const auto put = [&](int32_t place, int32_t vertex) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(s.out.rowptr + vertex));
      if (place - level.end < kSmall) recent[place & kMask] = vertex;
      s.queue[place] = vertex;
    };
    for (int64_t i = level.begin; i < level.end; i += kOneBlock) {
      const int64_t mine = i + threadIdx.x;
      expand<kOneBlock>(s, mine < level.end ? recent[mine & kMask] : -1, level.depth + 1, &tail, put);
    }
    __syncthreads();
    level = {level.end, tail, tail, level.depth + 1, 0};
    __syncthreads();  // all have read the tail
  }
  if (threadIdx.x == 0) *s.level = level;
}

// Searches one level if it is large. The last block goes on to the next level.
__global__ void __launch_bounds__(kManyBlocks) large_level(Search s) {
  const int32_t begin = s.level->begin, end = s.level->end, next = s.level->depth + 1;
  if (end - begin <= kSmall) return;
  const auto put = [&](int32_t place, int32_t vertex) { s.queue[place] = vertex; };
  const int64_t step = int64_t{gridDim.x} * kManyBlocks;
  for (int64_t i = begin + int64_t{blockIdx.x} * kManyBlocks; i < end; i += step) {
    const int64_t mine = i + threadIdx.x;
    expand<kManyBlocks>(s, mine < end ? s.queue[mine] : -1, next, &s.level->tail, put);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&s.level->blocks_done, 1u) != gridDim.x - 1) return;
  const int32_t tail = atomicAdd(&s.level->tail, 0);
  *s.level = {end, tail, tail, next, 0};
}

// Fills `depth` with the hops from the source, -1 where it does not lead.
void search(const Arcs& out, int64_t n, int64_t source, int32_t* depth, Scratch& scratch, int32_t device) {
  const cudaStream_t stream = current_stream(device);
  const Search found = {out, depth, scratch.array<int32_t>(n), scratch.array<Level>(1)};
  check(cudaMemsetAsync(depth, 0xff, n * sizeof(int32_t), stream), "memset");
  start<<<1, 1, 0, stream>>>(found, static_cast<int32_t>(source));
  check_launch("start");
  const unsigned grid = 8 * multiprocessors(device);
  Level level = {0, 1, 1, 0, 0};
  while (level.begin < level.end) {
    constexpr int kRounds = 8;  // enqueued before the host looks again
    for (int round = 0; round < kRounds; ++round) {
      small_levels<<<1, kOneBlock, 0, stream>>>(found);
      large_level<<<grid, kManyBlocks, 0, stream>>>(found);
    }
    check_launch("depths");
    to_host(&level, found.level, sizeof level, stream, "depths");
  }
}

// ---- breadth-first order ---------------------------------------------------------------------------------

__global__ void number(int64_t n, int32_t* vertex) {
  if (thread() < n) vertex[thread()] = static_cast<int32_t>(thread());
}

// Vertex 0 is on level 0, so that there is a level at least.
__global__ void count_levels(const uint32_t* depth, int64_t n, int32_t* levels) {
  *levels = static_cast<int32_t>(depth[lower_bound(depth, 0, n, UINT32_MAX) - 1]) + 1;
}

__global__ void level_bounds(const uint32_t* depth, int64_t n, int32_t levels, int64_t* bound) {
  if (thread() <= levels) bound[thread()] = lower_bound(depth, 0, n, static_cast<uint32_t>(thread()));
}

// The lowest rank among the predecessors of each vertex, with a warp per vertex. Only those on the level before have a
// rank, which is at least `least`.
__global__ void first_neighbours(Arcs in, const int32_t* vertex, int64_t count, const uint32_t* rank, uint32_t least,
                                 uint32_t* first) {
  const int64_t i = thread() / 32;
  if (i >= count) return;
  uint32_t found = UINT32_MAX;
  const int64_t end = in.rowptr[vertex[i] + 1];
  for (int64_t slot = in.rowptr[vertex[i]]; slot < end && found != least; slot += 32) {
    const int64_t mine = slot + (threadIdx.x & 31);
    found = min(found, __reduce_min_sync(kFullWarp, mine < end ? rank[in.col[mine]] : UINT32_MAX));
  }
  if ((threadIdx.x & 31) == 0) first[i] = found;
}

__global__ void rank_level(const int32_t* order, int64_t begin, int64_t count, uint32_t* rank) {
  if (thread() < count) rank[order[begin + thread()]] = static_cast<uint32_t>(begin + thread());
}

__global__ void widen(int64_t n, const int32_t* order, int64_t* result) {
  if (thread() < n) result[thread()] = order[thread()];
}

}  // namespace

Tensor depths(const Tensor& rowptr, const Tensor& col, int64_t source) {
  const int32_t device = rowptr.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const int64_t n = rowptr.numel() - 1;
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Int);
  TensorScratch scratch(rowptr);
  if (n > 0) search(arcs(rowptr, col), n, source, result.mutable_data_ptr<int32_t>(), scratch, device);
  return result;
}

// All vertices in breadth-first order from vertex 0, those of a level by their first neighbour and by id; at the end
// those that it does not reach, by id.
Tensor breadth_first(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                     std::optional<Tensor> depth) {
  const int32_t device = rowptr.get_device_index();
  same_device("breadth_first", device, {&col, &colptr, &row});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  Tensor result = words(rowptr, n);
  if (n == 0) return result;
  TensorScratch scratch(rowptr);
  auto* const key = scratch.array<uint32_t>(n);
  auto* const sorted = scratch.array<uint32_t>(n);
  int32_t* const listed = scratch.array<int32_t>(n);  // by level, then by id
  int32_t* const order = scratch.array<int32_t>(n);
  auto* const rank = scratch.array<uint32_t>(n);
  // Vertices that are not reached have the largest key.
  if (depth) {
    same_device("breadth_first", device, {&*depth});
    check(
        cudaMemcpyAsync(key, depth->const_data_ptr<int32_t>(), n * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream),
        "copy");
  } else {
    const int64_t before = scratch.mark();
    search(arcs(rowptr, col), n, 0, reinterpret_cast<int32_t*>(key), scratch, device);
    scratch.release(before);
  }
  size_t size = 0;
  const auto sort = [&](void* workspace, int64_t begin, int64_t count, int32_t* from, int32_t* to, int bits) {
    check(cub::DeviceRadixSort::SortPairs(workspace, size, key + begin, sorted + begin, from + begin, to + begin, count,
                                          0, bits, stream),
          "sort");
  };
  sort(nullptr, 0, n, order, listed, 32);
  void* const workspace = scratch.bytes(static_cast<int64_t>(size));
  number<<<blocks(n), kBlock, 0, stream>>>(n, order);
  check_launch("number");
  sort(workspace, 0, n, order, listed, 32);
  int32_t levels = 0;
  int32_t* const deepest = scratch.array<int32_t>(1);
  count_levels<<<1, 1, 0, stream>>>(sorted, n, deepest);
  check_launch("count_levels");
  to_host(&levels, deepest, sizeof levels, stream, "count_levels");
  std::vector<int64_t> bound(levels + 1);
  int64_t* const ends = scratch.array<int64_t>(levels + 1);
  level_bounds<<<blocks(levels + 1), kBlock, 0, stream>>>(sorted, n, levels, ends);
  check_launch("level_bounds");
  check(cudaMemcpyAsync(bound.data(), ends, bound.size() * sizeof(int64_t), cudaMemcpyDeviceToHost, stream), "copy");
  check(cudaMemcpyAsync(order, listed, n * sizeof(int32_t), cudaMemcpyDeviceToDevice, stream), "copy");
  check(cudaMemsetAsync(rank, 0xff, n * sizeof(uint32_t), stream), "memset");
  check(cudaStreamSynchronize(stream), "breadth_first");
  for (int32_t level = 0; level < levels; ++level) {
    const int64_t begin = bound[level], count = bound[level + 1] - begin;
    if (level > 0) {
      first_neighbours<<<blocks(32 * count), kBlock, 0, stream>>>(arcs(colptr, row), listed + begin, count, rank,
                                                                  static_cast<uint32_t>(bound[level - 1]), key + begin);
      check_launch("first_neighbours");
      sort(workspace, begin, count, listed, order, bits_for(n));
    }
    rank_level<<<blocks(count), kBlock, 0, stream>>>(order, begin, count, rank);
    check_launch("rank_level");
  }
  widen<<<blocks(n), kBlock, 0, stream>>>(n, order, result.mutable_data_ptr<int64_t>());
  check_launch("widen");
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("depths", TORCH_BOX(&depths));
  m.impl("breadth_first", TORCH_BOX(&breadth_first));
}

}  // namespace torchcent::cuda
