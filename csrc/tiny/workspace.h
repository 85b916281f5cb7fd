// Bytes that the tiny engine allocates.
#pragma once

#include <cstdint>

#include "core/anywhere.h"
#include "core/codes.h"
#include "core/workspace.h"

namespace torchcent {

// Of a thread of the CPU, for graphs of up to so many vertices (tiny/cpu/tiny_lanes.h): vertices and masks of the
// levels, path counts, and what is passed up. Other searches need less.
inline Workspace tiny_on_cpu(int64_t nodes) {
  const int64_t entries = kTinyLanes * nodes;
  return {0, {bytes_of<int32_t>(entries), bytes_of<uint64_t>(entries), bytes_of<double>(2 * entries)}};
}

namespace cuda {

constexpr int kWarp = 32;

// Offsets of the arrays of a warp, for graphs of up to `nodes` vertices: 32 interleaved lanes.
struct TinyLayout {
  int64_t depth, sigma, passed_up, gain, order, place, heap, bytes;

  TORCHCENT_ANYWHERE TinyLayout(int64_t nodes, bool weighted, bool paths, bool own_gain) {
    int64_t at = 0;
    const auto take = [&](int64_t size) {
      const int64_t begin = at;
      at += size * nodes * kWarp;
      return begin;
    };
    sigma = take(paths ? 8 : 0);
    passed_up = take(paths ? 8 : 0);
    gain = own_gain ? take(8) : sigma;
    depth = take(weighted ? 8 : 2);
    order = take(2);
    place = take(weighted ? 2 : 0);
    heap = take(weighted ? 2 : 0);
    bytes = at;
  }
};

// Per block. It depends on the size only, because it determines the order of summation over sources, and thereby the
// bits.
inline int warps_for(int64_t nodes) { return nodes <= 32 ? 1 : nodes <= 128 ? 2 : 8; }

// Of a block with all outputs.
inline Workspace tiny_workspace(int64_t nodes, bool weighted) {
  return {0, {warps_for(nodes) * TinyLayout(nodes, weighted, true, true).bytes}};
}

}  // namespace cuda

}  // namespace torchcent
