// The door of a cell: its boundary rows, and lanes that agree inside become one.
#pragma once

#include "hierarchy/cpu/cell_sweep.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number, Added added>
void CellSweep<Number, added>::enter(const Cell& cell, int level, bool with_sources, const Number* weight) {
  Frame &around = frames_[level], &frame = frames_[level + 1];
  const int32_t* const bound = bound_ + cell.bound;
  const int64_t bounds = cell.bound_end - cell.bound;
  int low = 0, high = 0;
  if (with_sources) {
    const auto [first, past] = sources_.below(cell.begin, cell.end);
    with_sources = first < past;
    const LaneRange<Number> lanes(sources_);
    if (with_sources) low = lanes.low(first), high = lanes.high(past);
  }
  frame.outer.hold(bounds);
  frame.bounds = 0;
  for (int64_t i = 0; i < bounds; ++i) {
    const int32_t row = around.image[bound[i]].row;
    if (row < 0 || around.seen[row] >= 0) continue;
    around.seen[row] = frame.bounds;
    frame.outer[frame.bounds++] = row;
  }
  if (frame.bounds == 0 && !with_sources) return;  // no source reaches the cell
  const bool numbers = frame.bounds == 1 && !with_sources;
  if (numbers) frame.registers = 0;
  else merge_lanes(around, frame, low, high, weight);
  frame.hold(bounds + cell.own_end - cell.own, cell.own_end - cell.own);
  for (int64_t i = 0; i < bounds; ++i) {
    const Image& image = around.image[bound[i]];
    frame.image[i] = {image.add, image.row < 0 ? Frame::kNone : around.seen[image.row], image.paths};
  }
  if (numbers) {
    const int32_t row = frame.outer[0];
    if constexpr (each_path) total_ = around.total[row];
    images_around_ = &around.images;
    row_around_ = row;
    walk_numbers(cell, level + 1);
    around.target[row] += frame.reached;
    around.constant += frame.constant;
    if constexpr (!paths) around.farthest[row] = std::max(around.farthest[row], frame.farthest[0]);
  } else {
    copy_rows(around, frame);
    if constexpr (each_path)
      for (int j = 0; j < frame.bounds; ++j) frame.total[j] = around.total[frame.outer[j]];
    refer(around, frame, bound, bounds, with_sources);
    walk(cell, level + 1, with_sources, paths ? frame.classes.weight() : nullptr);
    if constexpr (paths) pass_out(around, frame);
    else if (problem_.distances) add_out(around, frame);
    if (problem_.reciprocals) frame.points.leave(around.points, *chebyshev_);
  }
  if constexpr (!paths) around.reached += frame.reached;
  if constexpr (paths)
    for (int64_t i = 0; i < bounds; ++i) around.inflow[bound[i]] += frame.inflow[i];
  for (int j = 0; j < frame.bounds; ++j) around.seen[frame.outer[j]] = Frame::kNone;
}

template <class Number, Added added>
void CellSweep<Number, added>::merge_lanes(const Frame& around, Frame& frame, int low, int high, const Number* weight) {
  frame.classes.template find<added>(
      around.registers, frame.bounds, low == high ? 0 : low - around.block, low == high ? 0 : high - around.block,
      keys_.data(), weight, [&](int j) { return around.distance(frame.outer[j]); },
      [&](int j) { return around.ones[frame.outer[j]] ? nullptr : around.count(frame.outer[j]); });
  frame.registers = frame.classes.registers();
  if (problem_.reciprocals)
    frame.points.enter(around.points, frame.classes, (high - low) * L::width, frame.bounds, *chebyshev_,
                       [&](int j) { return reinterpret_cast<const Length*>(around.distance(frame.outer[j])); });
  frame.block = low;
}

template <class Number, Added added>
void CellSweep<Number, added>::copy_rows(const Frame& around, Frame& frame) const {
  const int32_t* const lane = frame.classes.lane();
  for (int j = 0; j < frame.bounds; ++j) {
    const Length* const distance = reinterpret_cast<const Length*>(around.distance(frame.outer[j]));
    for (int r = 0; r < frame.registers; ++r)
      frame.distance(j)[r] = L::pick(distance, lane + r * L::width, around.registers);
    if constexpr (paths) {
      fill(frame.passed(j), frame.registers, Count{});
      frame.ones[j] = around.ones[frame.outer[j]];
      if (frame.ones[j]) continue;
      const Number* const number = reinterpret_cast<const Number*>(around.count(frame.outer[j]));
      Count* const to = frame.count(j);
      for (int r = 0; r < frame.registers; ++r) to[r] = L::pick(number, lane + r * L::width, around.registers);
    }
  }
}

// References: those of the batch, or lanes of this cell, the middle one of each part, whichever are closer.
template <class Number, Added added>
void CellSweep<Number, added>::refer(const Frame& around, Frame& frame, const int32_t* bound, int64_t bounds,
                                     bool with_sources) {
  frame.of_batch = with_sources;
  const int registers = frame.registers;
  if (!with_sources) {
    int32_t middle[L::width];
    for (int z = 0; z < L::width; ++z) middle[z] = z * registers + registers / 2;
    Distance* const of_row = row_reference_.hold(frame.bounds);
    for (int j = 0; j < frame.bounds; ++j)
      of_row[j] = L::pick(reinterpret_cast<const Length*>(frame.distance(j)), middle, registers);
    frame.spread = registers > 1 ? spread_of(frame) : Distance{};
    double here = 0, of_batch = 0;
    for (int z = 0; z < L::width; ++z) {
      here += static_cast<double>(frame.spread[z]);
      of_batch += static_cast<double>(climbs_.spread()[z]);
    }
    frame.of_batch = around.of_batch && here > of_batch;
    if (!frame.of_batch)
      for (int64_t i = 0; i < bounds; ++i) {
        const Image& image = frame.image[i];
        frame.reference[i] = image.row < 0 ? L::lengths(L::far) : of_row[image.row] + image.add;
      }
  }
  if (!frame.of_batch) return;
  frame.spread = climbs_.spread();
  for (int64_t i = 0; i < bounds; ++i) frame.reference[i] = around.reference[bound[i]];
}

// By reference, the largest less the least difference between a lane of its part and the reference.
template <class Number, Added added>
typename CellSweep<Number, added>::Distance CellSweep<Number, added>::spread_of(const Frame& frame) const {
  const int registers = frame.registers;
  Distance spread{};
  int32_t part[L::width], last = 0;  // of the lanes of a register: lane / registers
  for (int r = 0, left = registers; r < registers; ++r) {
    for (int z = 0; z < L::width; ++z, --left) {
      if (left == 0) {
        ++last;
        left = registers;
      }
      part[z] = last;
    }
    Distance high{}, low{};
    for (int j = 1; j < frame.bounds; ++j) {
      alignas(kVectorBytes) const Distance of_reference = row_reference_[j] - row_reference_[0];
      const Distance difference = frame.distance(j)[r] - frame.distance(0)[r] -
                                  L::pick(reinterpret_cast<const Length*>(&of_reference), part, 1);
      high = L::larger(high, difference);
      low = L::smaller(low, difference);
    }
    const Distance width = high - low;
    for (int z = 0; z < L::width; ++z)
      if (width[z] > spread[part[z]]) spread[part[z]] = width[z];
  }
  return spread;
}

template <class Number, Added added>
void CellSweep<Number, added>::pass_out(const Frame& around, Frame& frame) const {
  const Count* const weight = reinterpret_cast<const Count*>(frame.classes.weight());
  const Count* const share = reinterpret_cast<const Count*>(frame.classes.share());
  for (int j = 0; j < frame.bounds; ++j) {
    Count *const passed = frame.passed(j), *const out = around.passed(frame.outer[j]);
    const Number target = static_cast<Number>(frame.target[j]);
    frame.with_counts(j, [&](auto number) {
      for (int r = 0; r < frame.registers; ++r) passed[r] += per_path(weight[r] * target, number(r));
    });
    for (int r = 0; r < around.registers; ++r)
      out[r] +=
          L::pick(reinterpret_cast<const Number*>(passed), frame.classes.of_lane() + r * L::width, frame.registers) *
          share[r];
  }
}

template <class Number, Added added>
void CellSweep<Number, added>::add_out(Frame& around, const Frame& frame) const {
  const bool inside = frame.bounds == 0;  // all sources, and no way in from outside
  const Length* const outer = inside ? nullptr : reinterpret_cast<const Length*>(around.distance(frame.outer[0]));
  const Length* const inner = inside ? nullptr : reinterpret_cast<const Length*>(frame.distance(0));
  for (int i = 0; i < around.registers * L::width; ++i) {
    const int c = frame.classes.of_lane()[i];
    const double more = inside ? 0 : static_cast<double>(outer[i] - inner[c]);
    around.sums[i] += frame.sums[c] + more * frame.reached;
    if (frame.reached > 0) around.far[i] = std::max(around.far[i], frame.far[c] + more);
  }
}

}  // namespace torchcent::TORCHCENT_ISA
