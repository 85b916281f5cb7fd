// What both kinds of searches over chains share: positions inside a chain, sums per chain, and the search.
#pragma once

#include "chains/chains.h"
#include "chains/segment.h"
#include "weighted/cpu/dijkstra.h"

namespace torchcent::TORCHCENT_ISA {

// Of all inner vertices, from distances of the ends.
template <class T>
inline Meeting meeting(const ChainGraph<T>& graph, int64_t chain, const ChainRecord<T>& record, T left, T right) {
  const Doubled<T> sum =
      static_cast<Doubled<T>>(record.length) + (static_cast<Doubled<T>>(right) - static_cast<Doubled<T>>(left));
  return meeting(graph.position(chain), graph.by_hops, sum, 0, record.count + 1);
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
