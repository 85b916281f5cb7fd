// Path counts and dependencies of one source over the arcs of its shortest-path DAG, listed in topological order: each
// arc comes after all arcs into its tail; on the way back, after all arcs out of its head. Both passes stream the list
// without data-dependent branches.
#pragma once

#include "paths/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

struct DagArc {
  int32_t tail, head;  // ids: any numbering of the vertices in [0, ids)
};
static_assert(sizeof(DagArc) == kPlaceArc);

// The DAG of one source.
struct Dag {
  const DagArc* arc;
  const int64_t* slot;  // of every arc, for edge scores
  int64_t arcs;
  const int32_t* vertex;  // of every id, if ids are not vertex numbers
  int32_t ids;
  int32_t source;                    // an id
  const double* distance = nullptr;  // of every id, for visitors by depth
};

template <class Count, class Visitor>
class DagPass {
 public:
  explicit DagPass(const PathProblem& problem)
      : problem_(problem), sigma_(problem.out.num_nodes), share_(problem.out.num_nodes) {}

  Status run(const Dag& dag, double source_weight, double own_weight, double* scores) {
    const Status counted = count(dag);
    return counted == Status::done ? back(dag, source_weight, own_weight, scores) : counted;
  }

  Status count(const Dag& dag) {
    return (problem_.copies != nullptr ? count_paths<true>(dag) : count_paths<false>(dag)) ? Status::done
                                                                                           : Status::cancelled;
  }

  // The vertex of this id counts no longer.
  void leave_out(int32_t id) { sigma_[id] = Count(0.0); }

  // The scores, once paths have been counted.
  Status back(const Dag& dag, double source_weight, double own_weight, double* scores) {
    const bool copies = problem_.copies != nullptr;
    const bool plain = problem_.plain;
    const bool fits = dag.vertex == nullptr ? (plain ? begin<true, false>(dag) : begin<false, false>(dag))
                                            : (plain ? begin<true, true>(dag) : begin<false, true>(dag));
    if (!fits) return Status::overflow;
    if (!(copies ? backward<true>(dag, source_weight, scores) : backward<false>(dag, source_weight, scores)))
      return Status::cancelled;
    if constexpr (Visitor::edges) return Status::done;
    if (Visitor::by_depth && problem_.measure == Measure::proximal_source) {
      score_neighbours(dag, source_weight, scores);
      return Status::done;
    }
    const bool scored = dag.vertex == nullptr ? (plain ? score<true, false>(dag, source_weight, own_weight, scores)
                                                       : score<false, false>(dag, source_weight, own_weight, scores))
                                              : (plain ? score<true, true>(dag, source_weight, own_weight, scores)
                                                       : score<false, true>(dag, source_weight, own_weight, scores));
    return scored ? Status::done : Status::overflow;
  }

 private:
  // The value that a vertex passes up: its own share and the sum over its successors, stored together because both are
  // read at once.
  struct Share {
    Count own, sum;
  };
  static constexpr int64_t kArcs = 1 << 16;  // between two checks of the cancel flag
  static constexpr int32_t kAhead = 8;

  // The part of passed_up() that the sum over successors makes.
  static Count onward_share(Count sum, Count sigma) {
    if constexpr (Visitor::unit) return sum / sigma;
    else return sum;
  }

  // The number of twins that the vertex of this id stands for.
  Count copies(const Dag& dag, int32_t id) const {
    return Count(problem_.copies[dag.vertex == nullptr ? id : dag.vertex[id]]);
  }

  template <bool Copies>
  [[gnu::noinline]] bool count_paths(const Dag& dag) {
    Count* const sigma = sigma_.data();
    for (int32_t p = 0; p < dag.ids; ++p) sigma[p] = Count(0.0);
    sigma[dag.source] = Count(1.0);
    for (int64_t i = 0; i < dag.arcs;) {
      if (cancelled(problem_.cancel)) return false;
      for (const int64_t end = i + kArcs < dag.arcs ? i + kArcs : dag.arcs; i < end; ++i) {
        Count paths = carried<Visitor::unit>(sigma[dag.arc[i].tail]);
        if constexpr (Copies) paths = paths * copies(dag, dag.arc[i].head);
        sigma[dag.arc[i].head] += paths;
      }
    }
    return true;
  }

  // Initialises the values that vertices pass up, before their successors are known.
  template <bool Plain, bool Mapped>
  [[gnu::noinline]] bool begin(const Dag& dag) {
    const Count* const sigma = sigma_.data();
    Share* const share = share_.data();
    double largest = 0;
    for (int32_t p = 0; p < dag.ids; ++p) {
      const double weight = Plain ? 1.0 : problem_.target_weight[Mapped ? dag.vertex[p] : p];
      const bool scaled = Visitor::by_depth && p != dag.source;
      const Count target(scaled ? weight * Visitor::target_factor(dag.distance[p], problem_.measure) : weight);
      share[p].own = Visitor::template passed_up<Count>(target, sigma[p], Count(0.0));  // not read if sigma is 0
      share[p].sum = Count(0.0);
      if constexpr (__is_same(Count, double)) largest = sigma[p] > largest ? sigma[p] : largest;
    }
    return largest < kLargestCount;
  }

  template <bool Copies>
  [[gnu::noinline]] bool backward(const Dag& dag, double source_weight, double* scores) {
    const Count* const sigma = sigma_.data();
    Share* const share = share_.data();
    const bool onward = Visitor::onward(problem_.measure);
    for (int64_t i = dag.arcs; i > 0;) {
      if (cancelled(problem_.cancel)) return false;
      for (const int64_t begin = i > kArcs ? i - kArcs : 0; i > begin;) {
        const DagArc arc = dag.arc[--i];
        const Share& head = share[arc.head];
        Count passed_up = onward ? head.own + onward_share(head.sum, sigma[arc.head]) : head.own;
        if constexpr (Copies) passed_up = passed_up * copies(dag, arc.head);
        share[arc.tail].sum += passed_up;
        if constexpr (Visitor::edges) {
          __builtin_prefetch(scores + dag.slot[i > kAhead ? i - kAhead : 0], 1);
          scores[dag.slot[i]] += source_weight * double(sigma[arc.tail] * passed_up);
        }
      }
    }
    return true;
  }

  template <bool Plain, bool Mapped>
  [[gnu::noinline]] bool score(const Dag& dag, double source_weight, double own_weight, double* scores) {
    const Count* const sigma = sigma_.data();
    const Share* const share = share_.data();
    double largest = 0;
    for (int32_t p = 0; p < dag.ids; ++p) {
      const int32_t v = Mapped ? dag.vertex[p] : p;
      if constexpr (Mapped) __builtin_prefetch(scores + dag.vertex[p + kAhead < dag.ids ? p + kAhead : p], 1);
      if (p == dag.source || double(sigma[p]) == 0) continue;
      const Count through(Plain || !problem_.through ? 0.0 : problem_.through_weight[v]);
      double weight = source_weight;
      if constexpr (Visitor::by_depth) weight *= Visitor::score_factor(dag.distance[p], problem_.measure);
      scores[v] += weight * double(Visitor::template score<Count>(sigma[p], share[p].sum, through));
      if constexpr (__is_same(Visitor, Stress) && __is_same(Count, double))
        largest = share[p].sum > largest ? share[p].sum : largest;
    }
    const int32_t s = Mapped ? dag.vertex[dag.source] : dag.source;
    if (own_weight != 0) scores[s] += own_weight * double(share[dag.source].sum);
    return largest < kLargestCount;
  }

  // A proximal source: the paths whose first arc leads to a vertex. The arcs out of the source are the first of the
  // list.
  void score_neighbours(const Dag& dag, double source_weight, double* scores) {
    for (int64_t i = 0; i < dag.arcs && dag.arc[i].tail == dag.source; ++i) {
      const int32_t p = dag.arc[i].head;
      scores[dag.vertex == nullptr ? p : dag.vertex[p]] += source_weight * double(share_[p].sum);
    }
  }

  PathProblem problem_;
  Buffer<Count> sigma_;  // by id
  Buffer<Share> share_;  // by id
};

}  // namespace torchcent::TORCHCENT_ISA
