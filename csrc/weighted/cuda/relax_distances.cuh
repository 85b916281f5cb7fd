// Distance outputs of the relax engine: rows per source, and sums.
#pragma once

#include "weighted/cuda/relax.cuh"

namespace torchcent::cuda {

// Transposes rows, 32 vertices at a time.
template <class T>
__global__ void relax_rows(RelaxWave<T> wave, T* out) {
  __shared__ T tile[32][33];
  const int batch = blockIdx.y, lane = lane_id(), warp = threadIdx.x >> 5;
  for (int64_t first = blockIdx.x * int64_t{32}; first < wave.n; first += int64_t{gridDim.x} * 32) {
    for (int k = warp; k < 32; k += kWarps)
      if (first + k < wave.n) tile[k][lane] = wave.row(batch, first + k)[lane];
    __syncthreads();
    for (int l = warp; l < 32; l += kWarps) {
      const int64_t source = int64_t{batch} * kRelaxLanes + l;
      if (source >= wave.sources || first + lane >= wave.n) continue;
      const T d = tile[lane][l];
      out[source * wave.n + first + lane] = __is_same(T, uint32_t) && d == unreached<T> ? static_cast<T>(-1) : d;
    }
    __syncthreads();
  }
}

// Sums over the vertices of a slab that are nearer than `beyond`, per lane: part [batches][slabs][32][4].
template <class T>
__global__ void relax_sums(RelaxWave<T> wave, int64_t slab, T beyond, double* part) {
  __shared__ double value[kWarps][32][4];
  const int batch = blockIdx.y, lane = lane_id(), warp = threadIdx.x >> 5;
  double sum = 0, inverse = 0, count = 0, most = 0;
  const int64_t end = min(wave.n, (blockIdx.x + 1) * slab);
  for (int64_t v = blockIdx.x * slab + warp; v < end; v += kWarps) {
    const T d = wave.row(batch, v)[lane];
    if (d == T(0) || !(d < beyond)) continue;
    const double far = static_cast<double>(d);
    sum += far;
    inverse += 1 / far;
    count += 1;
    most = fmax(most, far);
  }
  double* const mine = value[warp][lane];
  mine[0] = sum, mine[1] = inverse, mine[2] = count, mine[3] = most;
  __syncthreads();
  if (warp >= 4) return;
  double result = 0;
  for (int w = 0; w < kWarps; ++w) result = warp < 3 ? result + value[w][lane][warp] : fmax(result, value[w][lane][3]);
  part[((batch * int64_t{gridDim.x} + blockIdx.x) * 32 + lane) * 4 + warp] = result;
}

// To one of every `stride` results of a source.
template <class T>
__global__ void relax_add_slabs(RelaxWave<T> wave, int slabs, const double* part, int64_t stride, double* sums,
                                double* farthest) {
  const int64_t source = int64_t{blockIdx.x} * kRelaxLanes + threadIdx.x;
  if (source >= wave.sources) return;
  double result[4] = {};
  for (int s = 0; s < slabs; ++s) {
    const double* const from = part + ((int64_t{blockIdx.x} * slabs + s) * 32 + threadIdx.x) * 4;
    for (int k = 0; k < 4; ++k) result[k] = k < 3 ? result[k] + from[k] : fmax(result[k], from[k]);
  }
  for (int k = 0; k < 3; ++k) sums[3 * source * stride + k] = result[k];
  farthest[source * stride] = result[3];
}

// Computes either rows [sources][n], or sums [sources][limits][3] and farthest [sources][limits].
template <class T>
void relax_distances(const WeightedGraph<T>& graph, const Sources& sources, T* rows, double* sums, double* farthest,
                     const Run& run) {
  const RelaxTasks<T> tasks(graph, run);
  RelaxWaves<T> waves(graph, tasks.in, tasks.out, run, sources.count, 0, false);
  const int64_t n = graph.paths.n, slab = (n + kSlabs - 1) / kSlabs, limits = graph.paths.num_limits;
  double* const part = run.scratch.array<double>(waves.sources_per_wave() * kSlabs * 4);
  each_relax_wave<T>(sources, run, waves, [&](int64_t first, const Sources& some) {
    if (!waves.search(some)) return false;
    const unsigned batches = static_cast<unsigned>(waves.batches());
    if (rows != nullptr) {
      const dim3 grid(static_cast<unsigned>(std::min<int64_t>((n + 31) / 32, 65535)), batches);
      relax_rows<T><<<grid, 32 * kWarps, 0, run.stream>>>(waves.wave(), rows + first * n);
      check_launch("relax_rows");
    } else {
      const dim3 grid(static_cast<unsigned>(kSlabs), batches);
      for (int64_t i = 0; i < limits; ++i) {
        const T beyond = graph.beyond_limit == nullptr ? unreached<T> : graph.beyond_limit[i];
        const int64_t at = first * limits + i;
        relax_sums<T><<<grid, 32 * kWarps, 0, run.stream>>>(waves.wave(), slab, beyond, part);
        check_launch("relax_sums");
        relax_add_slabs<T><<<batches, kRelaxLanes, 0, run.stream>>>(waves.wave(), static_cast<int>(kSlabs), part,
                                                                    limits, sums + 3 * at, farthest + at);
        check_launch("relax_add_slabs");
      }
    }
    finish(run, some.count);
    return true;
  });
}

}  // namespace torchcent::cuda
