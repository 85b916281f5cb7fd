// The tiny engine: each task processes one graph of a batch and writes to a separate range of the results, so that the
// bits do not depend on the number of threads.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "core/control.h"
#include "core/records.h"
#include "core/cpu/threads.h"
#include "tiny/cpu/tiny_search.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

struct TinyGraphs {
  const Tensor &rowptr, &col, &weight, &ptr;
};

const double* read(const Tensor& values) { return values.numel() > 0 ? values.const_data_ptr<double>() : nullptr; }
// The kernels add to the existing values.
template <class T>
void clear(T* values, int64_t begin, int64_t end) {
  if (values != nullptr) std::fill(values + begin, values + end, T{});
}
void clear(const TinyProblem& problem, int64_t graph) {
  const int64_t begin = problem.ptr[graph], end = problem.ptr[graph + 1];
  clear(problem.betweenness, begin, end);
  clear(problem.stress, begin, end);
  clear(problem.edges, problem.rowptr[begin], problem.rowptr[end]);
  clear(problem.distances, begin * kColumns, end * kColumns);
  clear(problem.levels, begin, end);
}

double* write(Tensor& values) { return values.numel() > 0 ? values.mutable_data_ptr<double>() : nullptr; }

}  // namespace

void tiny(const std::vector<Tensor>& arrays, const Tensor& graphs, const Tensor& classes, const Tensor& source,
          const Tensor& target, Tensor& betweenness, Tensor& stress, Tensor& edges, Tensor& distances, Tensor& levels,
          Tensor& overflow, Tensor& control, bool endpoints, double tie_tolerance, int64_t threads) {
  const auto [rowptr, col, weight, ptr] = record<TinyGraphs, 4>(arrays);
  const int64_t count = graphs.numel();
  const int64_t* const number = graphs.const_data_ptr<int64_t>();
  Control& shared = control_of(control);
  char* const overflowed = static_cast<char*>(overflow.data_ptr());
  TinyProblem problem = {};
  problem.rowptr = rowptr.const_data_ptr<int64_t>();
  problem.col = col.const_data_ptr<int32_t>();
  problem.weight = read(weight);
  problem.ptr = ptr.const_data_ptr<int64_t>();
  problem.source = read(source);
  problem.target = read(target);
  problem.endpoints = endpoints;
  problem.tie_tolerance = tie_tolerance;
  problem.betweenness = write(betweenness);
  problem.stress = write(stress);
  problem.edges = write(edges);
  problem.distances = write(distances);
  problem.levels = levels.numel() > 0 ? levels.mutable_data_ptr<int64_t>() : nullptr;
  problem.cancel = &shared.cancel;
  const int64_t* const size = classes.const_data_ptr<int64_t>();
  for (int64_t c = 0; c < classes.size(0); ++c) {
    problem.most_nodes = std::max(problem.most_nodes, size[3 * c + 1]);
    problem.most_slots = std::max(problem.most_slots, size[3 * c + 2]);
  }
  constexpr int64_t kRun = 16;  // graphs that a thread processes at a time
  const int64_t workers = std::max<int64_t>(1, std::min(threads, (count + kRun - 1) / kRun));
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    const auto search = problem.weight == nullptr ? TORCHCENT_CALL_LANES(make_tiny_hops(problem))
                                                  : TORCHCENT_CALL_SCALAR(make_tiny_weights(problem));
    for (int64_t begin; (begin = next.fetch_add(kRun)) < count;) {
      const int64_t end = std::min(begin + kRun, count);
      int64_t nodes = 0;
      for (int64_t i = begin; i < end; ++i) {
        clear(problem, number[i]);
        const TinyStatus status = search->run(number[i]);
        if (status == TinyStatus::cancelled) {
          next = count;
          return;
        }
        if (status == TinyStatus::overflow) overflowed[number[i]] = 1;
        nodes += problem.ptr[number[i] + 1] - problem.ptr[number[i]];
      }
      finish(shared, nodes);
    }
  };
  // Uses PyTorch's own threads: between the operators of a short call they spin, and additional threads would compete
  // with them for the processors.
  std::exception_ptr error;
  std::mutex mutex;
  torch::stable::parallel_for(0, workers, 1, [&](int64_t, int64_t) {
    try {
      work();
    } catch (...) {
      std::lock_guard lock(mutex);
      error = std::current_exception();
      next = count;
    }
  });
  if (error) std::rethrow_exception(error);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Batches of small graphs: all measures in one traversal (tiny/cpu/tiny_search.h). arrays: rowptr, col, weight and
  // ptr of their union. `graphs` lists graphs of the union described by ptr, in processing order. classes is int64 on
  // the host, with a row [number of graphs, most vertices, most slots] for each run of graphs of similar size. weight
  // is float64, or empty for hops. source and target are float64 [n], 1 where paths begin and end, or empty for all
  // vertices. Results that are not requested are empty. The others must be zero on entry: betweenness, stress [n],
  // edges [slots], distances [n, 6] (tiny/cpu/tiny_search.h), levels int64 [n]. overflow, int8 [graphs of the union],
  // is set for graphs whose path counts overflow float64; their results are invalid.
  m.def(
      "tiny(Tensor[] arrays, Tensor graphs, Tensor classes, Tensor source, Tensor target, Tensor(a!) betweenness, "
      "Tensor(b!) stress, Tensor(c!) edges, Tensor(d!) distances, Tensor(e!) levels, Tensor(f!) overflow, "
      "Tensor(g!) control, bool endpoints, float tie_tolerance, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("tiny", TORCH_BOX(&tiny)); }

}  // namespace torchcent
