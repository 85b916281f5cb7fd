// The queue engine: one source at a time, for graphs of large diameter.
//
// Everything a source computes is stored by *place* in the queue, not by vertex: vertices of one level lie
// side by side, so that adding to the next level's path counts and reading them back touches a small window.
// Only place[] is read at random. The forward pass writes down each arc of the shortest-path DAG once;
// the backward pass streams that list (successors instead of predecessors: Madduri et al. 2009).
// sigma is overwritten by what a vertex passes up (rho or lambda).
#pragma once

#include "measures/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

template <class Count, class Visitor>
class QueueSearch final : public Search {
 public:
  explicit QueueSearch(const PathProblem& problem)
      : problem_(problem),
        place_(problem.out.num_nodes),
        queue_(problem.out.num_nodes + 1),
        sigma_(problem.out.num_nodes + 1),
        successor_(problem.out.num_slots() + 1),
        successor_end_(problem.out.num_nodes + 1),
        successor_slot_(Visitor::edges ? problem.out.num_slots() + 1 : 0) {
    for (int64_t v = 0; v < problem.out.num_nodes; ++v) {
      place_[v] = -1;
      sigma_[v] = Count(0.0);
    }
    sigma_[problem.out.num_nodes] = Count(0.0);
  }

  Status run(const PathBatch& batch) override {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      const bool counted = forward(static_cast<int32_t>(batch.sources[lane]));
      if (counted) {
        if (problem_.plain)
          backward<true>(batch.source_weight[lane], batch.own_weight[lane], batch.scores);
        else
          backward<false>(batch.source_weight[lane], batch.own_weight[lane], batch.scores);
      }
      forget();
      if (!counted || overflow_) return overflow_ = false, Status::overflow;
    }
    return Status::done;
  }

 private:
  // Above this a double's reciprocal or a product with a count of vertices would leave the normal range.
  static constexpr double kLimit = 1e290;

  bool forward(int32_t source) {
    const int64_t* rowptr = problem_.out.rowptr;
    const int32_t* col = problem_.out.col;
    int32_t* place = place_.data();
    int32_t* queue = queue_.data();
    Count* sigma = sigma_.data();
    int32_t* successor = successor_.data();
    int64_t arcs = 0;
    int32_t tail = 1;
    queue[0] = source;
    place[source] = 0;
    sigma[0] = Count(1.0);
    bool fits = true;
    for (int32_t head = 0, level_end; head < tail;) {
      level_end = tail;  // places from here on are one level deeper
      for (; head < level_end; ++head) {
        const int32_t u = queue[head];
        const Count paths = sigma[head];
        if constexpr (__is_same(Count, double)) fits &= paths < kLimit;
        const int64_t end = rowptr[u + 1];
        for (int64_t slot = rowptr[u]; slot < end; ++slot) {
          // Without branches: on a mesh they would be taken at random.
          const int32_t v = col[slot];
          int32_t p = place[v];
          const bool fresh = p < 0;
          p = fresh ? tail : p;
          place[v] = p;
          queue[tail] = v;
          tail += fresh;
          const bool deeper = p >= level_end;
          if constexpr (__is_same(Count, double)) {
            sigma[p] += deeper ? paths : 0.0;
          } else {
            if (deeper) sigma[p] += paths;
          }
          successor[arcs] = p;
          if constexpr (Visitor::edges) successor_slot_[arcs] = slot;
          arcs += deeper;
        }
        successor_end_[head] = arcs;
      }
      if (!fits) break;
    }
    reached_ = tail;
    return fits;
  }

  template <bool Plain>
  void backward(double source_weight, double own_weight, double* scores) {
    Count* passed_up = sigma_.data();
    const int32_t* successor = successor_.data();
    for (int32_t p = reached_ - 1; p >= 0; --p) {
      const int32_t v = queue_[p];
      const Count sigma = passed_up[p];
      const int64_t begin = p == 0 ? 0 : successor_end_[p - 1];
      Count sum(0.0);
      for (int64_t i = begin; i < successor_end_[p]; ++i) sum += passed_up[successor[i]];
      passed_up[p] = Visitor::template passed_up<Count>(Count(Plain ? 1.0 : problem_.target_weight[v]), sigma, sum);
      if constexpr (Visitor::edges) {
        for (int64_t i = begin; i < successor_end_[p]; ++i)
          scores[successor_slot_[i]] += source_weight * double(sigma * passed_up[successor[i]]);
      } else if (p == 0) {
        if (own_weight != 0) scores[v] += own_weight * double(sum);
      } else {
        const Count through(Plain ? 0.0 : problem_.through_weight[v]);
        scores[v] += source_weight * double(Visitor::template score<Count>(sigma, sum, through));
      }
      // Only stress can outgrow its path counts on the way up.
      if constexpr (__is_same(Visitor, Stress) && __is_same(Count, double)) overflow_ |= !(passed_up[p] < kLimit);
    }
  }

  void forget() {
    for (int32_t p = 0; p < reached_; ++p) {
      place_[queue_[p]] = -1;
      sigma_[p] = Count(0.0);
    }
  }

  PathProblem problem_;
  Buffer<int32_t> place_;           // [n] place in the queue, -1 where not reached
  Buffer<int32_t> queue_;           // [n + 1] vertices by level; one spare for the write that is not kept
  Buffer<Count> sigma_;             // [n + 1] by place
  Buffer<int32_t> successor_;       // DAG arcs: the place of the deeper end
  Buffer<int64_t> successor_end_;   // by place
  Buffer<int64_t> successor_slot_;  // DAG arcs: their slot, for edge scores
  int32_t reached_ = 0;
  bool overflow_ = false;
};

}  // namespace torchcent::TORCHCENT_ISA
