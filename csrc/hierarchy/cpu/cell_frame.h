// What a sweep keeps of a cell while it is inside, and how vectors of lanes are computed from others.
#pragma once

#include "hierarchy/cpu/lane_classes.h"

namespace torchcent::TORCHCENT_ISA {

// An arc that is tight for some lane, to the row that its upper end is an image of.
template <class Number>
struct RowLink {
  int32_t row;
  LengthOf<Number> length;  // to the row
  Number paths;             // from the row
  int64_t arc;
  int32_t end;
  double flow;  // of the arc, or the share of the flow of a vertex without a row
};

// Of an upper end of arcs: distance = that of the row + add, path count = that of the row * paths. Without a row, it is
// not reached, and add is far.
template <class Number>
struct RowImage {
  LengthOf<Number> add;
  int32_t row;
  Number paths;
};

template <class Number, bool paths>
struct CellFrame {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Count = typename L::Count;
  using Link = RowLink<Number>;
  using Image = RowImage<Number>;
  static constexpr int kNone = -1;

  int registers = 0;
  int bounds = 0;  // rows of the boundary; those of contested vertices follow
  int rows = 0;
  int block = 0;         // register of the batch that is the first here, for lanes that keep their places
  bool of_batch = true;  // whether the references are those of the batch
  Distance spread;       // see Climbs
  double constant = 0;   // distances only: sum of b times the distance from the row
  double reached = 0;    // sum of b of the vertices that are reached, where it is asked for

  Room<Image> image;    // by number of the upper end
  Room<double> inflow;  // what passes from below, likewise
  DistanceRoom<Number> reference;
  CountRoom<Number> row;          // distances, path counts, what is passed back per path
  const Count* weight = nullptr;  // of the sources of each lane
  Room<double> target;  // by row: sum of b of the images of a row, without that of a special vertex itself; if each
                        // path counts, times their path counts by that of the row
  Room<double> total;   // by row, if each path counts: the paths from all sources
  Room<typename L::Length> farthest;  // by row: the largest distance from it of an image with b > 0; -1 for none
  Room<int32_t> seen;                 // by row: its number in the boundary of the cell that is entered; else -1
  Room<int32_t> outer;                // by row of the boundary: the row in the cell around
  Room<int64_t> link;                 // by own vertex: its first link
  Room<int32_t> own_row;              // by own vertex
  Room<int32_t> special;              // by own vertex
  Room<Link> links;
  Room<double> sums, far;  // distances only: by lane
  LaneClasses<Number> classes;

  static constexpr int kParts = paths ? 3 : 1;
  // Registers from row to row: an odd number, so that the same lane of different rows is in different sets of the
  // cache.
  int64_t stride() const { return int64_t{kParts} * registers | 1; }
  void hold(int64_t ends, int64_t own) {
    image.hold(ends), inflow.hold(ends), reference.hold(ends);
    link.hold(own + 1), own_row.hold(own), special.hold(own);
    const int64_t most = bounds + own;
    target.hold(most), total.hold(most), farthest.hold(most);
    if (seen.size() < most) {
      seen.hold(most);
      fill(seen.data(), seen.size(), int32_t{kNone});
    }
    row.hold(most * stride());
  }
  Distance* distance(int32_t i) const { return reinterpret_cast<Distance*>(row.data() + i * stride()); }
  Count* count(int32_t i) const { return row.data() + i * stride() + registers; }
  Count* passed(int32_t i) const { return row.data() + i * stride() + 2 * registers; }
};

// The least distance over links, to `to`; which links are tight for some lane, to `tight`. `start` may begin with
// climbs.
template <class Number>
class Reach {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;

 public:
  template <class Frame, class Link>
  static void over(const Frame& frame, const Link* links, int count, Distance* to, const Distance* start, bool* tight) {
    if (start == nullptr && count == 2) return few<2>(frame, links, to, tight);
    if (start == nullptr && count == 3) return few<3>(frame, links, to, tight);
    for (int j = 0; j < count; ++j) tight[j] = false;
    int r = 0;
    for (; r + 4 <= frame.registers; r += 4) tile<4>(frame, links, count, to, start, tight, r);
    for (; r < frame.registers; ++r) tile<1>(frame, links, count, to, start, tight, r);
  }

 private:
  template <int count, class Frame, class Link>
  static void few(const Frame& frame, const Link* links, Distance* to, bool* tight) {
    const Distance* from[count];
    Distance length[count];
    typename L::Mask any[count];
    for (int j = 0; j < count; ++j) {
      from[j] = frame.distance(links[j].row);
      length[j] = L::lengths(links[j].length);
      any[j] = L::at_most(Distance{} + 1, Distance{});
    }
    for (int r = 0; r < frame.registers; ++r) {
      Distance over[count];
      for (int j = 0; j < count; ++j) over[j] = from[j][r] + length[j];
      Distance best = over[0];
      for (int j = 1; j < count; ++j) best = L::smaller(best, over[j]);
      for (int j = 0; j < count; ++j) any[j] = any[j] | L::equal(over[j], best);
      to[r] = best;
    }
    for (int j = 0; j < count; ++j) tight[j] = L::bits(any[j]) != 0;
  }
  template <int size, class Frame, class Link>
  static void tile(const Frame& frame, const Link* links, int count, Distance* to, const Distance* start, bool* tight,
                   int r) {
    Distance best[size];
    for (int k = 0; k < size; ++k) best[k] = start != nullptr ? start[r + k] : L::lengths(L::far);
    for (int j = 0; j < count; ++j) {
      const Distance* const from = frame.distance(links[j].row) + r;
      for (int k = 0; k < size; ++k) best[k] = L::smaller(best[k], from[k] + links[j].length);
    }
    for (int j = 0; j < count; ++j) {
      const Distance* const from = frame.distance(links[j].row) + r;
      auto any = L::equal(from[0] + links[j].length, best[0]);
      for (int k = 1; k < size; ++k) any = any | L::equal(from[k] + links[j].length, best[k]);
      tight[j] |= L::bits(any) != 0;
    }
    for (int k = 0; k < size; ++k) to[r + k] = best[k];
  }
};

}  // namespace torchcent::TORCHCENT_ISA
