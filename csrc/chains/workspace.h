// Bytes that searches of contracted chains allocate.
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "weighted/workspace.h"

namespace torchcent {

struct ChainSizes {
  int64_t nodes;              // of the graph
  int64_t kept, slots;        // of the contracted graph
  int64_t inner, with_inner;  // inner vertices, and chains that have some

  PathSizes contracted() const { return {kept, slots, true, true}; }
};

// --- CPU, without the sums of batches.

// What is kept of a search from a vertex at which chains end (chains/cpu/chain_rows.h): distances, path counts on the
// last rung of the ladder, meeting points and arcs.
inline int64_t chain_row_bytes(int64_t kept, int64_t slots, int64_t with_inner) {
  return kept * (bytes_of<double>(1) + kWideCount) + bytes_of<int32_t>(with_inner) + slots * kPlaceArc;
}

// Of a thread. A batch of sweeps keeps the searches from so many vertices, at which there are most_at chains at most.
template <class T>
Workspace chains_on_cpu(const ChainSizes& sizes, bool together, int64_t most_rows, int64_t most_at) {
  Workspace space = dijkstra_on_cpu<T>({sizes.contracted(), true});
  space.fixed = 0;
  if (!together) return space;
  space.each.push_back(most_rows * chain_row_bytes(sizes.kept, sizes.slots, sizes.with_inner));
  // Of a sweep (chain_ends.h): per kept vertex three counts, two weights and two numbers, and two weights for each
  // chain at the root; per chain two numbers.
  const int64_t weights = bytes_of<double>(2);
  space.each.push_back(sizes.kept * (3 * kWideCount + weights + bytes_of<int32_t>(2) + most_at * weights) +
                       bytes_of<int32_t>(2 * sizes.with_inner));
  return space;
}

// --- CUDA

namespace cuda {

constexpr int kMostAt = 32;  // _MOST_AT in _chains.py

// The chains at a kept vertex that have sources inside.
struct ChainsAt {
  int32_t count;
  uint32_t end[kMostAt];  // 2 * chain, and 1 more at x_{k+1}
};

// Of an inner vertex, in units: BL, BR, and the targets of which it reaches a share by the left end, or the right one.
struct ChainBooks {
  using Whole = unsigned long long;
  Whole from_left, from_right, tied_left, tied_right;
};

// The sums of a block: a row of doubles, laid out as follows.
//     pass   [slots]     paths along the whole chain, by the slot of its arc
//     score  [kept]      of the kept vertices
//     meet   [inner, 2]  L and R
//     tied   [inner, 2]  XL and XR
struct ChainRow {
  int64_t score, meet, tied, total;

  ChainRow() = default;
  ChainRow(int64_t slots, int64_t kept, int64_t inner)
      : score(slots), meet(slots + kept), tied(meet + 2 * inner), total(tied + 2 * inner) {}
};

// IF, IB, FF, FB of an inner vertex, which are those of the search from it.
struct ChainBegin {
  double inside_forward, inside_back, out_forward, out_back;
};

// Rounding of the arrays by PyTorch's allocator.
constexpr int64_t kChainSlack = int64_t{1} << 24;

// Of a run besides its searches (chains/cuda/chains.cu), and of a block.
template <class T>
Workspace chains_besides(const ChainSizes& sizes, bool together, int64_t sources) {
  const int64_t n = sizes.kept, inner = sizes.inner, along = bytes_of<double>(inner + sizes.with_inner);
  const int64_t arcs = bytes_of<T>(sizes.slots) + bytes_of<uint32_t>(sizes.slots);
  const int64_t vertices = bytes_of<int32_t>(sizes.nodes) + bytes_of<int32_t>(n + 1) + bytes_of<double>(n);
  const int64_t of_inner = bytes_of<int32_t>(inner) + bytes_of<double>(inner) + bytes_of<ChainBegin>(inner) + along;
  const int64_t sums = bytes_of<double>(ChainRow(sizes.slots, n, inner).total);
  Workspace space = {kChainSlack + arcs + vertices + of_inner + sums, {bytes_of<double>(sizes.slots)}};
  if (!together) {
    space.fixed += bytes_of<double>(sources);
    return space;
  }
  const int64_t weights = bytes_of<double>(n) + bytes_of<double>(inner) + along;
  const int64_t searches = n * (bytes_of<T>(n) + bytes_of<double>(n));
  space.fixed += weights + searches + bytes_of<ChainsAt>(n) + bytes_of<int64_t>(n) + bytes_of<ChainBooks>(inner);
  space.each.push_back(bytes_of<double>(n + sizes.slots));
  return space;
}

}  // namespace cuda

}  // namespace torchcent
