// Eigenvalues and eigenvectors of many small symmetric matrices: Householder's reduction to a tridiagonal matrix and
// QL steps with implicit shifts (Bowdler, Martin, Reinsch and Wilkinson 1968). A matrix takes one thread.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

class SymmetricEigen {
 public:
  SymmetricEigen(int64_t size, bool vectors)
      : n_(size),
        vectors_(vectors),
        a_(size * size),
        q_(vectors ? size * size : 0),
        d_(size),
        e_(size + 1),
        p_(size),
        order_(size) {}

  // Sets `value` [n] in increasing order and, in its columns, `state` [n, n]. They are NaN if the matrix is not finite.
  void solve(const double* matrix, double* value, double* state) {
    double most = 0;
    bool finite = true;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      most = std::max(most, std::abs(matrix[i]));
      finite &= std::isfinite(matrix[i]);
    }
    // With a power of two no squares overflow, and no digit is lost.
    const double unit = finite && most > 0 ? std::ldexp(1.0, std::ilogb(most)) : 1;
    for (int64_t i = 0; i < n_ * n_; ++i) a_[i] = matrix[i] / unit;
    if (finite) reduce();
    if (!finite || !diagonalise()) {
      std::fill_n(value, n_, kNaN);
      if (vectors_) std::fill_n(state, n_ * n_, kNaN);
      return;
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t i, int64_t j) { return d_[i] < d_[j]; });
    for (int64_t j = 0; j < n_; ++j) {
      value[j] = d_[order_[j]] * unit;
      if (vectors_)
        for (int64_t i = 0; i < n_; ++i) state[i * n_ + j] = q_[order_[j] * n_ + i];
    }
  }

 private:
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  double* row(int64_t i) { return &a_[i * n_]; }

  // Tridiagonal matrix: diagonal d_, and e_[i] between i and i + 1. The rows of q_ become the columns of the product of
  // all reflections I - v v^T beta, of which v and beta of step k replace row k of the matrix.
  void reduce() {
    for (int64_t k = 0; k + 2 < n_; ++k) {
      double* const v = row(k);
      double square = 0;
      for (int64_t i = k + 1; i < n_; ++i) square += v[i] * v[i];
      const double along = v[k + 1] > 0 ? -std::sqrt(square) : std::sqrt(square);
      e_[k] = along;
      d_[k] = v[k];
      v[k + 1] -= along;
      const double beta = square - along * (v[k + 1] + along) > 0 ? 1 / (square - along * (v[k + 1] + along)) : 0;
      v[k] = beta;
      double both = 0;
      for (int64_t i = k + 1; i < n_; ++i) {
        const double* const own = row(i);
        p_[i] = beta * std::inner_product(own + k + 1, own + n_, v + k + 1, 0.0);
        both += p_[i] * v[i];
      }
      for (int64_t i = k + 1; i < n_; ++i) p_[i] -= beta / 2 * both * v[i];
      for (int64_t i = k + 1; i < n_; ++i) {
        double* const own = row(i);
        for (int64_t j = k + 1; j < n_; ++j) own[j] -= v[i] * p_[j] + p_[i] * v[j];
      }
    }
    if (n_ > 1) d_[n_ - 2] = row(n_ - 2)[n_ - 2], e_[n_ - 2] = row(n_ - 2)[n_ - 1];
    d_[n_ - 1] = row(n_ - 1)[n_ - 1];
    e_[n_ - 1] = 0;
    if (!vectors_) return;
    std::fill(q_.begin(), q_.end(), 0.0);
    for (int64_t i = 0; i < n_; ++i) q_[i * n_ + i] = 1;
    for (int64_t k = n_ - 3; k >= 0; --k) {
      const double* const v = row(k);
      for (int64_t i = k + 1; i < n_; ++i) {
        double* const own = &q_[i * n_];
        const double share = v[k] * std::inner_product(own + k + 1, own + n_, v + k + 1, 0.0);
        for (int64_t j = k + 1; j < n_; ++j) own[j] -= share * v[j];
      }
    }
  }

  // Whether it ended. The rows of q_ are rotated with those of the tridiagonal matrix.
  bool diagonalise() {
    constexpr int kMostSteps = 100;  // of one eigenvalue; two or three are usual
    double norm = 0;
    for (int64_t l = 0; l < n_; ++l) norm = std::max(norm, std::abs(d_[l]) + std::abs(e_[l]));
    const double least = std::numeric_limits<double>::epsilon() * norm;
    for (int64_t l = 0; l < n_; ++l) {
      for (int step = 0;; ++step) {
        int64_t m = l;
        while (m + 1 < n_ && std::abs(e_[m]) > least) ++m;
        if (m == l) break;
        if (step == kMostSteps) return false;
        shifted_step(l, m);
      }
    }
    return true;
  }

  // A QL step on rows l to m, with the eigenvalue of the first two rows that is next to d_[l] as the shift.
  void shifted_step(int64_t l, int64_t m) {
    const double half = (d_[l + 1] - d_[l]) / (2 * e_[l]);
    double g = d_[m] - d_[l] + e_[l] / (half + std::copysign(std::hypot(half, 1), half));
    double sine = 1, cosine = 1, taken = 0;
    for (int64_t i = m - 1; i >= l; --i) {
      const double f = sine * e_[i], b = cosine * e_[i], r = std::hypot(f, g);
      e_[i + 1] = r;
      if (r == 0) {  // the matrix falls into two
        d_[i + 1] -= taken;
        e_[m] = 0;
        return;
      }
      sine = f / r;
      cosine = g / r;
      g = d_[i + 1] - taken;
      const double rest = (d_[i] - g) * sine + 2 * cosine * b;
      taken = sine * rest;
      d_[i + 1] = g + taken;
      g = cosine * rest - b;
      if (vectors_) rotate(&q_[i * n_], &q_[(i + 1) * n_], sine, cosine);
    }
    d_[l] -= taken;
    e_[l] = g;
    e_[m] = 0;
  }

  void rotate(double* one, double* other, double sine, double cosine) const {
    for (int64_t k = 0; k < n_; ++k) {
      const double f = other[k];
      other[k] = sine * one[k] + cosine * f;
      one[k] = cosine * one[k] - sine * f;
    }
  }

  int64_t n_;
  bool vectors_;
  std::vector<double> a_, q_, d_, e_, p_;
  std::vector<int64_t> order_;
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
  const int64_t parts = n == 0 ? 0 : std::min(count, threads_for(count * n * n * n, threads));
  each_task(parts, parts, [&](int64_t part) {
    SymmetricEigen solver(n, vectors);
    const auto [begin, end] = part_of(count, part, parts);
    for (int64_t i = begin; i < end; ++i)
      solver.solve(matrix + i * n * n, value + i * n, vectors ? state + i * n * n : nullptr);
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
