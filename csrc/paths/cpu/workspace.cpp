// The operator that reports the workspace of the lanes and queue engines.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "paths/workspace.h"

namespace torchcent {

std::vector<int64_t> path_workspace(int64_t engine, bool on_cuda, int64_t num_nodes, int64_t num_slots, bool symmetric,
                                    bool per_slot, int64_t limits, int64_t chunks, int64_t sources, int64_t lanes,
                                    const std::vector<int64_t>& levels, int64_t strategy) {
  const PathSizes graph = {num_nodes, num_slots, symmetric, per_slot, limits};
  if (Engine{engine} == Engine::queue) {
    if (!on_cuda) return queue_on_cpu(graph).numbers();
    return cuda::queue_workspace(graph, Strategy{strategy}, sources).numbers();
  }
  if (!on_cuda) return lanes_on_cpu(graph).numbers();
  Workspace space = cuda::lanes_workspace<float>(graph, lanes, chunks);
  for (const int64_t count : levels) space.each.push_back(count * cuda::level_bytes(num_nodes, lanes));
  return space.numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that an engine allocates (paths/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // batch or block in flight on CUDA. There, chunks: of the slots of hubs; sources: of a call; lanes: of a batch;
  // levels: how many it has in each of its allocations.
  m.def(
      "path_workspace(int engine, bool cuda, int num_nodes, int num_slots, bool symmetric, bool per_slot, int limits, "
      "int chunks=0, int sources=0, int lanes=0, int[] levels=[], int strategy=0) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("path_workspace", TORCH_BOX(&path_workspace));
}

}  // namespace torchcent
