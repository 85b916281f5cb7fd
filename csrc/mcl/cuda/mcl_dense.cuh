// Long columns: a sum per row, in shared memory if the rows fit, otherwise in device memory.
#pragma once

#include "mcl/cuda/mcl_column.cuh"

namespace torchcent::cuda {

constexpr int kDenseThreads = 512;

__host__ __device__ inline int64_t padded_rows(int64_t n) { return (n + 3) / 4 * 4; }

// A place per row; all of them are scanned in every step after the expansion.
template <class Group, class Sum>
class DenseSums {
 public:
  __device__ DenseSums(Sum* value, int32_t n) : value_(value), n_(n) {}

  __device__ void clear(const Group& group) {
    for (int i = group.rank(); i < (n_ + 3) / 4; i += group.size()) reinterpret_cast<Four*>(value_)[i] = {};
    group.sync();
  }
  __device__ bool locate(const Group&, int32_t (&)[kAhead]) const { return true; }
  __device__ void add(int32_t at, float weight, float value) {
    value_[at] = multiply_add(Sum{weight}, Sum{value}, value_[at]);
  }
  template <class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    for (int i = group.rank(); i < (n_ + 3) / 4; i += group.size()) {
      const Four four = reinterpret_cast<const Four*>(value_)[i];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (const float value = static_cast<float>(four.sum[k]); value >= kLeast) visit(value);
    }
  }
  __device__ void order(const Group&, float bar) { bar_ = bar; }
  __device__ int ordered() const { return n_; }
  __device__ float entry(int i, int32_t& row) const {
    row = i;
    const float value = static_cast<float>(value_[i]);
    return value >= bar_ ? value : 0;
  }
  __device__ void finish(const Group& group) {
    group.sync();
    clear(group);
  }

 private:
  struct alignas(16) Four {
    Sum sum[4];
  };

  Sum* value_;  // [padded_rows(n)]
  int32_t n_;
  float bar_ = 0;
};

// log2 of the rows per mark bit, 32 or more, so that n rows have at most 8,192 words.
__host__ __device__ inline int log2_rows_of_mark(int64_t n) {
  int log2 = 5;
  while (n > int64_t{32 * 8192} << log2) ++log2;
  return log2;
}
__host__ __device__ inline int64_t rows_of_mark(int64_t n) { return int64_t{1} << log2_rows_of_mark(n); }
__host__ __device__ inline int64_t mark_count(int64_t n) { return (n + rows_of_mark(n) - 1) / rows_of_mark(n); }
__host__ __device__ inline int64_t mark_words(int64_t n) { return (mark_count(n) + 31) / 32; }

// A place per row in device memory, and marks in shared memory for the rows that were updated; other rows are not
// scanned. The marked stretches are listed, because entries are written in the order of their rows.
template <class Group, class Sum>
class MarkedSums {
 public:
  __device__ MarkedSums(Sum* value, int32_t* marked, unsigned* mark, int64_t n)
      : value_(value),
        marked_(marked),
        mark_(mark),
        words_(static_cast<int>(mark_words(n))),
        shift_(log2_rows_of_mark(n)) {}

  // The maximum extent: values [mark_count x rows_of_mark], marks, and then their number.
  __device__ void clear(const Group& group, int64_t n) {
    for (int64_t i = group.rank(); i < mark_count(n) << shift_; i += group.size()) value_[i] = 0;
    for (int i = group.rank(); i <= words_; i += group.size()) mark_[i] = 0;
    group.sync();
  }
  __device__ bool locate(const Group&, int32_t (&)[kAhead]) const { return true; }
  __device__ void add(int32_t at, float weight, float value) {
    value_[at] = multiply_add(Sum{weight}, Sum{value}, value_[at]);
    const int place = at >> shift_;
    const unsigned bit = 1u << place % 32;
    if ((*static_cast<volatile unsigned*>(mark_ + place / 32) & bit) == 0) atomicOr(mark_ + place / 32, bit);
  }
  template <class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    const int lane = group.rank() % 32;
    for (int w = group.rank() / 32; w < words_; w += group.size() / 32)
      for (unsigned bits = mark_[w]; bits != 0; bits &= bits - 1) {
        const int64_t first = int64_t{32 * w + __ffs(static_cast<int>(bits)) - 1} << shift_;
        for (int i = lane; i < 1 << shift_; i += 32)
          if (const float value = static_cast<float>(value_[first + i]); value >= kLeast) visit(value);
      }
  }
  __device__ void order(const Group& group, float bar) {
    bar_ = bar;
    if (group.rank() < 32) {
      int count = 0;
      for (int w = group.rank(); w - group.rank() < words_; w += 32) {
        unsigned bits = w < words_ ? mark_[w] : 0;
        const int own = __popc(bits);
        int up_to = own;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
          const int other = __shfl_up_sync(kWholeWarp, up_to, distance);
          if (group.rank() >= distance) up_to += other;
        }
        for (int at = count + up_to - own; bits != 0; bits &= bits - 1)
          marked_[at++] = 32 * w + __ffs(static_cast<int>(bits)) - 1;
        count += __shfl_sync(kWholeWarp, up_to, 31);
      }
      if (group.rank() == 0) mark_[words_] = count;
    }
    group.sync();
    count_ = static_cast<int>(mark_[words_]) << shift_;
  }
  __device__ int ordered() const { return count_; }
  __device__ float entry(int i, int32_t& row) const {
    row = (marked_[i >> shift_] << shift_) + (i & ((1 << shift_) - 1));
    const float value = static_cast<float>(value_[row]);
    return value >= bar_ ? value : 0;
  }
  __device__ void finish(const Group& group) {
    group.sync();
    for (int i = group.rank(); i < count_; i += group.size()) {
      int32_t row;
      entry(i, row);
      value_[row] = 0;
    }
    for (int w = group.rank(); w < words_; w += group.size()) mark_[w] = 0;
    group.sync();
  }

 private:
  Sum* value_;
  int32_t* marked_;  // [mark_count(n)] stretches, ascending
  unsigned* mark_;
  const int words_, shift_;
  int count_ = 0;
  float bar_ = 0;
};

// Writes all entries by rows and clears them. Returns their number.
template <class Group, class Sums>
__device__ int drain(Group& group, Sums& sums, int32_t* row, float* value) {
  int count = 0;
  sums.order(group, kLeast);
  for (int i = group.rank(); i - group.rank() < sums.ordered(); i += group.size()) {
    int32_t at_row = 0;
    const float own = i < sums.ordered() ? sums.entry(i, at_row) : 0;
    int total = 0;
    const int at = count + group.place(own > 0, total);
    if (own > 0) {
      row[at] = at_row;
      value[at] = own;
    }
    count += total;
  }
  sums.finish(group);
  return count;
}

// Processes the columns of the list, in cleared sums.
template <class Group, class Sums>
__device__ void dense_columns(Group& group, Sums& sums, const Job& job) {
  const int64_t block = blockIdx.x;
  take_columns(group, job, kDense, kDense, [&](int32_t j) {
    const int32_t* row = job.flow.row + job.flow.begin[j];
    const float* value = job.flow.value + job.flow.begin[j];
    int size = job.flow.length[j];
    if (job.rules.products == 0)
      for (int i = group.rank(); i < size; i += group.size()) sums.add(row[i], 1, value[i]);
    for (int p = 1; p <= job.rules.products; ++p) {  // M (M ( ... M e_j))
      expand(group, job.flow, row, value, size, sums);
      if (p == job.rules.products) break;
      int32_t* const next_row = job.between_row + (2 * block + p % 2) * job.n;
      float* const next_value = job.between_value + (2 * block + p % 2) * job.n;
      group.sync();
      size = drain(group, sums, next_row, next_value);
      row = next_row;
      value = next_value;
      Units products;
      for (int i = group.rank(); i < size; i += group.size()) products.sum += job.flow.length[row[i]];
      products = group.merge(products);
      if (group.rank() == 0) atomicAdd(job.products, products.sum);
    }
    group.sync();
    finish(group, sums, job, j);
    return true;
  });
}

// in_shared: the sums are in shared memory. Otherwise they are at job.dense, separately per block, and the marks are in
// shared memory.
template <bool in_shared, class Sum>
__global__ __launch_bounds__(kDenseThreads, 2) void mcl_dense(Job job) {
  extern __shared__ int4 shared[];
  __shared__ BlockMemory memory;
  using Group = BlockGroup<kDenseThreads>;
  if (job.count[kDense] == 0) return;
  Group group(memory);
  if constexpr (in_shared) {
    DenseSums<Group, Sum> sums(reinterpret_cast<Sum*>(shared), static_cast<int32_t>(job.n));
    sums.clear(group);
    dense_columns(group, sums, job);
  } else {
    const int64_t block = blockIdx.x, marks = mark_count(job.n);
    MarkedSums<Group, Sum> sums(static_cast<Sum*>(job.dense) + block * marks * rows_of_mark(job.n),
                                job.marked + block * marks, reinterpret_cast<unsigned*>(shared), job.n);
    sums.clear(group, job.n);
    dense_columns(group, sums, job);
  }
}

}  // namespace torchcent::cuda
