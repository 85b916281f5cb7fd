// Path counting within limits: a search for each.
#pragma once

#include <algorithm>

#include "core/cuda/scratch.cuh"

namespace torchcent::cuda {

// search(limit, scores, rung) adds the scores of all sources within a limit, of type T. Those of the limits follow each
// other. Returns the highest rung that was needed.
template <class T, class Search>
Rung within_limits(const torch::stable::Tensor& limits, torch::stable::Tensor& scores, int64_t sources, Rung first,
                   const Run& run, Search search) {
  const int64_t count = limits.numel(), size = scores.numel() / std::max<int64_t>(count, 1);
  const T* const limit = limits.const_data_ptr<T>();
  double* const target = scores.mutable_data_ptr<double>();
  finish(run, (1 - count) * sources);  // a source is done when all limits are
  Rung highest = first;
  for (int64_t i = 0; i < count && !run.cancelled(); ++i) {
    if (!(limit[i] > 0)) {  // no pairs are so near
      finish(run, sources);
      continue;
    }
    const int64_t mark = run.scratch.mark();
    highest = std::max(highest, search(limit[i], target + i * size, first));
    run.scratch.release(mark);
  }
  return highest;
}

}  // namespace torchcent::cuda
