// Bytes of what a block of CUDA needs to search or to repair one row (dynamic/cuda/block_row.cuh).
#pragma once

#include <cstdint>

#include "core/workspace.h"

namespace torchcent::cuda {

// Entries of an array for all vertices and two more, and 32-bit words of a bit for each: multiples of 16 bytes.
constexpr int64_t row_entries(int64_t num_nodes) { return (num_nodes + 5) / 4 * 4; }
constexpr int64_t row_words(int64_t num_nodes) { return (num_nodes + 127) / 128 * 4; }

// In the order of the arrays of a block. share: bytes of a share in fixed point; hops: of a distance.
inline Workspace block_row_workspace(int64_t num_nodes, int64_t share, int64_t hops) {
  const int64_t entries = row_entries(num_nodes), words = row_words(num_nodes);
  return {0,
          {share * entries, bytes_of<uint64_t>(entries), 3 * bytes_of<int32_t>(entries), 2 * bytes_of<uint32_t>(words),
           (hops * num_nodes + 15) / 16 * 16}};
}

}  // namespace torchcent::cuda
