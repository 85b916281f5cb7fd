// Random shortest paths between random pairs of vertices; counts how often each vertex is in the interior of one.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <atomic>
#include <cstring>

#include "core/cpu/batches.h"
#include "core/control.h"
#include "core/cpu/view.h"

#define TORCHCENT_ISA portable
#include "samples/cpu/sample_hops.h"
#include "samples/cpu/sample_weights.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// Runs samples first, ..., first + count - 1 in any order: counts are integers.
template <class MakeSampler>
void run_samples(int64_t first, int64_t count, int64_t* counts, Control& control, int64_t threads, MakeSampler make) {
  constexpr int64_t kTogether = 8;  // samples that a thread processes at a time
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    auto sampler = make();
    for (int64_t begin; (begin = next.fetch_add(kTogether)) < count;) {
      const int64_t end = std::min(begin + kTogether, count), before = sampler.arcs();
      for (int64_t i = begin; i < end; ++i)
        if (!sampler.run(static_cast<uint64_t>(first + i), counts)) return;
      finish(control, end - begin);
      __atomic_fetch_add(&control.work, sampler.arcs() - before, __ATOMIC_RELAXED);
    }
  };
  const int64_t workers = std::min(threads, (count + kTogether - 1) / kTogether);
  in_threads(static_cast<int>(std::max<int64_t>(1, workers)), work, [&] { next = count; });
}

template <class T>
void run_weighted(const Csr& out, const Csr& in, const Tensor& weight, const Tensor& back_weight, bool exact,
                  uint64_t seed, int64_t first, int64_t count, int64_t* counts, Control& control, int64_t threads) {
  const portable::WeightedCsr<T> onward = {out, weight.const_data_ptr<T>()};
  const portable::WeightedCsr<T> backward = {in, back_weight.const_data_ptr<T>()};
  T lightest = 1, heaviest = 1;
  if (out.num_slots() > 0) {
    const auto [least, most] = std::minmax_element(onward.weight, onward.weight + out.num_slots());
    lightest = *least;
    heaviest = *most;
  }
  run_samples(first, count, counts, control, threads, [&] {
    return portable::WeightSampler<T>(onward, backward, lightest, heaviest, exact, seed, &control.cancel);
  });
}

}  // namespace

Tensor sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                    int64_t first, int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  const Csr out = view(rowptr, col), in = view(colptr, row);
  Control& shared = control_of(control);
  if (out.num_nodes >= 2)
    run_samples(first, count, counts.mutable_data_ptr<int64_t>(), shared, threads,
                [&] { return portable::HopSampler(out, in, static_cast<uint64_t>(seed), &shared.cancel); });
  return torch::stable::new_empty(control, {0});
}

Tensor weighted_sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                             const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                             int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  const Csr out = view(rowptr, col), in = view(colptr, row);
  Tensor left = torch::stable::new_empty(control, {0});
  if (out.num_nodes < 2) return left;
  const auto run = weight.element_size() == 4 ? run_weighted<int32_t> : run_weighted<double>;
  run(out, in, weight, back_weight, exact, static_cast<uint64_t>(seed), first, count,
      counts.mutable_data_ptr<int64_t>(), control_of(control), threads);
  return left;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("sample_paths", TORCH_BOX(&sample_paths));
  m.impl("weighted_sample_paths", TORCH_BOX(&weighted_sample_paths));
}

}  // namespace torchcent
