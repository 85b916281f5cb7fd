// Visitors of the path-counting traversals. In the backward pass, deepest level first, a visitor is called once per
// source and vertex, with sigma (the number of shortest paths) and `sum`, the total over the successors of the values
// that they passed up. The same source is compiled for scalars, SIMD registers and mantissa-exponent pairs.
// torchcent/engines/measures/_visitors.py has the same formulas for tensors.
//
// sigma is the sum over the predecessors of what each arc carries: their sigma or, of a visitor that is `unit`, 1 each.
//
// A visitor with by_depth weights a path by the depths at its ends: the weight of a target at depth d (its distance
// from the source) is multiplied by target_factor(d), and the score of a vertex by score_factor(d). Only these visitors
// need depths. What their measure is, is known when they run. Where onward() is false, a vertex passes up its own
// share, and not the sum.
//
// A vertex may stand for several twins, which have the same neighbours (torchcent/engines/reduce). Traversals then
// multiply by their number twice: the path count of a vertex that is not a source, once it is complete, and the value
// that it passes up. With sigma' = c sigma, c (b / sigma' + sum) is b / sigma + c sum, and sigma' sum is c times the
// dependency of each twin.
#pragma once

#include "core/codes.h"

#ifdef __CUDACC__
#define TORCHCENT_HD __host__ __device__
#else
#define TORCHCENT_HD
#endif

namespace torchcent::TORCHCENT_ISA {

// What most visitors have in common.
struct AnyDepth {
  static constexpr bool edges = false, by_depth = false, unit = false;
  TORCHCENT_HD static double target_factor(double, Measure) { return 1; }
  TORCHCENT_HD static double score_factor(double, Measure) { return 1; }
  TORCHCENT_HD static constexpr bool onward(Measure) { return true; }
};

// Brandes' dependency in rho form (Brandes 2001, eq. 6, divided by sigma):
// rho_v = b_v / sigma_v + sum rho_w and delta_v = sigma_v * sum rho_w, where b is the target weight.
struct Betweenness : AnyDepth {
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

// A path from s to t contributes to v: d(s, v) / d(s, t) (linear scaling, Geisberger et al. 2008), 1 / d(s, t)
// (distance, Borgatti and Everett 2006), or 1 if v is next to s or t (proximal source and target, Brandes 2008, sec.
// 3). By weights the neighbours of s are not those at a certain depth: weighted/cpu/dag.h scores them by the arcs out
// of s.
struct ScaledBetweenness : Betweenness {
  static constexpr bool by_depth = true;
  TORCHCENT_HD static double target_factor(double depth, Measure measure) {
    return measure == Measure::linear || measure == Measure::distance ? 1 / depth : 1;
  }
  TORCHCENT_HD static double score_factor(double depth, Measure measure) {
    if (measure == Measure::proximal_source) return depth == 1;
    return measure == Measure::linear ? depth : 1;
  }
  TORCHCENT_HD static constexpr bool onward(Measure measure) { return measure != Measure::proximal_target; }
};

// Stress (Shimbel 1953; Brandes 2008, sec. 3.7) counts paths: lambda_v = sum (b_w + lambda_w).
struct Stress : AnyDepth {
  template <class Value>
  TORCHCENT_HD static Value passed_up(Value target_weight, Value, Value sum) {
    return target_weight + sum;
  }
  template <class Value>
  TORCHCENT_HD static Value score(Value sigma, Value sum, Value through_weight) {
    return sigma * (sum + through_weight);
  }
};

// Load (Goh, Kahng and Kim 2001): the packet of a target is split equally among the predecessors of each vertex on its
// way back, of which there are sigma: delta_v = sum (b_w + delta_w) / sigma_w.
struct Load : AnyDepth {
  static constexpr bool unit = true;

  template <class Value>
  TORCHCENT_HD static Value passed_up(Value target_weight, Value sigma, Value sum) {
    return (target_weight + sum) / sigma;
  }
  template <class Value>
  TORCHCENT_HD static Value score(Value, Value sum, Value through_weight) {
    return sum + through_weight;
  }
};

// What an arc carries from a tail with this sigma.
template <bool unit, class Count>
TORCHCENT_HD Count carried(Count sigma) {
  if constexpr (unit) return Count(1.0);
  else return sigma;
}

// Calls make(visitor) with the visitor of a measure.
template <class Make>
auto with_visitor(Measure measure, Make make) {
  switch (measure) {
    case Measure::betweenness: return make(Betweenness());
    case Measure::edge_betweenness: return make(EdgeBetweenness());
    case Measure::stress: return make(Stress());
    case Measure::load: return make(Load());
    default: return make(ScaledBetweenness());
  }
}

}  // namespace torchcent::TORCHCENT_ISA
