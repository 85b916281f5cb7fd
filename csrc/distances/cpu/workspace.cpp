// The operator that reports the workspace of the bits engine.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "distances/workspace.h"

namespace torchcent {

std::vector<int64_t> distance_workspace(bool on_cuda, int64_t num_nodes, int64_t num_slots, int64_t lanes,
                                        int64_t limits) {
  return (on_cuda ? cuda::bits_workspace(num_nodes, num_slots, true) : bits_on_cpu(num_nodes, lanes, limits)).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that searches allocate (distances/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // batch in flight on CUDA.
  m.def("distance_workspace(bool cuda, int num_nodes, int num_slots, int lanes, int limits=1) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("distance_workspace", TORCH_BOX(&distance_workspace));
}

}  // namespace torchcent
