// Weighted graphs on CUDA: types of distances, the definition of tight arcs, arcs stored with their weights.
#pragma once

#include <algorithm>
#include <limits>

#include "paths/cuda/queue.cuh"
#include "weighted/workspace.h"

namespace torchcent::cuda {

// A distance is a uint32_t if weights are int32_t; no shortest path is as long as 2^30, so that sums of three do not
// wrap around. Otherwise it is a double.
template <class T>
inline constexpr T unreached = {};
template <>
inline constexpr uint32_t unreached<uint32_t> = 0x7fffffff;
template <>
inline constexpr double unreached<double> = std::numeric_limits<double>::infinity();

__device__ inline uint32_t atomic_min(uint32_t* address, uint32_t value) { return atomicMin(address, value); }
__device__ inline double atomic_min(double* address, double value) {  // nonnegative: ordered as their bits
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return __longlong_as_double(atomicMin(reinterpret_cast<unsigned long long*>(address), bits));
}

// Others may be decreasing it: a relaxed load, which may hit in L1.
__device__ inline uint32_t load_relaxed(const uint32_t* address) {
  uint32_t value;
  asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
  return value;
}
__device__ inline double load_relaxed(const double* address) {
  double value;
  asm volatile("ld.relaxed.cta.global.f64 %0, [%1];" : "=d"(value) : "l"(address));
  return value;
}

__device__ inline uint32_t least_of_warp(uint32_t value) { return __reduce_min_sync(~0u, value); }
__device__ inline double least_of_warp(double value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value = fmin(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

__device__ inline uint32_t most_of_warp(uint32_t value) { return __reduce_max_sync(~0u, value); }
__device__ inline double most_of_warp(double value) { return -least_of_warp(-value); }

// Defines which arcs lie on shortest paths. Both ends of an arc decide identically, forward and backward: the same sum,
// rounded in the same way, is compared with the same distance. The tail must be nearer than the head, even if a weight
// is lost in rounding: arcs between equal distances would otherwise run both ways. The head must be reached: within a
// limit, there are arcs that lead beyond it.
struct Ties {
  double factor;  // 1 + tolerance; 1: only equal sums

  template <class T>
  __device__ bool tight(T from, T weight, T to) const {
    if (!(from < to && to < unreached<T>)) return false;
    const T length = from + weight;
    return factor == 1 ? length == to : static_cast<double>(length) <= static_cast<double>(to) * factor;
  }
  // Whether no sum of at least this length is tight at a vertex of this distance.
  template <class T>
  __device__ bool before(T distance, T length) const {
    return factor == 1 ? distance < length : static_cast<double>(distance) * factor < static_cast<double>(length);
  }
};

template <class T>
struct WeightedGraph {
  Graph paths;
  const T *out_weight, *in_weight;
  double tie_tolerance;
  T beyond = unreached<T>;  // vertices at this distance and farther ones are not reached
  // The same for each limit of `paths`, on the host; null: there are none.
  const T* beyond_limit = nullptr;

  bool symmetric() const { return paths.symmetric() && out_weight == in_weight; }
  PathSizes sizes(bool per_slot) const { return {paths.n, paths.m, symmetric(), per_slot, paths.num_limits}; }
};

template <class T>
__global__ void pack_arcs(const int32_t* vertex, const T* weight, int64_t m, Arc<T>* arc) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < m; i += int64_t{gridDim.x} * blockDim.x)
    arc[i] = {vertex[i], weight[i]};
}

// The smallest weight of every vertex's arcs (Delta_node in the literature), the largest, and the sum of all, with a
// warp per vertex.
template <class T>
__global__ void extreme_arcs_kernel(const int64_t* rowptr, const T* weight, int64_t n, T* lightest, T* heaviest,
                                    double* total) {
  const int lane = threadIdx.x & 31;
  double sum = 0;
  for (int64_t v = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / 32; v < n;
       v += int64_t{gridDim.x} * blockDim.x / 32) {
    T least = unreached<T>, most = T(0);
    for (int64_t i = rowptr[v] + lane; i < rowptr[v + 1]; i += 32) {
      least = min(least, weight[i]);
      most = max(most, weight[i]);
      sum += static_cast<double>(weight[i]);
    }
    least = least_of_warp(least);
    most = most_of_warp(most);
    if (lane != 0) continue;
    lightest[v] = least;
    if (heaviest != nullptr) heaviest[v] = most;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (lane == 0 && sum > 0 && total != nullptr) atomicAdd(total, sum);
}

template <class T>
__global__ void fill_kernel(T* values, int64_t count, T value) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < count; i += int64_t{gridDim.x} * blockDim.x)
    values[i] = value;
}

inline unsigned grid_for(const Run& run, int64_t items) {
  return static_cast<unsigned>(std::max<int64_t>(1, std::min<int64_t>((items + 255) / 256, run.processors * 8)));
}

template <class T>
void fill(const Run& run, T* values, int64_t count, T value) {
  fill_kernel<T><<<grid_for(run, count), 256, 0, run.stream>>>(values, count, value);
  check_launch("fill_kernel");
}

template <class T>
const Arc<T>* packed_arcs(const Run& run, const int32_t* vertex, const T* weight, int64_t m) {
  Arc<T>* const arcs = run.scratch.array<Arc<T>>(m);
  pack_arcs<T><<<grid_for(run, m), 256, 0, run.stream>>>(vertex, weight, m, arcs);
  check_launch("pack_arcs");
  return arcs;
}

}  // namespace torchcent::cuda
