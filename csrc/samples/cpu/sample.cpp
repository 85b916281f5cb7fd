// Random shortest paths between random pairs of vertices: how often each vertex is in the interior of one, or the paths
// themselves.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/cpu/threads.h"
#include "core/control.h"
#include "core/cpu/view.h"

#define TORCHCENT_ISA portable
#include "samples/cpu/sample_hops.h"
#include "samples/cpu/sample_weights.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// Counts the inner vertices of all samples.
struct Counts {
  int64_t* counts;

  struct Sample {
    int64_t* counts;
    void found() {}
    void vertex(int32_t v, Purpose) { __atomic_fetch_add(counts + v, 1, __ATOMIC_RELAXED); }
  };
  Sample sample(int64_t) { return {counts}; }
};

// Keeps the path of each sample, without its ends: from the middle back to the source, and on to the target.
struct Paths {
  struct Sample {
    bool exists = false;
    std::vector<int32_t> back = {}, on = {};
    void found() { exists = true; }
    void vertex(int32_t v, Purpose purpose) { (purpose == Purpose::walk_back ? back : on).push_back(v); }
  };
  std::vector<Sample> samples;

  explicit Paths(int64_t count) : samples(count) {}
  Sample& sample(int64_t number) { return samples[number]; }

  // The vertices of all paths, sample after sample, and the number of each; 0 where there is no path.
  Tensor flat(uint64_t seed, int64_t first, int64_t num_nodes, int64_t* length, const Tensor& like) const {
    int64_t total = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      const Sample& each = samples[i];
      length[i] = each.exists ? static_cast<int64_t>(each.back.size() + each.on.size()) + 2 : 0;
      total += length[i];
    }
    Tensor vertex = torch::stable::new_empty(like, {total});
    int64_t* out = vertex.mutable_data_ptr<int64_t>();
    for (size_t i = 0; i < samples.size(); ++i) {
      if (length[i] == 0) continue;
      const Pair ends = random_pair(seed, static_cast<uint64_t>(first) + i, num_nodes);
      *out++ = ends.source;
      out = std::copy(samples[i].back.rbegin(), samples[i].back.rend(), out);
      out = std::copy(samples[i].on.begin(), samples[i].on.end(), out);
      *out++ = ends.target;
    }
    return vertex;
  }
};

// Runs samples first, ..., first + count - 1 in any order.
template <class Sink, class MakeSampler>
void run_samples(int64_t first, int64_t count, Sink& sink, Control& control, int64_t threads, MakeSampler make) {
  constexpr int64_t kTogether = 8;  // samples that a thread processes at a time
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    auto sampler = make();
    for (int64_t begin; (begin = next.fetch_add(kTogether)) < count;) {
      const int64_t end = std::min(begin + kTogether, count), before = sampler.arcs();
      for (int64_t i = begin; i < end; ++i) {
        auto&& sample = sink.sample(i);
        if (!sampler.run(static_cast<uint64_t>(first + i), sample)) return;
      }
      finish(control, end - begin);
      __atomic_fetch_add(&control.work, sampler.arcs() - before, __ATOMIC_RELAXED);
    }
  };
  const int64_t workers = std::min(threads, (count + kTogether - 1) / kTogether);
  in_threads(static_cast<int>(std::max<int64_t>(1, workers)), work, [&] { next = count; });
}

template <class Sink>
void run_hops(const Csr& out, const Csr& in, uint64_t seed, int64_t first, int64_t count, Sink& sink, Control& control,
              int64_t threads) {
  if (out.num_nodes < 2) return;
  run_samples(first, count, sink, control, threads,
              [&] { return portable::HopSampler(out, in, seed, &control.cancel); });
}

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
  Counts sink{counts.mutable_data_ptr<int64_t>()};
  run_hops(view(rowptr, col), view(colptr, row), static_cast<uint64_t>(seed), first, count, sink, control_of(control),
           threads);
  return torch::stable::new_empty(control, {0});
}

Tensor weighted_sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                             const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                             int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  Counts sink{counts.mutable_data_ptr<int64_t>()};
  run_weighted(view(rowptr, col), view(colptr, row), weight, back_weight, exact, static_cast<uint64_t>(seed), first,
               count, sink, control_of(control), threads);
  return torch::stable::new_empty(control, {0});
}

Tensor draw_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                  int64_t first, int64_t count, Tensor& length, Tensor& control, int64_t threads) {
  Paths sink(count);
  run_hops(view(rowptr, col), view(colptr, row), static_cast<uint64_t>(seed), first, count, sink, control_of(control),
           threads);
  return sink.flat(static_cast<uint64_t>(seed), first, rowptr.numel() - 1, length.mutable_data_ptr<int64_t>(), control);
}

Tensor weighted_draw_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                           const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                           int64_t count, Tensor& length, Tensor& control, int64_t threads) {
  Paths sink(count);
  run_weighted(view(rowptr, col), view(colptr, row), weight, back_weight, exact, static_cast<uint64_t>(seed), first,
               count, sink, control_of(control), threads);
  return sink.flat(static_cast<uint64_t>(seed), first, rowptr.numel() - 1, length.mutable_data_ptr<int64_t>(), control);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("sample_paths", TORCH_BOX(&sample_paths));
  m.impl("weighted_sample_paths", TORCH_BOX(&weighted_sample_paths));
  m.impl("draw_paths", TORCH_BOX(&draw_paths));
  m.impl("weighted_draw_paths", TORCH_BOX(&weighted_draw_paths));
}

}  // namespace torchcent
