// Visitors of multi_search.cuh for gpu_multi_search.py: hops, distances, betweenness.
#include "multi_search.cuh"

using torchcent::Csr;
using torchcent::SearchState;
using torchcent::Visitor;

namespace {

// The number of vertices within k hops of each source.
struct HopCount : Visitor {
  int64_t k;
  int64_t* count;  // [sources]
  TORCHCENT_HD bool prior(const SearchState& search) { return search.level < k; }
  TORCHCENT_HD void finalize(const SearchState& search) {
    if (search.thread == 0) count[search.lane] = search.end;
  }
};

// Hops from each source to every vertex.
struct Distances : Visitor {
  int32_t* hops;  // [sources, n], -1 before
  TORCHCENT_HD void finalize(const SearchState& search) {
    int32_t* const row = hops + search.lane * search.graph.num_nodes;
    for (int p = search.thread; p < search.end; p += search.threads)
      row[search.queue[p]] = search.depth[search.queue[p]];
  }
};

// Brandes 2001: paths are counted from level to level, shares of them added up on the way back.
struct Betweenness : Visitor {
  double* scores;         // [n]
  double *paths, *share;  // [blocks, n], 0 between searches
  int32_t* first;         // [blocks, n + 1], where each level begins in the queue

  __device__ void init(const SearchState& search) {
    if (search.thread != 0) return;
    mine(paths, search)[search.source] = 1;
    levels(search)[0] = 0;
  }
  __device__ void visit(const SearchState& search, int32_t u, int32_t v, int64_t) {
    // Another thread may have marked v a moment ago.
    if (*const_cast<const volatile int32_t*>(search.depth + v) == search.level + 1)
      atomicAdd(mine(paths, search) + v, mine(paths, search)[u]);
  }
  __device__ void post(const SearchState& search) {
    if (search.thread == 0) levels(search)[search.level] = search.begin;
  }
  __device__ void finalize(const SearchState& search) {
    double *const path = mine(paths, search), *const part = mine(share, search);
    const int in_warp = search.thread & 31, warps = search.threads / 32;
    for (int level = search.level - 2; level >= 0; --level) {
      for (int p = levels(search)[level] + search.thread / 32; p < levels(search)[level + 1]; p += warps) {
        const int32_t u = search.queue[p];
        double sum = 0;
        for (int64_t slot = search.graph.rowptr[u] + in_warp; slot < search.graph.rowptr[u + 1]; slot += 32) {
          const int32_t v = search.graph.col[slot];
          if (search.depth[v] == level + 1) sum += (1 + part[v]) / path[v];
        }
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(~0u, sum, apart);
        if (in_warp == 0) part[u] = path[u] * sum;
      }
      __syncthreads();
    }
    for (int p = search.thread; p < search.end; p += search.threads) {
      const int32_t v = search.queue[p];
      if (p > 0) atomicAdd(scores + v, part[v]);
      path[v] = part[v] = 0;
    }
  }

 private:
  __device__ static double* mine(double* all, const SearchState& search) {
    return all + search.worker * search.graph.num_nodes;
  }
  __device__ int32_t* levels(const SearchState& search) const {
    return first + search.worker * (search.graph.num_nodes + 1);
  }
};

}  // namespace

// All pointers are of the device; the workspace has multi_search_bytes(). They return a cudaError_t.
extern "C" {

int hop_count(int64_t n, const int64_t* rowptr, const int32_t* col, const int64_t* sources, int64_t number,
              int32_t* workspace, int blocks, cudaStream_t stream, int64_t k, int64_t* count) {
  const HopCount visitor = {{}, k, count};
  return torchcent::cuda::multi_search(Csr{n, rowptr, col}, sources, number, visitor, workspace, blocks, stream);
}

int distances(int64_t n, const int64_t* rowptr, const int32_t* col, const int64_t* sources, int64_t number,
              int32_t* workspace, int blocks, cudaStream_t stream, int32_t* hops) {
  const Distances visitor = {{}, hops};
  return torchcent::cuda::multi_search(Csr{n, rowptr, col}, sources, number, visitor, workspace, blocks, stream);
}

int betweenness(int64_t n, const int64_t* rowptr, const int32_t* col, const int64_t* sources, int64_t number,
                int32_t* workspace, int blocks, cudaStream_t stream, double* scores, double* paths, double* share,
                int32_t* first) {
  const Betweenness visitor = {{}, scores, paths, share, first};
  return torchcent::cuda::multi_search(Csr{n, rowptr, col}, sources, number, visitor, workspace, blocks, stream);
}
}
