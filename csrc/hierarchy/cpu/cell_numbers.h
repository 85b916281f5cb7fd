// Sweeps of a cell that depends on one row: distances and path counts relative to it, and flows, are numbers.
#pragma once

#include "hierarchy/cpu/cell_sweep.h"

namespace torchcent::TORCHCENT_ISA {

// Sums path counts of the tight arcs, and visits each with its share.
template <class Number, Added added>
template <class Visit>
Number CellSweep<Number, added>::divide(const Image* image, const Arc* arc, int64_t count, Length best, Visit visit) {
  Number sum = 0;
  for (int64_t j = 0; j < count; ++j)
    if (image[arc[j].end].add + arc[j].length == best) sum += image[arc[j].end].paths * arc[j].paths;
  for (int64_t j = 0; j < count; ++j)
    if (image[arc[j].end].add + arc[j].length == best)
      visit(j, static_cast<double>(image[arc[j].end].paths * arc[j].paths / sum));
  return sum;
}

template <class Number, Added added>
void CellSweep<Number, added>::walk_numbers(const Cell& cell, int level) {
  Frame& frame = frames_[level];
  const int64_t bounds = cell.bound_end - cell.bound, own = cell.own_end - cell.own, inner = cell.leaf - cell.own;
  Image* const image = frame.image.data();
  double* const inflow = frame.inflow.data();
  fill(inflow, bounds + own, 0.0);
  frame.constant = 0;
  double reached = 0;
  if constexpr (!paths) frame.farthest[0] = -1;
  const Arc* arc = problem_.arcs + first_[cell.own];
  constexpr int64_t kSeveral = -1, kNoArc = -2;
  for (int64_t i = 0; i < own; ++i) {
    const int64_t q = cell.own + i, first = first_[q], count = first_[q + 1] - first;
    Length best = L::far;
    int64_t only = kNoArc;
    for (int64_t j = 0; j < count; ++j) {
      const Length over = image[arc[j].end].add + arc[j].length;
      only = over < best ? j : over == best ? kSeveral : only;
      best = std::min(best, over);
    }
    const double target = problem_.target[q];
    if constexpr (!each_path) reached += only == kNoArc ? 0 : target;
    if (only == kNoArc) {
      frame.link[i] = kNoArc;
      miss(frame, bounds + i);
    } else if constexpr (!paths) {
      reach_image(frame, 0, best, target);
      image[bounds + i] = {best, 0, 1};
    } else if (i >= inner && !each_path) {
      const double out = total_ * target;
      const auto flows = [&](int64_t j, double share) {
        flow_[first + j] += out * share;
        inflow[arc[j].end] += out * share;
      };
      if (only != kSeveral) flows(only, 1);
      else note(divide(image, arc, count, best, flows));
    } else {
      const Number number = only != kSeveral ? image[arc[only].end].paths * arc[only].paths
                                             : divide(image, arc, count, best, [](int64_t, double) {});
      if constexpr (each_path) reached += target * static_cast<double>(number);
      frame.link[i] = only;
      set_image(frame, bounds + i, {best, 0, number});
    }
    arc += count;
  }
  for (int32_t c = cell.child; c < cell.child_end; ++c) {
    const Cell& next = cell_[child_[c]];
    const int32_t* const bound = bound_ + next.bound;
    Frame& in = frames_[level + 1];
    in.registers = 0;
    in.bounds = 1;
    in.hold(next.bound_end - next.bound + next.own_end - next.own, next.own_end - next.own);
    for (int64_t i = 0; i < next.bound_end - next.bound; ++i) in.image[i] = image[bound[i]];
    walk_numbers(next, level + 1);
    frame.constant += in.constant;
    reached += in.reached;
    if constexpr (paths)
      for (int64_t i = 0; i < next.bound_end - next.bound; ++i) inflow[bound[i]] += in.inflow[i];
    else frame.farthest[0] = std::max(frame.farthest[0], in.farthest[0]);
  }
  frame.reached = reached;
  if constexpr (!paths) return;
  for (int64_t i = (each_path ? own : inner) - 1; i >= 0; --i) {
    if (frame.link[i] == kNoArc) continue;
    const int64_t q = cell.own + i, first = first_[q];
    const Arc* const arcs = problem_.arcs + first;
    const double in = inflow[bounds + i], out = in + total_ * as_target(problem_.target[q], image[bounds + i].paths);
    inside_[q] += in;
    const auto flows = [&](int64_t j, double share) {
      flow_[first + j] += out * share;
      inflow[arcs[j].end] += out * share;
    };
    if (frame.link[i] != kSeveral) flows(frame.link[i], 1);
    else divide(image, arcs, first_[q + 1] - first, image[bounds + i].add, flows);
  }
}

}  // namespace torchcent::TORCHCENT_ISA
