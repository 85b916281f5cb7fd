// The targets inside a chain, counted from its two ends, on every device (docs/chains.md).
#pragma once

#include <cstdint>
#include <type_traits>

#include "paths/betweenness.h"  // TORCHCENT_HD

namespace torchcent::TORCHCENT_ISA {

// Twice a distance, and differences of distances.
template <class T>
using Doubled = std::conditional_t<std::is_same_v<T, double>, double, int64_t>;

// Where paths from the two ends of a chain meet: x_j is reached from the left for j <= last, from the right for
// j > last + tie, and from both if j = last + 1 and tie.
struct Meeting {
  int64_t last;
  bool tie;

  TORCHCENT_HD int64_t right() const { return last + 1 + tie; }  // the first that is reached from the right alone
  // In one number, of which last and right() are monotone functions.
  TORCHCENT_HD int32_t packed() const { return static_cast<int32_t>(2 * last + tie); }
  TORCHCENT_HD static int64_t last_of(int32_t code) { return code >> 1; }
  TORCHCENT_HD static int64_t right_of(int32_t code) { return (int64_t{code} + 3) >> 1; }
  static Meeting unpacked(int32_t code) { return {code >> 1, (code & 1) != 0}; }
};

// Of x_j with low < j < high; x_j is nearer to the left if 2 position[j] < sum. By hops, x_j is at distance j from x_0.
template <class T>
TORCHCENT_HD inline Meeting meeting(const T* position, bool by_hops, Doubled<T> sum, int64_t low, int64_t high) {
  if (by_hops) {
    const int64_t twice = static_cast<int64_t>(sum);
    const int64_t last = (twice - 1) >> 1;
    const int64_t clamped = last < low ? low : last >= high ? high - 1 : last;
    return {clamped, (twice & 1) == 0 && 2 * low < twice && twice < 2 * high};
  }
  int64_t last = low, size = high - 1 - low;
  while (size > 0) {  // last: the largest j so far that is nearer to the left; of the next `size`, some may be
    const int64_t half = (size + 1) / 2;
    const bool nearer = 2 * static_cast<Doubled<T>>(position[last + half]) < sum;
    last = nearer ? last + half : last;
    size = nearer ? size - half : half - 1;
  }
  return {last, last + 1 < high && 2 * static_cast<Doubled<T>>(position[last + 1]) == sum};
}

// A chain with inner vertices; of each array, entry i belongs to x_i.
template <class T>
struct ChainTargets {
  const T* position;         // from i = 1 on
  const double *sum, *each;  // weights of the targets: over x_1 .. x_i, from i = 0 on, and of x_i, from i = 1 on
  bool by_hops;
};

// x_low or x_high.
template <class T, class Count>
struct SegmentEnd {
  T distance;
  Count sigma;
};

// The targets strictly between x_low and x_high.
template <class Count>
struct Segment {
  Meeting at;
  double of_left, of_right;      // the weights of those that are reached from one end alone
  double tied_left, tied_right;  // that of the tie, divided among the ends
  Count left, right;             // what the ends pass up

  template <class T>
  TORCHCENT_HD Segment(const ChainTargets<T>& chain, int64_t low, int64_t high, const SegmentEnd<T, Count>& of_low,
                       const SegmentEnd<T, Count>& of_high)
      : tied_left(0), tied_right(0), left(0.0), right(0.0) {
    using Sum = Doubled<T>;
    const Sum begin = low == 0 ? Sum(0) : static_cast<Sum>(chain.position[low]);
    const Sum difference = static_cast<Sum>(of_high.distance) - static_cast<Sum>(of_low.distance);
    at = meeting(chain.position, chain.by_hops, begin + static_cast<Sum>(chain.position[high]) + difference, low, high);
    of_left = chain.sum[at.last] - chain.sum[low];
    of_right = chain.sum[high - 1] - chain.sum[at.right() - 1];
    Count share(0.0);
    if (at.tie) {
      share = Count(chain.each[at.last + 1]) / (of_low.sigma + of_high.sigma);
      tied_left = double(share * of_low.sigma);
      tied_right = double(share * of_high.sigma);
    }
    left = Count(of_left) / of_low.sigma + share;
    right = Count(of_right) / of_high.sigma + share;
  }
};

}  // namespace torchcent::TORCHCENT_ISA
