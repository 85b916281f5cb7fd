// The parts of the arcs of a hierarchy.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cpu/simd_level.h"
#include "hierarchy/hierarchy.h"

namespace torchcent {

// Calls part(arc, one, other, p, up) for each pair of arcs of which an arc consists, arcs between higher vertices
// first: `one` leads between p and the lower end of the arc, and `other` between p and its upper end; up tells the
// direction of the arc. Those over p that are as long as an arc are parts of it, so that no parts are stored. An arc of
// both directions is visited once, unless they are told apart. False: cancelled.
template <class Part>
bool each_part(const Hierarchy& h, bool directions, const int64_t* cancel, const Part& part) {
  std::vector<int64_t> arc(h.size, -1);  // at the nearer upper end, by its own upper end
  for (int64_t p = 0; p < h.size; ++p) {
    if (cancel != nullptr && cancelled(cancel)) return false;
    const auto visit = [&](const int64_t* near, const int64_t* far, const int64_t* across, bool up) {
      int64_t farther = far[p];
      for (int64_t i = near[p]; i < near[p + 1]; ++i) {  // farther ancestors come later
        const int32_t nearer = h.to[i];
        while (farther < far[p + 1] && h.to[farther] >= nearer) ++farther;
        for (int64_t k = across[nearer]; k < across[nearer + 1]; ++k) arc[h.to[k]] = k;
        for (int64_t j = farther; j < far[p + 1]; ++j) {
          const int64_t k = arc[h.to[j]];
          if (k >= 0 && h.length[k] == h.length[i] + h.length[j]) part(k, i, j, p, up);
        }
        for (int64_t k = across[nearer]; k < across[nearer + 1]; ++k) arc[h.to[k]] = -1;
      }
    };
    visit(h.up, h.down, h.down, false);
    if (directions) visit(h.down, h.up, h.up, true);
  }
  return true;
}

}  // namespace torchcent
