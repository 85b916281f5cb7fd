// The operator that reports the workspace of sweeps over a hierarchy.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "hierarchy/workspace.h"

namespace torchcent {

std::vector<int64_t> hierarchy_workspace(bool on_cuda, int64_t item, int64_t num_nodes, int64_t height, int64_t lanes,
                                         bool paths) {
  if (!on_cuda) return sweeps_on_cpu(height, lanes, item, paths).numbers();
  const auto of_distances = item == sizeof(int32_t) ? cuda::sweeps_workspace<int32_t> : cuda::sweeps_workspace<int64_t>;
  return of_distances(num_nodes, height, true).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that sweeps allocate (hierarchy/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // group of sources on CUDA. item: bytes of a number; paths: whether paths are counted, on the CPU.
  m.def("hierarchy_workspace(bool cuda, int item, int num_nodes, int height, int lanes, bool paths) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("hierarchy_workspace", TORCH_BOX(&hierarchy_workspace));
}

}  // namespace torchcent
