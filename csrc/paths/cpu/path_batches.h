// The loop over batches of sources for path counting, with the overflow ladder; shared by all engines.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/cpu/batches.h"
#include "paths/search.h"
#include "core/control.h"
#include "core/cpu/view.h"

namespace torchcent {

// The weights of path_dependency as tensors: a, c [sources], b, h [n].
struct PathWeights {
  const torch::stable::Tensor &source, &own, &target, &through;
};

inline bool all_equal(const double* values, int64_t count, double value) {
  for (int64_t i = 0; i < count; ++i)
    if (values[i] != value) return false;
  return true;
}

inline PathProblem path_problem(const Csr& out, const Csr& in, const PathWeights& weights, const int64_t* cancel,
                                Measure measure, const double* copies = nullptr) {
  const double* const target = weights.target.const_data_ptr<double>();
  const double* const through = weights.through.const_data_ptr<double>();
  const bool passed = !all_equal(through, out.num_nodes, 0);
  const bool plain = copies == nullptr && !passed && all_equal(target, out.num_nodes, 1);
  PathProblem problem = {out, in, target, through, passed, plain, cancel};
  problem.copies = copies;
  problem.measure = measure;
  return problem;
}

// Within limits, a search may take less time than adding up the sum of a batch: batches of `least` sources or of a
// multiple of it, but not many of them.
inline int64_t batch_size_within(int64_t least, int64_t sources) {
  constexpr int64_t kMostBatches = 512;
  const int64_t size = (sources + kMostBatches - 1) / kMostBatches;
  return (size + least - 1) / least * least;
}

// Batches of `size` sources that share a private sum. The size is fixed, so that results do not depend on the number of
// threads. make(rung) creates a Search. Returns the highest rung, as a tensor.
template <class Make>
torch::stable::Tensor run_batches(const torch::stable::Tensor& sources, const PathWeights& weights,
                                  torch::stable::Tensor& scores, torch::stable::Tensor& control, int64_t size,
                                  int64_t rung, int64_t threads, Make make) {
  const int64_t count = sources.numel();
  Control& shared = control_of(control);
  const PathBatch all = {count, sources.const_data_ptr<int64_t>(), weights.source.const_data_ptr<double>(),
                         weights.own.const_data_ptr<double>(), nullptr};
  const int64_t batches = (count + size - 1) / size;
  const int workers = static_cast<int>(std::max<int64_t>(1, std::min(threads, batches)));

  OrderedBatches ordered(scores.mutable_data_ptr<double>(), scores.numel(), batches, 2 * workers, rung);

  const auto work = [&] {
    std::unique_ptr<Search> search;
    int64_t first_rung = rung, search_rung = -1;
    std::vector<double> buffer;
    for (int64_t b; (b = ordered.take(buffer, first_rung)) >= 0;) {
      PathBatch batch = all;
      batch.count = std::min(size, count - b * size);
      batch.sources += b * size;
      batch.source_weight += b * size;
      batch.own_weight += b * size;
      batch.scores = buffer.data();
      Status status = Status::overflow;
      for (int64_t r = first_rung; status == Status::overflow; ++r) {
        if (search_rung != r) {
          search.reset();  // before the next one allocates its memory
          search = make(Rung{r});
          search_rung = r;
        }
        status = search->run(batch);
        if (status == Status::overflow) std::fill(buffer.begin(), buffer.end(), 0.0);
      }
      if (status == Status::cancelled) return ordered.stop();
      ordered.give(b, std::move(buffer), search_rung);
      finish(shared, batch.count);
    }
  };
  if (count > 0) in_threads(workers, work, [&] { ordered.stop(); });

  torch::stable::Tensor result = torch::stable::new_empty(control, {1});
  *result.mutable_data_ptr<int64_t>() = ordered.highest();
  return result;
}

}  // namespace torchcent
