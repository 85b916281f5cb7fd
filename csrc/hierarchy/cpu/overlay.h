// The arcs of a contraction, with lengths and multiplicities.
#pragma once

#include <cstdint>
#include <vector>

#include "torchcent/csr.h"

namespace torchcent {

// Vertices are numbered by rank, first contracted first, a vertex after all of its descendants in the elimination tree.
// Arcs of r, from first[r] on, lead to ranks above it, in ascending order. The length of an arc is that of the shortest
// paths between its ends whose inner vertices all rank lower than both, and paths * 2^(512 powers) is their number.
struct Overlay {
  std::vector<int64_t> first;
  std::vector<int32_t> to;
  std::vector<int64_t> length;
  std::vector<double> paths;
  std::vector<int32_t> powers;
  std::vector<int64_t> slot;  // from the lower end to the upper one, if that edge is as long as the arc, else -1

  int32_t size() const { return static_cast<int32_t>(first.size()) - 1; }
};

// How many arcs there may be, and how many pairs of arcs of a vertex, which are what the lengths of arcs cost.
struct OverlayLimits {
  int64_t arcs, pairs;
};

// All arcs of a contraction of the vertices in the order given, vertex[r] at rank r, with the lengths of edges, where
// there are any, and slots. Empty, without first, beyond the limits.
template <class Weight>
Overlay filled(const Csr& graph, const Weight* weight, const std::vector<int32_t>& vertex, OverlayLimits limits);

// Completes lengths and multiplicities, and removes arcs that are longer than the distance of their ends.
void customise(Overlay& overlay);

}  // namespace torchcent
