// Columns of few entries: sums in a hash table in shared memory, of a warp or of a block.
#pragma once

#include "cuda/mcl_column.cuh"

namespace torchcent::cuda {

// Open addressing with steps of 1. A column that has more than `limit` entries is given up; until that is noticed every
// thread may bring kAhead more, for which there is always room.
template <class Group, int slots, bool ranged = false>
class Table {
 public:
  static constexpr int limit =
      slots / 4 * 3 < slots - 1 - kAhead * Group::threads ? slots / 4 * 3 : slots - 1 - kAhead * Group::threads;
  static_assert(limit > slots / 2 && (slots & (slots - 1)) == 0);

  __device__ Table(int32_t* row, float* value, int* used) : row_(row), value_(value), used_(used) {}

  // From now on only rows in [low, high) are looked at.
  __device__ void range(int32_t low, int32_t high) {
    low_ = low;
    high_ = high;
  }
  __device__ void start(Group& group) {
    auto* const rows = reinterpret_cast<int4*>(row_);
    auto* const values = reinterpret_cast<int4*>(value_);
    for (int i = group.rank(); i < slots / 4; i += group.size()) {
      rows[i] = make_int4(-1, -1, -1, -1);
      values[i] = make_int4(0, 0, 0, 0);
    }
    if (group.rank() == 0) *used_ = 0;
    group.sync();
  }

  // Rows keep their places, so that all of them are looked for at once, whatever the order of the sums.
  __device__ bool locate(Group& group, int32_t (&row)[kAhead]) {
    unsigned slot[kAhead];
    int32_t seen[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (ranged && (row[u] < low_ || row[u] >= high_)) row[u] = -1;
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
          continue;  // another thread was faster
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
  __device__ void add(int32_t at, float weight, float value) { value_[at] = __fmaf_rn(weight, value, value_[at]); }

  template <class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    for (int i = group.rank(); i < slots; i += group.size())
      if (value_[i] >= kLeast) visit(value_[i]);
  }

  // Moves what is kept to the front, a stretch of the table after the other, and sorts it.
  __device__ void order(Group& group, float bar) {
    kept_ = 0;
    for (int i = group.rank(); i - group.rank() < slots; i += group.size()) {
      const int32_t row = row_[i];
      const float value = value_[i];
      const bool keep = value >= bar;
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
    return value_[i];
  }
  __device__ void finish(Group& group) { group.sync(); }

 private:
  // A row that is none has a place of its own to look at.
  __device__ static unsigned home(int32_t row) {
    constexpr int bits = __builtin_ctz(slots);
    return static_cast<uint32_t>(row) * 0x9e3779b1u >> (32 - bits);
  }

  int32_t* row_;  // [slots] -1: free
  float* value_;  // [slots]
  int* used_;
  int kept_ = 0;
  int32_t low_ = 0, high_ = 0x7fffffff;
};

// A column in device memory, rows ascending: that of a table, range after range.
struct ColumnList {
  int32_t* row;
  float* value;
  int count;
  float bar;

  template <class Group, class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    for (int i = group.rank(); i < count; i += group.size()) visit(value[i]);
  }
  template <class Group>
  __device__ void order(const Group&, float least) {
    bar = least;
  }
  __device__ int ordered() const { return count; }
  __device__ float entry(int i, int32_t& at) const {
    at = row[i];
    return value[i] >= bar ? value[i] : 0;
  }
  template <class Group>
  __device__ void finish(const Group& group) const {
    group.sync();
  }
};

constexpr int kSmallSlots = 512, kLargeSlots = 1024, kBlockSlots = 8192;
constexpr int kWarpsOfBlock = 4, kTableThreads = 256;

// Rows, values, how many there are; of a warp also what its group has.
constexpr int kTotalsBytes = (static_cast<int>(sizeof(Totals)) + 15) / 16 * 16;
constexpr int kWarpBytes = static_cast<int>(WarpGroup::steps_ahead * sizeof(Step)) + kTotalsBytes + kDigits * 4;
template <class Group, int slots>
inline constexpr int table_bytes = slots * 8 + 16 + (Group::threads == 32 ? kWarpBytes : 0);

template <int slots>
__global__ __launch_bounds__(32 * kWarpsOfBlock) void mcl_warps(Job job, Stage stage, Stage next) {
  extern __shared__ int4 shared[];
  int4* const own = shared + threadIdx.x / 32 * (table_bytes<WarpGroup, slots> / 16);
  auto* const row = reinterpret_cast<int32_t*>(own);
  auto* const steps = reinterpret_cast<Step*>(row + 2 * slots + 4);
  auto* const bins = reinterpret_cast<unsigned*>(steps + WarpGroup::steps_ahead);
  WarpGroup group = {steps, bins, reinterpret_cast<Totals*>(bins + kDigits)};
  Table<WarpGroup, slots> table(row, reinterpret_cast<float*>(row + slots), row + 2 * slots);
  take_columns(group, job, stage, next, [&](int32_t j) {
    if (!square(group, job.flow, j, table)) return false;
    finish(group, table, job, j);
    return true;
  });
}

// A column that the table does not hold is expanded several times, a range of rows at a time, into a list. Ranges are
// halved until they fit, and doubled where little is found; the next column begins with the width of the last.
using BlockTable = Table<BlockGroup<kTableThreads>, kBlockSlots, true>;

__global__ __launch_bounds__(kTableThreads, 3) void mcl_block_table(Job job) {
  extern __shared__ int4 shared[];
  __shared__ BlockMemory memory;
  using Group = BlockGroup<kTableThreads>;
  auto* const row = reinterpret_cast<int32_t*>(shared);
  Group group(memory);
  BlockTable table(row, reinterpret_cast<float*>(row + kBlockSlots), row + 2 * kBlockSlots);
  const auto n = static_cast<int32_t>(job.n);
  int32_t width = n / 4 + 1;
  take_columns(group, job, kBlockTable, kBlockTable, [&](int32_t j) {
    table.range(0, n);
    if (square(group, job.flow, j, table)) {
      finish(group, table, job, j);
      return true;
    }
    ColumnList list = {job.list_row + blockIdx.x * job.n, job.list_value + blockIdx.x * job.n, 0, 0};
    for (int32_t low = 0; low < n;) {
      const int32_t rows = min(width, n - low);
      group.sync();
      table.range(low, low + rows);
      if (!square(group, job.flow, j, table)) {
        width = rows / 2;  // as many rows as there is room for are never too many
        continue;
      }
      table.order(group, kLeast);
      const int found = table.ordered();
      for (int i = group.rank(); i < found; i += group.size())
        list.value[list.count + i] = table.entry(i, list.row[list.count + i]);
      list.count += found;
      low += rows;
      if (rows == width && found < BlockTable::limit / 3) width = min(width, n / 2) * 2;
    }
    group.sync();
    finish(group, list, job, j);
    return true;
  });
}

}  // namespace torchcent::cuda
