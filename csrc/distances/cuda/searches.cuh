// Searches one by one on CUDA, a block each, for graphs of large diameter.
//
// Of 512 searches side by side, few reach the same vertex at the same level of such a graph, and a row of bits is read
// for each vertex at every level. A single search reads the slots of each vertex once. A bit per vertex says whether it
// has been reached; up to 1.8 million of them are in shared memory. The vertices of a level are a section of a queue.
// What is written does not depend on the order within it.
#pragma once

#include <algorithm>
#include <climits>

#include "paths/cuda/tasks.cuh"

#include "distances/workspace.h"

namespace torchcent::cuda {

constexpr int kRounds = 8;        // sources of a block per launch, then cancellation is polled
constexpr int kAhead = 4;         // slots that a thread reads at a time
constexpr int64_t kAlone = 2048;  // slots up to which a vertex is left to the threads that take it
constexpr int kMostOfBlock = 64;  // vertices of a level that all threads of a block process together

struct Searches {
  int64_t n, count, words;
  Arcs out;
  const int64_t* sources;
  int last;           // level, the last one that counts
  int shift;          // log2 of the threads per vertex
  int32_t* queue;     // [blocks][n]
  uint32_t* reached;  // [blocks][words], unless they are in shared memory
};

// The part of a block's bits that other threads may be changing: a bit that is still 0 here may be set.
template <bool is_shared>
__device__ uint32_t peek(const uint32_t* word) {
  if constexpr (is_shared) return *const_cast<const volatile uint32_t*>(word);
  else return __ldcg(word);
}

// visitor.found(search, v, depth) is called by one thread for each vertex, visitor.level(search, depth, count) by
// thread 0 for each level, and visitor.end(search, depth) by it after the last.
template <bool is_shared, class Visitor>
__global__ void __launch_bounds__(1024, 2) search_by_blocks(Searches p, Visitor visitor) {
  extern __shared__ uint4 shared[];
  __shared__ int found[3], together[3];  // at one level they are counted, at the next read, then reset
  __shared__ int32_t wide[kMostOfBlock];
  uint32_t* const reached = is_shared ? reinterpret_cast<uint32_t*>(shared) : p.reached + blockIdx.x * p.words;
  int32_t* const queue = p.queue + blockIdx.x * p.n;
  const int width = 1 << p.shift, lane = threadIdx.x & (width - 1);
  const unsigned team = (kFullWarp >> (32 - width)) << (lane_id() & ~(width - 1));
  for (int64_t search = blockIdx.x; search < p.count; search += gridDim.x) {
    __syncthreads();
    uint4* const all = reinterpret_cast<uint4*>(reached);
    for (int64_t i = threadIdx.x; i < p.words / 4; i += blockDim.x) all[i] = {0, 0, 0, 0};
    if (threadIdx.x < 3) found[threadIdx.x] = together[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      const int32_t source = static_cast<int32_t>(p.sources[search]);
      queue[0] = source;
      reached[source >> 5] = 1u << (source & 31);
      visitor.found(search, source, 0);
      visitor.level(search, 0, 1);
    }
    __syncthreads();
    uint32_t begin = 0, end = 1;
    int depth = 1;
    for (; depth <= p.last; ++depth) {
      const int turn = depth % 3, later = turn == 2 ? 0 : turn + 1;
      if (threadIdx.x == 0) found[later] = together[later] = 0;
      const auto look = [&](int64_t slot, int64_t stop, int step) {
        for (; slot < stop; slot += kAhead * step) {
          int32_t v[kAhead];
#pragma unroll
          for (int k = 0; k < kAhead; ++k) v[k] = slot + k * step < stop ? __ldg(p.out.col + slot + k * step) : -1;
#pragma unroll
          for (int k = 0; k < kAhead; ++k) {
            if (v[k] < 0) continue;
            uint32_t* const word = reached + (v[k] >> 5);
            const uint32_t bit = 1u << (v[k] & 31);
            if ((peek<is_shared>(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) continue;
            queue[end + atomicAdd(found + turn, 1)] = v[k];
            visitor.found(search, v[k], depth);
          }
        }
      };
      for (uint32_t q = begin + (threadIdx.x >> p.shift); q < end; q += blockDim.x >> p.shift) {
        const int32_t u = queue[q];
        const int64_t first = p.out.rowptr[u], stop = p.out.rowptr[u + 1];
        if (stop - first > kAlone) {
          int place = 0;
          if (lane == 0) place = atomicAdd(together + turn, 1);
          place = __shfl_sync(team, place, 0, width);
          if (place < kMostOfBlock) {
            if (lane == 0) wide[place] = u;
            continue;
          }
        }
        look(first + lane, stop, width);
      }
      __syncthreads();
      if (together[turn] != 0) {
        for (int i = 0; i < min(together[turn], kMostOfBlock); ++i)
          look(p.out.rowptr[wide[i]] + threadIdx.x, p.out.rowptr[wide[i] + 1], blockDim.x);
        __syncthreads();
      }
      const int count = found[turn];
      if (count == 0) break;
      begin = end, end += count;
      if (threadIdx.x == 0) visitor.level(search, depth, count);
    }
    if (threadIdx.x == 0) visitor.end(search, depth - 1);
  }
}

// ---- visitors -------------------------------------------------------------------------------------------

// A row of distances per search.
template <class T>
struct RowOfSearch {
  static constexpr int64_t kDeepest = (int64_t{1} << (8 * sizeof(T) - 1)) - 1;
  int64_t n;
  T* out;         // [searches][n], -1 everywhere
  int* too_deep;  // for distances that T does not hold
  Mask* levels;   // [n + 1] pairs by distance, or none

  __device__ void found(int64_t search, int32_t v, int depth) const {
    if (depth <= kDeepest) out[search * n + v] = static_cast<T>(depth);
  }
  __device__ void level(int64_t, int depth, int count) const {
    if (depth > kDeepest) *too_deep = 1;
    if (levels != nullptr) atomicAdd(levels + depth, static_cast<Mask>(count));
  }
  __device__ void end(int64_t, int) const {}
};

// The sums of each search, of thread 0 of its block. Levels are read once: no other thread writes these rows.
struct SumsOfSearch {
  const int64_t* limits;  // ascending, or none
  int64_t num_limits;
  double* sums;  // [searches][limits][4]
  int32_t* eccentricity;

  __device__ void found(int64_t, int32_t, int) const {}
  __device__ void level(int64_t search, int depth, int count) const {
    if (depth == 0) return;
    const double d = depth, pairs = count;
    for (int64_t k = num_limits - 1; k >= 0 && (limits == nullptr || depth <= limits[k]); --k) {
      double* const sum = sums + 4 * (search * num_limits + k);
      sum[0] += pairs * d;
      sum[1] += pairs / d;
      sum[2] += pairs / (d + 1);
      sum[3] += pairs;
    }
  }
  __device__ void end(int64_t search, int depth) const { eccentricity[search] = depth; }
};

// Adds rows of distances to sums of vertices, in the order of the searches.
static __global__ void add_rows(const int32_t* rows, int64_t n, int count, const int32_t* leaves, const int64_t* limits,
                                int64_t num_limits, double* sums, int32_t* eccentricity) {
  const int64_t v = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (v >= n) return;
  int farthest = eccentricity[v];
  for (int64_t k = 0; k < num_limits; ++k) {
    const int64_t limit = limits == nullptr ? INT_MAX : limits[k];
    double* const own = sums + 4 * (v * num_limits + k);
    double far = own[0], near = own[1], farther = own[2], reach = own[3];
    for (int r = 0; r < count; ++r) {
      const int hops = rows[r * n + v], more = leaves[r];
      if (hops < 0 || hops > limit) continue;
      const double d = hops, one = hops > 0 ? 1 : 0;
      far += d;
      if (hops > 0) near += 1 / d;
      farther += one / (d + 1);
      reach += one;
      farthest = max(farthest, hops + (more > 0 ? 1 : 0));
      if (more == 0) continue;
      far += more * (d + 1);
      near += more / (d + 1);
      farther += more / (d + 2);
      reach += more;
    }
    own[0] = far, own[1] = near, own[2] = farther, own[3] = reach;
  }
  eccentricity[v] = farthest;
}

// ---- host -----------------------------------------------------------------------------------------------

class BlockSearches {
 public:
  // sums: whether there is a row of distances per search, to be added to the sums of vertices.
  BlockSearches(int64_t n, int64_t slots, const Arcs& out, int64_t count, bool sums, const Run& run)
      : run_(run), shape_(shape_of_searches(n)) {
    const int64_t each = search_workspace(n, sums).total();
    const int64_t fit = std::max<int64_t>(1, run.control.bytes / each);
    const int64_t most = std::min({count, fit, int64_t{run.processors} * shape_.blocks});
    // The fewest blocks that need the same number of rounds, which leaves each more of the cache.
    const int64_t rounds = (count + most - 1) / most;
    blocks_ = (count + rounds - 1) / rounds;
    search_.n = n;
    search_.words = words_of_search(n);
    search_.out = out;
    search_.shift = threads_by_degree(n, slots);
    search_.queue = run.scratch.array<int32_t>(blocks_ * n);
    int device = 0, most_shared = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
    const int64_t bytes = search_.words * static_cast<int64_t>(sizeof(uint32_t)), own = 1024;
    if (shape_.is_shared && bytes + own <= most_shared) shared_ = static_cast<int>(bytes);
    else search_.reached = run.scratch.array<uint32_t>(blocks_ * search_.words);
  }

  int64_t blocks() const { return blocks_; }

  // Searches from the sources, up to a level. visitor(first, count) makes that of a launch of `size` sources at most;
  // after(first, count) follows it. Stops if cancelled.
  template <class MakeVisitor, class After>
  void run(const int64_t* sources, int64_t count, int64_t size, int64_t last, MakeVisitor visitor, After after) {
    search_.last = static_cast<int>(std::min<int64_t>(last, search_.n));
    for (int64_t first = 0; first < count && !run_.cancelled(); first += size) {
      search_.sources = sources + first;
      search_.count = std::min(size, count - first);
      launch(visitor(first, search_.count));
      after(first, search_.count);
      check(cudaStreamSynchronize(run_.stream), "search_by_blocks");
      finish(run_, search_.count);
    }
  }

 private:
  template <class Visitor>
  void launch(const Visitor& visitor) {
    const unsigned grid = static_cast<unsigned>(std::min(blocks_, search_.count));
    if (shared_ > 0) {
      const auto kernel = search_by_blocks<true, Visitor>;
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_), "shared memory");
      kernel<<<grid, shape_.threads, shared_, run_.stream>>>(search_, visitor);
    } else {
      search_by_blocks<false><<<grid, shape_.threads, 0, run_.stream>>>(search_, visitor);
    }
    check_launch("search_by_blocks");
  }

  const Run& run_;
  const SearchShape shape_;
  Searches search_ = {};
  int64_t blocks_ = 1;
  int shared_ = 0;
};

}  // namespace torchcent::cuda
