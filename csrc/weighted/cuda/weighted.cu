// The operators for weighted graphs on CUDA: path counting, sums of distances, rows of distances.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "core/records.h"
#include "weighted/weighted_search.h"
#include "weighted/cuda/relax_distances.cuh"
#include "weighted/cuda/weighted_tensors.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

template <class T>
Rung dependency(const WeightedGraph<T>& graph, const Sources& sources, double* scores, Measure measure,
                WeightedEngine engine, Rung rung, const Run& run) {
  return with_visitor(measure, [&](auto visitor) {
    using Visitor = decltype(visitor);
    if constexpr (!Visitor::by_depth)
      if (engine == WeightedEngine::relax) return relax_run<T, Visitor>(graph, sources, scores, rung, run);
    return dijkstra_run<T, Visitor>(graph, sources, scores, rung, run);
  });
}

template <class T>
void distances(const WeightedGraph<T>& graph, const Sources& sources, T* rows, double* sums, double* farthest,
               WeightedEngine engine, const Run& run) {
  if (engine == WeightedEngine::relax) relax_distances<T>(graph, sources, rows, sums, farthest, run);
  else DijkstraRun<T>(graph, sources, run, 0).distances(rows, sums, farthest);
}

// The smallest number above a limit. A limit of int32 is below 2^31 - 1.
double above(double limit) { return std::nextafter(limit, unreached<double>); }
uint32_t above(int32_t limit) { return static_cast<uint32_t>(limit) + 1; }

// A graph in which searches end at the last limit, and the numbers above its limits.
template <class T>
struct Within {
  WeightedGraph<T> graph;
  std::vector<T> beyond;

  template <class Limit>
  Within(const WeightedGraph<T>& whole, const Limit* limit, int64_t count) : graph(whole) {
    if (count == 0) return;
    std::transform(limit, limit + count, std::back_inserter(beyond), [](Limit length) { return above(length); });
    graph.beyond = beyond.back();
    graph.beyond_limit = beyond.data();
    graph.paths.num_limits = count;
  }
  Within(const Within&) = delete;
};

template <class T, class Limit>
Rung dependency_within(WeightedGraph<T> graph, const Sources& sources, Tensor& scores, Measure measure,
                       WeightedEngine engine, Rung rung, const Run& run, const std::optional<Tensor>& limits) {
  graph.paths.measure = measure;
  const Limit* const limit = limits ? limits->const_data_ptr<Limit>() : nullptr;
  const int64_t count = limits ? limits->numel() : 0;
  if (limits && (count == 0 || !(limit[count - 1] > 0))) {  // no pairs are so near
    finish(run, sources.count);
    return rung;
  }
  const Within<T> within(graph, limit, count);
  return dependency(within.graph, sources, scores.mutable_data_ptr<double>(), measure, engine, rung, run);
}

template <class T, class Limit>
void distances_within(const WeightedGraph<T>& graph, const Sources& sources, T* rows, double* sums, double* farthest,
                      WeightedEngine engine, const Run& run, const std::optional<Tensor>& limits) {
  const Within<T> within(graph, limits ? limits->const_data_ptr<Limit>() : nullptr, limits ? limits->numel() : 0);
  distances(within.graph, sources, rows, sums, farthest, engine, run);
}

// Computes rows if it is not null, otherwise sums and farthest.
void any_distances(const WeightedTensors& tensors, const Tensor& sources, void* rows, double* sums, double* farthest,
                   Tensor& control, int64_t engine, const Launch& launch, const std::optional<Tensor>& limits) {
  const torch::stable::accelerator::DeviceGuard guard(tensors.device());
  const Sources all = {sources.numel(), sources.const_data_ptr<int64_t>(), nullptr, nullptr};
  if (all.count == 0 || tensors.rowptr.numel() <= 1) return;
  TensorScratch scratch(tensors.rowptr);
  const Run run = run_on(tensors.device(), scratch, control, launch);
  if (tensors.whole())
    distances_within<uint32_t, int32_t>(tensors.graph<uint32_t>(nullptr, nullptr, 0), all, static_cast<uint32_t*>(rows),
                                        sums, farthest, WeightedEngine{engine}, run, limits);
  else
    distances_within<double, double>(tensors.graph<double>(nullptr, nullptr, 0), all, static_cast<double*>(rows), sums,
                                     farthest, WeightedEngine{engine}, run, limits);
}

}  // namespace

// Synchronises with the device.
Tensor weighted_dependency(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& source_weight,
                           const Tensor& own_weight, const Tensor& target_weight, const Tensor& through_weight,
                           Tensor& scores, Tensor& control, int64_t measure, int64_t engine, int64_t rung,
                           const std::vector<int64_t>& launch, double tie_tolerance, std::optional<Tensor> copies,
                           std::optional<Tensor> limits) {
  const WeightedTensors tensors = record<WeightedTensors, 6>(arcs);
  same_device("weighted_dependency", tensors.device(),
              {&tensors.col, &tensors.weight, &tensors.colptr, &tensors.row, &tensors.back_weight, &sources,
               &source_weight, &own_weight, &target_weight, &through_weight, &scores});
  if (copies) same_device("weighted_dependency", tensors.device(), {&*copies});
  const torch::stable::accelerator::DeviceGuard guard(tensors.device());
  Tensor result = torch::stable::new_empty(control, {1});
  int64_t* const highest = result.mutable_data_ptr<int64_t>();
  *highest = std::max<int64_t>(rung, static_cast<int64_t>(Rung::float64));  // counts do not use float32 here
  const Sources all = {sources.numel(), sources.const_data_ptr<int64_t>(), source_weight.const_data_ptr<double>(),
                       own_weight.const_data_ptr<double>()};
  if (all.count == 0 || tensors.rowptr.numel() <= 1) return result;
  TensorScratch scratch(tensors.rowptr);
  const Run run = run_on(tensors.device(), scratch, control, launch_of(launch));
  const double *const b = target_weight.const_data_ptr<double>(), *const h = through_weight.const_data_ptr<double>();
  const double* const c = copies ? copies->const_data_ptr<double>() : nullptr;
  const auto with = [&](auto graph, auto run_with) {
    return run_with(graph, all, scores, Measure{measure}, WeightedEngine{engine}, Rung{*highest}, run, limits);
  };
  const Rung used = tensors.whole()
                        ? with(tensors.graph<uint32_t>(b, h, tie_tolerance, c), dependency_within<uint32_t, int32_t>)
                        : with(tensors.graph<double>(b, h, tie_tolerance, c), dependency_within<double, double>);
  *highest = static_cast<int64_t>(used);
  return result;
}

void weighted_source_sums(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& sums, Tensor& farthest,
                          Tensor& control, int64_t engine, const std::vector<int64_t>& launch,
                          std::optional<Tensor> limits) {
  const WeightedTensors tensors = record<WeightedTensors, 6>(arcs);
  same_device(
      "weighted_source_sums", tensors.device(),
      {&tensors.col, &tensors.weight, &tensors.colptr, &tensors.row, &tensors.back_weight, &sources, &sums, &farthest});
  any_distances(tensors, sources, nullptr, sums.mutable_data_ptr<double>(), farthest.mutable_data_ptr<double>(),
                control, engine, launch_of(launch), limits);
}

void weighted_distances(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& out, Tensor& control,
                        int64_t engine, const std::vector<int64_t>& launch, std::optional<Tensor> limits) {
  const WeightedTensors tensors = record<WeightedTensors, 6>(arcs);
  same_device("weighted_distances", tensors.device(),
              {&tensors.col, &tensors.weight, &tensors.colptr, &tensors.row, &tensors.back_weight, &sources, &out});
  any_distances(tensors, sources, out.mutable_data_ptr(), nullptr, nullptr, control, engine, launch_of(launch), limits);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("weighted_dependency", TORCH_BOX(&weighted_dependency));
  m.impl("weighted_source_sums", TORCH_BOX(&weighted_source_sums));
  m.impl("weighted_distances", TORCH_BOX(&weighted_distances));
}

}  // namespace torchcent::cuda
