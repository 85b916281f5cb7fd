// Where in a cell sums of reciprocal distances are computed. Sums of distances from the lanes of a class differ by a
// constant times the targets, so that one lane is enough. Sums of 1 / (d + c) depend on the constant c of each lane, but
// are a smooth function of it. A lane in a cell therefore has points: the constants of the points around that become
// one with it or, where those are many, Chebyshev's nodes between them (chebyshev.h).
//
// Points are in strips: some lanes side by side, with one point of each. Lanes are sorted by the number of their points,
// and those left over in the last register take a part of the points of others, so that strips are nearly full.
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
  const Length* least() const { return least_.data(); }  // offset of each lane, rounded down

  // One for each source.
  void begin(int sources, int lanes) {
    hold(lanes);
    for (int i = 0; i < lanes; ++i) count_[i] = i < sources;
    lay();
    fill(least_.data(), lanes, Length{0});
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
    double values[Chebyshev::most], coefficients[Chebyshev::most];
    const int32_t* inner = inner_.data();
    for (int k = 0; k < classes_; inner += height_[k++]) {
      const int64_t begin = begin_[k], end = begin_[k + 1];
      if (!by_nodes_[k]) {
        for (int64_t i = begin; i < end; ++i) around.value_[from_[i]] += value_[inner[i - begin]];
        continue;
      }
      const int count = height_[k];
      for (int i = 0; i < count; ++i) values[i] = value_[inner[i]];
      chebyshev.coefficients(count, values, coefficients);
      for (int64_t i = begin; i < end; i += width) {
        Real t;
        for (int z = 0; z < width; ++z) t[z] = at_[i + z];
        Real next{}, last{};  // Clenshaw
        for (int j = count - 1; j > 0; --j) {
          const Real x = coefficients[j] + (t + t) * next - last;
          last = next;
          next = x;
        }
        const Real sum = coefficients[0] + t * next - last;
        for (int z = 0; z < width && i + z < end; ++z) around.value_[from_[i + z]] += sum[z];
      }
    }
  }

 private:
  static constexpr int kFewest = 6;  // points for which there may be nodes

  void hold(int lanes) {
    lanes_ = lanes;
    count_.hold(lanes), least_.hold(lanes), first_.hold(lanes / width + 1);
  }

  // Strips for the points of all lanes.
  void lay() {
    strips_ = 0;
    for (int b = 0; b < lanes_ / width; ++b) {
      first_[b] = strips_;
      int32_t layers = 0;
      for (int z = 0; z < width; ++z) layers = count_[b * width + z] > layers ? count_[b * width + z] : layers;
      strips_ += layers;
    }
    block_.hold(strips_), offset_.hold(int64_t{width} * strips_), value_.hold(int64_t{width} * strips_);
    for (int b = 0; b < lanes_ / width; ++b)
      for (int s = first_[b]; s < (b + 1 < lanes_ / width ? first_[b + 1] : strips_); ++s) block_[s] = b;
    fill(offset_.data(), int64_t{width} * strips_, 0.0);
    fill(value_.data(), int64_t{width} * strips_, 0.0);
  }

  int64_t slot(int lane, int layer) const { return int64_t{width} * (first_[lane / width] + layer) + lane % width; }

  // The points around, class by class, and their offsets to the lane that stands for the class.
  void gather(const CellPoints& around, const int32_t* of_lane, const int32_t* representative, const Length* distance) {
    begin_.hold(classes_ + 1), next_.hold(classes_);
    fill(next_.data(), classes_, int64_t{0});
    for (int i = 0; i < around.lanes_; ++i) next_[of_lane[i]] += around.count_[i];
    int64_t all = 0;
    for (int k = 0; k < classes_; ++k) {
      begin_[k] = all;
      all += next_[k];
      next_[k] = begin_[k];
    }
    begin_[classes_] = all;
    from_.hold(all + width), at_.hold(all + width);
    for (int i = 0; i < around.lanes_; ++i) {
      const int k = of_lane[i];
      const double more = distance == nullptr ? 0
                                              : static_cast<double>(distance[i]) -
                                                    static_cast<double>(distance[representative[k]]);
      for (int layer = 0; layer < around.count_[i]; ++layer) {
        const int64_t slot = around.slot(i, layer), to = next_[k]++;
        from_[to] = static_cast<int32_t>(slot);
        at_[to] = around.offset_[slot] + more;
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
      if (nodes > height_[k] / 4 * 3) continue;
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
    of_height_.hold(tallest + 2);
    fill(of_height_.data(), tallest + 2, 0);
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
    for (int i = lanes - spare; i < lanes; ++i) class_of_[i] = classes_ - 1;
  }

  // Points, lane by lane.
  void place(int lanes, const Chebyshev& chebyshev) {
    hold(lanes);
    fill(count_.data(), lanes, int32_t{0});
    int64_t all = 0;
    for (int k = 0; k < classes_; ++k) {
      all += height_[k];
      for (int i = 0; i < parts_[k]; ++i)
        count_[lane_[k] + i] = height_[k] * (i + 1) / parts_[k] - height_[k] * i / parts_[k];
    }
    lay();
    inner_.hold(all);
    fill(least_.data(), lanes, L::far);
    int32_t* inner = inner_.data();
    for (int k = 0; k < classes_; ++k) {
      const double* const node = chebyshev.positions(by_nodes_[k] ? height_[k] : 1);
      for (int lane = lane_[k], i = 0; lane < lane_[k] + parts_[k]; ++lane) {
        double least = static_cast<double>(L::far);
        for (int layer = 0; layer < count_[lane]; ++layer, ++i) {
          const double c = by_nodes_[k] ? middle_[k] + half_[k] * node[i] : at_[begin_[k] + i];
          const int64_t to = slot(lane, layer);
          offset_[to] = c;
          least = c < least ? c : least;
          *inner++ = static_cast<int32_t>(to);
        }
        least_[lane] = static_cast<Length>(__builtin_floor(least));
      }
    }
  }

  int lanes_ = 0, strips_ = 0, classes_ = 0;
  Room<int32_t> count_;  // points of each lane
  Room<Length> least_;
  Room<int32_t> first_, block_;  // strip of the first points of a block of lanes, and block of a strip
  Room<double> offset_, value_;  // by slot
  // By class as it was found, the points around and those here.
  Room<int64_t> begin_, next_;
  Room<int32_t> from_, height_, inner_;  // slots around, number of points here, their slots
  Room<double> at_;                      // offsets of the points around; where there are nodes, between -1 and 1
  Room<bool> by_nodes_;
  Room<double> middle_, half_;
  Room<int32_t> lane_, parts_, tall_, class_of_, of_height_;
};

}  // namespace torchcent::TORCHCENT_ISA
