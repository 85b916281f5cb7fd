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

std::vector<int64_t> search_workspace(int64_t num_nodes, bool sums) {
  return cuda::searches_workspace(num_nodes, sums).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that searches allocate (distances/workspace.h): in all, then of each array of a thread of the CPU, or of a
  // batch in flight on CUDA.
  m.def("distance_workspace(bool cuda, int num_nodes, int num_slots, int lanes, int limits=1) -> int[]");
  // Of searches one by one on CUDA: of the blocks of a multiprocessor, with sums of every vertex or without.
  m.def("search_workspace(int num_nodes, bool sums) -> int[]");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("distance_workspace", TORCH_BOX(&distance_workspace));
  m.impl("search_workspace", TORCH_BOX(&search_workspace));
}

}  // namespace torchcent
