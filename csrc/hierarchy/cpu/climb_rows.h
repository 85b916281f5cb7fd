// The inner loop of rows of climbs (point_to_point.h).
#pragma once

#include <cstdint>

#include "core/cpu/simd_level.h"

namespace torchcent {

// row[k] = min(row[k], length + onward[k]); sums fit.
TORCHCENT_SCALAR_KERNEL(void go_on(int32_t* row, const int32_t* onward, int32_t length, int32_t count))

using GoOn = void (*)(int32_t* row, const int32_t* onward, int32_t length, int32_t count);

}  // namespace torchcent
