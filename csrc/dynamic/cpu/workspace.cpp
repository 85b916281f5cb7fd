// The operator that reports the workspace of rows on CUDA.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "dynamic/workspace.h"

namespace torchcent {

std::vector<int64_t> dynamic_workspace(int64_t num_nodes, int64_t share, int64_t hops) {
  return cuda::block_row_workspace(num_nodes, share, hops).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes of each array of a block of CUDA, for rows with so many bytes for a share (16, or 8 in narrow rows) and for a
  // distance (dynamic/workspace.h).
  m.def("dynamic_workspace(int num_nodes, int share, int hops) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("dynamic_workspace", TORCH_BOX(&dynamic_workspace));
}

}  // namespace torchcent
