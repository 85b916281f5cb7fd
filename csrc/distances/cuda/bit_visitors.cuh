// What the bits engine on CUDA computes of the lanes that reach a vertex, and the limits of its searches.
#pragma once

#include "distances/cuda/bit_rows.cuh"

namespace torchcent::cuda {

// Sums per vertex, in private tables per batch, which are added in batch order.
struct VertexSums {
  int64_t n;
  const Quarter* leaves;  // [planes][batches][4]: bit p of the number of leaves of every lane
  int planes, batches;
  double* sums;           // [batches][n][4]
  int32_t* eccentricity;  // [n]
  Mask* levels;           // [n + 1], or none

  __device__ void found(int batch, int64_t v, int64_t depth, Quarter lanes) const {
    const int pairs = sum_over_team(count(lanes));
    int64_t more = 0;
    for (int p = 0; p < planes; ++p)
      more += int64_t{sum_over_team(count(lanes & leaves[(p * batches + batch) * kTeam + quarter()]))} << p;
    const double d = static_cast<double>(depth), here = depth > 0 ? static_cast<double>(pairs) : 0.0;
    const double beyond = static_cast<double>(more);
    const double near = depth > 0 ? here / d : 0.0;
    // One of the four sums per thread.
    const double term[] = {here * d + beyond * (d + 1), near + beyond / (d + 1), here / (d + 1) + beyond / (d + 2),
                           here + beyond};
    double mine = term[0];
#pragma unroll
    for (int k = 1; k < kTeam; ++k) mine = quarter() == k ? term[k] : mine;
    sums[(batch * n + v) * 4 + quarter()] += mine;
    if (quarter() != 0) return;
    atomicMax(eccentricity + v, static_cast<int32_t>(more > 0 ? depth + 1 : depth));
    if (levels != nullptr) atomicAdd(levels + depth, static_cast<Mask>(pairs));
  }
};

// Sums per source: new rows are counted per lane after each level.
struct SourceSums {
  __device__ void found(int, int64_t, int64_t, Quarter) const {}
};

constexpr int kSlab = 4096;  // vertices that a block counts

// A thread per lane.
static __global__ void __launch_bounds__(kBitLanes) count_lanes(BitWave wave, int64_t level, int32_t* pairs) {
  const int batch = blockIdx.y, lane = threadIdx.x;
  if (*wave.reached_at(level, batch) == 0) return;
  const Mask* const words = reinterpret_cast<const Mask*>(wave.next) + batch * wave.n * 8 + lane / 64;
  const int64_t first = blockIdx.x * int64_t{kSlab}, end = min(first + kSlab, wave.n);
  int32_t sum = 0;
  for (int64_t v = first; v < end; ++v) sum += static_cast<int32_t>(words[8 * v] >> (lane % 64) & 1);
  if (sum != 0) atomicAdd(pairs + int64_t{batch} * kBitLanes + lane, sum);
}

static __global__ void add_level(BitWave wave, int64_t level, int32_t* pairs, double* sums, int32_t* eccentricity) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= wave.sources || pairs[i] == 0) return;
  const double d = static_cast<double>(level), more = static_cast<double>(pairs[i]);
  pairs[i] = 0;
  sums[4 * i] += more * d;
  sums[4 * i + 1] += more / d;
  sums[4 * i + 2] += more / (d + 1);
  sums[4 * i + 3] += more;
  eccentricity[i] = static_cast<int32_t>(level);
}

// Rows of distances. The entries of neighbouring vertices are adjacent and are written at about the same time, so that
// the cache combines the writes.
template <class T>
struct DistanceRows {
  static constexpr int64_t kDeepest = (int64_t{1} << (8 * sizeof(T) - 1)) - 1;
  int64_t n;
  T* out;  // [sources][n]
  int* too_deep;

  __device__ void found(int batch, int64_t v, int64_t depth, Quarter lanes) const {
    if (depth > kDeepest) {
      *too_deep = 1;
      return;
    }
    T* const at = out + (int64_t{batch} * kBitLanes + 128 * quarter()) * n + v;
    write(at, lanes.x, depth);
    write(at + 64 * n, lanes.y, depth);
  }
  __device__ void write(T* at, Mask lanes, int64_t depth) const {
    for (; lanes != 0; lanes &= lanes - 1) at[(__ffsll(lanes) - 1) * n] = static_cast<T>(depth);
  }
};

// The columns of the sums of each limit, [rows, limits, 4].
struct Column {
  double* sums;
  int64_t limits, at;
};

// Adds the batches of a wave in order.
static __global__ void add_sums(int64_t size, int batches, const double* part, Column column) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < size; i += int64_t{gridDim.x} * blockDim.x) {
    double& target = column.sums[(i / 4 * column.limits + column.at) * 4 + i % 4];
    double sum = target;
    for (int batch = 0; batch < batches; ++batch) sum += part[batch * size + i];
    target = sum;
  }
}

// The limits of a search, and which of them a wave has passed: with each one, its sums so far are added to a column.
// Without limits that is once, at the end.
class Limits {
 public:
  Limits(const int64_t* limits, int64_t count, double* sums) : limits_(limits), count_(count), sums_(sums) {}

  // The last level that counts.
  int64_t last() const { return limits_ == nullptr ? kNoLevel : limits_[count_ - 1]; }
  bool none() const { return limits_ == nullptr; }
  // Within a limit of 0 the sums are 0.
  void begin() {
    for (passed_ = 0; !none() && passed_ < count_ && limits_[passed_] < 1;) ++passed_;
  }
  // Calls add(column) for the limits up to a level, from the row `first` on.
  template <class Add>
  void pass(int64_t level, int64_t first, Add add) {
    for (; passed_ < count_ && (limits_ == nullptr ? level == kNoLevel : limits_[passed_] <= level); ++passed_)
      add(Column{sums_ + 4 * count_ * first, count_, passed_});
  }
  static constexpr int64_t kNoLevel = int64_t{1} << 62;

 private:
  const int64_t* limits_;  // [count], ascending; null: none
  int64_t count_, passed_ = 0;
  double* sums_;
};

}  // namespace torchcent::cuda
