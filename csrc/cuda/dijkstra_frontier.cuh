// How the dijkstra engine finds its way: a block per source settles vertices in levels, after Ortega-Arranz et al. 2013
// and Fan, Xu and Zhao 2017 (doi:10.7717/peerj-cs.140).
//
// A round settles all vertices whose tentative distance is below the least d(u) + lightest(u) of the unsettled ones u,
// where lightest(u) is the smallest weight of an arc out of u. Below, not at it: then no arc between two vertices of a
// level is tight. Vertices that have been reached and not settled lie in a near and a far pile (Davidson et al. 2014),
// so that a round looks only at few of them; the strategies of the literature look at the whole graph instead.
#pragma once

#include "cuda/weights.cuh"

namespace torchcent::cuda {

constexpr int kDijkstraThreads = 512;  // of a block at most: 64 registers each where 1024 share a multiprocessor

// What becomes of threads in a round, by the strategies of Fan, Xu and Zhao.
struct Traversal {
  bool whole_graph;    // the next level is looked for among all vertices
  bool node_parallel;  // threads for all vertices, not only for those of the level
  bool cooperative;    // warps take more when they are free
  bool locked;         // counts travel with distances, under a lock per vertex
  int shift;           // log2 of the threads per vertex
};

template <class T>
struct DijkstraProblem {
  int64_t n;
  const Span *out_span, *in_span;
  const Arc<T>*out, *in;  // the same pointer in a symmetric graph
  const T* lightest;      // [n]
  const double* total;    // of all weights
  int64_t m;
  const double *target_weight, *through_weight;
  bool linear;  // Measure::linear
  Ties ties;
  Traversal how;
  int64_t count;
  const int64_t* vertex;
  const double *weight, *own;
  QueueFlags* flags;
  // Workspace, a part per block.
  T* distance;       // [n] unreached between searches
  int32_t* settled;  // [n] in the order of levels
  int32_t* level;    // [n + 2] where they begin
  int32_t* pile;     // [3][n]
  void* sigma;       // [n]
  double* scores;
  int64_t score_stride;
  // Instead of scores:
  void* rows;               // [count][n] of the type of the weights
  double *sums, *farthest;  // [count][3], [count]
};

template <class T>
struct DijkstraState {  // of a block, in shared memory
  T bound[2];           // least d + lightest over the near pile, of this round and the next in turn
  T nearest[2];         // least d over it
  int count[3];         // of the piles
  int settled, taken[2];
  int stop;
};

// The state of a search besides its path counts.
template <class T>
class DijkstraFrontier {
 protected:
  static constexpr T kUnreached = unreached<T>;

 public:
  __device__ DijkstraFrontier(const DijkstraProblem<T>& problem, DijkstraState<T>& state) : p_(problem), state_(state) {
    const int64_t b = blockIdx.x;
    distance_ = p_.distance + b * p_.n;
    settled_ = p_.settled + b * p_.n;
    level_ = p_.level + b * (p_.n + 2);
    pile_ = p_.pile + b * 3 * p_.n;
    const double share = p_.m > 0 ? *p_.total / static_cast<double>(2 * p_.m) : 1;
    step_ = __is_same(T, double) ? static_cast<T>(share) : static_cast<T>(fmax(1.0, share + 0.5));
  }

  __device__ void forget() {
    for (int p = threadIdx.x; p < reached_; p += blockDim.x) {
      distance_[settled_[p]] = kUnreached;
      if (p_.how.whole_graph) pile_[settled_[p]] = -1;
    }
    __syncthreads();
  }

 protected:
  // By one thread; others see it after the next barrier.
  __device__ void start(int32_t source) {
    distance_[source] = T(0);
    state_.bound[0] = p_.lightest[source];
    state_.nearest[0] = T(0);
    state_.bound[1] = state_.nearest[1] = kUnreached;
    state_.count[0] = 1;
    state_.count[1] = state_.count[2] = 0;
    state_.settled = 0;
    state_.taken[0] = state_.taken[1] = 0;
    level_[0] = 0;
    if (!p_.how.whole_graph) pile_[0] = source;
  }
  // By all threads.
  __device__ void restart() {
    limit_ = min(step_, kUnreached);
    near_ = 0, spare_ = 1, far_ = 2;
    levels_ = reached_ = 0;
  }

  // Settles the next level. False if there is none. The caller waits for all threads before it asks how large it is.
  __device__ bool choose(int turn) {
    least_bound_ = least_ = kUnreached;
    return p_.how.whole_graph ? choose_of_all(turn) : choose_of_piles(turn);
  }
  // By one thread, while the level is worked on.
  __device__ void clear(int turn, int end) {
    state_.bound[turn] = state_.nearest[turn] = kUnreached;
    if (!p_.how.whole_graph) state_.count[near_] = 0;
    level_[levels_ + 1] = end;
  }
  // By all threads, when the level is done.
  __device__ void pass_on(int turn) {
    lower(state_.bound[turn ^ 1], least_bound_);
    lower(state_.nearest[turn ^ 1], least_);
  }
  __device__ void descend(int end) {
    const int done = near_;
    near_ = spare_, spare_ = done;
    reached_ = end;
    ++levels_;
  }
  __device__ int32_t* pile(int i) const { return pile_ + i * p_.n; }
  // The level of a vertex, -1 while it is not settled; whole_graph only.
  __device__ int32_t& level_of(int32_t v) const { return pile_[v]; }

  // The one who takes a distance across a limit puts the vertex on the pile: each vertex lies there once.
  __device__ void relax(T d, const Arc<T>& arc, T known) {
    const T length = d + arc.weight;
    if (!(length < known)) return;
    const T before = atomic_min(distance_ + arc.vertex, length);
    if (!(length < before) || p_.how.whole_graph) return;
    if (length < limit_) {
      note(arc.vertex, length);
      if (before >= limit_) pile(spare_)[atomicAdd(&state_.count[spare_], 1)] = arc.vertex;
    } else if (before == kUnreached) {
      pile(far_)[atomicAdd(&state_.count[far_], 1)] = arc.vertex;
    }
  }

 private:
  // Settles what is below the bound; if a weight is lost in rounding, or with a tolerance, that may be nothing, but
  // between vertices of one distance no arc is tight.
  __device__ bool settles(T distance, T bound, T nearest) const {
    return p_.ties.before(nearest, bound) ? p_.ties.before(distance, bound) : distance == nearest;
  }
  __device__ void note(int32_t v, T distance) {
    least_ = min(least_, distance);
    least_bound_ = min(least_bound_, distance + p_.lightest[v]);
  }
  __device__ static void lower(T& target, T value) {
    value = least_of_warp(value);
    if ((threadIdx.x & 31) == 0 && value < kUnreached) atomic_min(&target, value);
  }
  // By whole warps.
  __device__ static void append(int32_t* list, int* count, bool wanted, int32_t v) {
    const unsigned mine = __ballot_sync(~0u, wanted);
    if (mine == 0) return;
    const int lane = threadIdx.x & 31;
    const int first = lane == 0 ? atomicAdd(count, __popc(mine)) : 0;
    const int place = __shfl_sync(~0u, first, 0) + __popc(mine & ((1u << lane) - 1));
    if (wanted) list[place] = v;
  }

  // The near pile holds what is below limit_, the far one the rest, and vertices that have since come nearer.
  __device__ bool choose_of_piles(int turn) {
    int near = state_.count[near_];
    if (near == 0) {
      __syncthreads();
      if (!refill(turn)) return false;
      near = state_.count[near_];
    }
    const T bound = state_.bound[turn], nearest = state_.nearest[turn];
    int32_t* const list = pile(near_);
    if (threadIdx.x == 0) state_.taken[0] = 0;
    for (int base = threadIdx.x & ~31; base < near; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const bool valid = i < near;
      const int32_t v = valid ? list[i] : 0;
      const T d = valid ? distance_[v] : T(0);
      const bool settle = valid && settles(d, bound, nearest);
      append(settled_, &state_.settled, settle, v);
      append(pile(spare_), &state_.count[spare_], valid && !settle, v);
      if (valid && !settle) note(v, d);
    }
    return true;
  }

  // The near pile is empty: raises the limit. False if all is settled.
  __device__ bool refill(int turn) {
    const int size = state_.count[far_];
    if (size == 0) return false;
    const int32_t* const list = pile(far_);
    T nearest = kUnreached;
    for (int base = threadIdx.x & ~31; base < size; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const T d = i < size ? distance_[list[i]] : kUnreached;
      if (d >= limit_) nearest = min(nearest, d);
    }
    lower(state_.nearest[turn], nearest);
    __syncthreads();
    nearest = state_.nearest[turn];
    if (nearest == kUnreached) return false;
    const T before = limit_;
    limit_ = beyond(nearest, step_);
    if (threadIdx.x == 0) state_.count[far_] = 0;
    T bound = kUnreached;
    for (int base = threadIdx.x & ~31; base < size; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const int32_t v = i < size ? list[i] : 0;
      const T d = i < size ? distance_[v] : T(0);
      const bool open = i < size && d >= before;
      append(pile(near_), &state_.count[near_], open && d < limit_, v);
      append(pile(spare_), &state_.count[spare_], open && !(d < limit_), v);
      if (open && d < limit_) bound = min(bound, d + p_.lightest[v]);
    }
    lower(state_.bound[turn], bound);
    __syncthreads();
    const int emptied = far_;
    far_ = spare_, spare_ = emptied;
    return true;
  }
  __device__ static T beyond(T nearest, T step) {
    const T sum = min(nearest + step, kUnreached);
    if constexpr (__is_same(T, double)) {  // the step may be lost in rounding
      return sum > nearest ? sum : __longlong_as_double(__double_as_longlong(nearest) + 1);
    } else {
      return sum;
    }
  }

  // As in the literature: pile 0 is the level of every vertex, pile 1 its lock.
  __device__ bool choose_of_all(int turn) {
    for (int64_t base = threadIdx.x & ~31; base < p_.n; base += blockDim.x) {
      const int64_t v = base + (threadIdx.x & 31);
      const T d = v < p_.n && level_of(v) < 0 ? distance_[v] : kUnreached;
      if (d < kUnreached) note(static_cast<int32_t>(v), d);
    }
    // The source's own bound, from start(), is among them.
    lower(state_.bound[turn], least_bound_);
    lower(state_.nearest[turn], least_);
    least_bound_ = least_ = kUnreached;
    __syncthreads();
    const T bound = state_.bound[turn], nearest = state_.nearest[turn];
    if (nearest == kUnreached) return false;
    if (threadIdx.x == 0) state_.taken[0] = 0;
    for (int64_t base = threadIdx.x & ~31; base < p_.n; base += blockDim.x) {
      const int64_t v = base + (threadIdx.x & 31);
      const T d = v < p_.n && level_of(v) < 0 ? distance_[v] : kUnreached;
      const bool settle = d < kUnreached && settles(d, bound, nearest);
      append(settled_, &state_.settled, settle, static_cast<int32_t>(v));
      if (settle) level_of(v) = levels_;
    }
    return true;
  }

 protected:
  const DijkstraProblem<T>& p_;
  DijkstraState<T>& state_;
  T* distance_;
  int32_t *settled_, *level_, *pile_;
  int levels_ = 0, reached_ = 0;

 private:
  T step_, limit_;          // of the near pile
  T least_bound_, least_;   // this thread's share of the next round's bound
  int near_, spare_, far_;  // which pile is which
};

}  // namespace torchcent::cuda
