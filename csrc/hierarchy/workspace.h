// Bytes that sweeps over a hierarchy allocate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/workspace.h"

namespace torchcent {

// Of a thread of the CPU, for batches of so many lanes: rows of the vertices above a batch, of which there are at most
// `height` above a vertex, and of those in the cells of one path (hierarchy/cpu/cell_frame.h). `item`: bytes of a
// number. Rows of distances are needed in half as many places as those of path counts.
inline Workspace sweeps_on_cpu(int64_t height, int64_t lanes, int64_t item, bool paths) {
  const int64_t rows = paths ? 16 * height + 5 * lanes : 8 * height + 3 * lanes;
  return {0, {item * lanes * rows}};
}

namespace cuda {

constexpr int64_t kGroupRow = 512;                       // of the distances of a vertex from all sources of a group
constexpr int64_t kMostSlots = 256, kSlotVertices = 64;  // warps that add up, and vertices of each at least
constexpr int64_t kSumParts = 4;                         // of a sum

inline int64_t sum_slots(int64_t nodes) { return std::clamp<int64_t>(nodes / kSlotVertices, 1, kMostSlots); }

// Of a group of sources (hierarchy/cuda/level_sweeps.cu), with sums or without.
template <class T>
Workspace sweeps_workspace(int64_t nodes, int64_t height, bool sums) {
  const int64_t lanes = kGroupRow / static_cast<int64_t>(sizeof(T));
  return {0,
          {(nodes + height) * kGroupRow, bytes_of<int32_t>(lanes),
           sums ? bytes_of<double>(lanes * kSumParts * sum_slots(nodes)) : 0}};
}

}  // namespace cuda

}  // namespace torchcent
