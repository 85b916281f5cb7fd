// What both kinds of searches over chains share: positions inside a chain, sums per chain, and the search.
#pragma once

#include "chains/chains.h"
#include "weighted/cpu/dijkstra.h"

namespace torchcent::TORCHCENT_ISA {

// Twice a distance, and differences of distances.
template <class T>
using Doubled = std::conditional_t<std::is_same_v<T, int32_t>, int64_t, double>;

// Where paths from the two ends of a chain meet: x_j is reached from the left for j <= last, from the right for
// j > last + tie, and from both if j = last + 1 and tie.
struct Meeting {
  int64_t last;
  bool tie;

  int64_t right() const { return last + 1 + tie; }  // the first that is reached from the right alone
  // In one number, of which last and right() are monotone functions.
  int32_t packed() const { return static_cast<int32_t>(2 * last + tie); }
  static int64_t last_of(int32_t code) { return code >> 1; }
  static int64_t right_of(int32_t code) { return (int64_t{code} + 3) >> 1; }
  static Meeting unpacked(int32_t code) { return {code >> 1, (code & 1) != 0}; }
};

// Of x_j with low < j < high; x_j is nearer to the left if 2 position(j) < sum.
template <class T>
inline Meeting meeting(const ChainGraph<T>& graph, int64_t chain, Doubled<T> sum, int64_t low, int64_t high) {
  if (graph.by_hops) {
    const int64_t twice = static_cast<int64_t>(sum);
    const int64_t last = (twice - 1) >> 1;
    const int64_t clamped = last < low ? low : last >= high ? high - 1 : last;
    return {clamped, (twice & 1) == 0 && 2 * low < twice && twice < 2 * high};
  }
  const T* const position = graph.position(chain);
  int64_t last = low, size = high - 1 - low;
  while (size > 0) {  // last: the largest j so far that is nearer to the left; of the next `size`, some may be
    const int64_t half = (size + 1) / 2;
    const bool nearer = 2 * static_cast<Doubled<T>>(position[last + half]) < sum;
    last = nearer ? last + half : last;
    size = nearer ? size - half : half - 1;
  }
  return {last, last + 1 < high && 2 * static_cast<Doubled<T>>(position[last + 1]) == sum};
}

// Of all inner vertices, from distances of the ends.
template <class T>
inline Meeting meeting(const ChainGraph<T>& graph, int64_t chain, const ChainRecord<T>& record, T left, T right) {
  const Doubled<T> sum =
      static_cast<Doubled<T>>(record.length) + (static_cast<Doubled<T>>(right) - static_cast<Doubled<T>>(left));
  return meeting(graph, chain, sum, 0, record.count + 1);
}

// The sums at a place of a chain (docs/chains.md): L and R, XL and XR.
struct MeetSums {
  double left, right;
};
// IF, IB, FF, FB, BL, BR.
struct BeginSums {
  double inside_forward, inside_back, out_forward, out_back, from_left, from_right;
};

template <class T>
struct ChainSums {
  double* score;
  double* pass;

  ChainSums(const ChainGraph<T>& graph, double* row) : score(row), graph_(graph) {
    const ChainLayout<T> layout(graph);
    pass = row + layout.pass;
    meet_ = reinterpret_cast<MeetSums*>(row + layout.meet);
    tied_ = reinterpret_cast<MeetSums*>(row + layout.tied);
    begin_ = reinterpret_cast<BeginSums*>(row + layout.begin);
  }
  MeetSums* meet(int64_t chain) const { return meet_ + ChainLayout<T>::place(graph_, chain); }
  MeetSums* tied(int64_t chain) const { return tied_ + ChainLayout<T>::place(graph_, chain); }
  BeginSums* begin(int64_t chain) const { return begin_ + ChainLayout<T>::place(graph_, chain); }

 private:
  const ChainGraph<T>& graph_;
  MeetSums *meet_, *tied_;
  BeginSums* begin_;
};

template <class T>
WeightedProblem<T> contracted(const ChainProblem<T>& problem) {
  WeightedProblem<T> made = {};
  made.paths.out.num_nodes = problem.graph.kept;
  made.paths.cancel = problem.cancel;
  made.out = made.in = problem.graph.arcs;
  made.lightest = problem.graph.lightest;
  made.heaviest = problem.graph.heaviest;
  return made;
}

// Counts the paths of a search by place, from places where sigma is set. Returns false if the numbers overflow.
template <class Count>
inline bool count_paths(const Dag& dag, Count* sigma) {
  for (int64_t i = 0; i < dag.arcs; ++i) sigma[dag.arc[i].head] += sigma[dag.arc[i].tail];
  if constexpr (__is_same(Count, double)) {
    double largest = 0;
    for (int32_t p = 0; p < dag.ids; ++p) largest = sigma[p] > largest ? sigma[p] : largest;
    return largest < kLargestCount;
  }
  return true;
}

}  // namespace torchcent::TORCHCENT_ISA
