// Multi-search on CUDA: one search per block. Idle warps fetch parts of its frontier (the cooperative scheme of
// McLaughlin and Bader 2015). Visitors and the order of hooks are those of multi_search.h; a visitor whose hooks are
// marked TORCHCENT_HD runs on both. On CUDA:
//
// - All threads of the block call init, prior, post and finalize together, with a barrier before and after each. Divide
//   the work by search.thread and search.threads, or leave it to search.thread == 0. prior must return the same value
//   in all threads.
// - visit is called by one thread per arc, for many arcs concurrently: use atomic writes. The order of the vertices
//   of a level in the queue and the order of arcs are not deterministic; floating-point sums can differ between runs.
// - Every thread has a copy of the visitor: state must be stored in memory accessed through pointers.
//
// Example with the visitor of multi_search.h, with these hooks:
//
//     TORCHCENT_HD bool prior(const torchcent::SearchState& search) { return search.level < k; }
//     TORCHCENT_HD void finalize(const torchcent::SearchState& search) {
//       if (search.thread == 0) count[search.lane] = search.end;
//     }
//
//   const torchcent::Csr graph = {n, rowptr, col};  // device pointers, as all the others
//   int32_t* workspace;
//   cudaMallocAsync(&workspace, torchcent::cuda::multi_search_bytes(n, blocks), stream);
//   const HopCount visitor = {{}, k, count};
//   torchcent::cuda::multi_search(graph, sources, number_of_sources, visitor, workspace, blocks, stream);
//   cudaFreeAsync(workspace, stream);
#pragma once

#include <cuda_runtime.h>

#include "multi_search.h"

namespace torchcent::cuda {

constexpr int kSearchThreads = 256;  // per block

// Bytes of workspace for `blocks` concurrent searches.
inline int64_t multi_search_bytes(int64_t num_nodes, int64_t blocks) {
  return 2 * num_nodes * blocks * static_cast<int64_t>(sizeof(int32_t));
}

template <class V>
__global__ void __launch_bounds__(kSearchThreads)
    multi_search_kernel(Csr graph, const int64_t* sources, int64_t count, V visitor, int32_t* workspace) {
  __shared__ int taken, reached;  // entries of the frontier assigned to warps; vertices in the queue
  const int in_warp = threadIdx.x & 31;
  int32_t* const depth = workspace + 2 * graph.num_nodes * blockIdx.x;
  int32_t* const queue = depth + graph.num_nodes;
  for (int64_t v = threadIdx.x; v < graph.num_nodes; v += blockDim.x) depth[v] = -1;
  SearchState search = {graph, depth, queue};
  search.worker = static_cast<int32_t>(blockIdx.x);
  search.thread = static_cast<int32_t>(threadIdx.x);
  search.threads = static_cast<int32_t>(blockDim.x);
  for (search.lane = blockIdx.x; search.lane < count; search.lane += gridDim.x) {
    search.source = static_cast<int32_t>(sources[search.lane]);
    search.begin = 0, search.end = 1, search.level = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      depth[search.source] = 0;
      queue[0] = search.source;
      taken = 0, reached = 1;
    }
    __syncthreads();
    visitor.init(search);
    __syncthreads();
    while (search.begin < search.end && visitor.prior(search)) {
      __syncthreads();
      for (;;) {
        int p = 0;
        if (in_warp == 0) p = search.begin + atomicAdd(&taken, 1);
        p = __shfl_sync(~0u, p, 0);
        if (p >= search.end) break;
        const int32_t u = queue[p];
        for (int64_t slot = graph.rowptr[u] + in_warp; slot < graph.rowptr[u + 1]; slot += 32) {
          const int32_t v = graph.col[slot];
          // A stale -1 is harmless: the exchange determines the first thread.
          if (*const_cast<volatile int32_t*>(depth + v) < 0 && atomicCAS(depth + v, -1, search.level + 1) < 0)
            queue[atomicAdd(&reached, 1)] = v;
          visitor.visit(search, u, v, slot);
        }
      }
      __syncthreads();
      search.begin = search.end, search.end = reached, ++search.level;
      __syncthreads();
      if (threadIdx.x == 0) taken = 0;
      visitor.post(search);
      __syncthreads();
    }
    __syncthreads();
    visitor.finalize(search);
    __syncthreads();
    for (int64_t p = threadIdx.x; p < search.end; p += blockDim.x) depth[queue[p]] = -1;
  }
}

// Searches from sources[0] to sources[count - 1], `blocks` at a time, on the stream. All pointers are device pointers;
// workspace has multi_search_bytes(). Several blocks per multiprocessor keep the device busy.
template <class V>
cudaError_t multi_search(const Csr& graph, const int64_t* sources, int64_t count, const V& visitor, int32_t* workspace,
                         int blocks, cudaStream_t stream = nullptr) {
  static_assert(std::is_base_of_v<Visitor, V>, "a visitor is derived from torchcent::Visitor");
  if (count == 0) return cudaSuccess;
  const unsigned grid = static_cast<unsigned>(std::min<int64_t>(blocks, count));
  multi_search_kernel<<<grid, kSearchThreads, 0, stream>>>(graph, sources, count, visitor, workspace);
  return cudaGetLastError();
}

}  // namespace torchcent::cuda
