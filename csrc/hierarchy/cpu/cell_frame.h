// What a sweep keeps of a cell while it is inside, and how vectors of lanes are computed from others.
#pragma once

#include "hierarchy/cpu/cell_images.h"

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
  Room<bool> ones;                // by row: whether all path counts are 1; then they are not kept
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
  CellPoints<Number> points;  // reciprocals only
  CellImages<Number> images;  // likewise

  static constexpr int kParts = paths ? 3 : 1;
  // Registers from row to row: an odd number, so that the same lane of different rows is in different sets of the
  // cache.
  int64_t stride() const { return int64_t{kParts} * registers | 1; }
  void hold(int64_t ends, int64_t own) {
    image.hold(ends), inflow.hold(ends), reference.hold(ends);
    link.hold(own + 1), own_row.hold(own), special.hold(own);
    const int64_t most = bounds + own;
    ones.hold(most), target.hold(most), total.hold(most), farthest.hold(most);
    if (seen.size() < most) {
      seen.hold(most);
      fill(seen.data(), seen.size(), int32_t{kNone});
    }
    row.hold(most * stride());
  }
  Distance* distance(int32_t i) const { return reinterpret_cast<Distance*>(row.data() + i * stride()); }
  Count* count(int32_t i) const { return row.data() + i * stride() + registers; }
  // Calls use(number), where number(r) are the path counts of a row in register r.
  template <class Use>
  void with_counts(int32_t i, const Use& use) const {
    if (ones[i]) use([one = L::counts(1)](int) { return one; });
    else use([number = count(i)](int r) { return number[r]; });
  }
  Count* passed(int32_t i) const { return row.data() + i * stride() + 2 * registers; }
};

// The least distance over links, to `to`; which links are tight for some lane, to `tight`. `start` may begin with
// climbs. Returns, if asked for ties, whether two of them are tight for the same lane.
template <class Number>
class Reach {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;

 public:
  template <class Frame, class Link>
  static bool over(const Frame& frame, const Link* links, int count, Distance* to, const Distance* start, bool* tight,
                   bool ties) {
    const auto all = [&](auto with_ties) { return over<with_ties()>(frame, links, count, to, start, tight); };
    return ties ? all(std::true_type()) : all(std::false_type());
  }

 private:
  template <bool ties, class Frame, class Link>
  static bool over(const Frame& frame, const Link* links, int count, Distance* to, const Distance* start, bool* tight) {
    if (start == nullptr && count == 2) return few<2, ties>(frame, links, to, tight);
    if (start == nullptr && count == 3) return few<3, ties>(frame, links, to, tight);
    for (int j = 0; j < count; ++j) tight[j] = false;
    bool tied = false;
    int r = 0;
    for (; r + 4 <= frame.registers; r += 4) tied |= tile<4, ties>(frame, links, count, to, start, tight, r);
    for (; r < frame.registers; ++r) tied |= tile<1, ties>(frame, links, count, to, start, tight, r);
    return tied;
  }

  template <int count, bool ties, class Frame, class Link>
  static bool few(const Frame& frame, const Link* links, Distance* to, bool* tight) {
    const Distance* from[count];
    Distance length[count];
    typename L::Mask any[count], tied = L::at_most(Distance{} + 1, Distance{});
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
      if constexpr (ties)
        for (int j = 1; j < count; ++j)
          for (int i = 0; i < j; ++i) tied = tied | (L::equal(over[i], over[j]) & L::equal(over[j], best));
      to[r] = best;
    }
    for (int j = 0; j < count; ++j) tight[j] = L::bits(any[j]) != 0;
    return L::bits(tied) != 0;
  }
  template <int size, bool ties, class Frame, class Link>
  static bool tile(const Frame& frame, const Link* links, int count, Distance* to, const Distance* start, bool* tight,
                   int r) {
    Distance best[size];
    for (int k = 0; k < size; ++k) best[k] = start != nullptr ? start[r + k] : L::lengths(L::far);
    for (int j = 0; j < count; ++j) {
      const Distance* const from = frame.distance(links[j].row) + r;
      for (int k = 0; k < size; ++k) best[k] = L::smaller(best[k], from[k] + links[j].length);
    }
    const typename L::Mask none = L::at_most(Distance{} + 1, Distance{});
    typename L::Mask tied = none, seen[size];
    for (int k = 0; k < size; ++k) seen[k] = start != nullptr ? L::equal(start[r + k], best[k]) : none;
    for (int j = 0; j < count; ++j) {
      const Distance* const from = frame.distance(links[j].row) + r;
      typename L::Mask any = none;
      for (int k = 0; k < size; ++k) {
        const typename L::Mask now = L::equal(from[k] + links[j].length, best[k]);
        any = any | now;
        if constexpr (ties) {
          tied = tied | (now & seen[k]);
          seen[k] = seen[k] | now;
        }
      }
      tight[j] |= L::bits(any) != 0;
    }
    for (int k = 0; k < size; ++k) to[r + k] = best[k];
    return L::bits(tied) != 0;
  }
};

}  // namespace torchcent::TORCHCENT_ISA
