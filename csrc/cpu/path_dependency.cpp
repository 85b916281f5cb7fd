// The loop over batches of sources for path counting, with the overflow ladder.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <vector>

#include "cpu/batches.h"
#include "cpu/search.h"
#include "cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

std::unique_ptr<Search> make_search(const PathProblem& problem, Measure measure, Engine engine, Rung rung) {
#if defined(__x86_64__)
  if (simd_in_use() == Simd::avx512) return avx512::make_search(problem, measure, engine, rung);
  if (simd_in_use() == Simd::avx2) return avx2::make_search(problem, measure, engine, rung);
#endif
  return portable::make_search(problem, measure, engine, rung);
}

// Sources that share one private sum. Fixed, so that results do not depend on the number of threads.
int64_t batch_size(Engine engine) { return engine == Engine::lanes ? 64 : 16; }

bool all_equal(const double* values, int64_t count, double value) {
  for (int64_t i = 0; i < count; ++i)
    if (values[i] != value) return false;
  return true;
}

}  // namespace

Tensor path_dependency(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                       const Tensor& sources, const Tensor& source_weight, const Tensor& own_weight,
                       const Tensor& target_weight, const Tensor& through_weight, Tensor& scores, Tensor& control,
                       int64_t measure, int64_t engine, int64_t rung, int64_t threads) {
  const int64_t n = rowptr.numel() - 1, count = sources.numel();
  int64_t* const cancel = control.mutable_data_ptr<int64_t>();
  int64_t* const finished = cancel + 1;
  const bool through = !all_equal(through_weight.const_data_ptr<double>(), n, 0);
  const PathProblem problem = {view(rowptr, col),
                               view(colptr, row),
                               target_weight.const_data_ptr<double>(),
                               through_weight.const_data_ptr<double>(),
                               through,
                               !through && all_equal(target_weight.const_data_ptr<double>(), n, 1),
                               cancel};
  const PathBatch all = {count, sources.const_data_ptr<int64_t>(), source_weight.const_data_ptr<double>(),
                         own_weight.const_data_ptr<double>(), nullptr};
  const int64_t size = batch_size(Engine{engine});
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
          search.reset();  // before the next one takes its memory
          search = make_search(problem, Measure{measure}, Engine{engine}, Rung{r});
          search_rung = r;
        }
        status = search->run(batch);
        if (status == Status::overflow) std::fill(buffer.begin(), buffer.end(), 0.0);
      }
      if (status == Status::cancelled) return ordered.stop();
      ordered.give(b, std::move(buffer), search_rung);
      __atomic_fetch_add(finished, batch.count, __ATOMIC_RELAXED);
    }
  };
  if (n > 0 && count > 0) in_threads(workers, work, [&] { ordered.stop(); });

  Tensor result = torch::stable::new_empty(rowptr, {1});
  *result.mutable_data_ptr<int64_t>() = ordered.highest();
  return result;
}

int64_t simd() { return static_cast<int64_t>(simd_in_use()); }

STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) { m.impl("simd", TORCH_BOX(&simd)); }
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("path_dependency", TORCH_BOX(&path_dependency)); }

}  // namespace torchcent
