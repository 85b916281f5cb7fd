// The arcs of a contraction, with lengths and multiplicities.
#pragma once

#include <cstdint>
#include <vector>

#include "torchcent/csr.h"

namespace torchcent {

// What arcs in one direction have. The length of an arc is that of the shortest paths between its ends whose inner
// vertices all rank lower than both, and paths * 2^(512 powers) is their number.
struct ArcValues {
  std::vector<int64_t> length;
  std::vector<double> paths;
  std::vector<int32_t> powers;
  std::vector<int64_t> slot;  // of the edge between its ends, if that is as long as the arc, else -1
};

// Vertices are numbered by rank, first contracted first, a vertex after all of its descendants in the elimination tree.
// Arcs of r, from first[r] on, lead between it and ranks above it, in ascending order.
struct Overlay {
  std::vector<int64_t> first;
  std::vector<int32_t> to;
  ArcValues up, down;  // without values down, those are the same

  int32_t size() const { return static_cast<int32_t>(first.size()) - 1; }
  bool directed() const { return !down.length.empty(); }
};

// The arcs of an overlay in one direction that are on shortest paths.
struct OverlayArcs {
  std::vector<int64_t> first = {0};
  std::vector<int32_t> to;
  ArcValues values;
};

// How many arcs there may be, and how many pairs of arcs of a vertex, which are what the lengths of arcs cost.
struct OverlayLimits {
  int64_t arcs, pairs;
};

// A symmetric graph. With `slot`, it has the arcs of a directed one and their reverses: slot[i] is the slot there of
// arc i, or -1. Weights are those of slots.
template <class Weight>
struct ContractedGraph {
  Csr graph;
  const int64_t* slot;   // or null
  const Weight* weight;  // or null: 1
};

// All arcs of a contraction of the vertices in the order given, vertex[r] at rank r, with the lengths of edges, where
// there are any, and slots. Empty, without first, beyond the limits or if cancelled.
template <class Weight>
Overlay filled(const ContractedGraph<Weight>& graph, const std::vector<int32_t>& vertex, OverlayLimits limits,
               const int64_t* cancel);

// Completes lengths and multiplicities, and returns the arcs up, and those down if they are others, that are not longer
// than the distance of their ends. The values of the overlay are lost. Empty if cancelled.
std::vector<OverlayArcs> customise(Overlay& overlay, const int64_t* cancel);

}  // namespace torchcent
