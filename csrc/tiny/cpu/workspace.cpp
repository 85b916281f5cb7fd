// The operator that reports the workspace of the tiny engine.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "tiny/workspace.h"

namespace torchcent {

std::vector<int64_t> tiny_workspace(bool on_cuda, int64_t num_nodes, bool weighted) {
  return (on_cuda ? cuda::tiny_workspace(num_nodes, weighted) : tiny_on_cpu(num_nodes)).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that searches of graphs of up to so many vertices allocate (tiny/workspace.h): in all, then of each array of
  // a thread of the CPU, or of a block on CUDA, where small ones fit into shared memory instead.
  m.def("tiny_workspace(bool cuda, int num_nodes, bool weighted) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("tiny_workspace", TORCH_BOX(&tiny_workspace));
}

}  // namespace torchcent
