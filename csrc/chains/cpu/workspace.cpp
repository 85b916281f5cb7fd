// The operators that report the workspace of searches of contracted chains.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <vector>

#include "chains/workspace.h"

namespace torchcent {

namespace {

template <class T>
Workspace chains_on_cuda(const ChainSizes& sizes, bool together, int64_t sources) {
  const int64_t scores = cuda::ChainRow(sizes.slots, sizes.kept, sizes.inner).total;
  Workspace space = cuda::chains_besides<T>(sizes, together, sources);
  const Workspace searches = cuda::dijkstra_workspace<T>(sizes.contracted(), scores);
  space.fixed += searches.fixed;
  space.each.insert(space.each.end(), searches.each.begin(), searches.each.end());
  return space;
}

}  // namespace

std::vector<int64_t> chain_workspace(bool on_cuda, int64_t length_bytes, const std::vector<int64_t>& sizes,
                                     bool together, int64_t most_rows, int64_t most_at, int64_t sources) {
  if (sizes.size() != 5) throw std::invalid_argument("chain_workspace needs five sizes");
  const ChainSizes chains = {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};
  const bool whole = length_bytes == sizeof(int32_t);
  if (on_cuda) return (whole ? chains_on_cuda<uint32_t> : chains_on_cuda<double>)(chains, together, sources).numbers();
  return (whole ? chains_on_cpu<int32_t> : chains_on_cpu<double>)(chains, together, most_rows, most_at).numbers();
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Bytes that searches allocate (chains/workspace.h): in all, then of each array of a thread of the CPU, or of a block
  // on CUDA. sizes: vertices of the graph; vertices and slots of the contracted graph; inner vertices, and chains that
  // have some. together: by sweeps, of which on the CPU a batch keeps most_rows searches, and at a vertex there are
  // most_at chains; on CUDA there are so many sources.
  m.def(
      "chain_workspace(bool cuda, int length_bytes, int[] sizes, bool together, int most_rows=0, int most_at=0, "
      "int sources=0) -> int[]");
  // What a batch of sweeps on the CPU keeps of a search.
  m.def("chain_row_bytes(int kept, int slots, int with_inner) -> int");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) {
  m.impl("chain_workspace", TORCH_BOX(&chain_workspace));
  m.impl("chain_row_bytes", TORCH_BOX(&chain_row_bytes));
}

}  // namespace torchcent
