// Columns of many entries: a sum per row, in shared memory where the rows fit there, else in device memory.
#pragma once

#include "cuda/mcl_column.cuh"

namespace torchcent::cuda {

constexpr int kDenseThreads = 512;

__host__ __device__ inline int64_t padded_rows(int64_t n) { return (n + 3) / 4 * 4; }

// A place per row; all of them are looked through in every step after the expansion.
template <class Group>
class DenseSums {
 public:
  __device__ DenseSums(float* value, int32_t n) : value_(value), n_(n) {}

  __device__ void clear(const Group& group) {
    for (int i = group.rank(); i < (n_ + 3) / 4; i += group.size())
      reinterpret_cast<float4*>(value_)[i] = make_float4(0, 0, 0, 0);
    group.sync();
  }
  __device__ bool locate(const Group&, int32_t (&)[kAhead]) const { return true; }
  __device__ void add(int32_t at, float weight, float value) { value_[at] = __fmaf_rn(weight, value, value_[at]); }
  template <class Visit>
  __device__ void each(const Group& group, const Visit& visit) const {
    for (int i = group.rank(); i < (n_ + 3) / 4; i += group.size()) {
      const float4 four = reinterpret_cast<const float4*>(value_)[i];
      if (four.x >= kLeast) visit(four.x);
      if (four.y >= kLeast) visit(four.y);
      if (four.z >= kLeast) visit(four.z);
      if (four.w >= kLeast) visit(four.w);
    }
  }
  __device__ void order(const Group&, float bar) { bar_ = bar; }
  __device__ int ordered() const { return n_; }
  __device__ float entry(int i, int32_t& row) const {
    row = i;
    return value_[i] >= bar_ ? value_[i] : 0;
  }
  __device__ void finish(const Group& group) {
    group.sync();
    clear(group);
  }
  // Writes all entries down, by rows, and forgets them. How many there were.
  __device__ int drain(Group& group, int32_t* row, float* value) {
    int count = 0;
    for (int i = group.rank(); i - group.rank() < n_; i += group.size()) {
      const float own = i < n_ ? value_[i] : 0;
      int total = 0;
      const int at = count + group.place(own >= kLeast, total);
      if (own >= kLeast) {
        row[at] = i;
        value[at] = own;
      }
      count += total;
    }
    finish(group);
    return count;
  }

 private:
  float* value_;  // [padded_rows(n)]
  int32_t n_;
  float bar_ = 0;
};

// in_shared: the sums are there. Else at job.dense, of every block its own.
template <bool in_shared>
__global__ __launch_bounds__(kDenseThreads, 2) void mcl_dense(Job job) {
  extern __shared__ int4 shared[];
  __shared__ BlockMemory memory;
  using Group = BlockGroup<kDenseThreads>;
  if (job.count[kDense] == 0) return;
  Group group(memory);
  const int64_t block = blockIdx.x;
  DenseSums<Group> sums(in_shared ? reinterpret_cast<float*>(shared) : job.dense + block * padded_rows(job.n),
                        static_cast<int32_t>(job.n));
  sums.clear(group);
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
      size = sums.drain(group, next_row, next_value);
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

}  // namespace torchcent::cuda
