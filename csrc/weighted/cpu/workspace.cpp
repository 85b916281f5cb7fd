// The operator that reports the workspace of the relax and dijkstra engines.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "weighted/workspace.h"

namespace torchcent {

namespace {

template <class OnCpu, class OnCuda>
Workspace workspace_of(const WeightedSizes& sizes, WeightedEngine engine, bool on_cuda, int64_t chunks) {
  if (engine == WeightedEngine::relax)
    return on_cuda ? cuda::relax_workspace<OnCuda>(sizes, chunks) : relax_on_cpu<OnCpu>(sizes);
  if (!on_cuda) return dijkstra_on_cpu<OnCpu>(sizes);
  return cuda::dijkstra_workspace<OnCuda>(sizes.graph, sizes.paths ? sizes.graph.scores() : 0);
}

}  // namespace

std::vector<int64_t> weighted_workspace(int64_t engine, bool on_cuda, int64_t weight_bytes, int64_t num_nodes,
                                        int64_t num_slots, bool symmetric, bool paths, bool per_slot, bool by_depth,
                                        int64_t limits, int64_t chunks) {
  const WeightedSizes sizes = {{num_nodes, num_slots, symmetric, per_slot, limits}, paths, by_depth};
  const auto of_weights =
      weight_bytes == sizeof(int32_t) ? workspace_of<int32_t, uint32_t> : workspace_of<double, double>;
  return of_weights(sizes, WeightedEngine{engine}, on_cuda, chunks).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that an engine allocates (weighted/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // batch or block in flight on CUDA. symmetric: with the same weights; paths: whether paths are counted; chunks: of
  // the slots of hubs, on CUDA.
  m.def(
      "weighted_workspace(int engine, bool cuda, int weight_bytes, int num_nodes, int num_slots, bool symmetric=False, "
      "bool paths=False, bool per_slot=False, bool by_depth=False, int limits=1, int chunks=0) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("weighted_workspace", TORCH_BOX(&weighted_workspace));
}

}  // namespace torchcent
