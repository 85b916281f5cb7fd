// Random shortest paths between random pairs of vertices: how often each vertex is in the interior of one, or the paths
// themselves.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <optional>

#include "core/control.h"
#include "core/cpu/view.h"
#include "samples/cpu/sample_runs.h"

#define TORCHCENT_ISA portable
#include "samples/cpu/sample_hops.h"
#include "samples/cpu/sample_weights.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The pairs of samples from `first` on.
auto random_pairs(int64_t seed, int64_t first, int64_t num_nodes) {
  return
      [=](int64_t i) { return random_pair(static_cast<uint64_t>(seed), static_cast<uint64_t>(first + i), num_nodes); };
}

template <class Sink>
void run_hops(const Csr& out, const Csr& in, uint64_t seed, int64_t first, int64_t count, Sink& sink, Control& control,
              int64_t threads) {
  if (out.num_nodes < 2) return;
  run_samples(first, count, sink, control, threads,
              [&] { return portable::HopSampler(out, in, seed, &control.cancel); });
}

// Pairs of samples, int64 [2, count].
struct GivenPairs {
  const int64_t* ends;
  int64_t count;
  Pair operator()(int64_t i) const { return {static_cast<int32_t>(ends[i]), static_cast<int32_t>(ends[count + i])}; }
};

// Draws paths between these pairs instead of random ones.
struct PairSampler {
  portable::HopSampler hops;
  GivenPairs pairs;
  int64_t first;

  bool run(uint64_t sample, SamplePaths::Sample& sink) {
    return hops.run(sample, pairs(static_cast<int64_t>(sample) - first), sink);
  }
  int64_t arcs() const { return hops.arcs(); }
};

template <class T, class Sink>
void run_lengths(const Csr& out, const Csr& in, const Tensor& weight, const Tensor& back_weight, bool exact,
                 uint64_t seed, int64_t first, int64_t count, Sink& sink, Control& control, int64_t threads) {
  const portable::WeightedCsr<T> onward = {out, weight.const_data_ptr<T>()};
  const portable::WeightedCsr<T> backward = {in, back_weight.const_data_ptr<T>()};
  T lightest = 1, heaviest = 1;
  if (out.num_slots() > 0) {
    const auto [least, most] = std::minmax_element(onward.weight, onward.weight + out.num_slots());
    lightest = *least;
    heaviest = *most;
  }
  run_samples(first, count, sink, control, threads, [&] {
    return portable::WeightSampler<T>(onward, backward, lightest, heaviest, exact, seed, &control.cancel);
  });
}

template <class Sink>
void run_weighted(const Csr& out, const Csr& in, const Tensor& weight, const Tensor& back_weight, bool exact,
                  uint64_t seed, int64_t first, int64_t count, Sink& sink, Control& control, int64_t threads) {
  if (out.num_nodes < 2) return;
  const auto run = weight.element_size() == 4 ? run_lengths<int32_t, Sink> : run_lengths<double, Sink>;
  run(out, in, weight, back_weight, exact, seed, first, count, sink, control, threads);
}

}  // namespace

Tensor sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                    int64_t first, int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  SampleCounts sink{counts.mutable_data_ptr<int64_t>(), threads == 1};
  run_hops(view(rowptr, col), view(colptr, row), static_cast<uint64_t>(seed), first, count, sink, control_of(control),
           threads);
  return torch::stable::new_empty(control, {0});
}

Tensor weighted_sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                             const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                             int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  SampleCounts sink{counts.mutable_data_ptr<int64_t>(), threads == 1};
  run_weighted(view(rowptr, col), view(colptr, row), weight, back_weight, exact, static_cast<uint64_t>(seed), first,
               count, sink, control_of(control), threads);
  return torch::stable::new_empty(control, {0});
}

Tensor draw_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                  int64_t first, int64_t count, Tensor& length, Tensor& control, int64_t threads,
                  const std::optional<Tensor>& pairs) {
  SamplePaths sink(count);
  const Csr out = view(rowptr, col), in = view(colptr, row);
  Control& state = control_of(control);
  if (pairs.has_value()) {
    const GivenPairs given = {pairs->const_data_ptr<int64_t>(), count};
    run_samples(first, count, sink, state, threads, [&] {
      return PairSampler{portable::HopSampler(out, in, static_cast<uint64_t>(seed), &state.cancel), given, first};
    });
    return sink.flat(given, length, control);
  }
  run_hops(out, in, static_cast<uint64_t>(seed), first, count, sink, state, threads);
  return sink.flat(random_pairs(seed, first, rowptr.numel() - 1), length, control);
}

Tensor weighted_draw_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                           const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                           int64_t count, Tensor& length, Tensor& control, int64_t threads) {
  SamplePaths sink(count);
  run_weighted(view(rowptr, col), view(colptr, row), weight, back_weight, exact, static_cast<uint64_t>(seed), first,
               count, sink, control_of(control), threads);
  return sink.flat(random_pairs(seed, first, rowptr.numel() - 1), length, control);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Random shortest paths (samples/draws.h): samples number first, ..., first + count - 1 of a seed. Each draws a pair
  // of vertices and one of the shortest paths between them, and adds 1 to counts, int64 [n], at its inner vertices.
  // exact: whether sums of weights are exact. Both operators return the numbers, on the host, of the samples that are
  // left to the CPU (samples/cuda/sample_draws.cuh).
  m.def(
      "sample_paths(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, int seed, int first, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "weighted_sample_paths(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "bool exact, int seed, int first, int count, Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  // The same samples on the CPU: their vertices from source to target, sample after sample, and in length, int64
  // [count], the number of each, 0 where there is no path. pairs, int64 [2, count]: a source and another vertex as its
  // target for each sample, instead of random ones.
  m.def(
      "draw_paths(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, int seed, int first, int count, "
      "Tensor(a!) length, Tensor(b!) control, int threads, Tensor? pairs=None) -> Tensor");
  m.def(
      "weighted_draw_paths(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "bool exact, int seed, int first, int count, Tensor(a!) length, Tensor(b!) control, int threads) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("sample_paths", TORCH_BOX(&sample_paths));
  m.impl("weighted_sample_paths", TORCH_BOX(&weighted_sample_paths));
  m.impl("draw_paths", TORCH_BOX(&draw_paths));
  m.impl("weighted_draw_paths", TORCH_BOX(&weighted_draw_paths));
}

}  // namespace torchcent
