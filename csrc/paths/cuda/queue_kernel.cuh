// The kernel of the queue engine: a block per source, for graphs of large diameter.
//
// State is stored by *place* in the queue, as on the CPU (paths/cpu/queue.h), so that it is streamed. A Map
// (paths/cuda/place.cuh) finds the place of a vertex. Sums are pulled in the order of the slots. A score row belongs to
// a single block, which processes its sources in order. The bits of the result therefore do not depend on the schedule.
#pragma once

#include "paths/cuda/pair.cuh"
#include "paths/cuda/problem.cuh"
#include "paths/cuda/strategies.cuh"
#include "paths/workspace.h"

namespace torchcent::cuda {

constexpr int kThreads = 768;     // per block: 42 registers each with two blocks; 1024 would spill
constexpr int kPerProcessor = 2;  // blocks per multiprocessor

struct QueueProblem {
  int64_t n, m;
  int deepest;        // level, at most n: no search goes beyond it
  const int* limits;  // [num_limits] levels, ascending
  int num_limits;
  Measure measure;
  const Span *out, *in;
  const int32_t *col, *row;
  const int32_t *out_vertex, *in_vertex;  // of every slot (edge_parallel)
  const int4* rows;                       // the first slots of every vertex
  uint32_t packed;                        // number of packed slots: 0, or 4 per lane of a vertex
  const double *target_weight, *through_weight;
  const double* copies;  // twins that each vertex stands for; null: one
  // Sources: `chosen` holds indices into the other arrays.
  const int32_t* chosen;
  int count;
  const int64_t* vertex;
  const double *weight, *own;
  Outcome* outcome;
  QueueFlags* flags;
  // Workspace, one part per block.
  int32_t *queue, *level, *place;
  void *sigma, *kept;  // kept: sigma, if there are several limits
  uint8_t* below;
  double* scores;  // [num_limits][score_stride]
  int64_t score_stride;
  int capacity;  // entries of a table
  int shift;     // log2 of the threads per vertex
};

template <class Visitor, class Count, class Map, class Strategy, bool symmetric>
class BlockSearch {
 public:
  __device__ BlockSearch(const QueueProblem& problem, Map& map, Counters& counters)
      : p_(problem), map_(map), counters_(counters) {
    const int64_t b = blockIdx.x;
    queue_ = problem.queue + b * problem.n;
    level_ = problem.level + b * (problem.n + 2);
    sigma_ = static_cast<Count*>(problem.sigma) + b * problem.n;
    below_ = problem.below + b * problem.n;
    scores_ = problem.scores + b * problem.num_limits * problem.score_stride;
    walk_ = {problem.n, problem.m, queue_, problem.place + b * problem.n, problem.shift};
  }

  // Path counts of all vertices that source reaches. Returns false if a level does not fit the tables, or a count (of
  // any block) overflows float64.
  __device__ bool forward(int32_t source) {
    map_.start(source);
    if (threadIdx.x == 0) {
      queue_[0] = source;
      level_[0] = 0;
      level_[1] = 1;
      if constexpr (Strategy::by_slot) sigma_[0] = Count(1.0);  // also without predecessors
      counters_ = {};
    }
    __syncthreads();
    int above = 0, begin = 0, end = 1;
    for (levels_ = 1;; ++levels_) {
      const int turn = levels_ % 3, later = turn == 2 ? 0 : turn + 1;
      int stop = 0;
      if (threadIdx.x == 0) {
        counters_.claimed[later] = counters_.taken[later] = 0;
        if constexpr (__is_same(Count, double)) stop = *const_cast<volatile int*>(&p_.flags->overflow);
      }
      map_.level(above, begin, end, counters_.claimed + turn);
      const Level level = {begin, end, counters_.taken + turn};
      const bool onward = levels_ <= p_.deepest;
      const auto settle = [&](int p, int32_t v, Count sum) {
        if (p_.copies != nullptr) sum = sum * Count(p_.copies[v]);
        sum = p == 0 ? Count(1.0) : stored(sum);
        sigma_[p] = sum;
        if constexpr (__is_same(Count, double)) {
          if (!(sum < kLargestCount)) counters_.full = p_.flags->overflow = 1;
        }
      };
      if constexpr (Strategy::by_slot) {
        const auto claim = [&](int32_t w, int q) {
          if (onward && q == kNew) map_.claim(w);
        };
        if constexpr (!symmetric)
          Strategy::slots(walk_, p_.out_vertex, level, [&](int64_t j) { claim(p_.col[j], map_.find(p_.col[j])); });
        const auto find = [&](int64_t j) { return map_.find(p_.row[j]); };
        const auto term = [&](int64_t j, int, int q) {
          if constexpr (symmetric) claim(p_.row[j], q);
          return q >= 0 ? carried<Visitor::unit>(sigma_[q]) : Count(0.0);
        };
        Strategy::template sums<Count>(walk_, p_.in_vertex, level, find, term, settle);
      } else {
        Strategy::level(walk_, level, [&](bool valid, int p, int32_t v, int lane, int width) {
          unsigned below = 0;
          Count sum = look(valid, v, lane, width, onward, below);
          sum = total(sum, width);
          for (int other = width / 2; other > 0; other /= 2) below |= __shfl_xor_sync(~0u, below, other);
          if (valid && lane == 0) {
            below_[p] = below;
            settle(p, v, sum);
          }
        });
      }
      if (stop) counters_.full = 1;
      __syncthreads();
      const int found = *const_cast<volatile int*>(counters_.claimed + turn);
      if (counters_.full) return false;
      if (found == 0) break;
      above = begin, begin = end, end += found;
      if (threadIdx.x == 0) level_[levels_ + 1] = end;
      map_.descend();
    }
    reached_ = end;
    return true;
  }

  // The dependencies within each limit. Path counts are kept for those that follow.
  __device__ void depend(double weight, double own) {
    Count* const kept = static_cast<Count*>(p_.kept) + blockIdx.x * p_.n;
    double* const scores = scores_;
    for (int limit = p_.num_limits - 1; limit >= 0; --limit) {
      scores_ = scores + limit * p_.score_stride;
      if (p_.num_limits > 1) {
        const bool keep = limit == p_.num_limits - 1;
        for (int p = threadIdx.x; p < reached_; p += blockDim.x) (keep ? kept : sigma_)[p] = (keep ? sigma_ : kept)[p];
        __syncthreads();
      }
      backward(weight, own, min(levels_ - 1, p_.limits[limit]) + 1);
    }
    scores_ = scores;
    map_.forget(reached_);
    __syncthreads();
  }

 private:
  // Dependencies of so many levels, deepest first; rho replaces sigma.
  __device__ void backward(double weight, double own, int levels) {
    const bool targets = p_.flags->targets, through = p_.flags->through;
    double largest = 0;
    if (threadIdx.x < 3) counters_.taken[threadIdx.x] = 0;
    map_.turn();
    __syncthreads();
    int begin = level_[levels - 1], end = level_[levels], below_end = end;
    for (int l = levels - 1; l >= 0; --l) {
      const int upper = l > 0 ? level_[l - 1] : 0;  // prefetched
      const int turn = l % 3, later = turn == 0 ? 2 : turn - 1;
      if (threadIdx.x == 0) counters_.taken[later] = 0;
      map_.ascend_begin();
      const Level level = {begin, end, counters_.taken + turn};
      const auto settle = [&](int p, int32_t v, Count sigma, Count sum) {
        if constexpr (!Visitor::edges) {
          if (l == 0) {
            if (own != 0) atomicAdd(scores_ + v, own * double(sum));
          } else {
            const Count h(through ? p_.through_weight[v] : 0.0);
            if (through || end < below_end) {
              double score = weight * double(Visitor::template score<Count>(sigma, sum, h));
              if constexpr (Visitor::by_depth) score *= Visitor::score_factor(l, p_.measure);
              atomicAdd(scores_ + v, score);
            }
          }
        }
        double target = targets ? p_.target_weight[v] : 1.0;
        if constexpr (Visitor::by_depth) target *= l > 0 ? Visitor::target_factor(l, p_.measure) : 1;
        const Count b(target);
        const Count onward = Visitor::onward(p_.measure) ? sum : Count(0.0);
        Count passed = stored(Visitor::template passed_up<Count>(b, sigma, onward));
        if (p_.copies != nullptr) passed = stored(passed * Count(p_.copies[v]));
        if constexpr (__is_same(Count, double) && __is_same(Visitor, Stress)) largest = fmax(largest, passed);
        sigma_[p] = passed;
        map_.leave(v, p - begin);
      };
      if constexpr (Strategy::by_slot) {
        const auto find = [&](int64_t j) { return map_.below(p_.col[j], end, below_end); };
        const auto term = [&](int64_t j, int p, int q) {
          if (q < 0) return Count(0.0);
          const Count rho = sigma_[q];
          if constexpr (Visitor::edges) atomicAdd(scores_ + j, weight * double(sigma_[p] * rho));
          return rho;
        };
        Strategy::template sums<Count>(walk_, p_.out_vertex, level, find, term,
                                       [&](int p, int32_t v, Count sum) { settle(p, v, sigma_[p], sum); });
        if constexpr (!symmetric) {
          for (int p = begin + threadIdx.x; p < end; p += blockDim.x)
            if (p_.out[queue_[p]].degree == 0) settle(p, queue_[p], sigma_[p], Count(0.0));
        }
      } else {
        Strategy::level(walk_, level, [&](bool valid, int p, int32_t v, int lane, int width) {
          const Count sigma = valid ? sigma_[p] : Count(0.0);
          Count sum(0.0);
          const unsigned below = valid && end < below_end ? below_[p] : 0;
          if (below) sum = sum_below(v, below, weight, sigma, end, below_end, lane, width);
          sum = total(sum, width);
          if (valid && lane == 0) settle(p, v, sigma, sum);
        });
      }
      below_end = end, end = begin, begin = upper;
      __syncthreads();
      map_.ascend();
    }
    if constexpr (__is_same(Count, double) && __is_same(Visitor, Stress)) {
      if (!(largest < kLargestCount)) p_.flags->overflow = 1;
    }
    __syncthreads();
  }

  // Claims the heads of v's arcs if the search goes onward, records which slots lead to the next level, and sums the
  // path counts of the level above.
  __device__ Count look(bool valid, int32_t v, int lane, int width, bool onward, unsigned& below) {
    Count sum(0.0);
    if (!valid) return sum;
    // Four at a time, without a branch between their loads; then the work that needs branches.
    const auto four = [&](int4 slots, uint32_t first) {
      const int32_t w[4] = {slots.x, slots.y, slots.z, slots.w};
      int q[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) q[i] = w[i] < 0 ? kBeside : map_.find(w[i]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (q[i] < kBeside) below |= 1u << min(first + i * width, kLastBit);
        if (symmetric) sum = sum + (q[i] >= 0 ? carried<Visitor::unit>(sigma_[q[i]]) : Count(0.0));
      }
#pragma unroll 1
      for (unsigned left = onward ? (q[0] == kNew) | (q[1] == kNew) << 1 | (q[2] == kNew) << 2 | (q[3] == kNew) << 3
                                  : 0;
           left; left &= left - 1) {
        const unsigned low = left & -left;
        map_.claim(low == 1 ? w[0] : low == 2 ? w[1] : low == 4 ? w[2] : w[3]);
      }
    };
    uint32_t first = lane;
    bool more = true;
    if (p_.packed) {
      four(packed(v, lane, more), first);
      first += p_.packed;
    }
    if (more) {
      const Span span = p_.out[v];
      const int32_t* const col = p_.col + span.begin;
      const auto slot = [&](uint32_t j) { return j < span.degree ? __ldg(col + j) : -1; };
      for (; first < span.degree; first += 4 * width)
        four(make_int4(slot(first), slot(first + width), slot(first + 2 * width), slot(first + 3 * width)), first);
    }
    if constexpr (!symmetric) {
      const Span span = p_.in[v];
      for (uint32_t j = lane; j < span.degree; j += width) {
        const int q = map_.find(p_.row[span.begin + j]);
        if (q >= 0) sum = sum + carried<Visitor::unit>(sigma_[q]);
      }
    }
    return sum;
  }
  __device__ Count sum_below(int32_t v, unsigned below, double weight, Count sigma, int lower_begin, int lower_end,
                             int lane, int width) {
    Count sum(0.0);
    const auto add = [&](uint32_t j, int32_t w) {
      const int q = map_.below(w, lower_begin, lower_end);
      if (q < 0) return;
      const Count rho = sigma_[q];
      sum = sum + rho;
      if constexpr (Visitor::edges) atomicAdd(scores_ + p_.out[v].begin + j, weight * double(sigma * rho));
    };
    uint32_t first = lane;
    bool more = true;
    if (p_.packed) {
      const int4 w = packed(v, lane, more);
      unsigned left = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) left |= (below >> min(first + i * width, kLastBit) & 1) << i;
#pragma unroll 1
      for (; left; left &= left - 1) {
        const unsigned i = __ffs(left) - 1;
        const int32_t x = i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w;
        if (x >= 0) add(first + i * width, x);
      }
      first += p_.packed;
    }
    if (more) {
      const Span span = p_.out[v];
      for (; first < span.degree; first += width)
        if (below >> min(first, kLastBit) & 1) add(first, __ldg(p_.col + span.begin + first));
    }
    return sum;
  }
  // A lane's share of the first slots of v, padded with -1, and whether v has more slots.
  __device__ int4 packed(int32_t v, int lane, bool& more) const {
    int4 w = __ldg(p_.rows + static_cast<int64_t>(v) * (p_.packed / 4) + lane);
    more = w.w >= kMore;
    if (more) w.w -= kMore;
    return w;
  }
  __device__ static Count total(Count sum, int width) {
    for (int other = width / 2; other > 0; other /= 2) sum = sum + exchange(sum, other);
    return sum;
  }

  // One bit per slot of a vertex says whether it leads to the next level; the last bit is shared by all other slots.
  static constexpr unsigned kLastBit = 7;

  const QueueProblem& p_;
  Map& map_;
  Counters& counters_;
  Walk walk_;
  int32_t *queue_, *level_;
  Count* sigma_;
  uint8_t* below_;
  double* scores_;
  int levels_ = 0, reached_ = 0;
};

template <class Visitor, class Count, class Map, class Strategy, bool symmetric>
__global__ void __launch_bounds__(kThreads, kPerProcessor) queue_kernel(const __grid_constant__ QueueProblem problem) {
  extern __shared__ int4 shared[];
  __shared__ Counters counters;
  __shared__ int stop;
  Map map(reinterpret_cast<char*>(shared), problem.capacity, problem.place + blockIdx.x * problem.n,
          problem.queue + blockIdx.x * problem.n, counters);
  BlockSearch<Visitor, Count, Map, Strategy, symmetric> search(problem, map, counters);
  for (int i = blockIdx.x; i < problem.count; i += gridDim.x) {
    if (threadIdx.x == 0) stop = *const_cast<volatile int*>(&problem.flags->overflow);
    __syncthreads();
    if (stop) return;  // the source is processed again with wider counts
    const int s = problem.chosen[i];
    if (!search.forward(static_cast<int32_t>(problem.vertex[s]))) {
      __syncthreads();
      continue;
    }
    search.depend(problem.weight[s], problem.own[s]);
    if (threadIdx.x == 0) problem.outcome[s] = Outcome::done;
  }
}

}  // namespace torchcent::cuda
