// The queue engine: one source at a time, for graphs of large diameter.
//
// All values of a source are stored by *place* in the queue, not by vertex. The vertices of a level are contiguous, so
// updating and reading the path counts of the next level touches a small window. Only place[] is accessed at random.
// The search records the arcs (tail place, head place) of the shortest-path DAG, level by level. Counting and the
// backward pass then stream this list without data-dependent branches (successors instead of predecessors: Madduri et
// al. 2009).
#pragma once

#include "paths/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

template <class Count, class Visitor>
class QueueSearch final : public Search {
 public:
  explicit QueueSearch(const PathProblem& problem)
      : problem_(problem),
        place_(problem.out.num_nodes),
        queue_(problem.out.num_nodes + 1 + 2 * kAhead),
        level_(problem.out.num_nodes + 2),
        level_arc_(problem.out.num_nodes + 2),
        arc_(problem.out.num_slots() + 1),
        slot_(Visitor::edges ? problem.out.num_slots() + 1 : 0),
        sigma_(problem.out.num_nodes),
        sum_(problem.out.num_nodes),
        size_(Visitor::edges ? problem.out.num_slots() : problem.out.num_nodes),
        shared_(problem.num_limits > 1 ? size_ : 0),
        deepest_(problem.limits == nullptr ? problem.out.num_nodes : problem.limits[problem.num_limits - 1]) {
    for (int64_t v = 0; v < problem.out.num_nodes; ++v) place_[v] = -1;
  }

  Status run(const PathBatch& batch) override {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      search(static_cast<int32_t>(batch.sources[lane]));
      if (cancelled(problem_.cancel)) return Status::cancelled;
      bool fits = count_paths();
      for (int64_t i = 0, last = 0; i < problem_.num_limits && fits; i = last) {
        const int32_t levels = levels_within(i);
        while (last < problem_.num_limits && levels_within(last) == levels) ++last;
        double* const own = batch.scores + i * size_;
        double* const scores = last - i == 1 ? own : shared_.data();
        fits = problem_.plain ? backward<true>(levels, batch.source_weight[lane], batch.own_weight[lane], scores)
                              : backward<false>(levels, batch.source_weight[lane], batch.own_weight[lane], scores);
        if (last - i > 1) spread(own, last - i);
      }
      forget();
      if (!fits) return Status::overflow;
    }
    return Status::done;
  }

 private:
  struct Arc {
    int32_t tail, head;  // places of the upper and of the lower end
  };
  static_assert(sizeof(Arc) == kPlaceArc && sizeof(Count) <= kWideCount);
  // Prefetch distance: the vertices of a level are scattered over the graph. Past its end, the queue holds vertices of
  // an earlier source, which are harmless.
  static constexpr int32_t kAhead = 8;

  // The levels whose depth is within a limit.
  int32_t levels_within(int64_t limit) const {
    if (problem_.limits == nullptr || problem_.limits[limit] >= levels_) return levels_;
    return static_cast<int32_t>(problem_.limits[limit] + 1);
  }

  // Moves the scores that limits share to those of each.
  void spread(double* scores, int64_t limits) {
    const int64_t entries = Visitor::edges ? level_arc_[levels_] : level_[levels_];
    for (int64_t i = 0; i < entries; ++i) {
      const int64_t at = Visitor::edges ? slot_[i] : queue_[i];
      for (int64_t limit = 0; limit < limits; ++limit) scores[limit * size_ + at] += shared_[at];
      shared_[at] = 0;
    }
  }

  // The three passes are not inlined: in run(), their loops would not fit the registers.

  // Breadth-first search, without branches on the visited state: on a mesh they would be unpredictable.
  [[gnu::noinline]] void search(int32_t source) {
    const int64_t* const rowptr = problem_.out.rowptr;
    const int32_t* const col = problem_.out.col;
    int32_t* const place = place_.data();
    int32_t* const queue = queue_.data();
    Arc* const arc = arc_.data();
    int32_t reached = 1;
    int64_t arcs = 0;
    queue[0] = source;
    place[source] = 0;
    level_[0] = 0;
    levels_ = 0;
    for (int32_t p = 0; p < reached && !cancelled(problem_.cancel);) {
      const int32_t level_end = reached;  // places from here on are one level deeper
      level_arc_[levels_] = arcs;
      level_[++levels_] = level_end;
      if (levels_ > deepest_) break;
      for (; p < level_end; ++p) {
        __builtin_prefetch(rowptr + queue[p + 2 * kAhead]);
        __builtin_prefetch(col + rowptr[queue[p + kAhead]]);
        const int32_t u = queue[p];
        const int64_t end = rowptr[u + 1];
        for (int64_t slot = rowptr[u]; slot < end; ++slot) {
          const int32_t v = col[slot];
          const int32_t known = place[v];
          const int32_t q = known < 0 ? reached : known;
          place[v] = q;
          queue[reached] = v;  // kept only if v is new
          reached += known < 0;
          arc[arcs] = {p, q};
          if constexpr (Visitor::edges) slot_[arcs] = slot;
          arcs += q >= level_end;
        }
      }
    }
    level_arc_[levels_] = arcs;
  }

  [[gnu::noinline]] bool count_paths() {
    const int32_t reached = level_[levels_];
    const int64_t arcs = level_arc_[levels_];
    const Arc* const arc = arc_.data();
    Count* const sigma = sigma_.data();
    sigma[0] = Count(1.0);
    for (int32_t p = 1; p < reached; ++p) sigma[p] = Count(0.0);
    if (problem_.copies == nullptr) {
      for (int64_t i = 0; i < arcs; ++i) sigma[arc[i].head] += carried<Visitor::unit>(sigma[arc[i].tail]);
    } else {
      count_copies();
    }
    if constexpr (__is_same(Count, double)) {
      double largest = 0;
      for (int32_t p = 0; p < reached; ++p) largest = sigma[p] > largest ? sigma[p] : largest;
      return largest < kLargestCount;
    }
    return true;
  }

  // The same where vertices stand for several twins: their paths are counted when a level is complete.
  void count_copies() {
    for (int32_t level = 0; level + 1 < levels_; ++level) {
      for (int64_t i = level_arc_[level]; i < level_arc_[level + 1]; ++i)
        sigma_[arc_[i].head] += carried<Visitor::unit>(sigma_[arc_[i].tail]);
      for (int32_t p = level_[level + 1]; p < level_[level + 2]; ++p)
        sigma_[p] = sigma_[p] * Count(problem_.copies[queue_[p]]);
    }
  }

  // Processes the first levels from the deepest up: the value that each vertex passes up, its score, and the sums of
  // the level above. Returns false if the numbers overflow Count, which can happen for stress only.
  template <bool Plain>
  [[gnu::noinline]] bool backward(int32_t levels, double source_weight, double own_weight, double* scores) {
    const Arc* const arc = arc_.data();
    const int32_t* const queue = queue_.data();
    Count* const sigma = sigma_.data();
    Count* const sum = sum_.data();
    const int32_t reached = level_[levels];
    for (int32_t p = 0; p < reached; ++p) sum[p] = Count(0.0);
    double largest = 0;
    for (int32_t level = levels - 1; level >= 0; --level) {
      const int32_t begin = level_[level], end = level_[level + 1];
      const int64_t arcs_end = level_arc_[level + (level < levels - 1)];  // none leave the deepest level
      // Arcs with the same tail are adjacent: their sum stays in a register, and the last store is the result.
      Count running(0.0);
      int32_t before = -1;
      for (int64_t i = level_arc_[level]; i < arcs_end; ++i) {
        const int32_t p = arc[i].tail;
        const Count passed_up = sum[arc[i].head];  // overwritten below by the previous level
        running = p == before ? running + passed_up : passed_up;
        sum[p] = running;
        before = p;
        if constexpr (Visitor::edges) scores[slot_[i]] += source_weight * double(sigma[p] * passed_up);
      }
      if (level == 0) break;
      const double share = Visitor::target_factor(level, problem_.measure);
      const double weight = source_weight * Visitor::score_factor(level, problem_.measure);
      const bool onward = Visitor::onward(problem_.measure);
      for (int32_t p = begin; p < end; ++p) {
        const int32_t v = queue[p];
        if constexpr (!Visitor::edges) {
          const int32_t ahead = queue[p + kAhead];
          __builtin_prefetch(scores + ahead, 1);
          if constexpr (!Plain) __builtin_prefetch(problem_.target_weight + ahead);
          const Count through(Plain || !problem_.through ? 0.0 : problem_.through_weight[v]);
          scores[v] += weight * double(Visitor::template score<Count>(sigma[p], sum[p], through));
        }
        const Count target(Plain ? share : share * problem_.target_weight[v]);
        sum[p] = Visitor::template passed_up<Count>(target, sigma[p], onward ? sum[p] : Count(0.0));
        if (!Plain && problem_.copies != nullptr) sum[p] = sum[p] * Count(problem_.copies[v]);
        if constexpr (__is_same(Visitor, Stress) && __is_same(Count, double))
          largest = sum[p] > largest ? sum[p] : largest;
      }
    }
    if constexpr (!Visitor::edges) {
      if (own_weight != 0) scores[queue[0]] += own_weight * double(sum[0]);
    }
    return largest < kLargestCount;
  }

  void forget() {
    const int32_t reached = level_[levels_];
    if (reached > problem_.out.num_nodes / 16) {  // streaming is faster than visiting the reached ones
      for (int64_t v = 0; v < problem_.out.num_nodes; ++v) place_[v] = -1;
    } else {
      for (int32_t p = 0; p < reached; ++p) place_[queue_[p]] = -1;
    }
  }

  PathProblem problem_;
  Buffer<int32_t> place_;      // [n] place in the queue, -1 if not reached
  Buffer<int32_t> queue_;      // [n + 1 + ahead] by level; one extra entry for a discarded write
  Buffer<int32_t> level_;      // first place of each level
  Buffer<int64_t> level_arc_;  // first arc out of each level
  Buffer<Arc> arc_;            // of the shortest-path DAG, level by level
  Buffer<int64_t> slot_;       // slots of these arcs, for edge scores
  Buffer<Count> sigma_;        // by place
  Buffer<Count> sum_;          // by place: sum over successors, then the value that the vertex passes up
  int64_t size_;               // of the scores of a limit
  Buffer<double> shared_;      // [n] or [slots] scores of several limits
  int64_t deepest_;            // level that is not searched from
  int32_t levels_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
