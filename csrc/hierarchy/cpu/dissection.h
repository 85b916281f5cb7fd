// Nested dissection by minimum vertex cuts, without coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/cpu/contraction.h"
#include "hierarchy/cpu/vertex_cut.h"

namespace torchcent {

// A cell is divided by a separator, contracted after what it separates, until cells are small. Two far vertices x, y of
// the cell are found by breadth-first searches; its vertices are sorted by d(x) - d(y), the outer quarters are source
// and sink of a flow with a unit of capacity per vertex, and the minimum cut is the separator.
class Dissection {
 public:
  // A separator becomes a clique when what it separates has been contracted: more than most_arcs of them end it.
  explicit Dissection(int64_t most_arcs) : most_arcs_(most_arcs) {}

  bool run(Piece piece);  // false if the arcs are too many

  // The numbers of `piece`, first contracted first.
  const std::vector<int32_t>& order() const { return order_; }

 private:
  void scatter(const Piece& piece, const std::vector<char>& out, std::vector<Piece>& cells);
  bool divide(const Piece& cell, std::vector<char>& out);
  int32_t search(const Piece& cell, int32_t start, std::vector<int32_t>& distance);
  void by_ends(const Piece& cell, int attempt);
  void small(const Piece& cell);

  int64_t most_arcs_;
  std::vector<int32_t> order_;  // last contracted first until the end
  std::vector<int32_t> degree_;
  // Of the cell at hand:
  std::vector<int32_t> to_x_, to_y_, queue_;
  std::vector<int32_t> sorted_, place_;  // by d(x) - d(y)
  VertexCut cut_;
};

}  // namespace torchcent
