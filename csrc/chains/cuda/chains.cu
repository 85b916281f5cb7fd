// Betweenness of vertices and edges where chains are contracted, on CUDA.

#include <torch/csrc/stable/library.h>

#include <optional>

#include "chains/cuda/chain_graph.cuh"
#include "weighted/cuda/dijkstra.cuh"
#include "weighted/cuda/weighted_tensors.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

// Rounding of the arrays by PyTorch's allocator (_CHAINS_SLACK in _room.py).
constexpr int64_t kSlack = int64_t{1} << 24;

// The weights of the vertices of the graph, on the device.
struct VertexWeights {
  const double *source, *target;
};

template <class T>
class ChainRun : public DijkstraRun<T> {
  using Base = DijkstraRun<T>;
  using Base::blocks_, Base::m_, Base::problem_, Base::run_, Base::threads_;

 public:
  // The searches lack their row, begin and share.
  ChainRun(const WeightedGraph<T>& contracted, const Sources& sources, const ChainSearches<T>& searches, const Run& run,
           int64_t fixed)
      : Base(contracted, sources, run, searches.row.total, {fixed, contracted.paths.m * 8}), searches_(searches) {
    searches_.share = run.scratch.bytes(blocks_ * m_ * 8);
    check(cudaMemsetAsync(&problem_.flags->targets, 1, sizeof(int), run.stream), "memset");  // not 1 everywhere
  }

  Rung operator()(double* sums, Rung first) {
    return this->ladder(sums, first, [&](auto count, int64_t, int blocks) {
      chain_paths<T, decltype(count)><<<blocks, threads_, 0, run_.stream>>>(problem_, searches_);
    });
  }

 private:
  ChainSearches<T> searches_;
};

template <class T>
T* zeros(const Run& run, int64_t count) {
  T* const result = run.scratch.array<T>(count);
  check(cudaMemsetAsync(result, 0, count * sizeof(T), run.stream), "memset");
  return result;
}

// Makes the input of the kernels, runs them, and adds the sums of all searches to the scores of vertices, or of slots.
template <class T>
Rung dependency(Contraction<T> given, int64_t num_nodes, const Tensor& sources, const VertexWeights& weights,
                const int64_t* slots, double* scores, Rung rung, const Run& run) {
  ChainGraph<T>& graph = given.graph;
  const auto launch = [&](int64_t threads, auto start) {
    if (threads > 0) start(blocks(threads));
    check_launch("chains");
  };
  ChainSearches<T> searches = {};
  const int64_t of_inner = graph.inner, of_kept = graph.kept, count = sources.numel();
  T* const length = run.scratch.array<T>(given.slots);
  uint32_t* const slot = run.scratch.array<uint32_t>(given.slots);
  int32_t* const where = run.scratch.array<int32_t>(num_nodes);
  int32_t* const before = run.scratch.array<int32_t>(of_kept + 1);
  int32_t* const chain_of = run.scratch.array<int32_t>(of_inner);
  double* const kept_target = run.scratch.array<double>(of_kept);
  double* const target = run.scratch.array<double>(of_inner);
  double* const of_source = run.scratch.array<double>(count);
  launch(given.slots, [&](unsigned b) { chain_arcs_kernel<T><<<b, kBlock, 0, run.stream>>>(given, length, slot); });
  launch(of_kept + 1, [&](unsigned b) {
    kept_kernel<T><<<b, kBlock, 0, run.stream>>>(given, weights.target, kept_target, where, before);
  });
  int32_t with_inner;
  to_host(&with_inner, before + of_kept, sizeof with_inner, run.stream, "chains");
  graph.with_inner = with_inner;
  double* const sum = run.scratch.array<double>(of_inner + with_inner);
  launch(of_inner, [&](unsigned b) {
    inner_kernel<T><<<b, kBlock, 0, run.stream>>>(given, weights.target, target, where, chain_of);
  });
  launch(with_inner, [&](unsigned b) { sums_along_kernel<T><<<b, kBlock, 0, run.stream>>>(graph, target, sum); });
  launch(count, [&](unsigned b) {
    source_weights_kernel<<<b, kBlock, 0, run.stream>>>(sources.const_data_ptr<int64_t>(), count, weights.source,
                                                        of_source);
  });

  const ChainRow row(given.slots, of_kept, of_inner);
  double* const sums = zeros<double>(run, row.total);
  searches = {graph, slot, where, chain_of, before, target, sum, row, zeros<ChainBegin>(run, of_inner), nullptr};
  const int64_t width = sizeof(T);
  const int64_t fixed = kSlack + given.slots * (width + 4) + 4 * num_nodes + 12 * (of_kept + 1) + 44 * of_inner +
                        8 * count + 8 * (of_inner + with_inner) + 16 * row.total;
  const WeightedGraph<T> contracted = {
      {of_kept, given.slots, {given.rowptr, given.head}, {given.rowptr, given.head}, kept_target, nullptr, nullptr},
      length,
      length,
      0};
  const Rung used = ChainRun<T>(contracted, {count, sources.const_data_ptr<int64_t>(), of_source, of_source}, searches,
                                run, fixed)(sums, rung);
  if (run.cancelled()) return used;
  launch(std::max(graph.kept, graph.chains), [&](unsigned b) {
    finish_chains_kernel<T><<<b, kBlock, 0, run.stream>>>(given, searches, sums, slots, scores);
  });
  return used;
}

}  // namespace

// Synchronises with the device.
Tensor chain_dependency(const Tensor& kept, const Tensor& first, const Tensor& inner, const Tensor& ends,
                        const Tensor& along, const Tensor& rowptr, const Tensor& head, const Tensor& arc,
                        const std::optional<Tensor>& slots, const Tensor& sources, const Tensor& source_weight,
                        const Tensor& target_weight, Tensor& scores, Tensor& control, bool by_hops, bool together,
                        int64_t, int64_t rung, int64_t threads) {
  if (together) throw std::invalid_argument("chain_dependency has no sweeps for several sources on CUDA");
  const int64_t chains = first.numel() - 1;
  if (head.numel() != 2 * chains) throw std::invalid_argument("chain_dependency needs the arcs of all chains on CUDA");
  const int32_t device = kept.get_device_index();
  same_device("chain_dependency", device,
              {&first, &inner, &ends, &along, &rowptr, &head, &arc, &sources, &source_weight, &target_weight, &scores});
  const torch::stable::accelerator::DeviceGuard guard(device);
  Tensor result = torch::stable::new_empty(control, {1});
  int64_t* const highest = result.mutable_data_ptr<int64_t>();
  *highest = std::max<int64_t>(rung, static_cast<int64_t>(Rung::float64));
  if (sources.numel() == 0) return result;
  TensorScratch scratch(kept);
  const Run run = run_on(device, scratch, control, {threads});
  const VertexWeights weights = {source_weight.const_data_ptr<double>(), target_weight.const_data_ptr<double>()};
  const auto with = [&](auto zero) {
    using T = decltype(zero);
    Contraction<T> given = {};
    given.graph.kept = kept.numel();
    given.graph.inner = inner.numel();
    given.graph.chains = chains;
    given.graph.first = first.const_data_ptr<int64_t>();
    given.graph.ends = ends.const_data_ptr<int32_t>();
    if constexpr (std::is_same_v<T, double>) given.graph.along = along.const_data_ptr<double>();
    else given.graph.along = reinterpret_cast<const T*>(along.const_data_ptr<int32_t>());
    given.graph.by_hops = by_hops;
    given.slots = head.numel();
    given.rowptr = rowptr.const_data_ptr<int64_t>();
    given.head = head.const_data_ptr<int32_t>();
    given.arc = arc.const_data_ptr<int64_t>();
    given.vertex = kept.const_data_ptr<int64_t>();
    given.inner = inner.const_data_ptr<int64_t>();
    return dependency(given, source_weight.numel(), sources, weights,
                      slots.has_value() ? slots->const_data_ptr<int64_t>() : nullptr, scores.mutable_data_ptr<double>(),
                      Rung{*highest}, run);
  };
  *highest = static_cast<int64_t>(along.element_size() == 4 ? with(uint32_t{0}) : with(0.0));
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("chain_dependency", TORCH_BOX(&chain_dependency)); }

}  // namespace torchcent::cuda
