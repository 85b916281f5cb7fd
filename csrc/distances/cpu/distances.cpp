// The loop over batches of sources for distances: sums per vertex, sums per source, rows of distances.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cpu/batches.h"
#include "distances/cpu/distance_search.h"
#include "core/control.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

struct Run {
  DistanceProblem problem;
  Control& shared;
  int64_t num_nodes, count, lanes, batches;
  int workers;
  const int64_t* sources;
  const int64_t* limits = nullptr;
  int64_t cutoffs = 1;

  Run(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, const Tensor& all,
      Tensor& control, int64_t threads, int64_t wide_from, const std::optional<Tensor>& within = std::nullopt)
      : shared(control_of(control)) {
    num_nodes = rowptr.numel() - 1;
    problem = {view(rowptr, col), view(colptr, row), &shared.cancel};
    count = num_nodes > 0 ? all.numel() : 0;
    sources = all.const_data_ptr<int64_t>();
    lanes = count >= wide_from ? kWideBits : kNarrowBits;
    batches = (count + lanes - 1) / lanes;
    workers = static_cast<int>(std::max<int64_t>(1, std::min(threads, batches)));
    if (within) {
      limits = within->const_data_ptr<int64_t>();
      cutoffs = within->numel();
    }
  }
  DistanceBatch batch(int64_t b) const {
    DistanceBatch batch = {};
    batch.count = std::min(lanes, count - b * lanes);
    batch.sources = sources + b * lanes;
    batch.limits = limits;
    batch.cutoffs = cutoffs;
    return batch;
  }
  void finished(const DistanceBatch& batch) const { finish(shared, batch.count); }
};

void side_by_side(const char* op, bool one_by_one) {
  if (one_by_one) throw std::invalid_argument(std::string(op) + " searches one by one on CUDA only");
}

}  // namespace

void distance_sums(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                   const Tensor& sources, const Tensor& leaves, Tensor& sums, Tensor& eccentricity, Tensor& levels,
                   Tensor& control, int64_t threads, std::optional<Tensor> limits, bool one_by_one) {
  side_by_side("distance_sums", one_by_one);
  const Run run(rowptr, col, colptr, row, sources, control, threads, kWideBitsFrom, limits);
  if (run.count == 0) return;
  const int32_t* const hanging = leaves.const_data_ptr<int32_t>();
  if (limits && std::any_of(hanging, hanging + run.count, [](int32_t count) { return count != 0; }))
    throw std::invalid_argument("distance_sums: leaves have no limits");
  OrderedBatches ordered(sums.mutable_data_ptr<double>(), sums.numel(), run.batches, 2 * run.workers, kNoLadder);
  int32_t* const farthest = eccentricity.mutable_data_ptr<int32_t>();
  int64_t* const pairs = levels.numel() > 0 ? levels.mutable_data_ptr<int64_t>() : nullptr;
  std::mutex mutex;
  const auto work = [&] {
    const auto search = TORCHCENT_CALL_LANES(make_distance_search(run.problem, DistanceOutput::vertex_sums, run.lanes));
    std::vector<double> buffer;
    std::vector<int32_t> own_farthest(run.num_nodes);
    std::vector<int64_t> own_pairs(pairs != nullptr ? run.num_nodes + 1 : 0);
    int64_t rung = kNoLadder;
    for (int64_t b; (b = ordered.take(buffer, rung)) >= 0;) {
      DistanceBatch batch = run.batch(b);
      batch.leaves = hanging + b * run.lanes;
      batch.sums = buffer.data();
      batch.eccentricity = own_farthest.data();
      batch.levels = pairs != nullptr ? own_pairs.data() : nullptr;
      if (search->run(batch) != DistanceStatus::done) return ordered.stop();
      ordered.give(b, std::move(buffer), rung);
      run.finished(batch);
    }
    std::lock_guard lock(mutex);  // integers: the order of summation does not matter
    for (int64_t v = 0; v < run.num_nodes; ++v) farthest[v] = std::max(farthest[v], own_farthest[v]);
    for (size_t d = 0; d < own_pairs.size(); ++d) pairs[d] += own_pairs[d];
  };
  in_threads(run.workers, work, [&] { ordered.stop(); });
}

void source_sums(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                 const Tensor& sources, Tensor& sums, Tensor& eccentricity, Tensor& control, int64_t threads,
                 std::optional<Tensor> limits, bool one_by_one) {
  side_by_side("source_sums", one_by_one);
  const Run run(rowptr, col, colptr, row, sources, control, threads, kWideBitsFrom, limits);
  if (run.count == 0) return;
  double* const all_sums = sums.mutable_data_ptr<double>();
  int32_t* const farthest = eccentricity.mutable_data_ptr<int32_t>();
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    const auto search = TORCHCENT_CALL_LANES(make_distance_search(run.problem, DistanceOutput::source_sums, run.lanes));
    for (int64_t b; (b = next++) < run.batches;) {
      DistanceBatch batch = run.batch(b);
      batch.sums = all_sums + 4 * run.cutoffs * b * run.lanes;
      batch.eccentricity = farthest + b * run.lanes;
      if (search->run(batch) != DistanceStatus::done) next = run.batches;
      else run.finished(batch);
    }
  };
  in_threads(run.workers, work, [&] { next = run.batches; });
}

Tensor distances(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                 const Tensor& sources, Tensor& out, Tensor& control, int64_t threads, std::optional<Tensor> place,
                 bool one_by_one) {
  side_by_side("distances", one_by_one);
  // The table of a wide batch is transposed in cache, if it is small enough.
  const int64_t element = out.element_size();
  const bool wide = (rowptr.numel() - 1) * kWideBits * element <= int64_t{1} << 28;
  const Run run(rowptr, col, colptr, row, sources, control, threads, wide ? kWideBitsFrom : sources.numel() + 1);
  Tensor result = torch::stable::new_empty(control, {1});
  int64_t* const failed = result.mutable_data_ptr<int64_t>();
  *failed = 0;
  if (run.count == 0) return result;
  const DistanceOutput output = element == 1   ? DistanceOutput::rows_int8
                                : element == 2 ? DistanceOutput::rows_int16
                                               : DistanceOutput::rows_int32;
  char* const rows = static_cast<char*>(out.data_ptr());
  std::atomic<int64_t> next = 0, too_deep = 0;
  const auto work = [&] {
    const auto search = TORCHCENT_CALL_LANES(make_distance_search(run.problem, output, run.lanes));
    for (int64_t b; (b = next++) < run.batches;) {
      DistanceBatch batch = run.batch(b);
      batch.rows = place ? rows : rows + b * run.lanes * run.num_nodes * element;
      batch.place = place ? place->const_data_ptr<int64_t>() + b * run.lanes : nullptr;
      const DistanceStatus status = search->run(batch);
      if (status == DistanceStatus::too_deep) too_deep = 1;
      if (status != DistanceStatus::done) next = run.batches;
      else run.finished(batch);
    }
  };
  in_threads(run.workers, work, [&] { next = run.batches; });
  *failed = too_deep;
  return result;
}

// An order of all vertices in which each run of `size` vertices is a ball of neighbours, grown breadth-first from the
// boundary of an earlier ball. Consecutive sources in this order reach a vertex at similar levels.
Tensor clusters(const Tensor& rowptr, const Tensor& col, int64_t size) {
  const int64_t n = rowptr.numel() - 1;
  const Csr graph = view(rowptr, col);
  Tensor result = torch::stable::new_empty(rowptr, {n});
  int64_t* const order = result.mutable_data_ptr<int64_t>();
  enum : char { unseen, waiting, placed };
  std::vector<char> state(n, unseen);
  std::vector<int32_t> rim, ball;  // vertices from which later balls can grow; the queue of the current ball
  size_t next_rim = 0;
  int64_t count = 0, next_vertex = 0;
  const auto seed = [&]() -> int64_t {
    while (next_rim < rim.size()) {
      const int32_t v = rim[next_rim++];
      if (state[v] != placed) return v;
    }
    while (state[next_vertex] == placed) ++next_vertex;
    return next_vertex;
  };
  while (count < n) {
    int64_t room = std::min(size, n - count);
    size_t head = 0;
    ball.clear();
    while (room > 0) {
      if (head == ball.size()) {  // an enclosed region was smaller than a ball
        const int64_t v = seed();
        state[v] = waiting;
        ball.push_back(static_cast<int32_t>(v));
      }
      const int32_t u = ball[head++];
      state[u] = placed;
      order[count++] = u;
      --room;
      for (int64_t i = graph.rowptr[u]; i < graph.rowptr[u + 1]; ++i)
        if (state[graph.col[i]] == unseen) {
          state[graph.col[i]] = waiting;
          ball.push_back(graph.col[i]);
        }
    }
    for (; head < ball.size(); ++head) {
      state[ball[head]] = unseen;
      rim.push_back(ball[head]);
    }
  }
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def("clusters(Tensor rowptr, Tensor col, int size) -> Tensor");
  // Distances, computed by the bits engine (distances/cpu/measures.h). sums are [n, 4] or [sources, 4]: d, 1/d,
  // 1/(d + 1), pairs. With limits, int64 [cutoffs] on the host, ascending, there is such a row for each of them,
  // [n, cutoffs, 4], over the pairs within it; no source has leaves then. distances writes the row of sources[i] to row
  // place[i] (CPU only), or i, and returns [1] if a distance did not fit the dtype of out. one_by_one (CUDA only)
  // searches from each source by itself (distances/cuda/searches.cuh).
  m.def(
      "distance_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor leaves, "
      "Tensor(a!) sums, Tensor(b!) eccentricity, Tensor(c!) levels, Tensor(d!) control, int threads, "
      "Tensor? limits=None, bool one_by_one=False) -> ()");
  m.def(
      "source_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) sums, "
      "Tensor(b!) eccentricity, Tensor(c!) control, int threads, Tensor? limits=None, bool one_by_one=False) -> ()");
  m.def(
      "distances(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) out, "
      "Tensor(b!) control, int threads, Tensor? place=None, bool one_by_one=False) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("distance_sums", TORCH_BOX(&distance_sums));
  m.impl("source_sums", TORCH_BOX(&source_sums));
  m.impl("distances", TORCH_BOX(&distances));
  m.impl("clusters", TORCH_BOX(&clusters));
}

}  // namespace torchcent
