// Solutions of many small systems of linear equations: Gaussian elimination with partial pivoting (Golub and Van Loan
// 2013, algorithm 3.4.1). A system takes one thread.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

class Elimination {
 public:
  Elimination(int64_t size, int64_t columns) : n_(size), width_(columns), a_(size * size) {}

  // x [n, columns], the right side, becomes the solution. It is not finite if the matrix is singular.
  void solve(const double* matrix, double* x) {
    std::copy_n(matrix, n_ * n_, a_.data());
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t pivot = largest_below(k);
      if (pivot != k) {
        std::swap_ranges(a_.data() + k * n_, a_.data() + (k + 1) * n_, a_.data() + pivot * n_);
        std::swap_ranges(x + k * width_, x + (k + 1) * width_, x + pivot * width_);
      }
      for (int64_t i = k + 1; i < n_; ++i) {
        const double factor = a_[i * n_ + k] / a_[k * n_ + k];
        if (factor == 0) continue;
        subtract(a_.data() + i * n_ + k + 1, a_.data() + k * n_ + k + 1, factor, n_ - k - 1);
        subtract(x + i * width_, x + k * width_, factor, width_);
      }
    }
    for (int64_t k = n_; k-- > 0;) {
      for (int64_t j = k + 1; j < n_; ++j)
        if (const double factor = a_[k * n_ + j]; factor != 0) subtract(x + k * width_, x + j * width_, factor, width_);
      for (int64_t j = 0; j < width_; ++j) x[k * width_ + j] /= a_[k * n_ + k];
    }
  }

 private:
  int64_t largest_below(int64_t k) const {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n_; ++i)
      if (std::abs(a_[i * n_ + k]) > std::abs(a_[pivot * n_ + k])) pivot = i;
    return pivot;
  }
  static void subtract(double* __restrict row, const double* __restrict other, double factor, int64_t count) {
    for (int64_t j = 0; j < count; ++j) row[j] -= factor * other[j];
  }

  const int64_t n_, width_;
  std::vector<double> a_;
};

}  // namespace

Tensor dense_solve(const Tensor& matrices, const Tensor& right, int64_t threads) {
  const int64_t count = matrices.size(0), n = matrices.size(1), columns = right.size(2);
  Tensor solutions = torch::stable::new_empty(right, {count, n, columns});
  const double* const matrix = matrices.const_data_ptr<double>();
  double* const solution = solutions.mutable_data_ptr<double>();
  std::copy_n(right.const_data_ptr<double>(), count * n * columns, solution);
  const int64_t parts = n == 0 ? 0 : std::min(count, threads_for(count * n * n * (n + columns), threads));
  each_task(parts, parts, [&](int64_t part) {
    Elimination solver(n, columns);
    const auto [begin, end] = part_of(count, part, parts);
    for (int64_t i = begin; i < end; ++i) solver.solve(matrix + i * n * n, solution + i * n * columns);
  });
  return solutions;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Solutions [count, n, k] of systems with matrices [count, n, n] and right sides [count, n, k], contiguous float64.
  // They are not finite where a matrix is singular. The bits do not depend on the threads.
  m.def("dense_solve(Tensor matrices, Tensor right, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("dense_solve", TORCH_BOX(&dense_solve)); }

}  // namespace torchcent
