// The text of the kernel of csrc/diffusion/cuda/spread.cuh, run on the CPU, a thread for a thread: a library for
// test_diffusion_cuda_text.py.
#include "cuda_text.h"

#include <vector>

#include "diffusion/cuda/spread.cuh"

using namespace torchcent::cuda;

// pointers: rowptr, col, weight, strength, scale, sources, steps [2, size], begin, count, target, value; sizes: n,
// number, size, top, room, entries of a list, blocks. Returns whether the workspace is as it was, for another source.
extern "C" bool text_rows(void* const* pointers, const int64_t* sizes, double follow, bool lasts, bool narrow) {
  const int64_t n = sizes[0], size = sizes[2], cap = sizes[5], blocks = sizes[6];
  const auto* const table = static_cast<const double*>(pointers[6]);
  const int64_t each = spread_bytes(n, cap);
  std::vector<double> workspace(blocks * each / 8, 0);
  Mass taken[2] = {0, 0};
  const SpreadProblem problem = {
      {static_cast<const int64_t*>(pointers[0]), static_cast<const int32_t*>(pointers[1])},
      n,
      static_cast<const double*>(pointers[2]),
      static_cast<const double*>(pointers[3]),
      static_cast<const double*>(pointers[4]),
      static_cast<const int64_t*>(pointers[5]),
      sizes[1],
      {table, table + size, size, follow, lasts},
      sizes[3],
      static_cast<int64_t*>(pointers[7]),
      static_cast<int64_t*>(pointers[8]),
      static_cast<int64_t*>(pointers[9]),
      sizes[4],
      pointers[10],
      narrow,
      taken,
      reinterpret_cast<char*>(workspace.data()),
      each,
      cap,
  };
  launch(blocks, 1, kSpreadThreads, [&] { spread_rows(problem); });
  bool is_clean = true;
  for (int64_t b = 0; b < blocks; ++b) {
    const auto* const cell = reinterpret_cast<const SpreadCell*>(problem.workspace + b * each);
    for (int64_t v = 0; v < n; ++v) is_clean = is_clean && cell[v].rest == 0 && cell[v].mass == 0;
  }
  return is_clean;
}
