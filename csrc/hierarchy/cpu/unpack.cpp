// Flows of the arcs of a hierarchy, unpacked: a flow is divided among the paths that an arc stands for.
#include "hierarchy/cpu/unpack.h"

#include <cmath>
#include <vector>

namespace torchcent {

namespace {

// a b / c of multiplicities
double share(const Hierarchy& h, int64_t a, int64_t b, int64_t c) {
  const double fraction = h.paths[a] * h.paths[b] / h.paths[c];
  const int64_t power = int64_t{h.powers[a]} + h.powers[b] - h.powers[c];
  return power == 0 ? fraction : std::ldexp(fraction, static_cast<int>(512 * power));
}

}  // namespace

void unpack(const Hierarchy& h, double* down, double* up, double* inside) {
  std::vector<int64_t> arc(h.size, -1);  // from the upper end of the first part, by its upper end
  for (int64_t p = 0; p < h.size; ++p)
    for (int64_t i = h.first[p]; i + 1 < h.first[p + 1]; ++i) {  // farther ancestors come later
      const int32_t upper = h.to[i];
      for (int64_t k = h.first[upper]; k < h.first[upper + 1]; ++k) arc[h.to[k]] = k;
      for (int64_t j = i + 1; j < h.first[p + 1]; ++j) {
        const int64_t k = arc[h.to[j]];
        if (k < 0 || h.length[k] != h.length[i] + h.length[j]) continue;
        const double of_middle = share(h, i, j, k), descends = down[k] * of_middle;
        const double climbs = up == nullptr ? 0 : up[k] * of_middle;
        inside[p] += descends + climbs;
        // Downwards, from the upper end of k: down j and up i.
        down[j] += descends;
        (up == nullptr ? down : up)[i] += descends;
        if (up != nullptr) {
          down[i] += climbs;
          up[j] += climbs;
        }
      }
      for (int64_t k = h.first[upper]; k < h.first[upper + 1]; ++k) arc[h.to[k]] = -1;
    }
}

}  // namespace torchcent
