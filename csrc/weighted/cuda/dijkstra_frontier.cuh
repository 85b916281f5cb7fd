// The search of the dijkstra engine: a block per source settles vertices in levels, after Ortega-Arranz et al. 2013 and
// Fan, Xu and Zhao 2017 (doi:10.7717/peerj-cs.140).
//
// A round settles all vertices whose tentative distance is below the minimum of d(u) + lightest(u) over the unsettled
// vertices u, where lightest(u) is the smallest weight of an arc out of u. The inequality is strict, so that no arc
// between two vertices of a level is tight. Reached, unsettled vertices are in a near or a far pile (Davidson et al.
// 2014), so that a round scans only few of them; the strategies of the literature scan the whole graph instead.
#pragma once

#include "weighted/cuda/weights.cuh"

namespace torchcent::cuda {

constexpr int kDijkstraThreads = 512;  // per block at most: 64 registers each if 1024 share a multiprocessor

// Assignment of threads in a round, for the strategies of Fan, Xu and Zhao.
struct Traversal {
  bool whole_graph;    // the next level is selected among all vertices
  bool node_parallel;  // threads for all vertices, not only for those of the level
  bool cooperative;    // idle warps fetch more
  bool locked;         // counts are updated together with distances, under a lock per vertex
  int shift;           // log2 of the threads per vertex
};

template <class T>
struct DijkstraProblem {
  int64_t n;
  const Span *out_span, *in_span;
  const Arc<T>*out, *in;  // the same pointer in a symmetric graph
  const T* lightest;      // [n]
  Measure measure;
  T beyond;               // vertices at this distance and farther ones are not reached
  const T* beyond_limit;  // [num_limits] the same for each limit, which has scores of its own; null: none
  int num_limits;
  const double* total;  // of all weights
  int64_t m;
  const double *target_weight, *through_weight;
  const double* copies;  // [n] twins that each vertex stands for; null: one
  Ties ties;
  Traversal how;
  int64_t count;
  const int64_t* vertex;
  const double *weight, *own;
  QueueFlags* flags;
  // Workspace, one part per block.
  T* distance;         // [n] unreached between searches
  int32_t* settled;    // [n] in the order of levels
  int32_t* level;      // [n + 2] the start of each level
  int32_t* pile;       // [3][n]
  void *sigma, *kept;  // [n] kept: sigma, if there are several limits
  double* scores;      // [num_limits][score_stride]
  int64_t score_stride;
  // Outputs instead of scores:
  void* rows;               // [count][n] of the type of the weights
  double *sums, *farthest;  // [count][3], [count]
};

// Where a search starts: at one or two vertices, at a distance from a source that need not be among the vertices.
template <class T>
struct DijkstraStart {
  int32_t vertex[2];
  T distance[2];
  int count;

  DijkstraStart() = default;
  __device__ explicit DijkstraStart(int32_t source) : vertex{source, source}, distance{T(0), T(0)}, count(1) {}
  __device__ T nearest() const { return count > 1 ? min(distance[0], distance[1]) : distance[0]; }
};

template <class T>
struct DijkstraState {  // per block, in shared memory
  T bound[2];           // least d + lightest over the near pile, alternating between this round and the next
  T nearest[2];         // least d over the near pile
  int count[3];         // of the piles
  int settled, taken[2];
  int stop;
};

// The progress of a search, identical in all threads: the state to suspend and resume it.
template <class T>
struct DijkstraPlace {
  T step, limit;         // of the near pile
  int levels, reached;   // settled levels and vertices
  int turn;              // selects the DijkstraState pair of this round
  int near, spare, far;  // roles of the piles
};

// The state of a search, except its path counts.
template <class T>
class DijkstraFrontier {
 protected:
  static constexpr T kUnreached = unreached<T>;

 public:
  __device__ DijkstraFrontier(const DijkstraProblem<T>& problem, DijkstraState<T>& state,
                              const DijkstraPlace<T>& place = {})
      : p_(problem), state_(state), at_(place) {
    const int64_t b = blockIdx.x;
    distance_ = p_.distance + b * p_.n;
    settled_ = p_.settled + b * p_.n;
    level_ = p_.level + b * (p_.n + 2);
    pile_ = p_.pile + b * 3 * p_.n;
  }

  __device__ void forget() {
    for (int p = threadIdx.x; p < at_.reached; p += blockDim.x) {
      distance_[settled_[p]] = kUnreached;
      if (p_.how.whole_graph) pile_[settled_[p]] = -1;
    }
    __syncthreads();
  }
  // The same for a search with piles that has not settled all reached vertices.
  __device__ void abandon() {
    for (int p = threadIdx.x; p < state_.settled; p += blockDim.x) distance_[settled_[p]] = kUnreached;
    for (int k = 0; k < 3; ++k)
      for (int i = threadIdx.x; i < state_.count[k]; i += blockDim.x) distance_[pile(k)[i]] = kUnreached;
    __syncthreads();
  }

  __device__ const DijkstraPlace<T>& place() const { return at_; }
  // A lower bound on the distance of unsettled vertices; with piles, between levels.
  __device__ static T next(const DijkstraState<T>& state, const DijkstraPlace<T>& at) {
    return state.count[at.near] > 0 ? state.nearest[at.turn] : state.count[at.far] > 0 ? at.limit : kUnreached;
  }

  // Called by one thread; visible to others after the next barrier.
  __device__ void start(const DijkstraStart<T>& from) {
    state_.bound[0] = state_.bound[1] = kUnreached;
    state_.nearest[0] = state_.nearest[1] = kUnreached;
    state_.count[0] = state_.count[1] = state_.count[2] = 0;
    state_.settled = 0;
    state_.taken[0] = state_.taken[1] = 0;
    level_[0] = 0;
    const bool once = from.count == 1 || from.vertex[0] == from.vertex[1];
    for (int i = 0; i < (once ? 1 : 2); ++i) {
      const int32_t v = from.vertex[i];
      const T d = once ? from.nearest() : from.distance[i];
      distance_[v] = d;
      const bool near = p_.how.whole_graph || d < at_.limit;
      if (near) {
        state_.bound[0] = min(state_.bound[0], d + p_.lightest[v]);
        state_.nearest[0] = min(state_.nearest[0], d);
      }
      if (p_.how.whole_graph) continue;
      const int to = near ? at_.near : at_.far;
      pile(to)[state_.count[to]++] = v;
    }
  }
  // Called by all threads, before start(). nearest: the least distance at which the search starts.
  __device__ void restart(T nearest = T(0)) {
    const double share = p_.m > 0 ? *p_.total / static_cast<double>(2 * p_.m) : 1;
    at_.step = __is_same(T, double) ? static_cast<T>(share) : static_cast<T>(fmax(1.0, share + 0.5));
    at_.limit = beyond(nearest, at_.step);
    at_.near = 0, at_.spare = 1, at_.far = 2;
    at_.levels = at_.reached = at_.turn = 0;
  }

 protected:
  // Settles the next level. Returns false if there is none. The caller must synchronise before it reads the size.
  __device__ bool choose() {
    least_bound_ = least_ = kUnreached;
    return p_.how.whole_graph ? choose_of_all() : choose_of_piles();
  }
  // Called by one thread, while the level is processed.
  __device__ void clear(int end) {
    state_.bound[at_.turn] = state_.nearest[at_.turn] = kUnreached;
    if (!p_.how.whole_graph) state_.count[at_.near] = 0;
    level_[at_.levels + 1] = end;
  }
  // Called by all threads, after the level.
  __device__ void pass_on() {
    lower(state_.bound[at_.turn ^ 1], least_bound_);
    lower(state_.nearest[at_.turn ^ 1], least_);
  }
  __device__ void descend(int end) {
    const int done = at_.near;
    at_.near = at_.spare, at_.spare = done;
    at_.reached = end;
    at_.turn ^= 1;
    ++at_.levels;
  }
  __device__ int32_t* pile(int i) const { return pile_ + i * p_.n; }
  // The level of a vertex, -1 if it is not settled; whole_graph only.
  __device__ int32_t& level_of(int32_t v) const { return pile_[v]; }

  // The thread that moves a distance across a limit puts the vertex on the pile, so that each vertex is there once.
  __device__ void relax(T d, const Arc<T>& arc, T known) {
    const T length = d + arc.weight;
    if (!(length < known && length < p_.beyond)) return;
    const T before = atomic_min(distance_ + arc.vertex, length);
    if (!(length < before) || p_.how.whole_graph) return;
    if (length < at_.limit) {
      note(arc.vertex, length);
      if (before >= at_.limit) pile(at_.spare)[atomicAdd(&state_.count[at_.spare], 1)] = arc.vertex;
    } else if (before == kUnreached) {
      pile(at_.far)[atomicAdd(&state_.count[at_.far], 1)] = arc.vertex;
    }
  }

 private:
  // Settles the vertices below the bound. If a weight is lost in rounding, or with a tolerance, there may be none; then
  // it settles the vertices of minimum distance, between which no arc is tight.
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
  // Called by whole warps.
  __device__ static void append(int32_t* list, int* count, bool wanted, int32_t v) {
    const unsigned mine = __ballot_sync(~0u, wanted);
    if (mine == 0) return;
    const int lane = threadIdx.x & 31;
    const int first = lane == 0 ? atomicAdd(count, __popc(mine)) : 0;
    const int place = __shfl_sync(~0u, first, 0) + __popc(mine & ((1u << lane) - 1));
    if (wanted) list[place] = v;
  }

  // The near pile holds distances below at_.limit. The far pile holds the rest, and vertices that have become nearer
  // since.
  __device__ bool choose_of_piles() {
    int near = state_.count[at_.near];
    if (near == 0) {
      __syncthreads();
      if (!refill()) return false;
      near = state_.count[at_.near];
    }
    const T bound = state_.bound[at_.turn], nearest = state_.nearest[at_.turn];
    int32_t* const list = pile(at_.near);
    if (threadIdx.x == 0) state_.taken[0] = 0;
    for (int base = threadIdx.x & ~31; base < near; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const bool valid = i < near;
      const int32_t v = valid ? list[i] : 0;
      const T d = valid ? distance_[v] : T(0);
      const bool settle = valid && settles(d, bound, nearest);
      append(settled_, &state_.settled, settle, v);
      append(pile(at_.spare), &state_.count[at_.spare], valid && !settle, v);
      if (valid && !settle) note(v, d);
    }
    return true;
  }

  // The near pile is empty: raises the limit. Returns false if all vertices are settled.
  __device__ bool refill() {
    const int size = state_.count[at_.far];
    if (size == 0) return false;
    const int32_t* const list = pile(at_.far);
    T nearest = kUnreached;
    for (int base = threadIdx.x & ~31; base < size; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const T d = i < size ? distance_[list[i]] : kUnreached;
      if (d >= at_.limit) nearest = min(nearest, d);
    }
    lower(state_.nearest[at_.turn], nearest);
    __syncthreads();
    nearest = state_.nearest[at_.turn];
    if (nearest == kUnreached) return false;
    const T before = at_.limit;
    at_.limit = beyond(nearest, at_.step);
    if (threadIdx.x == 0) state_.count[at_.far] = 0;
    T bound = kUnreached;
    for (int base = threadIdx.x & ~31; base < size; base += blockDim.x) {
      const int i = base + (threadIdx.x & 31);
      const int32_t v = i < size ? list[i] : 0;
      const T d = i < size ? distance_[v] : T(0);
      const bool open = i < size && d >= before;
      append(pile(at_.near), &state_.count[at_.near], open && d < at_.limit, v);
      append(pile(at_.spare), &state_.count[at_.spare], open && !(d < at_.limit), v);
      if (open && d < at_.limit) bound = min(bound, d + p_.lightest[v]);
    }
    lower(state_.bound[at_.turn], bound);
    __syncthreads();
    const int emptied = at_.far;
    at_.far = at_.spare, at_.spare = emptied;
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

  // As in the literature: pile 0 holds the level of every vertex, pile 1 its lock.
  __device__ bool choose_of_all() {
    for (int64_t base = threadIdx.x & ~31; base < p_.n; base += blockDim.x) {
      const int64_t v = base + (threadIdx.x & 31);
      const T d = v < p_.n && level_of(v) < 0 ? distance_[v] : kUnreached;
      if (d < kUnreached) note(static_cast<int32_t>(v), d);
    }
    // This includes the source's own bound, set by start().
    lower(state_.bound[at_.turn], least_bound_);
    lower(state_.nearest[at_.turn], least_);
    least_bound_ = least_ = kUnreached;
    __syncthreads();
    const T bound = state_.bound[at_.turn], nearest = state_.nearest[at_.turn];
    if (nearest == kUnreached) return false;
    if (threadIdx.x == 0) state_.taken[0] = 0;
    for (int64_t base = threadIdx.x & ~31; base < p_.n; base += blockDim.x) {
      const int64_t v = base + (threadIdx.x & 31);
      const T d = v < p_.n && level_of(v) < 0 ? distance_[v] : kUnreached;
      const bool settle = d < kUnreached && settles(d, bound, nearest);
      append(settled_, &state_.settled, settle, static_cast<int32_t>(v));
      if (settle) level_of(v) = at_.levels;
    }
    return true;
  }

 protected:
  const DijkstraProblem<T>& p_;
  DijkstraState<T>& state_;
  T* distance_;
  int32_t *settled_, *level_, *pile_;
  DijkstraPlace<T> at_;

 private:
  T least_bound_, least_;  // this thread's contribution to the next round's bound
};

}  // namespace torchcent::cuda
