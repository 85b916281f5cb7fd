// Searches in weighted graphs: path counting, sums of distances, rows of distances.

#include <torch/csrc/stable/library.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "weighted/cpu/light_arcs.h"
#include "core/records.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// Dominated arcs are removed if the number of sources times their share reaches this value. The gain per source is
// larger with dijkstra, which scans every arc.
constexpr double kWorthwhile[] = {400, 16};  // relax, dijkstra

// A weighted graph as passed to an operator.
struct WeightedGraph {
  const Tensor &rowptr, &col, &weight, &colptr, &row, &back_weight;
};

// The input of the kernels, and the memory that holds it.
template <class T>
struct Prepared {
  ArcStore<T> out, in;  // `in` is empty if it equals `out`
  WeightedProblem<T> problem = {};

  Prepared(const WeightedGraph& graph, const PathProblem& paths, WeightedEngine engine, int64_t sources,
           double tie_tolerance, int64_t threads) {
    const bool slots = paths.measure == Measure::edge_betweenness;
    const T* const weight = graph.weight.const_data_ptr<T>();
    const T* const back_weight = graph.back_weight.const_data_ptr<T>();
    const int64_t arcs = paths.out.num_slots();
    const bool same = paths.out.col == paths.in.col && weight == back_weight && !slots;
    problem.paths = paths;
    problem.tie_tolerance = tie_tolerance;
    problem.lightest = problem.heaviest = T(1);
    if (arcs > 0) {
      const auto [lightest, heaviest] = std::minmax_element(weight, weight + arcs);
      problem.lightest = *lightest;
      problem.heaviest = *heaviest;
    }
    const Workers workers = {threads, paths.cancel};
    std::vector<int64_t> in_slot;
    if (slots) in_slot = slots_of_in_arcs(paths.out, paths.in);
    out = by_weight(paths.out, weight, slots, [](int64_t i) { return i; }, workers);
    if (!same) in = by_weight(paths.in, back_weight, slots, [&](int64_t i) { return in_slot[i]; }, workers);
    const ArcStore<T>& back = same ? out : in;
    const double many = static_cast<double>(sources), enough = kWorthwhile[static_cast<int64_t>(engine)];
    // With a tolerance, a path may be longer than an alternative by more than any bound known here.
    if (tie_tolerance == 0 && many >= enough && many * beaten_share(out, back, problem.heaviest, workers) >= enough) {
      const std::vector<char> removed = beaten(out, back, problem.heaviest, workers, 1);
      if (!same) remove(in, beaten(in, out, problem.heaviest, workers, 1));
      remove(out, removed);
    }
    problem.out = out.view();
    problem.in = same ? problem.out : in.view();
  }
};

// The relax engine has neither the last rung of the ladder nor the depth of a vertex in each lane.
template <class T>
std::unique_ptr<Search> make_search(const WeightedProblem<T>& problem, WeightedEngine engine, Rung rung) {
  if (engine == WeightedEngine::dijkstra || rung == Rung::wide || by_depth(problem.paths.measure))
    return TORCHCENT_CALL_SCALAR(make_dijkstra(problem, rung));
  return TORCHCENT_CALL_LANES(make_relax(problem, rung));
}

bool whole(const Tensor& weight) { return weight.element_size() == 4; }

template <class T>
Tensor dependency(const WeightedGraph& graph, const PathProblem& paths, const Tensor& sources,
                  const PathWeights& weights, Tensor& scores, Tensor& control, WeightedEngine engine, int64_t rung,
                  int64_t threads, double tie_tolerance, const Tensor* limits) {
  Prepared<T> prepared(graph, paths, engine, sources.numel(), tie_tolerance, threads);
  int64_t size = engine == WeightedEngine::relax ? kRelaxBatch : sources.numel() <= kFewSearches ? 1 : kDijkstraBatch;
  if (limits != nullptr) {
    prepared.problem.limits = limits->const_data_ptr<T>();
    prepared.problem.num_limits = limits->numel();
    size = batch_size_within(size, sources.numel());
  }
  const int64_t first = engine == WeightedEngine::dijkstra ? std::max<int64_t>(rung, 1) : rung;  // no float32
  return run_batches(sources, weights, scores, control, size, first, threads,
                     [&](Rung r) { return make_search(prepared.problem, engine, r); });
}

// A search of distances as passed to an operator.
struct DistanceJob {
  const WeightedGraph& graph;
  const Tensor& sources;
  Control& control;
  WeightedEngine engine;
  int64_t threads;
  const Tensor* limits;  // null: none

  int64_t num_limits() const { return limits == nullptr ? 1 : limits->numel(); }
  template <class T>
  Prepared<T> prepared() const {
    PathProblem paths = {};
    paths.out = view(graph.rowptr, graph.col);
    paths.in = view(graph.colptr, graph.row);
    paths.cancel = &control.cancel;
    Prepared<T> prepared(graph, paths, engine, sources.numel(), 0, threads);
    prepared.problem.num_limits = num_limits();
    if (limits != nullptr) prepared.problem.limits = limits->const_data_ptr<T>();
    return prepared;
  }
  template <class T>
  std::unique_ptr<WeightedDistances> search(const WeightedProblem<T>& problem) const {
    if (engine == WeightedEngine::dijkstra) return TORCHCENT_CALL_SCALAR(make_dijkstra_distances(problem));
    return TORCHCENT_CALL_LANES(make_relax_distances(problem));
  }
  // The sources of a batch of `size`.
  WeightedDistanceBatch batch(int64_t number, int64_t size) const {
    WeightedDistanceBatch batch = {};
    batch.count = std::min(size, sources.numel() - number * size);
    batch.sources = sources.const_data_ptr<int64_t>() + number * size;
    return batch;
  }
};

DistanceJob job_of(const WeightedGraph& graph, const Tensor& sources, Tensor& control, int64_t engine,
                   const std::vector<int64_t>& launch, const std::optional<Tensor>& limits) {
  return {graph,
          sources,
          control_of(control),
          WeightedEngine{engine},
          launch_of(launch).threads,
          limits ? &*limits : nullptr};
}

// Runs batches of sources in any order: their outputs, which begin(batch, first source) sets, are disjoint.
template <class T, class Begin>
void distances(const DistanceJob& job, Begin begin) {
  if (job.sources.numel() == 0) return;
  const Prepared<T> prepared = job.prepared<T>();
  const int64_t size = job.engine == WeightedEngine::relax ? 64 : 4;
  const int64_t batches = (job.sources.numel() + size - 1) / size;
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    const auto search = job.search(prepared.problem);
    for (int64_t b; (b = next++) < batches;) {
      WeightedDistanceBatch batch = job.batch(b, size);
      begin(batch, b * size);
      if (!search->run(batch)) next = batches;
      else finish(job.control, batch.count);
    }
  };
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(job.threads, batches))), work, [&] { next = batches; });
}

// Sums of the vertices: those of batches, of a size that does not depend on the number of threads, in their order.
template <class T>
void vertex_distances(const DistanceJob& job, Tensor& sums, Tensor& most) {
  const int64_t count = job.sources.numel();
  if (count == 0) return;
  const Prepared<T> prepared = job.prepared<T>();
  // Within limits, a search may take less time than adding up the sums of a batch.
  constexpr int64_t kMostBatches = 64;
  const int64_t least = job.engine == WeightedEngine::relax ? kRelaxBatch : count <= kFewSearches ? 4 : kDijkstraBatch;
  const int64_t size = std::max(least, (count + kMostBatches - 1) / kMostBatches), batches = (count + size - 1) / size;
  const int workers = static_cast<int>(std::max<int64_t>(1, std::min(job.threads, batches)));
  OrderedBatches ordered(sums.mutable_data_ptr<double>(), sums.numel(), batches, 2 * workers, kNoLadder);
  double* const all = most.mutable_data_ptr<double>();
  std::mutex mutex;
  const auto work = [&] {
    const auto search = job.search(prepared.problem);
    std::vector<double> buffer, farthest(most.numel());
    int64_t rung = kNoLadder;
    for (int64_t b; (b = ordered.take(buffer, rung)) >= 0;) {
      WeightedDistanceBatch batch = job.batch(b, size);
      batch.vertex_sums = buffer.data();
      batch.most = farthest.data();
      if (!search->run(batch)) {
        ordered.stop();
        break;
      }
      ordered.give(b, std::move(buffer), rung);
      finish(job.control, batch.count);
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < farthest.size(); ++i) all[i] = std::max(all[i], farthest[i]);
  };
  in_threads(workers, work, [&] { ordered.stop(); });
}

}  // namespace

Tensor weighted_dependency(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& source_weight,
                           const Tensor& own_weight, const Tensor& target_weight, const Tensor& through_weight,
                           Tensor& scores, Tensor& control, int64_t measure, int64_t engine, int64_t rung,
                           const std::vector<int64_t>& launch, double tie_tolerance, std::optional<Tensor> copies,
                           std::optional<Tensor> limits) {
  const WeightedGraph graph = record<WeightedGraph, 6>(arcs);
  const PathWeights weights = {source_weight, own_weight, target_weight, through_weight};
  const PathProblem paths =
      path_problem(view(graph.rowptr, graph.col), view(graph.colptr, graph.row), weights, &control_of(control).cancel,
                   Measure{measure}, copies ? copies->const_data_ptr<double>() : nullptr);
  const auto run = whole(graph.weight) ? dependency<int32_t> : dependency<double>;
  return run(graph, paths, sources, weights, scores, control, WeightedEngine{engine}, rung, launch_of(launch).threads,
             tie_tolerance, limits ? &*limits : nullptr);
}

void weighted_source_sums(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& sums, Tensor& farthest,
                          Tensor& control, int64_t engine, const std::vector<int64_t>& launch,
                          std::optional<Tensor> limits) {
  const WeightedGraph graph = record<WeightedGraph, 6>(arcs);
  const DistanceJob job = job_of(graph, sources, control, engine, launch, limits);
  double* const all_sums = sums.mutable_data_ptr<double>();
  double* const all_farthest = farthest.mutable_data_ptr<double>();
  const auto begin = [&](WeightedDistanceBatch& batch, int64_t first) {
    batch.sums = all_sums + 3 * first * job.num_limits();
    batch.farthest = all_farthest + first * job.num_limits();
  };
  if (whole(graph.weight)) distances<int32_t>(job, begin);
  else distances<double>(job, begin);
}

void weighted_vertex_sums(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& sums, Tensor& farthest,
                          Tensor& control, int64_t engine, const std::vector<int64_t>& launch,
                          std::optional<Tensor> limits) {
  const WeightedGraph graph = record<WeightedGraph, 6>(arcs);
  const DistanceJob job = job_of(graph, sources, control, engine, launch, limits);
  if (whole(graph.weight)) vertex_distances<int32_t>(job, sums, farthest);
  else vertex_distances<double>(job, sums, farthest);
}

void weighted_distances(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& out, Tensor& control,
                        int64_t engine, const std::vector<int64_t>& launch, std::optional<Tensor> limits) {
  const WeightedGraph graph = record<WeightedGraph, 6>(arcs);
  const DistanceJob job = job_of(graph, sources, control, engine, launch, limits);
  char* const rows = static_cast<char*>(out.data_ptr());
  const int64_t bytes = (graph.rowptr.numel() - 1) * out.element_size();
  const auto begin = [&](WeightedDistanceBatch& batch, int64_t first) { batch.rows = rows + first * bytes; };
  if (whole(graph.weight)) distances<int32_t>(job, begin);
  else distances<double>(job, begin);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // path_dependency with weights: int32 or float64, finite and > 0, aligned with col and row. arcs: rowptr, col,
  // weight, colptr, row, back_weight. engine is a WeightedEngine (weighted/weighted_search.h). limits: on the CPU, with
  // the type of the weights, ascending; searches end at the last one. sums are [sources, limits, 3]: d, 1/d, 1 over the
  // vertices at a distance > 0; farthest [sources, limits] is the largest d. Those of weighted_vertex_sums are [n,
  // limits, 3] and [n, limits], over the sources, added to what is there and compared with it. out is [sources, n] with
  // the type of the weights; unreached vertices are -1 or inf.
  m.def(
      "weighted_dependency(Tensor[] arcs, Tensor sources, Tensor source_weight, Tensor own_weight, "
      "Tensor target_weight, Tensor through_weight, Tensor(a!) scores, Tensor(b!) control, int measure, int engine, "
      "int rung, int[] launch, float tie_tolerance, Tensor? copies=None, Tensor? limits=None) -> Tensor");
  m.def(
      "weighted_source_sums(Tensor[] arcs, Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, Tensor(c!) control, "
      "int engine, int[] launch, Tensor? limits=None) -> ()");
  m.def(
      "weighted_vertex_sums(Tensor[] arcs, Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, Tensor(c!) control, "
      "int engine, int[] launch, Tensor? limits=None) -> ()");
  m.def(
      "weighted_distances(Tensor[] arcs, Tensor sources, Tensor(a!) out, Tensor(b!) control, int engine, "
      "int[] launch, Tensor? limits=None) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("weighted_dependency", TORCH_BOX(&weighted_dependency));
  m.impl("weighted_source_sums", TORCH_BOX(&weighted_source_sums));
  m.impl("weighted_vertex_sums", TORCH_BOX(&weighted_vertex_sums));
  m.impl("weighted_distances", TORCH_BOX(&weighted_distances));
}

}  // namespace torchcent
