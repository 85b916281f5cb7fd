// The targets of a cell, for sums of reciprocal distances: images of rows, at x beyond the distance d of the row. Few
// of a row are added up one by one, many by the nodes of an interpolation in x (chebyshev.h).
#pragma once

#include "hierarchy/cpu/cell_points.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number>
class CellImages {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Length = typename L::Length;
  using R = Reals<Number>;
  using Real = typename R::Real;
  using Points = CellPoints<Number>;
  static constexpr int kWidth = R::width;

 public:
  void begin() { size_ = sources_ = 0; }
  void add(int32_t row, Length beyond, double target) {
    if (target == 0) return;
    Image* const image = next(images_, size_);
    *image = {row, beyond, target};
  }
  // The row of a source: its distance from itself does not count. It may be that of several lanes.
  void add_source(const Distance* distance, double target) {
    if (target != 0) *next(source_, sources_) = {reinterpret_cast<const Length*>(distance), target};
  }

  // Adds to the values of all points. `distance(row)`: from the lanes.
  template <class Row>
  void add_up(int rows, int registers, const Points& points, const Chebyshev& chebyshev, const Row& distance) {
    if (points.strips() == 0) return;
    order(rows);
    single_.hold(rows), weighted_.hold(rows);
    num_single_ = num_weighted_ = 0;
    for (int32_t j = 0; j < rows; ++j) add_run(j, registers, points, chebyshev, distance(j));
    int s = 0;
    for (; s + 4 <= points.strips(); s += 4) add_to<4>(points, s);
    for (; s + 2 <= points.strips(); s += 2) add_to<2>(points, s);
    for (; s < points.strips(); ++s) add_to<1>(points, s);
  }

 private:
  struct Image {
    int32_t row;
    Length beyond;
    double target;
  };
  struct Source {
    const Length* distance;
    double target;
  };
  struct Run {  // images of a row, or its nodes
    const Length* distance;
    int64_t begin, end;
  };
  // The reciprocals of some distances are one fraction, so that there is one division for all of them.
  static constexpr int kTogether = sizeof(Number) == 4 ? 32 : 16;  // distances to this power are below 2^976
  static constexpr int64_t kFewest = 8;                            // images of a row for which there may be nodes

  template <class T>
  static T* next(Room<T>& list, int64_t& size) {
    if (size == list.size()) grow(list, size);
    return &list[size++];
  }
  template <class T>
  [[gnu::noinline]] static void grow(Room<T>& list, int64_t size) {
    Room<T> larger;
    larger.hold(2 * size + 64);
    for (int64_t i = 0; i < size; ++i) larger[i] = list[i];
    list.swap(larger);
  }
  // By row, and after all of them there is room for nodes.
  void order(int rows) {
    first_.hold(rows + 1);
    fill(first_.data(), rows + 1, int64_t{0});
    for (int64_t i = 0; i < size_; ++i) ++first_[images_[i].row];
    for (int64_t j = 0, at = 0; j <= rows; ++j) {
      at += first_[j];
      first_[j] = at;
    }
    beyond_.hold(2 * size_), target_.hold(2 * size_);
    end_of_nodes_ = size_;
    for (int64_t i = size_; i-- > 0;) {
      const int64_t to = --first_[images_[i].row];
      beyond_[to] = static_cast<double>(images_[i].beyond);
      target_[to] = images_[i].target;
    }
  }

  void add_run(int32_t j, int registers, const Points& points, const Chebyshev& chebyshev, const Distance* distance) {
    const int64_t begin = first_[j], end = first_[j + 1];
    if (begin == end) return;
    const Length* const row = reinterpret_cast<const Length*>(distance);
    if (end - begin >= kFewest) {
      double low = beyond_[begin], high = low;
      for (int64_t i = begin; i < end; ++i) {
        low = beyond_[i] < low ? beyond_[i] : low;
        high = beyond_[i] > high ? beyond_[i] : high;
      }
      const int nodes = chebyshev.nodes(nearest(registers, points, distance) + low, high - low);
      if (nodes <= (end - begin) * 2 / 3) {
        const double middle = low + (high - low) / 2, half = (high - low) / 2;
        interpolate(begin, end, nodes, middle, half, chebyshev, target_.data() + end_of_nodes_);
        for (int s = 0; s < nodes; ++s) beyond_[end_of_nodes_ + s] = middle + half * chebyshev.positions(nodes)[s];
        weighted_[num_weighted_++] = {row, end_of_nodes_, end_of_nodes_ + nodes};
        end_of_nodes_ += nodes;
        return;
      }
    }
    bool single = true;
    for (int64_t i = begin; i < end; ++i) single &= target_[i] == 1;
    (single ? single_[num_single_++] : weighted_[num_weighted_++]) = {row, begin, end};
  }

  // The least distance of the row from a point.
  static double nearest(int registers, const Points& points, const Distance* distance) {
    const Length* const row = reinterpret_cast<const Length*>(distance);
    Real least = Real{} + static_cast<double>(L::far);
    for (int i = 0; i < registers * L::width; i += kWidth) {
      const Real d = R::of(row + i) + R::at(points.least() + i);
      least = d < least ? d : least;
    }
    double of_all = least[0];
    for (int z = 1; z < kWidth; ++z) of_all = least[z] < of_all ? least[z] : of_all;
    return of_all;
  }

  // What the targets are worth at the nodes.
  void interpolate(int64_t begin, int64_t end, int nodes, double middle, double half, const Chebyshev& chebyshev,
                   double* weight) const {
    Real sum[Chebyshev::most];
    double sums[Chebyshev::most];
    for (int k = 0; k < nodes; ++k) sum[k] = Real{};
    const double scale = half == 0 ? 0 : 1 / half;
    for (int64_t i = begin; i < end; i += kWidth) {
      Real t, polynomial;
      for (int z = 0; z < kWidth; ++z) {
        t[z] = i + z < end ? (beyond_[i + z] - middle) * scale : 0;
        polynomial[z] = i + z < end ? target_[i + z] : 0;
      }
      Real last = polynomial * t;  // b T_{-1} = b T_1
      for (int k = 0; k < nodes; ++k) {
        sum[k] += polynomial;
        const Real following = (t + t) * polynomial - last;
        last = polynomial;
        polynomial = following;
      }
    }
    for (int k = 0; k < nodes; ++k) sums[k] = Row<double>::total(sum[k]);
    chebyshev.weights(nodes, sums, weight);
  }

  template <int strips>
  struct Fractions {
    Real above[strips], below[strips], total[strips];
    int together = 0;

    Fractions() {
      for (int k = 0; k < strips; ++k) above[k] = Real{}, total[k] = Real{}, below[k] = Real{} + 1;
    }
    void divide() {
      for (int k = 0; k < strips; ++k) {
        total[k] += above[k] / below[k];
        above[k] = Real{}, below[k] = Real{} + 1;
      }
      together = 0;
    }
  };

  template <int strips>
  void add_to(const Points& points, int strip) const {
    Fractions<strips> sum;
    Real offset[strips];
    int64_t lane[strips];
    for (int k = 0; k < strips; ++k) {
      offset[k] = R::at(points.offset(strip + k));
      lane[k] = points.lane(strip + k);
    }
    add_runs<strips, true>(single_.data(), num_single_, lane, offset, sum);
    add_runs<strips, false>(weighted_.data(), num_weighted_, lane, offset, sum);
    for (int64_t i = 0; i < sources_; ++i) {
      const Source& source = source_[i];
      for (int k = 0; k < strips; ++k) {
        const Real d = R::of(source.distance + lane[k]) + offset[k], one = Real{} + 1;
        const Real other = d > 0 ? d : one, own = d > 0 ? Real{} + source.target : Real{};
        sum.above[k] = R::fused(sum.above[k], other, sum.below[k] * own);
        sum.below[k] *= other;
      }
      if (++sum.together == kTogether) sum.divide();
    }
    sum.divide();
    for (int k = 0; k < strips; ++k) R::at(points.value(strip + k)) += sum.total[k];
  }

  template <int strips, bool single>
  [[gnu::always_inline]] void add_runs(const Run* runs, int64_t count, const int64_t* lane, const Real* offset,
                                       Fractions<strips>& sum) const {
    for (int64_t n = 0; n < count; ++n) {
      const Run& run = runs[n];
      Real near[strips];
      for (int k = 0; k < strips; ++k) near[k] = R::of(run.distance + lane[k]) + offset[k];
      for (int64_t i = run.begin; i < run.end;) {
        const int64_t end = run.end - i < kTogether - sum.together ? run.end : i + kTogether - sum.together;
        sum.together += static_cast<int>(end - i);
        for (; i < end; ++i)
          for (int k = 0; k < strips; ++k) {
            const Real d = near[k] + beyond_[i];
            sum.above[k] = R::fused(sum.above[k], d, single ? sum.below[k] : sum.below[k] * target_[i]);
            sum.below[k] *= d;
          }
        if (sum.together == kTogether) sum.divide();
      }
    }
  }

  int64_t size_ = 0, sources_ = 0, end_of_nodes_ = 0, num_single_ = 0, num_weighted_ = 0;
  Room<Image> images_;
  Room<Source> source_;
  Room<int64_t> first_;           // by row
  Room<double> beyond_, target_;  // of images, then of nodes
  Room<Run> single_, weighted_;   // runs whose targets are all 1, and the other runs
};

}  // namespace torchcent::TORCHCENT_ISA
