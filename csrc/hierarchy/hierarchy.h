// A contraction hierarchy of a graph, for the searches of hierarchy/cpu/. docs/hierarchy.md has the algebra.
//
// Vertices have ranks. An arc leads from a vertex up to one of higher rank, or down from it. It stands for the shortest
// of the paths between the two whose inner vertices all have lower ranks than both, and its multiplicity is their
// number. Every shortest path is then a climb followed by a descent, in exactly one way. All upper ends of arcs are
// ancestors in the elimination tree. Vertices are numbered by their positions in a preorder of this tree, so that their
// upper ends have smaller positions, and what hangs below a vertex is a range. Arcs are kept at their lower ends. In a
// symmetric graph, an arc leads up as well as down.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/codes.h"
#include "core/cpu/simd_level.h"
#include "paths/search.h"

namespace torchcent {

struct Hierarchy {
  int64_t size;           // vertices
  const int64_t* vertex;  // [size] vertex of the graph at each position
  const int64_t* down;    // [size + 1] arcs down to each position
  const int64_t* up;      // [size + 1] arcs up from each position: the same, or others that come after all of those
  const int32_t* to;      // [arcs] upper ends, of a position the nearest ancestor first
  const int64_t* length;  // [arcs]
  const double* paths;    // [arcs] multiplicities: paths * 2^(512 powers)
  const int32_t* powers;  // [arcs]
  const int32_t* last;    // [size] end of the range below a vertex

  bool directed() const { return up != down; }
  int64_t arcs() const { return up[size]; }
  int64_t arcs_down() const { return down[size]; }
  int64_t arcs_up() const { return up[size] - up[0]; }
};

// The hierarchy divided into nested cells, each the range below a vertex without the cells in it. The vertices outside
// of a cell from which arcs lead down into it are its boundary: they are ancestors, of the cell and in the cell around
// it. In a cell, upper ends of arcs have numbers: first the boundary, then its own vertices.
struct Cell {
  int32_t begin, end;          // the range
  int32_t own, leaf, own_end;  // its own vertices; those from `leaf` on are the upper ends of no arc
  int32_t bound, bound_end;    // its boundary
  int32_t child, child_end;    // the cells in it
};

struct Cells {
  const Cell* cells;         // a cell comes before those in it
  const int32_t* vertex;     // [size] position of each own vertex, cell by cell, ancestors first
  const int32_t* place;      // [size] by position: its place in `vertex`
  const int64_t* first;      // [size + 1] arcs down to each own vertex, in the order of the hierarchy
  const int32_t* end;        // [arcs] number of the upper end of each arc in the cell
  const int32_t* bound;      // numbers of the boundary in the cell around
  const int32_t* child;      // cells
  const int32_t* outermost;  // [size] by position: the cell that begins at its root
  int64_t most_ends;         // boundary and own vertices of a cell, at most
  int64_t deepest;           // of cells in cells
};

// What sweeps add up: distances, or for each pair of ends the share of their shortest paths through a vertex or an arc
// (betweenness), or the number of these paths (stress).
enum class Added { distances, shares, paths };

template <class Number>
using LengthOf = std::conditional_t<sizeof(Number) == 4, int32_t, int64_t>;

// An arc as the inner loops read it, in the order of Cells.
template <class Number>
struct SweepArc {
  int32_t end;
  LengthOf<Number> length;
  Number paths;
};

// Scores of a batch are, one after the other, the flow of each arc, downwards if it is told apart from the flow
// upwards, by own vertex; what passes each own vertex besides the flows inside of arcs; and flows of arcs upwards, if
// told apart, by own vertex.
template <class Number>
struct HierarchyProblem {
  Hierarchy hierarchy;
  Cells cells;
  const SweepArc<Number>* arcs;
  const int64_t* up_first;          // [size + 1] arcs up from each own vertex, and which these are: see Cells::first
  const SweepArc<Number>* up_arcs;  // without ends
  const double* target;             // b, by own vertex
  const int64_t* position;          // of each vertex of the graph
  const int32_t* sequence;          // by position: its place in an order of neighbours
  const int32_t* split;  // how many cuts that order has made before it separates a place from the one before it
  int64_t lanes;         // sources side by side, at most
  bool directions;       // whether flows upwards are told apart
  Added added;           // of path counts
  const int64_t* cancel;
  // What is added up of distances: themselves, with the largest ones, and their reciprocals.
  bool distances = true, reciprocals = false;
};

// An arc to an ancestor, by its depth in the elimination tree.
template <class Number>
struct PathArc {
  int32_t depth;
  LengthOf<Number> length;
};

// What sweeps read that reach every vertex, and keep distances of the path from the root to it.
template <class Number>
struct RowProblem {
  Hierarchy hierarchy;
  const PathArc<Number>* arcs;  // in the order of the hierarchy, those up as well
  const int32_t* depth;         // of each position
  const int32_t* root;          // of the tree of each position
  const double* target;         // b, by position; null for rows
  const int64_t* position;      // of each vertex of the graph; -1 for one that is not in the hierarchy
  const int32_t* sequence;      // see HierarchyProblem
  const int32_t* split;
  int64_t height;
  int64_t num_nodes;  // of the graph
  const int64_t* cancel;
  const LengthOf<Number>* limits = nullptr;  // [num_limits] ascending; null: none
  int64_t num_limits = 1;
};

// Of each source of a call; with limits, of the vertices within each: [sources, limits].
struct HierarchyResults {
  double* sum;          // of b d; like the largest d, 0 unless they are asked for
  double* reciprocals;  // sum of b / d
  double* reached;      // sum of b of the vertices that are reached, without the source
  double* farthest;     // the largest d of a vertex with b > 0
  void* const* row;     // the distances of all vertices of the graph, int32 with -1 or float64 with inf for no path
  double* of_vertices = nullptr;  // instead, [n, limits, 3]: d, 1 / d, 1 over the sources; farthest is [n, limits]
};

class HierarchyDistances {
 public:
  virtual ~HierarchyDistances() = default;
  // Of vertices of the graph; false: cancelled.
  virtual bool run(const int64_t* sources, int64_t count, const HierarchyResults& results) = 0;
};

TORCHCENT_LANE_KERNEL(template <class Number> std::unique_ptr<Search> make_hierarchy(const HierarchyProblem<Number>&))
TORCHCENT_SCALAR_KERNEL(std::unique_ptr<Search> make_wide_sweep(const HierarchyProblem<double>&))
TORCHCENT_LANE_KERNEL(template <class Number> std::unique_ptr<HierarchyDistances> make_hierarchy_distances(
    const HierarchyProblem<Number>&))
TORCHCENT_LANE_KERNEL(
    template <class Number> std::unique_ptr<HierarchyDistances> make_hierarchy_reciprocals(const RowProblem<Number>&))
TORCHCENT_LANE_KERNEL(template <class Number> std::unique_ptr<HierarchyDistances> make_hierarchy_rows(
    const RowProblem<Number>&, bool floating))
// How many sources they take side by side.
TORCHCENT_LANE_KERNEL(int64_t reciprocal_lanes(bool single))
TORCHCENT_LANE_KERNEL(int64_t row_lanes(bool single))

}  // namespace torchcent
