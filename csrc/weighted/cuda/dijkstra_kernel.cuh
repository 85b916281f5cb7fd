// The kernel of the dijkstra engine: path counts and dependencies, one level at a time.
//
// No arc between two vertices of a level is tight (weighted/cuda/dijkstra_frontier.cuh). Counts are therefore pulled
// when a level is settled, and dependencies in the backward pass, both in the order of the slots: the bits do not
// depend on the schedule.
#pragma once

#include "weighted/cuda/dijkstra_frontier.cuh"

namespace torchcent::cuda {

struct NoCount {  // distances only
  __device__ explicit NoCount(double) {}
};

// Observes a search (samples/cuda/sample_weights.cuh), or counts paths that begin and end elsewhere than at vertices
// (chains/cuda/chain_kernel.cuh).
struct NoWatch {
  template <class T>
  __device__ void relaxed(int32_t, T) {}
  __device__ void settled(uint32_t) {}
  // Paths that begin at a vertex that has this distance.
  template <class T>
  __device__ int begin(int32_t, T d) const {
    return d == T(0);
  }
  // If it has any: share(slot) is what the targets along an arc pass up to its tail, target(v) the weight of a target,
  // and the dependency of each vertex, times the weight of the source, goes to pass(v, score).
  static constexpr bool shares = false;
};

// unit: as in paths/betweenness.h.
template <class T, class Count, class Watch = NoWatch, bool unit = false>
class DijkstraBlock : public DijkstraFrontier<T> {
  using Base = DijkstraFrontier<T>;
  using Base::at_, Base::distance_, Base::level_, Base::p_, Base::settled_, Base::state_;
  using Base::kUnreached;
  static constexpr bool counts = !__is_same(Count, NoCount);

 public:
  __device__ DijkstraBlock(const DijkstraProblem<T>& problem, DijkstraState<T>& state,
                           const DijkstraPlace<T>& place = {}, const Watch& watch = {})
      : Base(problem, state, place), watch_(watch) {
    if constexpr (counts) {
      sigma_ = static_cast<Count*>(p_.sigma) + blockIdx.x * p_.n;
      scores_ = p_.scores + blockIdx.x * p_.num_limits * p_.score_stride;
    }
  }

  // Distances and path counts of all vertices that source reaches. Returns false if a count (of any block) overflows
  // float64.
  __device__ bool forward(int32_t source) { return forward(DijkstraStart<T>(source)); }
  // From several vertices, a strategy without locks is needed.
  __device__ bool forward(const DijkstraStart<T>& from) {
    this->restart(from.nearest());
    if (threadIdx.x == 0) {
      this->start(from);
      state_.stop = counts ? *const_cast<volatile int*>(&p_.flags->overflow) : 0;
      if constexpr (counts) {
        if (p_.how.locked) sigma_[from.vertex[0]] = Count(1.0);
      }
    }
    __syncthreads();
    if (state_.stop) return false;
    while (advance())
      if (state_.stop) return false;
    __syncthreads();
    return true;
  }

  // Settles a level, counts its paths and relaxes its arcs. Returns false if there is none. state_.stop: a count is too
  // large.
  __device__ bool advance() {
    if (!this->choose()) return false;
    __syncthreads();
    const int begin = at_.reached, end = state_.settled;
    if (threadIdx.x == 0) this->clear(end);
    hand_out(p_.how.node_parallel ? static_cast<int>(p_.n) : end - begin, state_.taken,
             [&](bool valid, int i, int lane) {
               int32_t v = i;
               if (p_.how.node_parallel) valid = valid && this->level_of(v) == at_.levels;
               else if (valid) v = settled_[begin + i];
               expand<true>(valid, v, lane);
             });
    this->pass_on();
    __syncthreads();
    this->descend(end);
    return true;
  }
  // Settles a level and counts only the paths of its vertices for which wanted(v) holds.
  template <class Wanted>
  __device__ void count_next(Wanted wanted) {
    if (!this->choose()) return;
    __syncthreads();
    const int begin = at_.reached, end = state_.settled;
    hand_out(end - begin, state_.taken, [&](bool valid, int i, int lane) {
      const int32_t v = valid ? settled_[begin + i] : 0;
      expand<false>(valid && wanted(v), v, lane);
    });
    __syncthreads();
  }

  // The dependencies within each limit. Path counts are kept for those that follow.
  template <class Visitor>
  __device__ void depend(double weight, double own) {
    if (p_.beyond_limit == nullptr) return backward<Visitor>(weight, own);
    Count* const kept = static_cast<Count*>(p_.kept) + blockIdx.x * p_.n;
    double* const scores = scores_;
    for (int limit = p_.num_limits - 1; limit >= 0; --limit) {
      scores_ = scores + limit * p_.score_stride;
      if (p_.num_limits > 1) {
        const bool keep = limit == p_.num_limits - 1;
        for (int p = threadIdx.x; p < at_.reached; p += blockDim.x) {
          const int32_t v = settled_[p];
          (keep ? kept : sigma_)[v] = (keep ? sigma_ : kept)[v];
        }
        __syncthreads();
      }
      backward<Visitor>(weight, own, p_.beyond_limit[limit]);
    }
    scores_ = scores;
  }

  // Dependencies of the vertices that are nearer than `beyond`, deepest level first; rho replaces sigma.
  template <class Visitor>
  __device__ void backward(double weight, double own, T beyond = kUnreached) {
    const bool targets = p_.flags->targets, through = p_.flags->through;
    double largest = 0;
    if (threadIdx.x == 0) state_.taken[0] = state_.taken[1] = 0;
    __syncthreads();
    int end = at_.reached;
    for (int l = at_.levels - 1; l >= 0; --l) {
      const int begin = level_[l], turn = l & 1;
      if (threadIdx.x == 0) state_.taken[turn ^ 1] = 0;
      hand_out(end - begin, state_.taken + turn, [&](bool valid, int i, int lane) {
        const int32_t v = valid ? settled_[begin + i] : 0;
        const T d = valid ? distance_[v] : T(0);
        if (valid && !(d < beyond)) {
          if (lane == 0) sigma_[v] = Count(0.0);
          valid = false;
        }
        const Count sigma = valid ? sigma_[v] : Count(0.0);
        Count sum(0.0);
        if (valid) {
          const Span span = p_.out_span[v];
          arcs(span, p_.out, lane, distance_, [&](uint32_t j, const Arc<T>& arc, T other) {
            if constexpr (Watch::shares) sum = sum + watch_.share(span.begin + j);
            if (!p_.ties.tight(d, arc.weight, other)) return;
            const Count rho = sigma_[arc.vertex];
            sum = sum + rho;
            if constexpr (Visitor::edges) atomicAdd(scores_ + span.begin + j, weight * double(sigma * rho));
          });
        }
        sum = total(sum);
        const bool by_arc = Visitor::by_depth && p_.measure == Measure::proximal_source;
        Count begun = sigma;  // the paths that count
        if constexpr (Visitor::by_depth) {
          if (by_arc) begun = total(from_source(valid, v, d, lane));
        }
        if (!valid || lane != 0) return;
        if (double(sigma) == 0) return;  // the weights of its arcs are lost in rounding: it has no paths
        if constexpr (Watch::shares) watch_.pass(v, weight * double(sigma * sum));
        if constexpr (!Visitor::edges) {
          if (l == 0) {
            if (own != 0) atomicAdd(scores_ + v, own * double(sum));
          } else {
            const Count h(through ? p_.through_weight[v] : 0.0);
            double score = double(Visitor::template score<Count>(begun, sum, h));
            if constexpr (Visitor::by_depth) {
              if (!by_arc) score *= Visitor::score_factor(static_cast<double>(d), p_.measure);
            }
            if (score != 0) atomicAdd(scores_ + v, weight * score);
          }
        }
        double target = targets ? p_.target_weight[v] : 1.0;
        if constexpr (Watch::shares) target = watch_.target(v);
        if constexpr (Visitor::by_depth)
          target *= l > 0 ? Visitor::target_factor(static_cast<double>(d), p_.measure) : 1;
        const Count b(target);
        const Count onward = Visitor::onward(p_.measure) ? sum : Count(0.0);
        Count passed = stored(Visitor::template passed_up<Count>(b, sigma, onward));
        if (p_.copies != nullptr) passed = stored(passed * Count(p_.copies[v]));
        if constexpr (__is_same(Count, double) && __is_same(Visitor, Stress)) largest = fmax(largest, passed);
        sigma_[v] = passed;
      });
      end = begin;
      __syncthreads();
    }
    if constexpr (__is_same(Count, double) && __is_same(Visitor, Stress)) {
      if (!(largest < kLargestCount)) p_.flags->overflow = 1;
    }
  }

  // Sums over the vertices at a distance > 0 that are nearer than `beyond`, in the order of the vertices.
  __device__ void sums(T beyond, double* sums, double* farthest) const {
    __shared__ double part[4][kDijkstraThreads / 32];
    double value[4] = {};
    for (int64_t v = threadIdx.x; v < p_.n; v += blockDim.x) {
      const T d = distance_[v];
      if (d == T(0) || !(d < beyond)) continue;
      const double far = static_cast<double>(d);
      value[0] += far;
      value[1] += 1 / far;
      value[2] += 1;
      value[3] = fmax(value[3], far);
    }
    for (int k = 0; k < 4; ++k) {
      for (int other = 16; other > 0; other /= 2) {
        const double theirs = __shfl_xor_sync(~0u, value[k], other);
        value[k] = k < 3 ? value[k] + theirs : fmax(value[k], theirs);
      }
      if ((threadIdx.x & 31) == 0) part[k][threadIdx.x / 32] = value[k];
    }
    __syncthreads();
    if (threadIdx.x < 4) {
      double result = 0;
      for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp)
        result = threadIdx.x < 3 ? result + part[threadIdx.x][warp] : fmax(result, part[3][warp]);
      (threadIdx.x < 3 ? sums[threadIdx.x] : *farthest) = result;
    }
    __syncthreads();
  }
  __device__ void row(T* row) const {
    for (int64_t v = threadIdx.x; v < p_.n; v += blockDim.x) {
      const T d = distance_[v];
      row[v] = __is_same(T, uint32_t) && d == kUnreached ? static_cast<T>(-1) : d;
    }
    __syncthreads();
  }

  __device__ const Watch& watch() const { return watch_; }
  __device__ int32_t settled(int i) const { return settled_[i]; }

  // ---- a level

  // Calls visit(valid, i, lane) for all i < count, with 2^shift threads each, by whole warps.
  template <class Visit>
  __device__ void hand_out(int count, int* taken, Visit visit) {
    const int shift = p_.how.shift, lane = threadIdx.x & ((1 << shift) - 1), in_warp = threadIdx.x & 31;
    const auto take = [&] {
      int first = 0;
      if (in_warp == 0) first = atomicAdd(taken, 32 >> shift);
      return __shfl_sync(~0u, first, 0);
    };
    int first = p_.how.cooperative ? take() : (threadIdx.x & ~31) >> shift;
    while (first < count) {
      const int i = first + (in_warp >> shift);
      visit(i < count, i, lane);
      first = p_.how.cooperative ? take() : first + (blockDim.x >> shift);
    }
  }
  // Calls each(j, arc, distance of its other end), four arcs at a time so that their loads overlap.
  template <class Each>
  __device__ void arcs(const Span& span, const Arc<T>* all, int lane, const T* distance, Each each) const {
    const uint32_t width = 1u << p_.how.shift;
    for (uint32_t first = lane; first < span.degree; first += 4 * width) {
      Arc<T> arc[4];
      T other[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k * width < span.degree) arc[k] = all[span.begin + first + k * width];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k * width < span.degree) other[k] = load_relaxed(distance + arc[k].vertex);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k * width < span.degree) each(first + k * width, arc[k], other[k]);
    }
  }
  __device__ Count total(Count sum) const {
    for (int other = 1 << p_.how.shift >> 1; other > 0; other /= 2) sum = sum + exchange(sum, other);
    return sum;
  }

 private:
  // A lane's share of the paths from the source to v along one arc, of which there is at most one.
  __device__ Count from_source(bool valid, int32_t v, T d, int lane) const {
    Count paths(0.0);
    if (!valid) return paths;
    const int32_t source = settled_[0];
    arcs(p_.in_span[v], p_.in, lane, distance_, [&](uint32_t, const Arc<T>& arc, T other) {
      if (arc.vertex == source && p_.ties.tight(other, arc.weight, d)) paths = Count(1.0);
    });
    return paths;
  }
  // Pulls the path count of a newly settled vertex, and relaxes its arcs. In a symmetric graph, both read the same
  // slots: concurrently relaxed distances stay above the level, so that they do not look tight.
  template <bool relaxes>
  __device__ void expand(bool valid, int32_t v, int lane) {
    Count sum(0.0);
    const T d = valid ? distance_[v] : T(0);
    const bool pull = counts && !p_.how.locked, both = p_.in == p_.out;
    if (valid) {
      const Span span = p_.out_span[v];
      if (relaxes && lane == 0) watch_.settled(span.degree);
      if (relaxes || both)
        arcs(span, p_.out, lane, distance_, [&](uint32_t, const Arc<T>& arc, T other) {
          if constexpr (counts) {
            if (p_.how.locked) return relax_locked(v, d, arc);
            if (pull && both && p_.ties.tight(other, arc.weight, d)) sum = sum + carried<unit>(sigma_[arc.vertex]);
          }
          if constexpr (relaxes) {
            if (d + arc.weight < other) watch_.relaxed(arc.vertex, d + arc.weight);
            this->relax(d, arc, other);
          }
        });
      if constexpr (counts) {
        if (pull && !both)
          arcs(p_.in_span[v], p_.in, lane, distance_, [&](uint32_t, const Arc<T>& arc, T other) {
            if (p_.ties.tight(other, arc.weight, d)) sum = sum + carried<unit>(sigma_[arc.vertex]);
          });
      }
    }
    if constexpr (counts) {
      if (pull) sum = total(sum);
      if (!valid || lane != 0) return;
      if (pull) {
        if (p_.copies != nullptr) sum = sum * Count(p_.copies[v]);
        if (const int begun = watch_.begin(v, d)) sum = sum + Count(static_cast<double>(begun));
        sigma_[v] = sum = stored(sum);
      } else {
        sum = sigma_[v];
      }
      if constexpr (__is_same(Count, double)) {
        if (!(sum < kLargestCount)) state_.stop = p_.flags->overflow = 1;
      }
    }
  }
  // Fan, Xu and Zhao 2017, algorithm 4, lines 4 to 13.
  __device__ void relax_locked(int32_t v, T d, const Arc<T>& arc) {
    const int32_t w = arc.vertex;
    const T length = d + arc.weight;
    if (!(length < p_.beyond)) return;
    int32_t* const lock = this->pile(1) + w;
    for (bool waiting = true; waiting;) {
      if (atomicCAS(lock, 0, 1) != 0) continue;
      __threadfence_block();
      T known = load_relaxed(distance_ + w);
      if (length < known) {
        distance_[w] = known = length;
        sigma_[w] = Count(0.0);
      }
      if (d < length && length == known) {
        Count paths = carried<unit>(sigma_[v]);
        if (p_.copies != nullptr) paths = paths * Count(p_.copies[w]);
        sigma_[w] = stored(sigma_[w] + paths);
      }
      __threadfence_block();
      atomicExch(lock, 0);
      waiting = false;
    }
  }

  Count* sigma_ = nullptr;
  double* scores_ = nullptr;
  Watch watch_;
};

template <class T, class Visitor, class Count>
__global__ void __launch_bounds__(kDijkstraThreads, 2)
    dijkstra_paths(const __grid_constant__ DijkstraProblem<T> problem) {
  __shared__ DijkstraState<T> state;
  DijkstraBlock<T, Count, NoWatch, Visitor::unit> search(problem, state);
  for (int64_t i = blockIdx.x; i < problem.count; i += gridDim.x) {
    if (!search.forward(static_cast<int32_t>(problem.vertex[i]))) return;  // retried with wider counts
    search.template depend<Visitor>(problem.weight[i], problem.own[i]);
    search.forget();
  }
}

template <class T>
__global__ void __launch_bounds__(kDijkstraThreads, 2)
    dijkstra_distances(const __grid_constant__ DijkstraProblem<T> problem) {
  __shared__ DijkstraState<T> state;
  DijkstraBlock<T, NoCount> search(problem, state);
  for (int64_t i = blockIdx.x; i < problem.count; i += gridDim.x) {
    search.forward(static_cast<int32_t>(problem.vertex[i]));
    if (problem.rows != nullptr) search.row(static_cast<T*>(problem.rows) + i * problem.n);
    else
      for (int64_t k = 0, at = i * problem.num_limits; k < problem.num_limits; ++k, ++at) {
        const T beyond = problem.beyond_limit == nullptr ? unreached<T> : problem.beyond_limit[k];
        search.sums(beyond, problem.sums + 3 * at, problem.farthest + at);
      }
    search.forget();
  }
}

}  // namespace torchcent::cuda
