// The scores inside a chain, from the sums of all searches, on every device (docs/chains.md).
#pragma once

#include "core/column.h"

namespace torchcent {

// Of each array, entry i belongs to x_i. There are `stride` numbers from `begin` on for each: IF, IB, FF, FB, ...
struct FinishedChain {
  int64_t count;              // k
  double forward, back;       // paths along the whole chain
  const double *meet, *tied;  // L and R, XL and XR, from i = 1 on
  const double* begin;        // from i = 1 on
  int64_t stride;
  const double* target;  // weights of targets, from i = 1 on
};

// Where the scores go: to the vertices from x_1 on or, if that is null, to the slots of each step from x_0 on.
struct ChainScores {
  double* score;
  const int64_t *vertex, *forward, *back;
};

// A difference of sums up to `size`, none of which is negative: 0 where it is within their rounding.
TORCHCENT_ANYWHERE inline double unless_rounding(double difference, double size) {
  constexpr double kRounding = 1.0 / (int64_t{1} << 50);
  return difference > kRounding * size ? difference : 0;
}

TORCHCENT_ANYWHERE inline void finish_chain(const FinishedChain& chain, const ChainScores& to) {
  const int64_t k = chain.count;
  double out_forward = chain.forward, out_back = chain.back;
  for (int64_t h = k; h > 0; --h) out_back += chain.begin[chain.stride * h + 3];
  for (int64_t h = 1; h <= k; ++h) out_forward += chain.begin[chain.stride * h + 2];
  double absorbed = 0, running = 0, size = out_forward;
  for (int64_t i = k; i >= 0; --i) {
    if (to.vertex == nullptr) to.score[to.forward[i]] += unless_rounding(out_forward + absorbed, size);
    if (i == 0) break;
    const double* const begin = chain.begin + chain.stride * i;
    out_forward -= begin[2];
    if (to.vertex != nullptr) {
      to.score[to.vertex[i]] += unless_rounding(out_forward + absorbed - begin[0], size);
    }
    running += chain.meet[2 * i];
    const double more = chain.target[i] * running + chain.tied[2 * i];
    size += more;
    absorbed += more - begin[0];
  }
  absorbed = running = 0;
  size = out_back;
  for (int64_t i = 0; i <= k; ++i) {
    if (i > 0) {
      const double* const begin = chain.begin + chain.stride * i;
      out_back -= begin[3];
      if (to.vertex != nullptr) {
        to.score[to.vertex[i]] += unless_rounding(out_back + absorbed - begin[1], size);
      }
      running += chain.meet[2 * i + 1];
      const double more = chain.target[i] * running + chain.tied[2 * i + 1];
      size += more;
      absorbed += more - begin[1];
    }
    if (to.vertex == nullptr) to.score[to.back[i]] += unless_rounding(out_back + absorbed, size);
  }
}

}  // namespace torchcent
