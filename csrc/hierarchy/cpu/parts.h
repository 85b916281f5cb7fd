// The parts of the arcs of a hierarchy.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace torchcent {

// Calls part(arc, one, other, p) for each pair of arcs of which an arc consists, arcs between higher vertices first:
// `one` leads from p up to the lower end of the arc, and `other` to its upper end. Those from p to the ends of an arc
// that is as long as both are parts of it, so that no parts are stored.
template <class Part>
void each_part(const Hierarchy& h, const Part& part) {
  std::vector<int64_t> arc(h.size, -1);  // from the nearer upper end, by its own upper end
  for (int64_t p = 0; p < h.size; ++p)
    for (int64_t i = h.first[p]; i + 1 < h.first[p + 1]; ++i) {  // farther ancestors come later
      const int32_t nearer = h.to[i];
      for (int64_t k = h.first[nearer]; k < h.first[nearer + 1]; ++k) arc[h.to[k]] = k;
      for (int64_t j = i + 1; j < h.first[p + 1]; ++j) {
        const int64_t k = arc[h.to[j]];
        if (k >= 0 && h.length[k] == h.length[i] + h.length[j]) part(k, i, j, p);
      }
      for (int64_t k = h.first[nearer]; k < h.first[nearer + 1]; ++k) arc[h.to[k]] = -1;
    }
}

}  // namespace torchcent
