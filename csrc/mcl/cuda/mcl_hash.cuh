// Short columns: sums in a hash table in shared memory, one per warp.
#pragma once

#include "mcl/cuda/mcl_column.cuh"

namespace torchcent::cuda {

// Linear probing. A column with more than `limit` entries is abandoned. Until that is detected, every thread may insert
// kAhead more, for which there is always room.
template <class Group, int slots, class Sum>
class Table {
 public:
  static constexpr int limit =
      slots / 4 * 3 < slots - 1 - kAhead * Group::threads ? slots / 4 * 3 : slots - 1 - kAhead * Group::threads;
  static_assert(limit > slots / 2 && (slots & (slots - 1)) == 0);

  __device__ Table(int32_t* row, Sum* value, int* used) : row_(row), value_(value), used_(used) {}

  __device__ void start(Group& group) {
    auto* const rows = reinterpret_cast<int4*>(row_);
    auto* const values = reinterpret_cast<int4*>(value_);
    constexpr int pieces = slots * static_cast<int>(sizeof(Sum)) / 16;
    for (int i = group.rank(); i < slots / 4; i += group.size()) rows[i] = make_int4(-1, -1, -1, -1);
    for (int i = group.rank(); i < pieces; i += group.size()) values[i] = make_int4(0, 0, 0, 0);
    if (group.rank() == 0) *used_ = 0;
    group.sync();
  }

  // Rows keep their places, so that all lookups are concurrent, regardless of the order of the sums.
  __device__ bool locate(Group& group, int32_t (&row)[kAhead]) {
    unsigned slot[kAhead];
    int32_t seen[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      slot[u] = home(row[u]);
      seen[u] = *static_cast<volatile int32_t*>(row_ + slot[u]);
    }
    unsigned brought = 0;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (row[u] < 0) continue;
      while (seen[u] != row[u]) {
        if (seen[u] < 0) {
          seen[u] = atomicCAS(row_ + slot[u], -1, row[u]);
          if (seen[u] < 0) {
            ++brought;
            break;
          }
          continue;  // another thread was first
        }
        slot[u] = (slot[u] + 1) & (slots - 1);
        seen[u] = *static_cast<volatile int32_t*>(row_ + slot[u]);
      }
      row[u] = static_cast<int32_t>(slot[u]);
    }
    brought = __reduce_add_sync(kWholeWarp, brought);
    bool full = false;
    if (threadIdx.x % 32 == 0 && brought > 0)
      full = atomicAdd(used_, static_cast<int>(brought)) + static_cast<int>(brought) > limit;
    return !group.any(full);
  }
  __device__ void add(int32_t at, float weight, float value) {
    value_[at] = multiply_add(Sum{weight}, Sum{value}, value_[at]);
  }

  template <class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    for (int i = group.rank(); i < slots; i += group.size())
      if (const float value = static_cast<float>(value_[i]); value >= kLeast) visit(value);
  }

  // Moves the kept entries to the front, one stretch of the table at a time, and sorts them.
  __device__ void order(Group& group, float bar) {
    kept_ = 0;
    for (int i = group.rank(); i - group.rank() < slots; i += group.size()) {
      const int32_t row = row_[i];
      const Sum value = value_[i];
      const bool keep = static_cast<float>(value) >= bar;
      int total = 0;
      const int at = kept_ + group.place(keep, total);
      if (keep) {
        row_[at] = row;
        value_[at] = value;
      }
      kept_ += total;
    }
    sort_by_row(group, row_, value_, kept_);
  }
  __device__ int ordered() const { return kept_; }
  __device__ float entry(int i, int32_t& row) const {
    row = row_[i];
    return static_cast<float>(value_[i]);
  }
  __device__ void finish(Group& group) { group.sync(); }

 private:
  // Invalid rows also have a place to look at.
  __device__ static unsigned home(int32_t row) {
    constexpr int bits = __builtin_ctz(slots);
    return static_cast<uint32_t>(row) * 0x9e3779b1u >> (32 - bits);
  }

  int32_t* row_;  // [slots] -1: free
  Sum* value_;    // [slots]
  int* used_;
  int kept_ = 0;
};

constexpr int kSmallSlots = 512, kLargeSlots = 1024;
constexpr int kWarpsOfBlock = 4;

// Rows, values, their number, and the data of the warp's group.
constexpr int kTotalsBytes = (static_cast<int>(sizeof(Totals)) + 15) / 16 * 16;
constexpr int kWarpBytes = static_cast<int>(WarpGroup::steps_ahead * sizeof(Step)) + kTotalsBytes + kDigits * 4;
template <int slots, class Sum>
inline constexpr int table_bytes = slots * (4 + static_cast<int>(sizeof(Sum))) + 16 + kWarpBytes;

template <int slots, class Sum>
__global__ __launch_bounds__(32 * kWarpsOfBlock) void mcl_warps(Job job, Stage stage, Stage next) {
  extern __shared__ int4 shared[];
  int4* const own = shared + threadIdx.x / 32 * (table_bytes<slots, Sum> / 16);
  auto* const row = reinterpret_cast<int32_t*>(own);
  auto* const value = reinterpret_cast<Sum*>(row + slots);
  auto* const used = reinterpret_cast<int*>(value + slots);
  auto* const steps = reinterpret_cast<Step*>(used + 4);
  auto* const bins = reinterpret_cast<unsigned*>(steps + WarpGroup::steps_ahead);
  WarpGroup group = {steps, bins, reinterpret_cast<Totals*>(bins + kDigits)};
  Table<WarpGroup, slots, Sum> table(row, value, used);
  take_columns(group, job, stage, next, [&](int32_t j) {
    if (!square(group, job.flow, j, table)) return false;
    finish(group, table, job, j);
    return true;
  });
}

}  // namespace torchcent::cuda
