// Betweenness by chains on CUDA, a search per source: the dijkstra engine searches the contracted graph, and between
// its two passes the targets inside each chain are counted from the ends of the chain (docs/chains.md).
//
// A thread counts the targets of a chain. What these pass up to the ends is stored with the arcs of the chain and
// pulled in the backward pass, so that the bits do not depend on the schedule. The contracted graph therefore has arcs
// of chains that return to their beginning, too, although they are never tight.
#pragma once

#include "weighted/cuda/dijkstra_kernel.cuh"  // first: it names the namespace of the others

#include "chains/chains.h"
#include "chains/segment.h"
#include "chains/workspace.h"

namespace torchcent::cuda {

template <class T>
struct ChainSearches {
  ChainGraph<T> graph;      // its arcs are those of the DijkstraProblem
  const uint32_t* slot;     // [2 chains] of the arc from x_0, and from x_{k+1}
  const int32_t* where;     // [vertices of the graph] kept one, or -1 - inner one
  const int32_t* chain_of;  // [inner]
  const int32_t* before;    // [kept + 1] chains with inner vertices that begin before a kept vertex
  const double* target;     // [inner] weights of the targets
  const double* sum;        // [inner + with_inner] their sums along chains, as in ChainWeights
  ChainRow row;
  ChainBegin* begin;  // [inner]
  void* share;        // [slots] per block: what the targets inside a chain pass up to the tail of its arc
};

// Where a search starts: a kept vertex, or both ends of the chain that the source is inside of.
template <class T>
struct ChainSource : DijkstraStart<T> {
  int64_t chain = -1, index = 0;  // x_index of a chain

  __device__ ChainSource(const ChainSearches<T>& all, int32_t where) {
    if (where >= 0) {
      static_cast<DijkstraStart<T>&>(*this) = DijkstraStart<T>(where);
      return;
    }
    chain = all.chain_of[-1 - where];
    index = -1 - where - all.graph.first[chain] + 1;
    const T left = all.graph.position(chain)[index];
    for (int i = 0; i < 2; ++i) this->vertex[i] = all.graph.ends[2 * chain + i];
    this->distance[0] = left;
    this->distance[1] = all.graph.length(chain) - left;
    this->count = 2;
  }
  // Whether paths begin along the i-th start, at a vertex that has this distance.
  __device__ bool begins(int i, int32_t v, T d) const {
    return i < this->count && v == this->vertex[i] && d == this->distance[i];
  }
};

template <class T, class Count>
struct ChainWatch : NoWatch {
  static constexpr bool shares = true;
  ChainSource<T> from;
  const Count* shared;
  double* score;
  const double* weight;  // of the targets

  __device__ ChainWatch(const ChainSource<T>& source, const Count* share, double* scores, const double* targets)
      : from(source), shared(share), score(scores), weight(targets) {}
  __device__ int begin(int32_t v, T d) const { return from.begins(0, v, d) + from.begins(1, v, d); }
  __device__ Count share(uint32_t slot) const { return shared[slot]; }
  __device__ double target(int32_t v) const { return weight[v]; }
  __device__ void pass(int32_t v, double dependency) const {
    if (from.chain >= 0 || v != from.vertex[0]) score[v] += dependency;
  }
};

// The workspace of a block.
template <class T, class Count>
struct ChainMemory {
  const T* distance;
  const Count* sigma;
  Count* share;  // zero for chains without inner vertices
  double* row;

  __device__ ChainMemory(const DijkstraProblem<T>& problem, const ChainSearches<T>& chains)
      : distance(problem.distance + blockIdx.x * problem.n),
        sigma(static_cast<Count*>(problem.sigma) + blockIdx.x * problem.n),
        share(static_cast<Count*>(chains.share) + blockIdx.x * problem.m),
        row(problem.scores + blockIdx.x * problem.score_stride) {
    for (int64_t j = threadIdx.x; j < problem.m; j += blockDim.x) share[j] = Count(0.0);
  }
};

// What is added to the sums of a block for a chain, by one thread.
template <class T, class Count>
struct Traffic {
  double *meet, *tied;
  int64_t count;  // k

  __device__ Traffic(const ChainSearches<T>& chains, double* row, int64_t chain)
      : meet(row + chains.row.meet + 2 * (chains.graph.first[chain] - 1)),
        tied(row + chains.row.tied + 2 * (chains.graph.first[chain] - 1)),
        count(chains.graph.count(chain)) {}
  // x_i is the last that is reached from the left, or the first from the right; x_0 and x_{k+1} need no sum.
  __device__ void meets_left(int64_t i, double weight) const {
    if (i > 0) meet[2 * i] += weight;
  }
  __device__ void meets_right(int64_t i, double weight) const {
    if (i <= count) meet[2 * i + 1] += weight;
  }
  __device__ void ties(int64_t i, double from_left, double from_right) const {
    tied[2 * i] += from_left;
    tied[2 * i + 1] += from_right;
  }
};

// The first vertex of the component that a block has searched, which is a range of kept vertices. `lowest` begins with
// INT32_MAX.
template <class Search>
__device__ void find_lowest(const Search& search, int& lowest) {
  int found = INT32_MAX;
  for (int p = threadIdx.x; p < search.place().reached; p += blockDim.x) found = min(found, search.settled(p));
  found = __reduce_min_sync(~0u, found);
  if ((threadIdx.x & 31) == 0) atomicMin(&lowest, found);
  __syncthreads();
}

// The searches of a block, in sequence.
template <class T, class Count>
class ChainBlock {
  using Watch = ChainWatch<T, Count>;
  using Search = DijkstraBlock<T, Count, Watch>;

 public:
  __device__ ChainBlock(const DijkstraProblem<T>& problem, const ChainSearches<T>& chains, DijkstraState<T>& state,
                        int& lowest)
      : p_(problem), chains_(chains), state_(state), lowest_(lowest), block_(problem, chains) {}

  // Returns false if a count (of any block) overflows float64.
  __device__ bool count(int64_t source, double weight) {
    const ChainSource<T> from(chains_, chains_.where[source]);
    Search search(p_, state_, {}, Watch(from, block_.share, block_.row + chains_.row.score, p_.target_weight));
    if (threadIdx.x == 0) lowest_ = INT32_MAX;
    if (!search.forward(from)) return false;
    find_lowest(search, lowest_);
    targets_inside(from, weight, search.place().reached);
    bool leaves[2];
    for (int i = 0; i < 2; ++i) leaves[i] = from.begins(i, from.vertex[i], block_.distance[from.vertex[i]]);
    __syncthreads();
    search.template backward<EdgeBetweenness>(weight, 0);
    if (threadIdx.x == 0 && from.chain >= 0) {
      ChainBegin& begin = chains_.begin[chains_.graph.first[from.chain] + from.index - 1];
      begin.out_back = leaves[0] ? weight * double(block_.sigma[from.vertex[0]]) : 0;
      begin.out_forward = leaves[1] ? weight * double(block_.sigma[from.vertex[1]]) : 0;
    }
    search.forget();
    return true;
  }

 private:
  __device__ void targets_inside(const ChainSource<T>& from, double weight, int reached) {
    const ChainGraph<T>& graph = chains_.graph;
    const int64_t last = chains_.before[lowest_ + reached];
    for (int64_t c = chains_.before[lowest_] + threadIdx.x; c < last; c += blockDim.x) {
      const int32_t y = graph.ends[2 * c], z = graph.ends[2 * c + 1];
      const SegmentEnd<T, Count> left = {block_.distance[y], block_.sigma[y]},
                                 right = {block_.distance[z], block_.sigma[z]};
      const SegmentEnd<T, Count> source = {T(0), Count(1.0)};
      const int64_t end = graph.count(c) + 1;
      // The chain of the source is two: from x_0 to it, and from it to x_{k+1}.
      const bool divided = c == from.chain;
      for (int part = 0; part <= divided; ++part) {
        const int64_t low = part == 0 ? 0 : from.index, high = part == 0 && divided ? from.index : end;
        const Segment<Count> found =
            segment(c, low, high, low > 0 ? source : left, high < end ? source : right, weight);
        if (low == 0) block_.share[chains_.slot[2 * c]] = stored(found.left);
        if (high == end) block_.share[chains_.slot[2 * c + 1]] = stored(found.right);
      }
    }
  }

  // Counts the targets strictly between x_low and x_high.
  __device__ Segment<Count> segment(int64_t chain, int64_t low, int64_t high, const SegmentEnd<T, Count>& left,
                                    const SegmentEnd<T, Count>& right, double weight) const {
    const ChainGraph<T>& graph = chains_.graph;
    const int64_t first = graph.first[chain], k = graph.count(chain);
    const ChainTargets<T> targets = {graph.position(chain), chains_.sum + first + chain, chains_.target + first - 1,
                                     graph.by_hops};
    const Segment<Count> found(targets, low, high, left, right);
    const Traffic<T, Count> to(chains_, block_.row, chain);
    to.meets_left(found.at.last, weight);
    to.meets_right(found.at.right(), weight);
    if (found.at.tie) to.ties(found.at.last + 1, weight * found.tied_left, weight * found.tied_right);
    ChainBegin* const begin = chains_.begin + first - 1;
    if (low > 0) {
      to.meets_left(low, -weight);
      begin[low].inside_forward = weight * (found.of_left + found.tied_left);
    }
    if (high <= k) {
      to.meets_right(high, -weight);
      begin[high].inside_back = weight * (found.of_right + found.tied_right);
    }
    return found;
  }

  const DijkstraProblem<T>& p_;
  const ChainSearches<T>& chains_;
  DijkstraState<T>& state_;
  int& lowest_;
  const ChainMemory<T, Count> block_;
};

template <class T, class Count>
__global__ void __launch_bounds__(kDijkstraThreads, 2)
    chain_paths(const __grid_constant__ DijkstraProblem<T> problem, const __grid_constant__ ChainSearches<T> chains) {
  __shared__ DijkstraState<T> state;
  __shared__ int lowest;
  ChainBlock<T, Count> block(problem, chains, state, lowest);
  for (int64_t i = blockIdx.x; i < problem.count; i += gridDim.x)
    if (!block.count(problem.vertex[i], problem.weight[i])) return;  // retried with wider counts
}

}  // namespace torchcent::cuda
