// Visitors of the path-counting traversals. In the backward pass, deepest level first, a visitor is called once per
// source and vertex, with sigma (the number of shortest paths) and `sum`, the total over the successors of the values
// that they passed up. The same source is compiled for scalars, SIMD registers and mantissa-exponent pairs.
//
// A visitor with by_depth weights a path by the depths at its ends: the weight of a target at depth d (its distance
// from the source) is multiplied by target_factor(d), and the score of a vertex by score_factor(d). Only these visitors
// need depths.
//
// A vertex may stand for several twins, which have the same neighbours (torchcent/engines/_twins.py). Traversals then
// multiply by their number twice: the path count of a vertex that is not a source, once it is complete, and the value
// that it passes up. With sigma' = c sigma, c (b / sigma' + sum) is b / sigma + c sum, and sigma' sum is c times the
// dependency of each twin.
#pragma once

#ifdef __CUDACC__
#define TORCHCENT_HD __host__ __device__
#else
#define TORCHCENT_HD
#endif

namespace torchcent::TORCHCENT_ISA {

// Brandes' dependency in rho form (Brandes 2001, eq. 6, divided by sigma):
// rho_v = b_v / sigma_v + sum rho_w and delta_v = sigma_v * sum rho_w, where b is the target weight.
struct Betweenness {
  static constexpr bool edges = false, by_depth = false;
  TORCHCENT_HD static double target_factor(double) { return 1; }
  TORCHCENT_HD static double score_factor(double) { return 1; }

  template <class Value>
  TORCHCENT_HD static Value passed_up(Value target_weight, Value sigma, Value sum) {
    return target_weight / sigma + sum;
  }
  template <class Value>
  TORCHCENT_HD static Value score(Value sigma, Value sum, Value through_weight) {
    return sigma * sum + through_weight;
  }
};

// The same recurrence; the arc (v, w) receives sigma_v * rho_w (Girvan and Newman 2002; Brandes 2008, alg. 7).
struct EdgeBetweenness : Betweenness {
  static constexpr bool edges = true;
};

// A path from s to t contributes d(s, v) / d(s, t) to v (Geisberger et al. 2008, linear scaling).
struct LinearBetweenness : Betweenness {
  static constexpr bool by_depth = true;
  TORCHCENT_HD static double target_factor(double depth) { return 1 / depth; }
  TORCHCENT_HD static double score_factor(double depth) { return depth; }
};

// Stress (Shimbel 1953; Brandes 2008, sec. 3.7) counts paths: lambda_v = sum (b_w + lambda_w).
struct Stress {
  static constexpr bool edges = false, by_depth = false;
  TORCHCENT_HD static double target_factor(double) { return 1; }
  TORCHCENT_HD static double score_factor(double) { return 1; }

  template <class Value>
  TORCHCENT_HD static Value passed_up(Value target_weight, Value, Value sum) {
    return target_weight + sum;
  }
  template <class Value>
  TORCHCENT_HD static Value score(Value sigma, Value sum, Value through_weight) {
    return sigma * (sum + through_weight);
  }
};

}  // namespace torchcent::TORCHCENT_ISA
