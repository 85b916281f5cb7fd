// The text of the CUDA kernels of dense/cuda, for test_eigen_cuda_text.py.
#include "cuda_text.h"

#define __host__

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using std::isfinite, std::max, std::min;

inline long long __double_as_longlong(double value) {
  long long bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline double __longlong_as_double(long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline double rsqrt(double value) { return 1 / std::sqrt(value); }

#include "dense/cuda/laplacian_solver.cuh"

using torchcent::Laplacian;
using namespace torchcent::cuda;

// Graphs [0, count) of one launch, of which the largest has `most` vertices.
extern "C" void text_eigen(bool by_warps, const int64_t* rowptr, const int32_t* col, const double* weight,
                           const int64_t* ptr, const int64_t* number, int64_t count, int64_t most, int kind,
                           int64_t isolated, int64_t skip, int64_t width, double* values, int64_t* multiplicity,
                           double* vectors) {
  const EigenTask task = {
      rowptr, col,   weight, ptr,          number, static_cast<Laplacian>(kind), static_cast<double>(isolated), skip,
      width,  false, values, multiplicity, vectors};
  const int64_t doubles = eigen_doubles(most);
  std::vector<double> memory(2 * doubles, std::nan(""));  // nothing is read before it is written
  if (by_warps) launch(1, 1, 64, [&] { solve_graphs<true>(task, 0, count, memory.data(), doubles); });
  else launch(1, 1, 96, [&] { solve_graphs<false>(task, 0, count, memory.data(), doubles); });
}
