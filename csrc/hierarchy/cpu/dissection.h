// Nested dissection by minimum vertex cuts, without coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/cpu/contraction.h"

namespace torchcent {

// The numbers of the piece, first contracted first. A cell is divided by a separator, which is contracted after what it
// separates, until cells are small. A separator becomes a clique when what it separates has been contracted: with more
// than most_arcs of such arcs, or if cancelled, the order is empty.
std::vector<int32_t> dissection(Piece piece, int64_t most_arcs, int threads, const int64_t* cancel);

}  // namespace torchcent
