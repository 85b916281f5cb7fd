// Written by tools/declare.py from torchcent/engines/measures/_visitors.py.
#pragma once

#include <cstdint>

namespace torchcent {

// The score computed from path counts; each value has a visitor (paths/betweenness.h).
enum class Measure : int64_t {
  betweenness = 0,
  edge_betweenness = 1,
  stress = 2,
  linear = 3,
  distance = 4,
  proximal_source = 5,
  proximal_target = 6,
  load = 7,
};

// clang-format off
constexpr Measure kMeasures[] = {
    Measure::betweenness,
    Measure::edge_betweenness,
    Measure::stress,
    Measure::linear,
    Measure::distance,
    Measure::proximal_source,
    Measure::proximal_target,
    Measure::load,
};
// clang-format on

}  // namespace torchcent
