// Betweenness of vertices and edges where chains are contracted, on CUDA.

#include <torch/csrc/stable/library.h>

#include <optional>
#include <vector>

#include "core/records.h"
#include "chains/cuda/chain_graph.cuh"
#include "weighted/cuda/dijkstra.cuh"
#include "weighted/cuda/weighted_tensors.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

// The weights of the vertices of the graph, on the device.
struct VertexWeights {
  const double *source, *target;
};

template <class T>
class ChainRun : public DijkstraRun<T> {
  using Base = DijkstraRun<T>;
  using Base::blocks_, Base::m_, Base::n_, Base::problem_, Base::run_, Base::threads_;

 public:
  // The searches lack their share. besides: bytes besides those of the searches, in all and per block.
  ChainRun(const WeightedGraph<T>& contracted, const Sources& sources, const ChainSearches<T>& searches, const Run& run,
           const Workspace& besides)
      : Base(contracted, sources, run, searches.row.total, besides), searches_(searches) {
    searches_.share = run.scratch.bytes(blocks_ * m_ * 8);
    check(cudaMemsetAsync(&problem_.flags->targets, 1, sizeof(int), run.stream), "memset");  // not 1 everywhere
  }

  // A search per source.
  Rung alone(double* sums, Rung first) {
    return this->ladder(sums, first, [&](auto count, int64_t, int blocks) {
      chain_paths<T, decltype(count)><<<blocks, threads_, 0, run_.stream>>>(problem_, searches_);
    });
  }

  // A sweep per kept vertex, which are the sources. The sweeps lack the searches and the workspace of the blocks. Each
  // rung of the ladder begins with empty books, since sweeps are counted until one overflows.
  Rung together(double* sums, Rung first, ChainSweeps<T> sweeps) {
    sweeps.chains = searches_;
    sweeps.weight = run_.scratch.template array<double>(blocks_ * n_);
    sweeps.group = run_.scratch.template array<double>(blocks_ * m_);
    return this->ladder(sums, first, [&](auto count, int64_t from, int blocks) {
      using Count = decltype(count);
      if (from == 0) {
        check(cudaMemsetAsync(sweeps.books, 0, searches_.graph.inner * sizeof(ChainBooks), run_.stream), "memset");
        rows<Count>(sweeps);
      }
      chain_sweeps<T, Count><<<blocks, threads_, 0, run_.stream>>>(problem_, sweeps);
    });
  }

 private:
  // Searches from all kept vertices that are ends of chains, some at a time, so that they can be cancelled.
  template <class Count>
  void rows(const ChainSweeps<T>& sweeps) {
    DijkstraProblem<T> some = problem_;
    const int64_t vertices = this->sources_.count;
    for (int64_t first = 0; first < vertices && !run_.cancelled(); first += problem_.count) {
      some.vertex = problem_.vertex + first;
      some.count = std::min(problem_.count, vertices - first);
      chain_rows<T, Count><<<blocks_, threads_, 0, run_.stream>>>(some, sweeps);
      check_launch("chain_rows");
      check(cudaStreamSynchronize(run_.stream), "chain_rows");
    }
  }

  ChainSearches<T> searches_;
};

template <class T>
T* zeros(const Run& run, int64_t count) {
  T* const result = run.scratch.array<T>(count);
  check(cudaMemsetAsync(result, 0, count * sizeof(T), run.stream), "memset");
  return result;
}

template <class Start>
void launch(int64_t threads, Start start) {
  if (threads > 0) start(blocks(threads));
  check_launch("chains");
}

// The input of the kernels, made on the device.
template <class T>
class Chained {
 public:
  Chained(const Contraction<T>& given, int64_t num_nodes, const VertexWeights& weights, const Run& run)
      : given_(given), weights_(weights), run_(run) {
    ChainGraph<T>& graph = given_.graph;
    const int64_t of_inner = graph.inner, of_kept = graph.kept;
    length_ = run.scratch.array<T>(given.slots);
    uint32_t* const slot = run.scratch.array<uint32_t>(given.slots);
    int32_t* const where = run.scratch.array<int32_t>(num_nodes);
    int32_t* const before = run.scratch.array<int32_t>(of_kept + 1);
    int32_t* const chain_of = run.scratch.array<int32_t>(of_inner);
    target_ = run.scratch.array<double>(of_kept);
    double* const target = run.scratch.array<double>(of_inner);
    launch(given.slots, [&](unsigned b) { chain_arcs_kernel<T><<<b, kBlock, 0, run.stream>>>(given_, length_, slot); });
    launch(of_kept + 1, [&](unsigned b) {
      kept_kernel<T><<<b, kBlock, 0, run.stream>>>(given_, weights.target, target_, where, before);
    });
    int32_t with_inner;
    to_host(&with_inner, before + of_kept, sizeof with_inner, run.stream, "chains");
    graph.with_inner = with_inner;
    launch(of_inner, [&](unsigned b) {
      inner_kernel<T><<<b, kBlock, 0, run.stream>>>(given_, weights.target, target, where, chain_of);
    });
    const ChainRow row(given.slots, of_kept, of_inner);
    sums_ = zeros<double>(run, row.total);
    searches_ = {
        graph,  slot, where, chain_of, before, target, sums_along(target), row, zeros<ChainBegin>(run, of_inner),
        nullptr};
    sizes_ = {num_nodes, of_kept, given.slots, of_inner, with_inner};
  }

  Rung alone(const Tensor& sources, Rung rung) {
    const int64_t count = sources.numel(), *const vertex = sources.const_data_ptr<int64_t>();
    const double* const weight = gathered(vertex, count, weights_.source);
    return searching({count, vertex, weight, weight}, false).alone(sums_, rung);
  }

  Rung together(Rung rung) {
    const ChainGraph<T>& graph = given_.graph;
    const int64_t n = graph.kept;
    ChainSweeps<T> sweeps = {};
    const double* const source = gathered(given_.inner, graph.inner, weights_.source);
    sweeps.source = gathered(given_.vertex, n, weights_.source);
    sweeps.inner_source = source;
    sweeps.sum_source = sums_along(source);
    sweeps.at = chains_at(sweeps.sum_source);
    double* const units = run_.scratch.template array<double>(1);
    units_kernel<<<1, kBlock, 0, run_.stream>>>(target_, n, searches_.target, graph.inner, units);
    sweeps.units = units;
    sweeps.books = run_.scratch.template array<ChainBooks>(graph.inner);
    sweeps.distance = run_.scratch.template array<T>(n * n);
    sweeps.sigma = run_.scratch.bytes(n * n * 8);
    int64_t* const roots = run_.scratch.template array<int64_t>(n);
    launch(n, [&](unsigned b) { count_up_kernel<<<b, kBlock, 0, run_.stream>>>(n, roots); });
    const Rung used = searching({n, roots, sweeps.source, sweeps.source}, true).together(sums_, rung, sweeps);
    sweeps.chains = searches_;
    launch(graph.with_inner, [&](unsigned b) { balance_kernel<T><<<b, kBlock, 0, run_.stream>>>(sweeps); });
    return used;
  }

  // Adds the sums of all searches to the scores of vertices, or of slots.
  void finish(const int64_t* slots, double* scores) {
    launch(std::max(given_.graph.kept, given_.graph.chains), [&](unsigned b) {
      finish_chains_kernel<T><<<b, kBlock, 0, run_.stream>>>(given_, searches_, sums_, slots, scores);
    });
  }

 private:
  ChainRun<T> searching(const Sources& sources, bool together) const {
    const int64_t n = given_.graph.kept;
    const WeightedGraph<T> contracted = {
        {n, given_.slots, {given_.rowptr, given_.head}, {given_.rowptr, given_.head}, target_, nullptr, nullptr},
        length_,
        length_,
        0};
    return ChainRun<T>(contracted, sources, searches_, run_, chains_besides<T>(sizes_, together, sources.count));
  }
  const double* sums_along(const double* values) const {
    const ChainGraph<T>& graph = given_.graph;
    double* const sum = run_.scratch.template array<double>(graph.inner + graph.with_inner);
    launch(graph.with_inner,
           [&](unsigned b) { sums_along_kernel<T><<<b, kBlock, 0, run_.stream>>>(graph, values, sum); });
    return sum;
  }
  const double* gathered(const int64_t* at, int64_t count, const double* weight) const {
    double* const values = run_.scratch.template array<double>(count);
    launch(count, [&](unsigned b) { gather_kernel<<<b, kBlock, 0, run_.stream>>>(at, count, weight, values); });
    return values;
  }
  const ChainsAt* chains_at(const double* sum_source) const {
    ChainsAt* const at = run_.scratch.template array<ChainsAt>(given_.graph.kept);
    int32_t* const found = zeros<int32_t>(run_, 1);
    launch(given_.graph.kept,
           [&](unsigned b) { chains_at_kernel<T><<<b, kBlock, 0, run_.stream>>>(given_, sum_source, at, found); });
    int32_t most;
    to_host(&most, found, sizeof most, run_.stream, "chains");
    if (most > kMostAt) throw std::invalid_argument("chain_dependency has sweeps for at most 32 chains at a vertex");
    return at;
  }

  Contraction<T> given_;
  const VertexWeights weights_;
  const Run& run_;
  T* length_;
  double *target_, *sums_;
  ChainSearches<T> searches_;
  ChainSizes sizes_;
};

struct ChainTensors {
  const Tensor &kept, &first, &inner, &ends, &along, &rowptr, &head, &arc;
};

}  // namespace

// Synchronises with the device.
Tensor chain_dependency(const std::vector<Tensor>& contraction, const std::optional<Tensor>& slots,
                        const Tensor& sources, const Tensor& source_weight, const Tensor& target_weight, Tensor& scores,
                        Tensor& control, bool by_hops, bool together, int64_t, int64_t rung, int64_t threads) {
  const ChainTensors given_tensors = record<ChainTensors, 8>(contraction);
  const Tensor &kept = given_tensors.kept, &first = given_tensors.first, &inner = given_tensors.inner;
  const Tensor &ends = given_tensors.ends, &along = given_tensors.along, &rowptr = given_tensors.rowptr;
  const Tensor &head = given_tensors.head, &arc = given_tensors.arc;
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
    Chained<T> chained(given, source_weight.numel(), weights, run);
    const Rung used = together ? chained.together(Rung{*highest}) : chained.alone(sources, Rung{*highest});
    if (!run.cancelled())
      chained.finish(slots.has_value() ? slots->const_data_ptr<int64_t>() : nullptr, scores.mutable_data_ptr<double>());
    return used;
  };
  *highest = static_cast<int64_t>(along.element_size() == 4 ? with(uint32_t{0}) : with(0.0));
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("chain_dependency", TORCH_BOX(&chain_dependency)); }

}  // namespace torchcent::cuda
