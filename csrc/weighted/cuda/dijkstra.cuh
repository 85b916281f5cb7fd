// Host code of the dijkstra engine: workspace, launches, and the ladder of number types.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "weighted/cuda/dijkstra_kernel.cuh"

namespace torchcent::cuda {

// The strategy code for weights: kLocked may be added to all strategies except piles.
inline Traversal traversal(int64_t code, int64_t n, int64_t m, bool exact) {
  const int64_t degree = m / std::max<int64_t>(n, 1);
  const int by_degree = m <= 4 * n ? 0 : degree < 8 ? 1 : degree < 16 ? 2 : degree < 32 ? 3 : degree < 64 ? 4 : 5;
  const bool locked = (code & kLocked) != 0;
  if (locked && !exact) throw std::invalid_argument("the strategy with locks has no tolerance for ties");
  switch (Strategy{code & ~kLocked}) {
    case Strategy::automatic:  // near and far pile, dynamic assignment, threads per vertex by mean degree
    case Strategy::cooperative: return {locked, false, !locked, locked, by_degree};
    case Strategy::node_parallel: return {true, true, false, locked, 0};
    case Strategy::work_efficient: return {true, false, false, locked, 0};
    case Strategy::warp_4: return {true, false, false, locked, 2};
    case Strategy::warp_8: return {true, false, false, locked, 3};
    case Strategy::warp_16: return {true, false, false, locked, 4};
    case Strategy::warp_32: return {true, false, false, locked, 5};
    case Strategy::node_parallel_warp_4: return {true, true, false, locked, 2};
    case Strategy::node_parallel_warp_8: return {true, true, false, locked, 3};
    case Strategy::node_parallel_warp_16: return {true, true, false, locked, 4};
    case Strategy::node_parallel_warp_32: return {true, true, false, locked, 5};
    case Strategy::edge_parallel: break;
  }
  throw std::invalid_argument("no such strategy for weights");
}

inline const Span* spans(const Run& run, const Arcs& arcs, int64_t n) {
  Span* const result = run.scratch.array<Span>(n);
  span_kernel<<<grid_for(run, n), 256, 0, run.stream>>>(arcs.rowptr, n, result);
  check_launch("span_kernel");
  return result;
}

// The lightest weight of every vertex's arcs and, if not null, the heaviest weight and the sum of all.
template <class T>
const T* extreme_arcs(const Run& run, const Arcs& arcs, const T* weight, int64_t n, T* heaviest, double* total) {
  T* const lightest = run.scratch.array<T>(n);
  if (total != nullptr) check(cudaMemsetAsync(total, 0, sizeof *total, run.stream), "memset");
  extreme_arcs_kernel<T>
      <<<grid_for(run, 32 * n), 256, 0, run.stream>>>(arcs.rowptr, weight, n, lightest, heaviest, total);
  check_launch("extreme_arcs_kernel");
  return lightest;
}

// The read-only data of a search.
template <class T>
DijkstraProblem<T> dijkstra_problem(const WeightedGraph<T>& graph, const Run& run, T* heaviest = nullptr) {
  DijkstraProblem<T> problem = {};
  const Graph& paths = graph.paths;
  const int64_t n = problem.n = paths.n, m = problem.m = paths.m;
  if (m > UINT32_MAX) throw std::runtime_error("dijkstra: more than 2^32 - 1 slots");
  problem.ties = {1 + graph.tie_tolerance};
  problem.beyond = graph.beyond;
  problem.num_limits = static_cast<int>(paths.num_limits);
  if (graph.beyond_limit != nullptr) {
    T* const beyond = run.scratch.array<T>(paths.num_limits);
    check(cudaMemcpyAsync(beyond, graph.beyond_limit, paths.num_limits * sizeof(T), cudaMemcpyHostToDevice, run.stream),
          "limits");
    problem.beyond_limit = beyond;
  }
  problem.how = traversal(run.launch.strategy, n, m, problem.ties.factor == 1);
  problem.out_span = spans(run, paths.out, n);
  problem.out = packed_arcs(run, paths.out.col, graph.out_weight, m);
  problem.in_span = graph.symmetric() ? problem.out_span : spans(run, paths.in, n);
  problem.in = graph.symmetric() ? problem.out : packed_arcs(run, paths.in.col, graph.in_weight, m);
  double* const total = run.scratch.array<double>(1);
  problem.lightest = extreme_arcs(run, paths.out, graph.out_weight, n, heaviest, total);
  problem.total = total;
  problem.flags = run.scratch.array<QueueFlags>(1);
  check(cudaMemsetAsync(problem.flags, 0, sizeof(QueueFlags), run.stream), "memset");
  return problem;
}

// The lists of each block (dijkstra_lists), with `count` bytes for the number of paths to a vertex.
template <class T>
void allocate_lists(DijkstraProblem<T>& problem, const Run& run, int64_t blocks, int64_t count) {
  const int64_t n = problem.n;
  problem.distance = run.scratch.array<T>(blocks * n);
  problem.settled = run.scratch.array<int32_t>(blocks * n);
  problem.level = run.scratch.array<int32_t>(blocks * (n + 2));
  problem.pile = run.scratch.array<int32_t>(blocks * 3 * n);
  problem.sigma = count > 0 ? run.scratch.bytes(blocks * n * count) : nullptr;
  problem.kept = count > 0 && problem.num_limits > 1 ? run.scratch.bytes(blocks * n * count) : nullptr;
}

template <class T>
class DijkstraRun {
 public:
  // stride: scores per block; 0: distances only. besides: what a run needs besides its searches.
  DijkstraRun(const WeightedGraph<T>& graph, const Sources& sources, const Run& run, int64_t stride,
              const Workspace& besides = {})
      : sources_(sources), run_(run), n_(graph.paths.n), m_(graph.paths.m), problem_(dijkstra_problem(graph, run)) {
    problem_.target_weight = graph.paths.target_weight;
    problem_.through_weight = graph.paths.through_weight;
    problem_.copies = graph.paths.copies;
    problem_.measure = graph.paths.measure;
    problem_.score_stride = stride;
    const Workspace own = dijkstra_workspace<T>(graph.sizes(false), stride);
    allocate(own.fixed + besides.fixed, own.total() + besides.total());
  }

  template <class Visitor>
  Rung paths(double* scores, Rung first) {
    weights_kernel<<<grid_for(run_, n_), 256, 0, run_.stream>>>(problem_.target_weight, problem_.through_weight, n_,
                                                                problem_.flags);
    check_launch("weights_kernel");
    return ladder(scores, first, [&](auto count, int64_t, int blocks) {
      dijkstra_paths<T, Visitor, decltype(count)><<<blocks, threads_, 0, run_.stream>>>(problem_);
    });
  }

  // Computes either rows [sources][n], or sums [sources][limits][3] and farthest [sources][limits].
  void distances(T* rows, double* sums, double* farthest) {
    begin();
    launch([&](int64_t first, int blocks) {
      problem_.rows = rows == nullptr ? nullptr : rows + first * n_;
      problem_.sums = sums + 3 * first * problem_.num_limits;
      problem_.farthest = farthest + first * problem_.num_limits;
      dijkstra_distances<T><<<blocks, threads_, 0, run_.stream>>>(problem_);
    });
  }

 protected:
  // start(count, first, blocks) launches the kernel for the sources from `first` on, with counts of this type, which
  // adds to the row of scores of each block. The sum of the rows is added to scores.
  template <class Start>
  Rung ladder(double* scores, Rung first, Start start) {
    if (first != Rung::wide) {
      if (attempt<double>(scores, start)) return Rung::float64;
      if (run_.cancelled()) return Rung::float64;
    }
    attempt<Pair>(scores, start);
    return Rung::wide;
  }

  const Sources sources_;
  const Run& run_;
  const int64_t n_, m_;
  DijkstraProblem<T> problem_;
  int blocks_ = 1, threads_ = kDijkstraThreads;

 private:
  // Sources x slots per launch, about a tenth of a second, and sources per block: they limit the delay of a
  // cancellation.
  static constexpr int64_t kWork = int64_t{1} << 30, kMostRounds = 16;

  // Of a block, for all limits.
  int64_t all_scores() const { return problem_.num_limits * problem_.score_stride; }

  // Allocates as many blocks as the memory limit and the GPU allow. With few sources, each gets more threads.
  void allocate(int64_t fixed, int64_t each) {
    const int64_t stride = all_scores();
    int64_t share = run_.launch.blocks;
    if (share == 0) share = std::min<int64_t>(4, (sources_.count + run_.processors - 1) / run_.processors);
    threads_ = share <= 2 ? kDijkstraThreads : kDijkstraThreads / 2;
    const int64_t most = std::min<int64_t>(sources_.count, run_.processors * share);
    blocks_ = static_cast<int>(std::max<int64_t>(1, std::min(most, (run_.control.bytes - fixed) / each)));
    allocate_lists(problem_, run_, blocks_, stride > 0 ? bytes_of<double>(1) : 0);
    problem_.scores = stride > 0 ? run_.scratch.template array<double>(blocks_ * stride) : nullptr;
  }

  // Initialises the state that every search expects and restores, unless it is interrupted.
  void begin() {
    fill(run_, problem_.distance, blocks_ * n_, unreached<T>);
    if (!problem_.how.whole_graph) return;
    for (int64_t b = 0; b < blocks_; ++b) {
      int32_t* const level = problem_.pile + b * 3 * n_;
      check(cudaMemsetAsync(level, 0xff, n_ * 4, run_.stream), "memset");
      check(cudaMemsetAsync(level + n_, 0, n_ * 4, run_.stream), "memset");  // the locks
    }
  }

  // Returns false on overflow and cancellation.
  template <class Start>
  bool launch(Start start) {
    const int64_t rounds = kWork / std::max<int64_t>(1, blocks_ * m_);
    const int64_t step = blocks_ * std::clamp<int64_t>(rounds, 1, kMostRounds);
    for (int64_t first = 0; first < sources_.count; first += step) {
      if (run_.cancelled()) return false;
      problem_.count = std::min(step, sources_.count - first);
      problem_.vertex = sources_.vertex + first;
      problem_.weight = sources_.weight + first;
      problem_.own = sources_.own + first;
      start(first, static_cast<int>(std::min<int64_t>(blocks_, problem_.count)));
      check_launch("dijkstra");
      QueueFlags flags;
      to_host(&flags, problem_.flags, sizeof flags, run_.stream, "dijkstra");
      if (flags.overflow) return false;
      counted_ += problem_.count;
      finish(run_, problem_.count);
    }
    return true;
  }

  // Processes every source with this Count. Returns false if one overflows; the scores are then unchanged.
  template <class Count, class Start>
  bool attempt(double* scores, Start start) {
    const int64_t stride = all_scores();
    check(cudaMemsetAsync(&problem_.flags->overflow, 0, sizeof(int), run_.stream), "memset");
    check(cudaMemsetAsync(problem_.scores, 0, blocks_ * stride * 8, run_.stream), "memset");
    begin();
    if (!launch([&](int64_t from, int blocks) { start(Count(), from, blocks); })) {
      finish(run_, -counted_);
      counted_ = 0;
      return false;
    }
    add_rows_kernel<<<grid_for(run_, stride), 256, 0, run_.stream>>>(problem_.scores, blocks_, stride, scores);
    check_launch("add_rows_kernel");
    return true;
  }

  int64_t counted_ = 0;
};

template <class T, class Visitor>
Rung dijkstra_run(const WeightedGraph<T>& graph, const Sources& sources, double* scores, Rung first, const Run& run) {
  const int64_t stride = Visitor::edges ? graph.paths.m : graph.paths.n;
  if (sources.count == 0 || stride == 0) {
    finish(run, sources.count);
    return std::max(first, Rung::float64);
  }
  return DijkstraRun<T>(graph, sources, run, stride).template paths<Visitor>(scores, first);
}

}  // namespace torchcent::cuda
