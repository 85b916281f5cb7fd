// Where kernels keep the sums of a row. Rows that are used together are close to each other, so that they are in the
// cache together. Sums are added up in the same order wherever they are kept: places do not change a bit.
#pragma once

#include <cstdint>

#include "mcl/mcl_step.h"

namespace torchcent {

struct PlacedRows {
  const int32_t* place;    // [n] of row i
  const int32_t* row;      // [n] at a place
  const int32_t* placed;   // the places of Flow::row
  const uint16_t* narrow;  // the same, of few rows and if they have been copied; or nullptr
};

// What the loop over columns passes to the kernels of the CPU.
struct PlacedProblem : FlowProblem {
  PlacedRows at;
};

}  // namespace torchcent
