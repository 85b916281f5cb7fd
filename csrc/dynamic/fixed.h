// Numbers in fixed point with 128 bits: adding and subtracting is exact, so that sums do not depend on the order.
#pragma once

#include <cstdint>

#include "core/anywhere.h"

namespace torchcent::dynamic {

__extension__ using Fixed = __int128;
__extension__ using Unsigned = unsigned __int128;

// The multiple of 2^-64 below a number of [0, 2^63). The compiler's own conversion is a call.
TORCHCENT_ANYWHERE inline Unsigned fixed(double value) {
  const auto whole = static_cast<uint64_t>(value);
  return static_cast<Unsigned>(whole) << 64 | static_cast<uint64_t>((value - static_cast<double>(whole)) * 0x1p64);
}

}  // namespace torchcent::dynamic
