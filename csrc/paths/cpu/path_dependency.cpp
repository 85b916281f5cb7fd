// Path counting in unweighted graphs: selects the kernel and the batch size.

#include <torch/csrc/stable/library.h>

#include <memory>
#include <optional>

#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

int64_t batch_size(Engine engine, int64_t sources) {
  return engine == Engine::lanes ? kLaneBatch : sources <= kFewSearches ? 1 : kQueueBatch;
}

// The last rung of the ladder is the queue engine's.
std::unique_ptr<Search> make_search(const PathProblem& problem, Engine engine, Rung rung) {
  if (engine == Engine::queue || rung == Rung::wide) return TORCHCENT_CALL_SCALAR(make_queue(problem, rung));
  return TORCHCENT_CALL_LANES(make_lanes(problem, rung));
}

}  // namespace

Tensor path_dependency(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                       const Tensor& sources, const Tensor& source_weight, const Tensor& own_weight,
                       const Tensor& target_weight, const Tensor& through_weight, Tensor& scores, Tensor& control,
                       int64_t measure, int64_t engine, int64_t rung, int64_t threads, int64_t, int64_t, int64_t,
                       int64_t, std::optional<Tensor> copies, std::optional<Tensor> limits, bool mirrored) {
  const PathWeights weights = {source_weight, own_weight, target_weight, through_weight};
  PathProblem problem = path_problem(view(rowptr, col), view(colptr, row), weights, &control_of(control).cancel,
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

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("path_dependency", TORCH_BOX(&path_dependency)); }

}  // namespace torchcent
