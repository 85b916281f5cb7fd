// The way back through a cell: what each vertex passes to those above it, or of distances the sums by lane.
#pragma once

#include "hierarchy/cpu/cell_sweep.h"

namespace torchcent::TORCHCENT_ISA {

// The way back: first rows, the lowest first, then numbers.
template <class Number, Added added>
void CellSweep<Number, added>::ascend(const Cell& cell, Frame& frame) {
  const int64_t bounds = cell.bound_end - cell.bound, own = cell.own_end - cell.own;
  for (int64_t i = own - 1; i >= 0; --i) {
    const int32_t row = frame.own_row[i];
    if (row < 0) continue;
    const int registers = frame.registers;
    const Distance* const distance = frame.distance(row);
    Count* const passed = frame.passed(row);
    if (frame.special[i] >= 0) {
      ascend_from_special(cell.own + i, frame, climbs_[frame.special[i]], row);
    } else {
      const Number target = static_cast<Number>(frame.target[row]);
      frame.with_counts(row, [&](auto number) {
        for (int r = 0; r < registers; ++r) passed[r] += per_path(frame.weight[r] * target, number(r));
      });
    }
    for (int64_t j = frame.link[i]; j < frame.link[i + 1]; ++j) {
      Link& link = frame.links[j];
      const Distance* const from = frame.distance(link.row);
      Count *const to = frame.passed(link.row), flow{};
      const Count each = L::counts(link.paths);
      const Distance length = L::lengths(link.length);
      frame.with_counts(link.row, [&](auto of_row) {
        for (int r = 0; r < registers; ++r) {
          const Count x = L::product(L::equal(from[r] + length, distance[r]), passed[r], each);
          to[r] += x;
          flow += of_row(r) * x;
        }
      });
      link.flow = L::total(flow);
    }
  }
  for (int64_t i = own - 1; i >= 0; --i) {
    const bool is_free = frame.own_row[i] < 0;
    if (frame.link[i] == frame.link[i + 1] && is_free) continue;  // a leaf
    const double in = frame.inflow[bounds + i];
    if (frame.special[i] < 0) inside_[cell.own + i] += in;
    double out = 1;
    if (is_free) {
      const Image& own_image = frame.image[bounds + i];
      out = in + to_image(frame, own_image.row, own_image.paths) * problem_.target[cell.own + i];
    }
    for (int64_t j = frame.link[i]; j < frame.link[i + 1]; ++j) {
      const Link& link = frame.links[j];
      flow_[link.arc] += out * link.flow;
      frame.inflow[link.end] += out * link.flow;
    }
  }
}

// Of what passes a source, its own paths do not count.
template <class Number, Added added>
void CellSweep<Number, added>::ascend_from_special(int64_t q, Frame& frame,
                                                   const typename Climbs<Number, paths>::Special& special,
                                                   int32_t row) {
  const int shift = special.low - frame.block, registers = special.high - special.low;
  const Count* const weight = frame.weight;
  Count* const passed = frame.passed(row);
  const int own = special.lane < 0 ? -1 : special.lane - frame.block * L::width;
  const Number own_target = static_cast<Number>(problem_.target[q]), images = static_cast<Number>(frame.target[row]);
  Count through{}, others{};
  frame.with_counts(row, [&](auto number) {
    for (int r = 0; r < frame.registers; ++r) {
      Count x = number(r) * passed[r], from = weight[r], at_target = L::counts(own_target + images);
      if (own >= 0 && own / L::width == r) {
        x[own % L::width] = 0;
        from[own % L::width] = 0;
        at_target[own % L::width] = images;
      }
      through += x;
      others += each_path ? from * number(r) : from;
      passed[r] += per_path(weight[r] * at_target, number(r));
      if (r >= shift && r < shift + registers) climbs_.passed(special)[r - shift] = passed[r];
    }
  });
  inside_[q] += L::total(through) + L::total(others) * frame.target[row];
}

// To the lanes of some registers.
template <class Number, Added added>
template <int size>
void CellSweep<Number, added>::add_up(Frame& frame, int r) {
  using R = Reals<Number>;
  typename R::Real sum[size * R::parts];
  Distance far[size];
  for (int k = 0; k < size * R::parts; ++k) sum[k] = R::at(frame.sums.data() + r * L::width + k * R::width);
  for (int k = 0; k < size; ++k) far[k] = Distance{};
  for (int32_t j = 0; j < frame.rows; ++j) {
    const Length beyond = frame.farthest[j];
    if (beyond < 0) continue;
    const Distance* const distance = frame.distance(j) + r;
    const double target = frame.target[j];
    for (int k = 0; k < size; ++k) far[k] = L::larger(far[k], distance[k] + beyond);
    for (int k = 0; k < size * R::parts; ++k)
      sum[k] = R::fused(R::of(reinterpret_cast<const Length*>(distance) + k * R::width), typename R::Real{} + target,
                        sum[k]);
  }
  for (int k = 0; k < size * R::parts; ++k)
    R::at(frame.sums.data() + r * L::width + k * R::width) = sum[k] + frame.constant;
  for (int k = 0; k < size; ++k)
    for (int i = 0; i < L::width; ++i) {
      double& own = frame.far[(r + k) * L::width + i];
      own = std::max(own, static_cast<double>(far[k][i]));
    }
}

template <class Number, Added added>
void CellSweep<Number, added>::add_up(Frame& frame) {
  constexpr int kTile = 4;
  const int registers = problem_.distances ? frame.registers : 0;
  int r = 0;
  for (; r + kTile <= registers; r += kTile) add_up<kTile>(frame, r);
  for (; r < registers; ++r) add_up<1>(frame, r);
  if (problem_.reciprocals)
    frame.images.add_up(frame.rows, frame.registers, frame.points, *chebyshev_,
                        [&](int32_t j) { return frame.distance(j); });
}

}  // namespace torchcent::TORCHCENT_ISA
