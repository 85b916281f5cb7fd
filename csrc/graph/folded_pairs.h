// The pairs that folding counts in closed form (torchcent/engines/reduce/_fold.py), on every device.
#pragma once

#include "core/column.h"

namespace torchcent {

// Sums over the branches folded onto a vertex, of the weights A_i and B_i in each of them.
struct Branches {
  double a, b, product;  // sums of A_i, of B_i and of A_i B_i
};

// x y, rounded: a fused multiply-add of a difference of products leaves their rounding errors where it should be 0.
TORCHCENT_ANYWHERE inline double rounded_product(double x, double y) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(x, y);
#else
  return x * y;
#endif
}

// The contribution to v: pairs of different branches, and those of a branch and what lies beyond v. All terms are sums
// of products of weights, so that none is negative, and the score of a leaf is 0 exactly. If every path counts
// (stress), only pairs of different branches.
struct FoldedPairs {
  Column a, b, hanging_a, hanging_b, total_a, total_b;
  bool counts, endpoints;

  TORCHCENT_ANYWHERE double operator()(int64_t v, const Branches& branches) const {
    double known = positive(rounded_product(branches.a, branches.b) - branches.product);
    if (counts) return known;
    const double beyond_a = positive(total_a[v] - hanging_a[v]), beyond_b = positive(total_b[v] - hanging_b[v]);
    known += branches.a * beyond_b + beyond_a * branches.b;
    if (endpoints) known += a[v] * (total_b[v] - b[v]) + b[v] * (total_a[v] - a[v]);
    return known;
  }

 private:
  TORCHCENT_ANYWHERE static double positive(double x) { return x > 0 ? x : 0; }
};

}  // namespace torchcent
