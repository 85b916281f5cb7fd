// Host code of the queue engine: workspace, launches, and the ladder of tables and number types.
#pragma once

#include <algorithm>
#include <vector>

#include "paths/cuda/queue_kernel.cuh"

namespace torchcent::cuda {

static __global__ void span_kernel(const int64_t* rowptr, int64_t n, Span* span) {
  for (int64_t v = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; v < n; v += int64_t{gridDim.x} * blockDim.x)
    span[v] = {static_cast<uint32_t>(rowptr[v]), static_cast<uint32_t>(rowptr[v + 1] - rowptr[v])};
}

static __global__ void slot_vertex_kernel(const int64_t* rowptr, int64_t n, int32_t* vertex_of) {
  for (int64_t v = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; v < n; v += int64_t{gridDim.x} * blockDim.x)
    for (int64_t j = rowptr[v]; j < rowptr[v + 1]; ++j) vertex_of[j] = static_cast<int32_t>(v);
}

// Packs the first four slots of every lane of a vertex (lane, lane + width, ...), for one 16-byte load instead of a
// span and separate columns. With few random accesses per vertex, L1 lookups dominate the cost on meshes.
static __global__ void packed_kernel(const int64_t* rowptr, const int32_t* col, int64_t n, int width, int32_t* rows) {
  const int packed = 4 * width;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < n * packed;
       i += int64_t{gridDim.x} * blockDim.x) {
    const int64_t v = i / packed, degree = rowptr[v + 1] - rowptr[v];
    const int lane = i % packed / 4, j = i % 4 * width + lane;
    rows[i] = j >= degree ? -1 : col[rowptr[v] + j] + (i % 4 == 3 && degree > packed ? kMore : 0);
  }
}

// If b is 1 and h is 0 everywhere, vertices need not read them.
static __global__ void weights_kernel(const double* target, const double* through, int64_t n, QueueFlags* flags) {
  for (int64_t v = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; v < n; v += int64_t{gridDim.x} * blockDim.x) {
    if (target[v] != 1) flags->targets = 1;
    if (through[v] != 0) flags->through = 1;
  }
}

// scores += the rows, in their order.
static __global__ void add_rows_kernel(const double* rows, int count, int64_t stride, double* scores) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < stride; i += int64_t{gridDim.x} * blockDim.x) {
    double sum = 0;
    for (int r = 0; r < count; ++r) sum += rows[r * stride + i];
    scores[i] += sum;
  }
}

template <class Visitor>
class QueueRun {
 public:
  QueueRun(const Graph& graph, const Sources& sources, double* scores, const Run& run)
      : graph_(graph), sources_(sources), scores_(scores), run_(run), strategy_(Strategy{run.launch.strategy}) {
    if (graph.m > UINT32_MAX) throw std::runtime_error("queue: more than 2^32 - 1 slots");
    problem_.n = graph.n;
    problem_.m = graph.m;
    problem_.col = graph.out.col;
    problem_.row = graph.in.col;
    problem_.target_weight = graph.target_weight;
    problem_.through_weight = graph.through_weight;
    problem_.copies = graph.copies;
    problem_.deepest = static_cast<int>(std::min<int64_t>(graph.deepest, graph.n));
    problem_.limits = limits();
    problem_.num_limits = static_cast<int>(graph.num_limits);
    problem_.measure = graph.measure;
    problem_.vertex = sources.vertex;
    problem_.weight = sources.weight;
    problem_.own = sources.own;
    problem_.score_stride = Visitor::edges ? graph.m : graph.n;
    problem_.out = spans(graph.out);
    problem_.in = graph.symmetric() ? problem_.out : spans(graph.in);
    if (strategy_ == Strategy::edge_parallel) {
      problem_.out_vertex = slot_vertices(graph.out);
      problem_.in_vertex = graph.symmetric() ? problem_.out_vertex : slot_vertices(graph.in);
    }
    problem_.shift = threads_by_strategy(strategy_, graph.n, graph.m);
    problem_.packed = packed_slots(graph.n, graph.m, problem_.shift);
    problem_.rows = problem_.packed ? rows() : nullptr;
    outcome_ = run.scratch.array<Outcome>(sources.count);
    chosen_ = run.scratch.array<int32_t>(sources.count);
    flags_ = run.scratch.array<QueueFlags>(1);
    problem_.outcome = outcome_;
    problem_.chosen = chosen_;
    problem_.flags = flags_;
    check(cudaMemsetAsync(flags_, 0, sizeof(QueueFlags), run.stream), "cudaMemsetAsync");
    weights_kernel<<<grid(graph.n), 256, 0, run.stream>>>(graph.target_weight, graph.through_weight, graph.n, flags_);
    check_launch("weights_kernel");
    allocate();
  }

  Rung operator()(Rung first) {
    if (first != Rung::wide) {
      if (attempt<double>()) return Rung::float64;
      if (run_.cancelled()) return Rung::float64;
    }
    attempt<Pair>();
    return Rung::wide;
  }

 private:
  static constexpr int kRounds = 8;      // sources of a block per launch, then cancellation is polled
  static constexpr int kEntries = 4480;  // table entries of a block: more would leave too little L1

  int grid(int64_t items) const {
    return static_cast<int>(std::min<int64_t>((items + 255) / 256, run_.processors * 8));
  }

  // On the device; without limits, all levels are within one.
  const int* limits() {
    const auto most = [&](int64_t level) { return static_cast<int>(std::min<int64_t>(level, graph_.n)); };
    std::vector<int> levels(graph_.num_limits, most(graph_.n));
    for (int64_t i = 0; graph_.limits != nullptr && i < graph_.num_limits; ++i) levels[i] = most(graph_.limits[i]);
    int* const result = run_.scratch.template array<int>(graph_.num_limits);
    check(cudaMemcpyAsync(result, levels.data(), levels.size() * sizeof(int), cudaMemcpyHostToDevice, run_.stream),
          "limits");
    return result;
  }
  Span* spans(const Arcs& arcs) {
    Span* const result = run_.scratch.array<Span>(graph_.n);
    span_kernel<<<grid(graph_.n), 256, 0, run_.stream>>>(arcs.rowptr, graph_.n, result);
    check_launch("span_kernel");
    return result;
  }
  const int4* rows() {
    int32_t* const result = run_.scratch.array<int32_t>(graph_.n * problem_.packed);
    packed_kernel<<<grid(graph_.n * problem_.packed), 256, 0, run_.stream>>>(graph_.out.rowptr, graph_.out.col,
                                                                             graph_.n, problem_.packed / 4, result);
    check_launch("packed_kernel");
    return reinterpret_cast<const int4*>(result);
  }
  int32_t* slot_vertices(const Arcs& arcs) {
    int32_t* const result = run_.scratch.array<int32_t>(graph_.m);
    slot_vertex_kernel<<<grid(graph_.n), 256, 0, run_.stream>>>(arcs.rowptr, graph_.n, result);
    check_launch("slot_vertex_kernel");
    return result;
  }
  // Levels of grids and road networks are narrow, and tables are 1.4 times as fast as PlaceArray. On triangulations,
  // with more slots and wider levels, PlaceArray is faster.
  bool tables() const {
    return graph_.symmetric() && is_sparse(graph_.n, graph_.m) && problem_.shift == 0 &&
           strategy_ != Strategy::node_parallel && strategy_ != Strategy::edge_parallel;
  }

  // Of a block, for all limits.
  int64_t scores() const { return problem_.num_limits * problem_.score_stride; }

  // Allocates as many blocks as the memory limit and the GPU allow, at most kPerProcessor per multiprocessor.
  void allocate() {
    const int64_t n = graph_.n;
    const int64_t each = queue_workspace(graph_.sizes(Visitor::edges), strategy_, sources_.count).total();
    int64_t most = std::min<int64_t>(sources_.count, int64_t{run_.processors} * kPerProcessor);
    most = std::max<int64_t>(1, std::min(most, run_.control.bytes / std::max<int64_t>(each, 1)));
    // The fewest blocks that need the same number of rounds, which leaves each more of the cache.
    const int64_t rounds = (sources_.count + most - 1) / most;
    blocks_ = static_cast<int>((sources_.count + rounds - 1) / rounds);
    problem_.queue = run_.scratch.array<int32_t>(blocks_ * n);
    problem_.level = run_.scratch.array<int32_t>(blocks_ * (n + 2));
    problem_.sigma = run_.scratch.bytes(blocks_ * n * 8);
    problem_.kept = graph_.several() ? run_.scratch.bytes(blocks_ * n * 8) : nullptr;
    problem_.below = run_.scratch.array<uint8_t>(blocks_ * n);
    problem_.scores = run_.scratch.array<double>(blocks_ * scores());
    problem_.place = nullptr;
  }

  // Table entries of a block: as many as the device allows, up to kEntries.
  int table_entries() const {
    int device, shared;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device), "shared memory");
    const int own = 1536;  // other needs of a block
    return std::min((shared / kPerProcessor - own) / LevelTables::kBytesPerEntry / 16 * 16, kEntries);
  }

  // Nothing was added to the scores: the sources do not count as done.
  bool undo() {
    finish(run_, -counted_);
    counted_ = 0;
    return false;
  }

  // Processes every source with this Count. Returns false if one overflows; the scores are then unchanged.
  template <class Count>
  bool attempt() {
    check(cudaMemsetAsync(&flags_->overflow, 0, sizeof(int), run_.stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(outcome_, 0, sources_.count * sizeof(Outcome), run_.stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(problem_.scores, 0, blocks_ * scores() * 8, run_.stream), "cudaMemsetAsync");
    std::vector<int32_t> left(sources_.count);
    for (int64_t i = 0; i < sources_.count; ++i) left[i] = static_cast<int32_t>(i);
    int64_t rows = 0;
    if (tables()) {
      problem_.capacity = table_entries();
      if (!launch<Count, LevelTables>(left, rows)) return undo();
    }
    if (!left.empty()) {
      if (problem_.place == nullptr) problem_.place = run_.scratch.array<int32_t>(blocks_ * graph_.n);
      check(cudaMemsetAsync(problem_.place, 0xff, blocks_ * graph_.n * 4, run_.stream), "cudaMemsetAsync");
      problem_.capacity = 0;
      if (!launch<Count, PlaceArray>(left, rows)) return undo();
    }
    add_rows_kernel<<<grid(scores()), 256, 0, run_.stream>>>(problem_.scores, static_cast<int>(rows), scores(),
                                                             scores_);
    check_launch("add_rows_kernel");
    return true;
  }

  template <class Count, class Map>
  auto* kernel() const {
    return Map::by_vertex && !graph_.symmetric() ? kernel<Count, Map, false>() : kernel<Count, Map, true>();
  }
  template <class Count, class Map, bool symmetric>
  auto* kernel() const {
    if constexpr (Map::by_vertex) {
      if (strategy_ == Strategy::node_parallel) return queue_kernel<Visitor, Count, Map, NodeWalk, symmetric>;
      if (strategy_ == Strategy::edge_parallel) return queue_kernel<Visitor, Count, Map, EdgeWalk, symmetric>;
    }
    const bool cooperative = strategy_ == Strategy::automatic || strategy_ == Strategy::cooperative;
    if constexpr (Map::by_vertex) {
      if (cooperative && problem_.shift == 1) return queue_kernel<Visitor, Count, Map, CooperativeWalk<2>, symmetric>;
      if (cooperative && problem_.shift > 1) return queue_kernel<Visitor, Count, Map, CooperativeWalk<0>, symmetric>;
      if (problem_.shift > 0) return queue_kernel<Visitor, Count, Map, QueueWalk<0>, symmetric>;
    }
    return cooperative ? queue_kernel<Visitor, Count, Map, CooperativeWalk<1>, symmetric>
                       : queue_kernel<Visitor, Count, Map, QueueWalk<1>, symmetric>;
  }

  // Processes `left` and keeps in it the sources that do not fit the tables. Returns false on overflow and
  // cancellation.
  template <class Count, class Map>
  bool launch(std::vector<int32_t>& left, int64_t& rows) {
    auto* const function = kernel<Count, Map>();
    const int shared = Map::by_vertex ? 0 : problem_.capacity * LevelTables::kBytesPerEntry;
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "queue_kernel");
    std::vector<int32_t> full;
    std::vector<Outcome> outcome(sources_.count);
    for (size_t begin = 0; begin < left.size();) {
      const size_t end = std::min<size_t>(left.size(), begin + size_t{kRounds} * blocks_);
      const int count = static_cast<int>(end - begin);
      check(cudaMemcpyAsync(chosen_, left.data() + begin, count * 4, cudaMemcpyHostToDevice, run_.stream), "chosen");
      problem_.count = count;
      const int blocks = std::min(blocks_, count);
      rows = std::max<int64_t>(rows, blocks);
      function<<<blocks, kThreads, shared, run_.stream>>>(problem_);
      check_launch("queue_kernel");
      QueueFlags flags;
      to_host(&flags, flags_, sizeof flags, run_.stream, "queue_kernel");
      to_host(outcome.data(), outcome_, outcome.size() * sizeof(Outcome), run_.stream, "queue_kernel");
      if (flags.overflow || run_.cancelled()) return false;
      const size_t before = full.size();
      for (size_t i = begin; i < end; ++i)
        if (outcome[left[i]] == Outcome::pending) full.push_back(left[i]);
      const int64_t done = count - static_cast<int64_t>(full.size() - before);
      counted_ += done;
      finish(run_, done);
      begin = end;
    }
    left = std::move(full);
    return true;
  }

  const Graph graph_;
  const Sources sources_;
  double* const scores_;
  const Run& run_;
  const Strategy strategy_;
  QueueProblem problem_{};
  Outcome* outcome_;
  int32_t* chosen_;
  QueueFlags* flags_;
  int blocks_ = 1;
  int64_t counted_ = 0;
};

template <class Visitor>
Rung queue_run(const Graph& graph, const Sources& sources, double* scores, Rung first, const Run& run) {
  if (graph.n == 0 || sources.count == 0) return first;
  return QueueRun<Visitor>(graph, sources, scores, run)(first);
}

}  // namespace torchcent::cuda
