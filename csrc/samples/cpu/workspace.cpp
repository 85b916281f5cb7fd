// The operator that reports the workspace of searches for random shortest paths.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "samples/workspace.h"

namespace torchcent {

std::vector<int64_t> sample_workspace(bool on_cuda, int64_t weight_bytes, int64_t num_nodes, int64_t num_slots,
                                      bool symmetric) {
  const auto of_weights = [&]<class OnCpu, class OnCuda>(OnCpu, OnCuda) {
    return on_cuda ? cuda::weight_samples_workspace<OnCuda>(num_nodes, num_slots, symmetric)
                   : weight_samples_on_cpu<OnCpu>(num_nodes, num_slots);
  };
  switch (weight_bytes) {
    case 0: break;
    case sizeof(int32_t): return of_weights(int32_t{}, uint32_t{}).numbers();
    default: return of_weights(double{}, double{}).numbers();
  }
  return (on_cuda ? cuda::hop_samples_workspace(num_nodes, num_slots, symmetric)
                  : hop_samples_on_cpu(num_nodes, num_slots))
      .numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that searches allocate (samples/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // block on CUDA. weight_bytes: 0 by hops.
  m.def("sample_workspace(bool cuda, int weight_bytes, int num_nodes, int num_slots, bool symmetric) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("sample_workspace", TORCH_BOX(&sample_workspace));
}

}  // namespace torchcent
