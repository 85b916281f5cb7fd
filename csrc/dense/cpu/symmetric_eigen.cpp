// Eigenvalues and eigenvectors of many small symmetric matrices. A thread takes as many as the solver takes together.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "dense/eigen.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The matrices of one size that a solver takes together.
class EigenBatch {
 public:
  EigenBatch(int64_t n, bool vectors, bool together)
      : n_(n),
        vectors_(vectors),
        solver_(TORCHCENT_CALL_LANES(make_eigen_solver(n, together))),
        lanes_(solver_->lanes()),
        unit_(lanes_) {}

  // Sets the values [count, n] and, in the columns of each, the vectors [count, n, n].
  void solve(const double* matrix, int64_t count, double* value, double* state) {
    const int64_t entries = n_ * n_;
    double* const entry = solver_->entries();
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const double* const own = matrix + std::min(lane, count - 1) * entries;
      unit_[lane] = unit_of(own);
      for (int64_t i = 0; i < entries; ++i) entry[i * lanes_ + lane] = own[i] / unit_[lane];
    }
    solver_->solve(vectors_);
    const double* const from = vectors_ ? solver_->states(n_) : nullptr;
    for (int64_t lane = 0; lane < count; ++lane) {
      bool is_solved = true;
      for (int64_t j = 0; j < n_; ++j) {
        value[lane * n_ + j] = solver_->values()[j * lanes_ + lane] * unit_[lane];
        is_solved &= !std::isnan(value[lane * n_ + j]);
      }
      if (!is_solved) std::fill_n(value + lane * n_, n_, std::numeric_limits<double>::quiet_NaN());
      for (int64_t j = 0; vectors_ && j < n_; ++j)
        for (int64_t i = 0; i < n_; ++i)
          state[lane * entries + i * n_ + j] = is_solved ? from[(lane * n_ + j) * n_ + i] : value[lane * n_];
    }
  }

 private:
  // With a power of two no squares overflow, and no digit is lost. It is NaN if the matrix is not finite.
  double unit_of(const double* matrix) const {
    double most = 0;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      if (!std::isfinite(matrix[i])) return std::numeric_limits<double>::quiet_NaN();
      most = std::max(most, std::abs(matrix[i]));
    }
    return most > 0 ? std::ldexp(1.0, std::ilogb(most)) : 1;
  }

  int64_t n_;
  bool vectors_;
  std::unique_ptr<EigenSolver> solver_;
  int64_t lanes_;
  std::vector<double> unit_;
};

}  // namespace

// See the schema.
std::tuple<Tensor, Tensor> symmetric_eigen(const Tensor& matrices, bool vectors, int64_t threads) {
  const int64_t count = matrices.size(0), n = matrices.size(1);
  Tensor values = torch::stable::new_empty(matrices, {count, n});
  Tensor states = torch::stable::new_empty(matrices, {vectors ? count : 0, n, n});
  const double* const matrix = matrices.const_data_ptr<double>();
  double* const value = values.mutable_data_ptr<double>();
  double* const state = states.mutable_data_ptr<double>();
  const int64_t lanes = TORCHCENT_CALL_LANES(matrices_together(n, count));
  const int64_t batches = n == 0 ? 0 : (count + lanes - 1) / lanes;
  const int64_t parts = std::min(batches, threads_for(count * n * n * n, threads));
  each_task(parts, parts, [&](int64_t part) {
    EigenBatch batch(n, vectors, lanes > 1);
    const auto [begin, end] = part_of(batches, part, parts);
    for (int64_t i = begin * lanes; i < std::min(end * lanes, count); i += lanes)
      batch.solve(matrix + i * n * n, std::min(lanes, count - i), value + i * n, vectors ? state + i * n * n : nullptr);
  });
  return {values, states};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Eigenvalues [count, n] of symmetric matrices [count, n, n], contiguous float64, in increasing order, and
  // eigenvectors in the columns of [count, n, n], or of [0, n, n] without `vectors`. They are NaN where a matrix is not
  // finite. The bits do not depend on the threads.
  m.def("symmetric_eigen(Tensor matrices, bool vectors, int threads=1) -> (Tensor values, Tensor states)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("symmetric_eigen", TORCH_BOX(&symmetric_eigen)); }

}  // namespace torchcent
