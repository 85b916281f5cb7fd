// Distances and path counts from the kept vertices that a batch of sweeps needs.
#pragma once

#include "chains/cpu/chain_paths.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Count>
class ChainRows {
 public:
  // What a search from a kept vertex found. Vertices and chains are counted from the first of their component.
  struct Row {
    const T* distance;
    const Count* sigma;
    const int32_t* meeting;  // Meeting::packed
    const DagArc* arc;       // between vertices, in the order of a Dag
    const int64_t* slot;
    int64_t arcs;
  };

  explicit ChainRows(const ChainProblem<T>& problem)
      : problem_(problem),
        dijkstra_(contracted(problem), true, true, false),
        number_(graph_.kept),
        root_(problem.most_rows),
        arcs_(problem.most_rows),
        distance_(problem.most_rows * nodes_),
        sigma_(problem.most_rows * nodes_),
        meeting_(problem.most_rows * chains_),
        arc_(problem.most_rows * problem.components.most_arcs),
        slot_(problem.most_rows * problem.components.most_arcs),
        vertex_(nodes_),
        counted_(nodes_) {
    for (int64_t v = 0; v < graph_.kept; ++v) number_[v] = -1;
  }

  bool has(int64_t root) const { return number_[root] >= 0; }
  // Searches from a vertex, unless its row is kept already.
  Status ensure(int32_t root) {
    if (number_[root] >= 0) return Status::done;
    const int64_t r = count_++;
    number_[root] = static_cast<int32_t>(r);
    root_[r] = root;
    if (!dijkstra_.template search<true, true>(root)) return Status::cancelled;
    const Dag dag = dijkstra_.template arcs<true>();
    Count* const counted = counted_.data();
    for (int32_t p = 1; p < dag.ids; ++p) counted[p] = Count(0.0);
    counted[0] = Count(1.0);
    const bool fits = count_paths(dag, counted);
    if (fits) keep(r, dag);
    dijkstra_.forget();
    return fits ? Status::done : Status::overflow;
  }

  Row at(int32_t root) const {
    const int64_t r = number_[root], first = r * problem_.components.most_arcs;
    return {distance_.data() + r * nodes_, sigma_.data() + r * nodes_, meeting_.data() + r * chains_,
            arc_.data() + first,           slot_.data() + first,       arcs_[r]};
  }

  void clear() {
    for (int64_t r = 0; r < count_; ++r) number_[root_[r]] = -1;
    count_ = 0;
  }

 private:
  void keep(int64_t r, const Dag& dag) {
    const int64_t begin = problem_.components.begin[root_[r]];
    T* const distance = distance_.data() + r * nodes_;
    Count* const sigma = sigma_.data() + r * nodes_;
    int32_t* const vertex = vertex_.data();
    for (int32_t p = 0; p < dag.ids; ++p) {
      const int64_t v = dag.vertex[p] - begin;
      vertex[p] = static_cast<int32_t>(v);
      distance[v] = dijkstra_.distances()[dag.vertex[p]];
      sigma[v] = counted_[p];
    }
    DagArc* const arc = arc_.data() + r * problem_.components.most_arcs;
    int64_t* const slot = slot_.data() + r * problem_.components.most_arcs;
    for (int64_t i = 0; i < dag.arcs; ++i) {
      arc[i] = {vertex[dag.arc[i].tail], vertex[dag.arc[i].head]};
      slot[i] = dag.slot[i];
    }
    arcs_[r] = dag.arcs;
    int32_t* const code = meeting_.data() + r * chains_;
    const int64_t first = problem_.components.chains[begin], last = problem_.components.chains[begin + dag.ids];
    for (int64_t c = first; c < last; ++c) {
      const ChainRecord<T>& record = problem_.record[c];
      const T left = distance[record.ends[0] - begin], right = distance[record.ends[1] - begin];
      code[c - first] = meeting(graph_, c, record, left, right).packed();
    }
  }

  const ChainProblem<T>& problem_;
  const ChainGraph<T>& graph_ = problem_.graph;
  const int64_t nodes_ = problem_.components.most_kept, chains_ = problem_.components.most_chains;
  Dijkstra<T> dijkstra_;
  int64_t count_ = 0;
  Buffer<int32_t> number_;  // [kept] of the row, -1: none
  Buffer<int32_t> root_;    // [rows], like all that follow
  Buffer<int64_t> arcs_;
  Buffer<T> distance_;
  Buffer<Count> sigma_;
  Buffer<int32_t> meeting_;
  Buffer<DagArc> arc_;
  Buffer<int64_t> slot_;
  Buffer<int32_t> vertex_;  // by place, of one search
  Buffer<Count> counted_;   // by place
};

}  // namespace torchcent::TORCHCENT_ISA
