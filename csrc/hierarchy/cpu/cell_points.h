// Where in a cell sums of reciprocal distances are computed. Sums of distances from the lanes of a class differ by a
// constant times the targets, so that one lane is enough. Sums of 1 / (d + c) depend on the constant c of each lane,
// but are a smooth function of it. A lane in a cell therefore has points: the constants of the points around that
// become one with it or, where those are many, Chebyshev's nodes between them (chebyshev.h).
//
// Points are in strips: some lanes side by side, with one point of each. Lanes are sorted by the number of their
// points, and those left over in the last register take a part of the points of others, so that strips are nearly full.
#pragma once

#include "hierarchy/cpu/chebyshev.h"
#include "hierarchy/cpu/lane_classes.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number>
class CellPoints {
  using L = Lanes<Number>;
  using Length = typename L::Length;
  using Real = typename Reals<Number>::Real;

 public:
  static constexpr int width = Reals<Number>::width;  // of a strip

  int strips() const { return strips_; }
  int64_t lane(int strip) const { return int64_t{width} * block_[strip]; }  // the first one
  const double* offset(int strip) const { return offset_.data() + int64_t{width} * strip; }
  double* value(int strip) const { return value_.data() + int64_t{width} * strip; }
  const double* least() const { return least_.data(); }  // offset of each lane, or less

  // One for each source.
  void begin(int sources, int lanes) {
    count_.hold(lanes);
    for (int i = 0; i < lanes; ++i) count_[i] = i < sources;
    lay(lanes);
    points_ = sources;
    slot_.hold(points_), lane_of_.hold(points_);
    for (int i = 0; i < sources; ++i) slot_[i] = lane_of_[i] = i;
    fill(least_.hold(lanes), lanes, 0.0);
  }

  // Of the classes of lanes around, which are renumbered; the first `fixed` keep their numbers, and have a point each.
  // `row(j)` has distances from the lanes around.
  template <class Row>
  void enter(const CellPoints& around, LaneClasses<Number>& classes, int fixed, int rows, const Chebyshev& chebyshev,
             const Row& row) {
    classes_ = classes.count();
    gather(around, classes.of_lane(), classes.lane(), rows == 0 ? nullptr : row(0));
    choose(classes.lane(), rows, chebyshev, row);
    const int lanes = classes.registers() * L::width;
    arrange(lanes, fixed);
    place(lanes, chebyshev);
    classes.arrange(lane_.data(), class_of_.data(), lanes, around.lanes_);
  }

  // Adds the values to those of the points around.
  void leave(const CellPoints& around, const Chebyshev& chebyshev) const {
    double* const to = around.value_.data();
    for (int64_t i = 0; i < begin_[classes_]; ++i) to[from_[i]] += value_[inner_[i]];
    const int32_t* node = slot_.data() + first_node_;
    for (int k = 0; k < classes_; ++k) {
      if (!by_nodes_[k]) continue;
      add_interpolated(k, node, to, chebyshev);
      node += height_[k];
    }
  }

 private:
  static constexpr int kFewest = 6;  // points for which there may be nodes

  void add_interpolated(int k, const int32_t* node, double* to, const Chebyshev& chebyshev) const {
    double values[Chebyshev::most], coefficients[Chebyshev::most];
    const int count = height_[k];
    for (int i = 0; i < count; ++i) values[i] = value_[node[i]];
    chebyshev.coefficients(count, values, coefficients);
    for (int64_t i = begin_[k], end = begin_[k + 1]; i < end; i += width) {
      Real t;
      for (int z = 0; z < width; ++z) t[z] = at_[i + z];
      Real next{}, last{};  // Clenshaw
      for (int j = count - 1; j > 0; --j) {
        const Real x = coefficients[j] + (t + t) * next - last;
        last = next;
        next = x;
      }
      const Real sum = coefficients[0] + t * next - last;
      for (int z = 0; z < width && i + z < end; ++z) to[from_[i + z]] += sum[z];
    }
  }

  // Strips for the points of all lanes, and after them a slot for what is not added up.
  void lay(int lanes) {
    const int32_t* const count = count_.data();
    lanes_ = lanes;
    strips_ = 0;
    const int blocks = lanes / width;
    first_.hold(blocks + 1);
    for (int b = 0; b < blocks; ++b) {
      first_[b] = strips_;
      int layers = 0;
      for (int z = b * width; z < (b + 1) * width; ++z) layers = count[z] > layers ? count[z] : layers;
      strips_ += layers;
    }
    first_[blocks] = strips_;
    block_.hold(strips_);
    for (int b = 0; b < blocks; ++b)
      for (int s = first_[b]; s < first_[b + 1]; ++s) block_[s] = b;
    const int64_t slots = int64_t{width} * strips_ + 1;
    offset_.hold(slots), value_.hold(slots);
    fill(offset_.data(), slots, 0.0);
    fill(value_.data(), slots, 0.0);
  }

  // The points around, class by class, and their offsets to the lane that stands for the class.
  void gather(const CellPoints& around, const int32_t* of_lane, const int32_t* representative, const Length* distance) {
    const int32_t *const slots = around.slot_.data(), *const lanes = around.lane_of_.data();
    const int64_t points = around.points_;
    int64_t* const begin = begin_.hold(classes_ + 1);
    int64_t* const next = next_.hold(classes_);
    double* const more = more_.hold(around.lanes_);
    for (int i = 0; i < around.lanes_; ++i)
      more[i] = distance == nullptr
                    ? 0
                    : static_cast<double>(distance[i]) - static_cast<double>(distance[representative[of_lane[i]]]);
    fill(next, classes_, int64_t{0});
    for (int i = 0; i < around.lanes_; ++i) next[of_lane[i]] += around.count_[i];
    begin[0] = 0;
    for (int k = 0; k < classes_; ++k) {
      begin[k + 1] = begin[k] + next[k];
      next[k] = begin[k];
    }
    int32_t *const from = from_.hold(points), *const of = of_.hold(points);
    double *const at = at_.hold(points + width), *const offset = around.offset_.data();
    for (int64_t i = 0; i < points; ++i) {
      const int32_t lane = lanes[i], slot = slots[i], k = of_lane[lane];
      const int64_t to = next[k]++;
      from[to] = slot;
      of[to] = k;
      at[to] = offset[slot] + more[lane];
    }
  }

  // Which classes have nodes, and how many points each.
  template <class Row>
  void choose(const int32_t* representative, int rows, const Chebyshev& chebyshev, const Row& row) {
    height_.hold(classes_), by_nodes_.hold(classes_), middle_.hold(classes_), half_.hold(classes_);
    for (int k = 0; k < classes_; ++k) {
      const int64_t begin = begin_[k], end = begin_[k + 1];
      height_[k] = static_cast<int32_t>(end - begin);
      by_nodes_[k] = false;
      if (height_[k] < kFewest || rows == 0) continue;
      double low = at_[begin], high = at_[begin];
      for (int64_t i = begin; i < end; ++i) {
        low = at_[i] < low ? at_[i] : low;
        high = at_[i] > high ? at_[i] : high;
      }
      Length nearest = row(0)[representative[k]];
      for (int j = 1; j < rows; ++j) {
        const Length d = row(j)[representative[k]];
        nearest = d < nearest ? d : nearest;
      }
      const int nodes = chebyshev.nodes(static_cast<double>(nearest) + low, high - low);
      if (nodes >= height_[k]) continue;
      by_nodes_[k] = true;
      height_[k] = nodes;
      middle_[k] = low + (high - low) / 2;
      half_[k] = (high - low) / 2;
      const double scale = half_[k] == 0 ? 0 : 1 / half_[k];
      for (int64_t i = begin; i < end; ++i) at_[i] = (at_[i] - middle_[k]) * scale;
    }
  }

  // Lanes of classes: the first of each, how many; which class each lane is of.
  void arrange(int lanes, int fixed) {
    lane_.hold(classes_), parts_.hold(classes_), tall_.hold(classes_), class_of_.hold(lanes);
    for (int k = 0; k < classes_; ++k) {
      parts_[k] = 1;
      tall_[k] = height_[k];
    }
    int spare = lanes - classes_;
    for (; spare > 0; --spare) {
      int most = 0;
      for (int k = 1; k < classes_; ++k) most = tall_[k] > tall_[most] ? k : most;
      if (tall_[most] <= 1) break;
      ++parts_[most];
      tall_[most] = (height_[most] + parts_[most] - 1) / parts_[most];
    }
    int tallest = 0;
    for (int k = fixed; k < classes_; ++k) tallest = tall_[k] > tallest ? tall_[k] : tallest;
    of_height_.hold(tallest + 1);
    fill(of_height_.data(), tallest + 1, 0);
    for (int k = fixed; k < classes_; ++k) of_height_[tall_[k]] += parts_[k];
    for (int h = tallest, at = fixed; h >= 0; --h) {
      const int size = of_height_[h];
      of_height_[h] = at;
      at += size;
    }
    for (int k = 0; k < classes_; ++k) {
      lane_[k] = k < fixed ? k : of_height_[tall_[k]];
      if (k >= fixed) of_height_[tall_[k]] += parts_[k];
      for (int i = 0; i < parts_[k]; ++i) class_of_[lane_[k] + i] = k;
    }
    for (int i = lanes - spare; i < lanes; ++i) class_of_[i] = classes_ - 1;  // without points
  }

  // Point i of a class, in its lanes in turn.
  int32_t put(int k, int i, double offset) {
    const unsigned parts = static_cast<unsigned>(parts_[k]), point = static_cast<unsigned>(i);
    const unsigned part = parts == 1 ? 0 : point % parts, layer = parts == 1 ? point : point / parts;
    const unsigned lane = static_cast<unsigned>(lane_[k]) + part;
    const int32_t slot = static_cast<int32_t>(width * (first_[lane / width] + layer) + lane % width);
    offset_[slot] = offset;
    slot_[points_] = slot;
    lane_of_[points_++] = static_cast<int32_t>(lane);
    return slot;
  }

  // Points, lane by lane.
  void place(int lanes, const Chebyshev& chebyshev) {
    int32_t* const count = count_.hold(lanes);
    fill(count, lanes, int32_t{0});
    int64_t points = 0;
    for (int k = 0; k < classes_; ++k) {
      points += height_[k];
      for (int i = 0; i < parts_[k]; ++i) count[lane_[k] + i] = (height_[k] + parts_[k] - 1 - i) / parts_[k];
    }
    lay(lanes);
    slot_.hold(points), lane_of_.hold(points), inner_.hold(begin_[classes_]);
    points_ = 0;
    const int32_t none = width * strips_;
    for (int64_t i = 0; i < begin_[classes_]; ++i) {
      const int k = of_[i];
      inner_[i] = by_nodes_[k] ? none : put(k, static_cast<int>(i - begin_[k]), at_[i]);
    }
    first_node_ = points_;
    for (int k = 0; k < classes_; ++k) {
      if (!by_nodes_[k]) continue;
      const double* const node = chebyshev.positions(height_[k]);
      for (int i = 0; i < height_[k]; ++i) put(k, i, middle_[k] + half_[k] * node[i]);
    }
    double* const least = least_.hold(lanes);
    fill(least, lanes, 0.0);
    for (int s = 0; s < strips_; ++s)
      for (int z = 0; z < width; ++z) {
        double& own = least[block_[s] * width + z];
        own = offset_[s * width + z] < own ? offset_[s * width + z] : own;
      }
  }

  int lanes_ = 0, strips_ = 0, classes_ = 0;
  Room<int32_t> count_;          // points of each lane
  Room<int32_t> first_, block_;  // first strip of a block of lanes, and block of a strip
  Room<double> offset_, value_;  // by slot
  Room<double> least_;
  // The points: those that stand for one around, then nodes.
  int64_t points_ = 0, first_node_ = 0;
  Room<int32_t> slot_, lane_of_;
  // The points around, class by class: their slots there and here, their class, and their offsets; where there are
  // nodes, instead of the offset a number between -1 and 1.
  Room<int64_t> begin_, next_;
  Room<int32_t> from_, inner_, of_;
  Room<double> at_, more_;
  // By class as it was found: how many points there are here, and in which lanes.
  Room<int32_t> height_, lane_, parts_, tall_;
  Room<bool> by_nodes_;
  Room<double> middle_, half_;
  Room<int32_t> class_of_, of_height_;
};

}  // namespace torchcent::TORCHCENT_ISA
