// A graph whose chains are contracted, for the searches of chains/cpu/ and chains/cuda/. A chain runs from a kept
// vertex x_0 over inner vertices x_1 .. x_k of degree 2 to a kept vertex x_{k+1}, which may be x_0. In the contracted
// graph it is an edge as long as the chain. docs/chains.md has the algebra.
#pragma once

#include <cstdint>
#include <memory>

#include "core/column.h"
#include "weighted/weighted_search.h"

namespace torchcent {

template <class T>
struct ChainGraph {
  int64_t kept = 0, inner = 0;         // vertices
  int64_t chains = 0, with_inner = 0;  // those with inner vertices come first
  const int64_t* first = nullptr;      // [chains + 1] of the inner vertices
  const int32_t* ends = nullptr;       // [chains, 2] x_0 and x_{k+1}, among the kept
  const T* along = nullptr;            // [inner + chains] distances of x_1 .. x_{k+1} from x_0
  WeightedArcs<T> arcs;                // from kept vertices; the slot is 2 * chain, and 1 more backwards
  T lightest = 1, heaviest = 1;        // of all chains
  bool by_hops = false;                // x_i is at distance i from x_0

  TORCHCENT_ANYWHERE int64_t count(int64_t chain) const { return first[chain + 1] - first[chain]; }  // k
  // Of x_i for i >= 1.
  TORCHCENT_ANYWHERE const T* position(int64_t chain) const { return along + first[chain] + chain - 1; }
  TORCHCENT_ANYWHERE T length(int64_t chain) const { return along[first[chain + 1] + chain]; }
};

// The weights of sources and targets, with their sums along chains: entry i of a chain is the sum over x_1 .. x_i.
struct ChainWeights {
  const double *source, *target;              // a, b [kept]
  const double *inner_source, *inner_target;  // [inner]
  const double *sum_source, *sum_target;      // [inner + with_inner], first[chain] + chain + i for i = 0 .. k
};

// What is known of each component of the contracted graph, which is a range of kept vertices.
struct ChainComponents {
  const int32_t *begin, *end;      // [kept] of the component of a vertex
  const int64_t* chains;           // [kept + 1] number of chains with inner vertices that begin before a vertex
  int64_t most_kept, most_chains;  // of a component
  int64_t most_arcs;               // chains of any kind of a component
};

// The sums of a batch of searches: one row of doubles, laid out as follows.
//     score  [kept]       of the kept vertices
//     pass   [2 chains]   paths along the whole chain, forwards and backwards
//     meet   [places, 2]  }
//     tied   [places, 2]  } see ChainSums
//     begin  [places, 6]  }
// The places of a chain with inner vertices are x_0 .. x_{k+1}.
template <class T>
struct ChainLayout {
  int64_t pass, meet, tied, begin, total;

  explicit ChainLayout(const ChainGraph<T>& graph) {
    const int64_t places = graph.inner + 2 * graph.with_inner;
    pass = graph.kept;
    meet = pass + 2 * graph.chains;
    tied = meet + 2 * places;
    begin = tied + 2 * places;
    total = begin + 6 * places;
  }
  static int64_t place(const ChainGraph<T>& graph, int64_t chain) { return graph.first[chain] + 2 * chain; }
};

// A chain with inner vertices, for loops over all of them.
template <class T>
struct ChainRecord {
  int32_t ends[2];
  int32_t count;  // k
  T length;
  int64_t first;  // inner vertex
};

template <class T>
struct ChainProblem {
  ChainGraph<T> graph;
  const ChainRecord<T>* record;  // [with_inner]
  ChainWeights weights;
  ChainComponents components;
  bool together;            // one sweep for a kept vertex and all sources inside the chains at it
  int64_t most_rows;        // kept vertices whose distances a batch needs
  int64_t most_at;          // chains at a kept vertex
  const int64_t* at_begin;  // [kept + 1] the chains at a kept vertex that have sources inside
  const int64_t* at;        // 2 * chain, and 1 more at x_{k+1}
  const int64_t* where;     // [vertices of the graph] kept one, or -1 - inner one
  const int32_t* chain_of;  // [inner]
  const int64_t* cancel;
};

TORCHCENT_SCALAR_KERNEL(template <class T> std::unique_ptr<Search> make_chains(const ChainProblem<T>&, Rung))

}  // namespace torchcent
