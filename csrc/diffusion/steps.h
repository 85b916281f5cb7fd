// Diffusion from a source, in steps that all devices take alike. A vertex has residual mass, in units of 2^-62. A step
// moves the mass of all vertices that have more than a bound times their strength: a part of it stays there for good,
// and the rest follows the arcs. Sums are those of integers, so that no order of vertices, threads or devices changes a
// bit of them.
#pragma once

#include <cstdint>

#include "core/anywhere.h"

namespace torchcent::diffusion {

constexpr double kWhole = 0x1p62;  // units of all mass; sums are below 2^63
constexpr int64_t kAll = int64_t{1} << 62;

struct Steps {
  const double* bound;  // [count] units that a vertex may have for each unit of its strength, at each step
  const double* gain;   // [count] the part of mass that stays where it is moved from
  int64_t count;        // with `lasts` the last one stands for all that follow
  double follow;        // the part of mass that follows the arcs
  bool lasts;           // whether mass below the bound remains for later steps; else it is lost

  TORCHCENT_ANYWHERE int64_t at(int64_t step) const { return step < count ? step : count - 1; }
  TORCHCENT_ANYWHERE bool has(int64_t step) const { return lasts || step < count; }
};

// The most units that remain at a vertex.
TORCHCENT_ANYWHERE inline int64_t most_units(double bound, double strength) {
  const double most = bound * strength;
  return most < kWhole ? static_cast<int64_t>(most) : kAll;
}

// What of a mass that moves stays, and what of it follows an arc of weight 1.
TORCHCENT_ANYWHERE inline int64_t staying(int64_t amount, double gain) {
  return static_cast<int64_t>(static_cast<double>(amount) * gain);
}
TORCHCENT_ANYWHERE inline double per_weight(int64_t amount, double follow, double strength) {
  return static_cast<double>(amount) * (follow / strength);
}

}  // namespace torchcent::diffusion
