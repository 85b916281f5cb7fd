// The inner loop of rows of climbs (point_to_point.h).
#pragma once

#include <cstdint>

#include "core/cpu/simd_level.h"

namespace torchcent {

// row[k] = min(row[k], length + onward[k]); sums fit.
TORCHCENT_SCALAR_KERNEL(template <class Length>
                        void go_on(Length* row, const Length* onward, Length length, int32_t count))

template <class Length>
using GoOn = void (*)(Length* row, const Length* onward, Length length, int32_t count);

}  // namespace torchcent
