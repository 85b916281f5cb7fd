// Bases of eigenspaces that do not depend on the solver: orthonormal eigenvectors are arbitrary up to their signs, and
// those of a multiple eigenvalue up to rotations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace torchcent {

// Eigenvalues that differ by less than this share of the largest magnitude are one.
constexpr double kSameValue = 1e-10;
// Vertices whose shares of an eigenspace differ by less than this ratio are equal, and the first of them counts.
constexpr double kSameShare = 1e-6;

// Where the eigenspace of the rank before `end` ends, for ascending values [n] with a stride.
inline int64_t end_of_space(const double* value, int64_t stride, int64_t n, int64_t end) {
  const double most = std::max(std::abs(value[0]), std::abs(value[(n - 1) * stride]));
  while (end < n && value[end * stride] - value[(end - 1) * stride] <= kSameValue * most) ++end;
  return end;
}

class CanonicalBasis {
 public:
  // Replaces the first `wanted` of the orthonormal rows of `state` [count, n]. Each in turn becomes the projection of
  // the unit vector of a vertex onto what is left of their space, normalised: of the vertex for which the projection is
  // longest.
  void replace(double* state, int64_t count, int64_t wanted, int64_t n) {
    n_ = n;
    for (std::vector<double>* const own : {&share_, &product_, &along_}) own->resize(n);
    for (; wanted > 0; --count, --wanted, state += n_) {
      const int64_t pivot = longest_projection(state, count);
      if (count > 1) reflect(state, count, pivot);
      if (state[pivot] < 0)
        for (int64_t i = 0; i < n_; ++i) state[i] = -state[i];
    }
  }

 private:
  int64_t longest_projection(const double* state, int64_t count) {
    for (int64_t i = 0; i < n_; ++i) share_[i] = state[i] * state[i];
    for (int64_t j = 1; j < count; ++j)
      for (int64_t i = 0; i < n_; ++i) share_[i] += state[j * n_ + i] * state[j * n_ + i];
    const double most = largest_share();
    int64_t pivot = 0;
    while (share_[pivot] * (1 + kSameShare) < most) ++pivot;
    return pivot;
  }

  double largest_share() const {
    double most[4] = {};  // as many chains of comparisons
    int64_t i = 0;
    for (; i + 4 <= n_; i += 4)
      for (int c = 0; c < 4; ++c) most[c] = share_[i + c] > most[c] ? share_[i + c] : most[c];
    for (; i < n_; ++i) most[0] = std::max(most[0], share_[i]);
    return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  }

  // Householder's reflection of the rows, after which all but the first are 0 at the pivot.
  void reflect(double* state, int64_t count, int64_t pivot) {
    const double first = state[pivot], length = std::sqrt(share_[pivot]);
    if (length == 0) return;
    for (int64_t j = 0; j < count; ++j) along_[j] = state[j * n_ + pivot];
    along_[0] += first > 0 ? length : -length;
    const double half = share_[pivot] + length * std::abs(first);  // of the squared length of along_
    std::fill(product_.begin(), product_.end(), 0);
    for (int64_t j = 0; j < count; ++j)
      for (int64_t i = 0; i < n_; ++i) product_[i] += along_[j] * state[j * n_ + i];
    for (int64_t j = 0; j < count; ++j)
      for (int64_t i = 0; i < n_; ++i) state[j * n_ + i] -= along_[j] / half * product_[i];
  }

  int64_t n_ = 0;
  std::vector<double> share_, product_, along_;
};

}  // namespace torchcent
