// Visitors of the path-counting traversals. A visitor sees a vertex once per source in the backward pass,
// deepest level first, with sigma (its number of shortest paths) and `sum`, the total over its
// successors of what they passed up. The same text is compiled for scalars, SIMD registers and
// mantissa-exponent pairs.
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
  static constexpr bool edges = false;

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

// Stress (Shimbel 1953; Brandes 2008, sec. 3.7) counts paths: lambda_v = sum (b_w + lambda_w).
struct Stress {
  static constexpr bool edges = false;

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
