// The order of a contraction: vertices that add hardly any arcs first, greedily, and the rest by nested dissection.
#pragma once

#include <cstdint>
#include <vector>

#include "torchcent/csr.h"

namespace torchcent {

// A graph with its own numbers: vertex[i] is that of i where it came from.
struct Piece {
  std::vector<int32_t> vertex;
  std::vector<int64_t> first = {0};  // [size + 1]
  std::vector<int32_t> to;

  int32_t size() const { return static_cast<int32_t>(vertex.size()); }
};

// The vertices of a symmetric graph, first contracted first. Lengths do not matter: which arcs exceed the distance of
// their ends is found out afterwards, so that the same order serves all lengths. Empty if the arcs would exceed
// most_arcs, which a large separator foretells, or if cancelled.
std::vector<int32_t> contraction_order(const Csr& graph, int64_t most_arcs, int threads, const int64_t* cancel);

}  // namespace torchcent
