// The pairs that folding counts in closed form (torchcent/engines/_fold.py), on every device.
#pragma once

#include "core/column.h"

namespace torchcent {

// The contribution to v: all pairs without v as an end, minus those within one branch (`product`, the sum of A_i B_i
// over the branches at v) and those left to the search. If every path counts (stress), only pairs of different
// branches.
struct FoldedPairs {
  Column a, b, hanging_a, hanging_b, total_a, total_b;
  bool counts, endpoints;

  TORCHCENT_ANYWHERE double operator()(int64_t v, double product) const {
    if (counts) return (hanging_a[v] - a[v]) * (hanging_b[v] - b[v]) - product;
    double known = (total_a[v] - a[v]) * (total_b[v] - b[v]);
    known -= product;
    known -= (total_a[v] - hanging_a[v]) * (total_b[v] - hanging_b[v]);
    if (endpoints) known += a[v] * (total_b[v] - b[v]) + b[v] * (total_a[v] - a[v]);
    return known;
  }
};

}  // namespace torchcent
