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
    for (int k = 0; k < classes_; ++k) {
      if (by_nodes_[k]) add_interpolated(k, to, chebyshev);
      else each_point(k, [&](int i, int32_t slot) { to[from_[begin_[k] + i]] += value_[slot]; });
    }
  }

 private:
  static constexpr int kFewest = 6;  // points for which there may be nodes

  void add_interpolated(int k, double* to, const Chebyshev& chebyshev) const {
    double values[Chebyshev::most], coefficients[Chebyshev::most];
    const int count = height_[k];
    each_point(k, [&](int i, int32_t slot) { values[i] = value_[slot]; });
    chebyshev.coefficients(count, values, coefficients);
    int64_t i = begin_[k];
    for (; i + width < begin_[k + 1]; i += 2 * width) add_series<2>(i, begin_[k + 1], count, coefficients, to);
    if (i < begin_[k + 1]) add_series<1>(i, begin_[k + 1], count, coefficients, to);
  }
  // The series of Chebyshev's polynomials at some points, by Clenshaw's recurrence.
  template <int registers>
  void add_series(int64_t begin, int64_t end, int count, const double* coefficients, double* to) const {
    Real t[registers], next[registers], last[registers];
    for (int r = 0; r < registers; ++r) {
      for (int z = 0; z < width; ++z) t[r][z] = at_[begin + r * width + z];
      next[r] = last[r] = Real{};
    }
    for (int j = count - 1; j > 0; --j)
      for (int r = 0; r < registers; ++r) {
        const Real x = coefficients[j] + (t[r] + t[r]) * next[r] - last[r];
        last[r] = next[r];
        next[r] = x;
      }
    for (int r = 0; r < registers; ++r) {
      const Real sum = coefficients[0] + t[r] * next[r] - last[r];
      const int64_t first = begin + r * width;
      for (int z = 0; z < width && first + z < end; ++z) to[from_[first + z]] += sum[z];
    }
  }

  // The slot of the first point of a lane; those of its others follow `width` apart.
  int32_t first_slot(int lane) const { return width * first_[lane / width] + lane % width; }
  // Visits the points of a class with their slots. They are in its lanes in turn.
  template <class Visit>
  void each_point(int k, Visit visit) const {
    const int parts = parts_[k], count = height_[k];
    for (int part = 0; part < parts; ++part) {
      int32_t slot = first_slot(lane_[k] + part);
      for (int i = part; i < count; i += parts, slot += width) visit(i, slot);
    }
  }

  // Strips for the points of all lanes.
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
    const int64_t slots = int64_t{width} * strips_;
    offset_.hold(slots), value_.hold(slots);
    fill(offset_.data(), slots, 0.0);
    fill(value_.data(), slots, 0.0);
  }

  // The points around, class by class, and their offsets to the lane that stands for the class.
  void gather(const CellPoints& around, const int32_t* of_lane, const int32_t* representative, const Length* distance) {
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
    int32_t* const from = from_.hold(around.points_);
    double *const at = at_.hold(around.points_ + width), *const offset = around.offset_.data();
    for (int strip = 0; strip < around.strips_; ++strip) {
      const int block = around.block_[strip], layer = strip - around.first_[block];
      for (int z = 0; z < width; ++z) {
        const int lane = block * width + z, slot = strip * width + z;
        if (layer >= around.count_[lane]) continue;
        const int64_t to = next[of_lane[lane]]++;
        from[to] = slot;
        at[to] = offset[slot] + more[lane];
      }
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

  // Points, class by class.
  void place(int lanes, const Chebyshev& chebyshev) {
    int32_t* const count = count_.hold(lanes);
    fill(count, lanes, int32_t{0});
    points_ = 0;
    for (int k = 0; k < classes_; ++k) {
      points_ += height_[k];
      for (int i = 0; i < parts_[k]; ++i) count[lane_[k] + i] = (height_[k] + parts_[k] - 1 - i) / parts_[k];
    }
    lay(lanes);
    for (int k = 0; k < classes_; ++k) {
      const double* const offset = at_.data() + begin_[k];
      const double* const node = by_nodes_[k] ? chebyshev.positions(height_[k]) : nullptr;
      if (node == nullptr) each_point(k, [&](int i, int32_t slot) { offset_[slot] = offset[i]; });
      else each_point(k, [&](int i, int32_t slot) { offset_[slot] = middle_[k] + half_[k] * node[i]; });
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
  int64_t points_ = 0;
  // The points around, class by class: their slots there and their offsets; where there are nodes, instead of the
  // offset a number between -1 and 1.
  Room<int64_t> begin_, next_;
  Room<int32_t> from_;
  Room<double> at_, more_;
  // By class as it was found: how many points there are here, and in which lanes.
  Room<int32_t> height_, lane_, parts_, tall_;
  Room<bool> by_nodes_;
  Room<double> middle_, half_;
  Room<int32_t> class_of_, of_height_;
};

}  // namespace torchcent::TORCHCENT_ISA
