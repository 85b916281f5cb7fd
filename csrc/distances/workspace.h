// Bytes that the bits engine allocates.
#pragma once

#include <cstdint>

#include "core/codes.h"
#include "core/workspace.h"
#include "paths/workspace.h"

namespace torchcent {

constexpr int64_t kBitRows = 3;       // of a vertex: lanes that have reached it, and those of two levels
constexpr int64_t kDistanceSums = 4;  // of distances, of a vertex or of a source

// Of a thread of the CPU (distances/cpu/bits.h, distances.cpp): rows of bits, lists of vertices, eccentricities, pairs
// by distance, the sums of a batch and those that wait for their turn, and those of a search that has several limits.
inline Workspace bits_on_cpu(int64_t nodes, int64_t lanes, int64_t limits) {
  const int64_t sums = bytes_of<double>(kDistanceSums) * (2 * limits + (limits > 1 ? 1 : 0));
  return {0,
          {nodes * (kBitRows * lanes / 8), bytes_of<int32_t>(3 * nodes),
           bytes_of<int32_t>(nodes) + bytes_of<int64_t>(nodes), nodes * sums}};
}

namespace cuda {

constexpr int kLook = 16;  // levels enqueued between two checks by the host
constexpr int kRing = 2 * kLook;

// Frontiers are looked at where the rows of a batch exceed the cache, and slots are most of the work.
constexpr bool looks_at_frontiers(int64_t nodes, int64_t slots) {
  constexpr int64_t cached = int64_t{128} << 20, many = 12;
  return nodes * kWideBits / 8 > cached && slots > many * nodes;
}

constexpr int64_t kFrontBytes = 80;  // distances/cuda/bit_rows.cuh, Front

// A bit per vertex.
constexpr int64_t bit_hit_words(int64_t nodes) { return (nodes + 31) / 32; }

// Of a batch (distances/cuda/bits.cuh), with sums of every vertex or without. A hub has at most twice as many chunks as
// its slots fill.
inline Workspace bits_workspace(int64_t nodes, int64_t slots, bool sums) {
  Workspace space = {tasks_bytes(nodes, 2 * slots / kChunk),
                     {nodes * (kBitRows * kWideBits / 8), bytes_of<int>(kRing)}};
  if (looks_at_frontiers(nodes, slots)) space.each.push_back(kFrontBytes + bytes_of<uint32_t>(bit_hit_words(nodes)));
  if (sums) space.each.push_back(bytes_of<double>(kDistanceSums * nodes));
  return space;
}

// Blocks of a multiprocessor that search one by one, and their threads: as many as their bits leave room for in its
// shared memory, where they are if they fit.
struct SearchShape {
  int blocks, threads;
  bool is_shared;
};
constexpr SearchShape shape_of_searches(int64_t nodes) {
  if (nodes <= int64_t{200} << 10) return {8, 256, true};
  if (nodes <= int64_t{430} << 10) return {4, 512, true};
  if (nodes <= int64_t{880} << 10) return {2, 1024, true};
  if (nodes <= int64_t{1780} << 10) return {1, 1024, true};
  return {2, 1024, false};
}

// A bit per vertex, in words that are read four at a time.
constexpr int64_t words_of_search(int64_t nodes) { return (nodes + 127) / 128 * 4; }

// Of a block that searches (distances/cuda/searches.cuh), with sums of every vertex or without.
inline Workspace search_workspace(int64_t nodes, bool sums) {
  Workspace space = {0, {bytes_of<int32_t>(nodes), bytes_of<uint32_t>(words_of_search(nodes))}};
  if (sums) space.each.push_back(bytes_of<int32_t>(nodes));
  return space;
}

// Of all blocks of a multiprocessor.
inline Workspace searches_workspace(int64_t nodes, bool sums) {
  Workspace space = search_workspace(nodes, sums);
  for (int64_t& bytes : space.each) bytes *= shape_of_searches(nodes).blocks;
  return space;
}

}  // namespace cuda

}  // namespace torchcent
