// The operator that reports the workspace of the engine "reference".

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <utility>
#include <vector>

#include "core/workspace.h"

namespace torchcent {

// Of the vectors of reference.cpp: distances, path counts and dependencies, vertices in order; with weights, lengths of
// the graph and a queue that grows.
std::vector<int64_t> reference_workspace(int64_t num_nodes, int64_t num_slots, bool weighted) {
  using Queued = std::pair<double, int32_t>;
  Workspace space = {0, {bytes_of<double>(3 * num_nodes), bytes_of<int32_t>(2 * num_nodes)}};
  if (weighted) space.each.push_back(bytes_of<double>(num_slots) + bytes_of<Queued>(2 * num_slots));
  return space.numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that a search allocates: in all, then of each array.
  m.def("reference_workspace(int num_nodes, int num_slots, bool weighted) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("reference_workspace", TORCH_BOX(&reference_workspace));
}

}  // namespace torchcent
