// A sequence of the vertices in which neighbours in the graph stand together.
#pragma once

#include <cstdint>
#include <vector>

#include "torchcent/csr.h"

namespace torchcent {

// Bisections of each component, whose vertices must have consecutive numbers, down to pieces of at most kNeighbourhood
// vertices. depth[i] is that of the bisection between sequence[i - 1] and sequence[i]: 0 between components, and the
// larger, the closer.
struct Neighbourhoods {
  std::vector<int32_t> sequence, depth;
};

constexpr int32_t kNeighbourhood = 32;

// Not complete if cancelled.
Neighbourhoods neighbourhoods(const Csr& graph, int threads, const int64_t* cancel);

}  // namespace torchcent
