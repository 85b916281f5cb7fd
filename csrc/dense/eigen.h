// The interface of the solver for symmetric matrices, for the operators of this family. See dense/cpu/eigen_kernel.h.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"

namespace torchcent {

// Eigenvalues and eigenvectors of up to lanes() symmetric matrices [n, n] at a time. Reused for many matrices.
class EigenSolver {
 public:
  virtual ~EigenSolver() = default;
  virtual int64_t lanes() const = 0;
  // Entry (i, j) with j <= i of the matrix in a lane is entries()[(i * n + j) * lanes() + lane]. The caller fills all
  // lanes, with numbers of magnitude up to about 1. solve() overwrites them.
  virtual double* entries() = 0;
  // Sets the values, and what states() needs if `vectors`. Values are NaN in a lane that does not converge.
  virtual void solve(bool vectors) = 0;
  // Ascending: that of rank j is values()[j * lanes() + lane].
  virtual const double* values() const = 0;
  // The first eigenvectors, of which entry i of that of rank j is states(count)[(lane * count + j) * n + i].
  virtual double* states(int64_t count) = 0;
};

// Rows up to which several matrices are solved side by side.
constexpr int64_t kSideBySide = 128;

// How many of `count` matrices are solved next, side by side if more than one.
TORCHCENT_LANE_KERNEL(int64_t matrices_together(int64_t n, int64_t count))
// The bits of a matrix do not depend on `together`.
TORCHCENT_LANE_KERNEL(std::unique_ptr<EigenSolver> make_eigen_solver(int64_t n, bool together))

}  // namespace torchcent
