// The path-counting operator on CUDA: arguments, memory, and the choice of engine and measure.

#include <torch/csrc/stable/library.h>

#include <optional>
#include <vector>

#include "paths/cuda/lanes.cuh"
#include "paths/cuda/queue.cuh"
#include "core/cuda/scratch.cuh"
#include "core/records.h"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

struct PathArcs {
  const Tensor &rowptr, &col, &colptr, &row;
};

Rung run_engine(Engine engine, const Graph& graph, const Sources& sources, double* scores, Rung rung, const Run& run) {
  return with_visitor(graph.measure, [&](auto visitor) {
    using Visitor = decltype(visitor);
    return engine == Engine::lanes ? lanes_run<Visitor>(graph, sources, scores, rung, run)
                                   : queue_run<Visitor>(graph, sources, scores, rung, run);
  });
}

}  // namespace

// Synchronises with the device, because the rung is returned.
Tensor path_dependency(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& source_weight,
                       const Tensor& own_weight, const Tensor& target_weight, const Tensor& through_weight,
                       Tensor& scores, Tensor& control, int64_t measure, int64_t engine, int64_t rung,
                       const std::vector<int64_t>& launch, std::optional<Tensor> copies, std::optional<Tensor> limits,
                       bool) {
  const auto [rowptr, col, colptr, row] = record<PathArcs, 4>(arcs);
  const int32_t device = rowptr.get_device_index();
  same_device("path_dependency", device,
              {&col, &colptr, &row, &sources, &source_weight, &own_weight, &target_weight, &through_weight, &scores});
  if (copies) same_device("path_dependency", device, {&*copies});
  const torch::stable::accelerator::DeviceGuard guard(device);
  Tensor result = torch::stable::new_empty(control, {1});
  int64_t* const highest = result.mutable_data_ptr<int64_t>();
  *highest = rung;
  Graph graph = {rowptr.numel() - 1,
                 col.numel(),
                 {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()},
                 {colptr.const_data_ptr<int64_t>(), row.const_data_ptr<int32_t>()},
                 target_weight.const_data_ptr<double>(),
                 through_weight.const_data_ptr<double>(),
                 copies ? copies->const_data_ptr<double>() : nullptr};
  const Sources all = {sources.numel(), sources.const_data_ptr<int64_t>(), source_weight.const_data_ptr<double>(),
                       own_weight.const_data_ptr<double>()};
  if (graph.n == 0 || all.count == 0) return result;
  TensorScratch scratch(rowptr);
  const Run run = run_on(device, scratch, control, launch_of(launch));
  graph.measure = Measure{measure};
  if (limits) {
    graph.limits = limits->const_data_ptr<int64_t>();
    graph.num_limits = limits->numel();
    graph.deepest = graph.num_limits > 0 ? graph.limits[graph.num_limits - 1] : 0;
    if (graph.deepest <= 0) {  // no pairs are so near
      finish(run, all.count);
      return result;
    }
  }
  double* const target = scores.mutable_data_ptr<double>();
  *highest = static_cast<int64_t>(run_engine(Engine{engine}, graph, all, target, Rung{rung}, run));
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("path_dependency", TORCH_BOX(&path_dependency)); }

}  // namespace torchcent::cuda
