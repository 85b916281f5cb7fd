// Interpolation of 1 / x between two bounds by a polynomial, at Chebyshev's nodes.
#pragma once

#include <cmath>

#include "hierarchy/cpu/hierarchy_lanes.h"

namespace torchcent::TORCHCENT_ISA {

// With S nodes, and x = middle + half * t, the relative error is T_S(t) / T_S(-z) for z = middle / half, where T_S is
// Chebyshev's polynomial of degree S: 1 - x p(x) is a multiple of it, and 1 for x = 0 (docs/contributing/hierarchy.md).
class Chebyshev {
 public:
  static constexpr int most = 32;

  Chebyshev() {
    constexpr double kError = 1e-14, kPi = 3.14159265358979323846;
    int64_t at = 0;
    for (int s = 1; s <= most; ++s) {
      needed_[s] = (std::cosh(std::acosh(1 / kError) / s) - 1) / 2;
      first_[s] = at;
      at += int64_t{s} * s;
    }
    table_.hold(at);
    for (int s = 1; s <= most; ++s)
      for (int i = 0; i < s; ++i)
        for (int k = 0; k < s; ++k)
          table_[first_[s] + i * s + k] = (k == 0 ? 1.0 : 2.0) / s * std::cos(kPi * k * (2 * i + 1) / (2 * s));
    for (int s = 1; s <= most; ++s)
      for (int i = 0; i < s; ++i) nodes_[s][i] = std::cos(kPi * (2 * i + 1) / (2 * s));
  }

  // The fewest nodes for distances from `least` to `least + range`; with too many, a billion.
  int nodes(double least, double range) const {
    if (range == 0) return 1;
    int s = 2;
    while (s <= most && least < needed_[s] * range) ++s;
    return s > most ? 1'000'000'000 : s;
  }
  const double* positions(int count) const { return nodes_[count]; }  // t of each node

  // Coefficients of T_0, T_1, ... from values at the nodes.
  void coefficients(int count, const double* value, double* to) const {
    for (int k = 0; k < count; ++k) to[k] = 0;
    const double* row = &table_[first_[count]];
    for (int i = 0; i < count; ++i, row += count)
      for (int k = 0; k < count; ++k) to[k] += row[k] * value[i];
  }
  // The adjoint: weights of the nodes from sums of b T_k(t).
  void weights(int count, const double* sums, double* to) const {
    const double* row = &table_[first_[count]];
    for (int i = 0; i < count; ++i, row += count) {
      to[i] = 0;
      for (int k = 0; k < count; ++k) to[i] += row[k] * sums[k];
    }
  }

 private:
  double needed_[most + 1], nodes_[most + 1][most];
  int64_t first_[most + 1];
  Room<double> table_;  // by number of nodes, node, degree
};

}  // namespace torchcent::TORCHCENT_ISA
