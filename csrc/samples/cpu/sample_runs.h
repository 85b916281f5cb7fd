// Runs samples on several threads, and keeps what they draw.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/control.h"
#include "core/cpu/threads.h"
#include "samples/draws.h"

namespace torchcent {

// Counts the inner vertices of all samples.
struct SampleCounts {
  int64_t* counts;
  bool alone;  // whether one thread runs them all

  struct Sample {
    int64_t* counts;
    bool alone;
    void found() {}
    void vertex(int32_t v, Purpose) {
      if (alone) ++counts[v];
      else __atomic_fetch_add(counts + v, 1, __ATOMIC_RELAXED);
    }
  };
  Sample sample(int64_t) { return {counts, alone}; }
};

// Keeps the path of each sample, without its ends: from the middle back to the source, and on to the target.
struct SamplePaths {
  struct Sample {
    static constexpr bool ordered = true;  // the vertices
    bool exists = false;
    std::vector<int32_t> back = {}, on = {};
    void found() { exists = true; }
    void vertex(int32_t v, Purpose purpose) { (purpose == Purpose::walk_back ? back : on).push_back(v); }
  };
  std::vector<Sample> samples;

  explicit SamplePaths(int64_t count) : samples(count) {}
  Sample& sample(int64_t number) { return samples[number]; }

  // The vertices of all paths, sample after sample, and the number of each; 0 where there is no path. ends(i): the pair
  // of samples[i].
  template <class Ends>
  torch::stable::Tensor flat(const Ends& ends, torch::stable::Tensor& length, const torch::stable::Tensor& like) const {
    int64_t total = 0, *const size = length.mutable_data_ptr<int64_t>();
    for (size_t i = 0; i < samples.size(); ++i) {
      const Sample& each = samples[i];
      size[i] = each.exists ? static_cast<int64_t>(each.back.size() + each.on.size()) + 2 : 0;
      total += size[i];
    }
    torch::stable::Tensor vertex = torch::stable::new_empty(like, {total});
    int64_t* out = vertex.mutable_data_ptr<int64_t>();
    for (size_t i = 0; i < samples.size(); ++i) {
      if (size[i] == 0) continue;
      const Pair pair = ends(static_cast<int64_t>(i));
      *out++ = pair.source;
      out = std::copy(samples[i].back.rbegin(), samples[i].back.rend(), out);
      out = std::copy(samples[i].on.begin(), samples[i].on.end(), out);
      *out++ = pair.target;
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

}  // namespace torchcent
