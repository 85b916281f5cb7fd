// Path counting in unweighted graphs: selects the kernel and the batch size.

#include <torch/csrc/stable/library.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/records.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

struct PathArcs {
  const Tensor &rowptr, &col, &colptr, &row;
};

int64_t batch_size(Engine engine, int64_t sources) {
  return engine == Engine::lanes ? kLaneBatch : sources <= kFewSearches ? 1 : kQueueBatch;
}

// The last rung of the ladder is the queue engine's.
std::unique_ptr<Search> make_search(const PathProblem& problem, Engine engine, Rung rung) {
  if (engine == Engine::queue || rung == Rung::wide) return TORCHCENT_CALL_SCALAR(make_queue(problem, rung));
  return TORCHCENT_CALL_LANES(make_lanes(problem, rung));
}

}  // namespace

Tensor path_dependency(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& source_weight,
                       const Tensor& own_weight, const Tensor& target_weight, const Tensor& through_weight,
                       Tensor& scores, Tensor& control, int64_t measure, int64_t engine, int64_t rung,
                       const std::vector<int64_t>& launch, std::optional<Tensor> copies, std::optional<Tensor> limits,
                       bool mirrored) {
  const PathArcs graph = record<PathArcs, 4>(arcs);
  const int64_t threads = launch_of(launch).threads;
  const PathWeights weights = {source_weight, own_weight, target_weight, through_weight};
  PathProblem problem =
      path_problem(view(graph.rowptr, graph.col), view(graph.colptr, graph.row), weights, &control_of(control).cancel,
                   Measure{measure}, copies ? copies->const_data_ptr<double>() : nullptr);
  const int64_t count = sources.numel();
  int64_t size = batch_size(Engine{engine}, count);
  if (limits) {
    problem.limits = limits->const_data_ptr<int64_t>();
    problem.num_limits = limits->numel();
    problem.mirrored = mirrored && problem.plain;
    size = batch_size_within(size, count);
  } else if (size == 1 && !copies) {
    problem.team = std::max<int64_t>(1, threads / std::max<int64_t>(1, count));
  }
  return run_batches(sources, weights, scores, control, size, rung, threads,
                     [&](Rung r) { return make_search(problem, Engine{engine}, r); });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Adds the contributions of the sources to the scores. arcs: rowptr, col, colptr, row. Returns the rung of the
  // overflow ladder that was needed. copies: float64 [n], the number of twins that each vertex stands for
  // (paths/betweenness.h). Of the weighted engines, only dijkstra has the measures by depth, from Measure::linear on.
  // Within limits, in ascending order, each has scores of its own, [limits, n] or [limits, slots], of the targets at
  // most so far from the source; there are no copies then. limits, on the CPU, are int64 for hops, and lengths have the
  // type of the weights, of which int32 ones are below 2^31 - 1. On CUDA there is a search for each limit. mirrored:
  // the graph is symmetric, all calls together have all pairs of vertices, and each counts 1.
  m.def(
      "path_dependency(Tensor[] arcs, Tensor sources, Tensor source_weight, Tensor own_weight, Tensor target_weight, "
      "Tensor through_weight, Tensor(a!) scores, Tensor(b!) control, int measure, int engine, int rung, int[] launch, "
      "Tensor? copies=None, Tensor? limits=None, bool mirrored=False) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("path_dependency", TORCH_BOX(&path_dependency)); }

}  // namespace torchcent
